/* diff - `cordon diff`: the changes of steps, as unified text or as numbers. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/git_words.h"
#include "core/journal/mark.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct diff_options {
	bool stat, raw, all;
	const char *mark;
};

static const struct flag flags[] = {
	{"--stat", NULL, offsetof(struct diff_options, stat),
	 "lines added and deleted in each file"},
	{"--raw", NULL, offsetof(struct diff_options, raw),
	 "contents byte for byte, for patch(1); without it control characters are escaped"},
	{"--all", NULL, offsetof(struct diff_options, all),
	 "also the files that git keeps in .git for itself (objects, refs, logs, index); hooks and "
	 "config are always shown"},
	{"--since-mark", "NAME", offsetof(struct diff_options, mark),
	 "all steps since that restore point (cordon mark)"},
};

static const struct usage usage = {
	"diff [STEP | [STEP]..[STEP]] [--since-mark NAME] [--stat] [--raw] [--all] [[--] PATH...]",
	"Show what a step changed, or a range of steps; default: the newest step. 3..5 is from "
	"before step 3 to after step 5, 3.. goes to the newest, ..7 begins with the oldest. "
	"Renames are followed. After -- there are paths only.",
	flags,
	ARRAY_LEN(flags),
};

/* A file's line in --stat. */
struct stat_row {
	char *name;
	int added, deleted;
	bool binary;
};

struct output {
	struct diff_options opt;
	const struct strings *paths; /* relative to the folder; empty: all */
	struct stat_row *rows;
	size_t n_rows;
	size_t n_git; /* git's own files that are left out */
};

/* ---- arguments ------------------------------------------------------------------------------- */

static bool read_step(const char *s, size_t len, int64_t *ret)
{
	char text[24], *end;

	if (len == 0 || len >= sizeof(text))
		return false;
	memcpy(text, s, len);
	text[len] = '\0';
	errno = 0;
	*ret = strtoll(text, &end, 10);
	return !errno && !*end && *ret != 0;
}

/* Parses "7", "-2", "3..7", "3.." or "..7"; an omitted number is 0. */
static bool read_range(const char *s, int64_t *from, int64_t *to)
{
	const char *dots = strstr(s, "..");
	size_t len = dots ? (size_t)(dots - s) : strlen(s);
	int64_t a = 0, b = 0;

	if (dots && len == 0 && !dots[2]) /* the directory above */
		return false;
	if ((!dots || len) && !read_step(s, len, &a))
		return false;
	if (dots && dots[2] && !read_step(dots + 2, strlen(dots + 2), &b))
		return false;
	*from = a;
	*to = dots ? b : a;
	return true;
}

/* Returns whether the word must be a step; not if a file has this name. */
static int check_step(const char *s, struct err *err)
{
	const char *dots = strstr(s, "..");
	bool range = dots || !strchr(s, '.');
	bool of_words = dots > s && dots[2] && !strchr(s, '/'); /* "a..b": not a range of steps */
	bool number = !s[strspn(s, "-0123456789.")] && strpbrk(s, "0123456789");

	if (!range || (!number && !of_words) || access(s, F_OK) == 0)
		return 0;
	if (!number)
		return err_say(err, -ENOENT,
			       "'%s': neither a file nor a range of steps, which are numbers: "
			       "cordon diff 3..5: `cordon log` lists them",
			       s);
	return err_say(err, -ENOENT, "'%s': there is no such step: `cordon log` lists them", s);
}

/* ---- text ------------------------------------------------------------------------------------ */

static void print_line(const struct output *out, enum diff_line_kind kind, const char *text,
		       size_t len)
{
	static const struct {
		const char *sign;
		enum style style;
	} looks[] = {
		[DIFF_FILE] = {"", STYLE_BOLD},	    [DIFF_HUNK] = {"", STYLE_CYAN},
		[DIFF_CONTEXT] = {" ", STYLE_NONE}, [DIFF_ADD] = {"+", STYLE_GREEN},
		[DIFF_DEL] = {"-", STYLE_RED},	    [DIFF_META] = {"", STYLE_DIM},
	};

	fputs(style_on(looks[kind].style), stdout);
	fputs(looks[kind].sign, stdout);
	if (out->opt.raw)
		fwrite(text, 1, len, stdout);
	else
		show_file_line(text, len);
	fputs(style_off(), stdout);
	putchar('\n');
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	struct output *out = data;
	struct stat_row *row = out->n_rows ? &out->rows[out->n_rows - 1] : NULL;

	(void)old_line, (void)new_line;
	if (!out->opt.stat) {
		print_line(out, kind, text, len);
		return !ferror(stdout);
	}
	if (row && kind == DIFF_ADD)
		row->added++;
	if (row && kind == DIFF_DEL)
		row->deleted++;
	if (row && kind == DIFF_META && *text != '\\')
		row->binary = true;
	return true;
}

static bool is_wanted(const struct strings *paths, const char *path)
{
	for (size_t i = 0; i < paths->n; i++)
		if (!*paths->list[i] || path_is_beneath(path, paths->list[i]))
			return true;
	return paths->n == 0;
}

static bool on_file(void *data, const char *old_path, const char *new_path)
{
	struct output *out = data;
	AUTO_BUF struct buf name = BUF_INIT;

	if (!is_wanted(out->paths, old_path) && !is_wanted(out->paths, new_path))
		return false;
	if (!out->opt.all && !out->paths->n && diff_is_gits_own(old_path) &&
	    diff_is_gits_own(new_path)) {
		out->n_git++;
		return false;
	}
	if (!out->opt.stat)
		return true;
	text_escape(&name, old_path, strlen(old_path));
	if (!str_eq(old_path, new_path)) {
		buf_str(&name, " => ");
		text_escape(&name, new_path, strlen(new_path));
	}
	out->rows = xrealloc(out->rows, (out->n_rows + 1) * sizeof(*out->rows));
	out->rows[out->n_rows++] = (struct stat_row){.name = buf_take(&name)};
	return true;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void print_bar(const struct stat_row *r, int most, int width)
{
	int total = r->added + r->deleted;
	int cells = most > width ? (int)((int64_t)total * width / most) : total;
	int plus = total ? (int)((int64_t)cells * r->added / total) : 0;

	if (total && cells == 0)
		cells = 1;
	if (r->added && plus == 0 && cells)
		plus = 1;
	fputs(style_on(STYLE_GREEN), stdout);
	for (int i = 0; i < plus; i++)
		putchar('+');
	fputs(style_off(), stdout);
	fputs(style_on(STYLE_RED), stdout);
	for (int i = plus; i < cells; i++)
		putchar('-');
	fputs(style_off(), stdout);
}

static void print_stat(const struct output *out)
{
	int columns = show_columns() ? show_columns() : 80;
	int name_width = 0, most = 0, added = 0, deleted = 0;

	for (size_t i = 0; i < out->n_rows; i++) {
		const struct stat_row *r = &out->rows[i];

		name_width = MAX(name_width, text_width(r->name));
		most = MAX(most, r->added + r->deleted);
		added += r->added;
		deleted += r->deleted;
	}
	name_width = MIN(name_width, MAX(10, columns - 30));
	for (size_t i = 0; i < out->n_rows; i++) {
		const struct stat_row *r = &out->rows[i];
		AUTO_BUF struct buf name = BUF_INIT;

		text_fit_middle(&name, r->name, name_width);
		printf(" %s%*s | ", name.data, name_width - text_width(name.data), "");
		if (r->binary)
			printf("  Bin");
		else
			printf("%5d", r->added + r->deleted);
		if (r->added + r->deleted) {
			putchar(' ');
			print_bar(r, most, MAX(10, columns - name_width - 12));
		}
		putchar('\n');
	}
	printf(" %zu file%s changed, %d line%s added(+), %d deleted(-)\n", out->n_rows,
	       out->n_rows == 1 ? "" : "s", added, added == 1 ? "" : "s", deleted);
}

/* ---- command --------------------------------------------------------------------------------- */

/* Prints "git main: f918ed4 -> fca8856, 1 commit taken back", and the number of files behind it. */
static void print_git(const struct output *out, struct journal *j, int64_t from, int64_t to)
{
	struct git_words words = {0};

	git_words_range(&words, j, from, to, from == 0 && to == 0);
	for (size_t i = 0; i < words.n; i++) {
		AUTO_BUF struct buf shown = BUF_INIT;

		text_escape(&shown, words.list[i], strlen(words.list[i]));
		printf("git: %s\n", shown.data);
	}
	git_words_done(&words);
	printf("%sand %zu file%s of git's own in .git: --all shows them%s\n", style_on(STYLE_DIM),
	       out->n_git, out->n_git == 1 ? "" : "s", style_off());
}

/* Returns the oldest existing step after that restore point. */
static int first_since(struct journal *j, const char *name, int64_t *ret, struct err *err)
{
	AUTO_FREE int64_t *list = NULL;
	const struct mark *mark;
	struct mark *marks = NULL;
	size_t n = 0, n_marks = 0;
	int r = journal_marks(j, &marks, &n_marks, err);

	if (r == 0)
		r = journal_ids(j, false, &list, &n, err);
	mark = r == 0 ? mark_find(marks, n_marks, name) : NULL;
	*ret = 0;
	for (size_t i = 0; mark && i < n && llabs(list[i]) > mark->after; i++)
		*ret = list[i];
	if (r == 0 && !mark)
		r = err_say(err, -ENOENT,
			    "there is no restore point '%s': `cordon mark` lists them", name);
	else if (r == 0 && !*ret)
		r = err_say(err, -ENOENT, "nothing has changed since '%s'", name);
	marks_free(marks, n_marks);
	return r;
}

static int run(const struct here *p, struct output *out, int64_t from, int64_t to, struct err *err)
{
	struct journal *j = NULL;
	int r = here_open(p, "nothing to show", &j, err);

	if (r == 0 && out->opt.mark)
		r = first_since(j, out->opt.mark, &from, err);
	if (r < 0)
		;
	else if (from == 0 && to == 0)
		r = diff_newest_paths(j, on_file, on_line, out, err);
	else
		r = diff_range_paths(j, from, to, on_file, on_line, out, err);
	if (r == 0 && out->opt.stat)
		print_stat(out);
	if (r == 0 && out->n_git && !out->opt.raw)
		print_git(out, j, from, to);
	journal_close(j);
	return r == -ECANCELED ? 0 : r;
}

static int diff(const struct here *p, const struct diff_options *o, const struct strings *args,
		struct err *err)
{
	struct strings paths = {0};
	struct output out = {.opt = *o, .paths = &paths};
	int64_t from = 0, to = 0, unused;
	bool range = args->ahead && read_range(args->list[0], &from, &to);
	int r = args->ahead && !range ? check_step(args->list[0], err) : 0;

	if (r == 0 && range && args->ahead > 1 && read_range(args->list[1], &unused, &unused))
		r = err_say(err, -EINVAL,
			    "'%s' behind a step: cordon diff 3..5 shows several steps; put -- "
			    "before a file of that name",
			    args->list[1]);
	if (r == 0 && range && o->mark)
		r = err_say(err, -EINVAL, "--since-mark and a step: give one of them");
	if (r == 0)
		r = here_paths(p, args, range ? 1 : 0, &paths, err);
	if (r == 0)
		r = run(p, &out, from, to, err);
	here_paths_done(&paths);
	for (size_t i = 0; i < out.n_rows; i++)
		free(out.rows[i].name);
	free(out.rows);
	return r;
}

int cmd_diff(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct diff_options o = {0};
	struct strings args = {0};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0)
		r = here_find(&p, err);
	if (r) {
		strings_done(&args);
		return r < 0 ? CMD_FAILED : 0;
	}
	r = diff(&p, &o, &args, err);
	strings_done(&args);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}
