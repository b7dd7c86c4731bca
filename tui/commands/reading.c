/* reading - what the commands that only look at things share: flags, the folder, colours. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/reading.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/look/ini.h"

/* ---- flags ----------------------------------------------------------------------------------- */

static void print_help(const struct usage *u)
{
	printf("usage: cordon %s\n\n%s\n", u->synopsis, u->about);
	if (u->n_flags)
		printf("\n");
	for (size_t i = 0; i < u->n_flags; i++) {
		char left[64];

		snprintf(left, sizeof(left), "%s%s%s", u->flags[i].name, u->flags[i].arg ? " " : "",
			 u->flags[i].arg ? u->flags[i].arg : "");
		printf("  %-14s ", left);
		show_wrapped(u->flags[i].help, 17, 80);
	}
}

static const struct flag *find_flag(const struct usage *u, const char *arg, size_t len)
{
	for (size_t i = 0; i < u->n_flags; i++)
		if (strlen(u->flags[i].name) == len && memcmp(u->flags[i].name, arg, len) == 0)
			return &u->flags[i];
	return NULL;
}

static int unknown_flag(const struct usage *u, const char *arg, size_t len, struct err *err)
{
	AUTO_FREE char *word = xstrndup(arg, len);
	const char *names[32], *near;
	size_t n = MIN(u->n_flags, ARRAY_LEN(names));

	for (size_t i = 0; i < n; i++)
		names[i] = u->flags[i].name;
	near = ini_nearest(word, names, n);
	return err_say(err, -EINVAL, "unknown option '%s'%s%s%s: usage: cordon %s", arg,
		       near ? ": did you mean " : "", near ? near : "", near ? "?" : "",
		       u->synopsis);
}

/* *i moves when the value is the next argument. */
static int take_flag(const struct usage *u, int argc, char **argv, int *i, void *out,
		     struct err *err)
{
	const char *arg = argv[*i];
	size_t len = strcspn(arg, "=");
	const struct flag *f = find_flag(u, arg, len);
	void *field;

	if (!f)
		return unknown_flag(u, arg, len, err);
	if (!f->arg && arg[len])
		return err_say(err, -EINVAL, "option '%s': takes no value", f->name);
	if (f->arg && !arg[len] && *i + 1 >= argc)
		return err_say(err, -EINVAL, "option '%s': needs a value: %s %s", f->name, f->name,
			       f->arg);
	field = (char *)out + f->at;
	if (!f->arg)
		*(bool *)field = true;
	else
		*(const char **)field = arg[len] ? arg + len + 1 : argv[++*i];
	return 0;
}

int reading_parse(const struct usage *u, int argc, char **argv, void *out, struct strings *rest,
		  struct err *err)
{
	bool flags = true;

	for (int i = 0; i < argc; i++) {
		bool number = argv[i][0] == '-' && argv[i][1] >= '0' && argv[i][1] <= '9';
		int r;

		if (flags && str_eq(argv[i], "--")) {
			flags = false;
			rest->ahead = rest->n;
		} else if (flags && (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))) {
			print_help(u);
			return 1;
		} else if (flags && argv[i][0] == '-' && argv[i][1] && !number) {
			r = take_flag(u, argc, argv, &i, out, err);
			if (r < 0)
				return r;
		} else {
			strings_add(rest, argv[i]);
		}
	}
	if (flags)
		rest->ahead = rest->n;
	return 0;
}

/* ---- the place ------------------------------------------------------------------------------- */

int here_find(struct here *p, struct err *err)
{
	int r = folders_home(&p->home, err);

	if (r < 0)
		return r;
	p->state_dir = folders_state_dir(p->home);
	return folders_of_cwd(&p->folder, p->state_dir, err);
}

void here_done(struct here *p)
{
	free(p->home);
	free(p->state_dir);
	free(p->folder);
}

int here_moved(const char *folder, const char *state_dir, int r, struct err *err)
{
	const struct journal_spec spec = {.folder = folder, .state_dir = state_dir};
	AUTO_FREE char *was = NULL;
	struct err ignored = {0};
	int found = 0;

	/* -EPROTO: the store came along, or another directory stands where the folder was. */
	if (r == 0 || r == -ENOENT || r == -EPROTO)
		found = journal_find_moved(&spec, &was, r < 0 ? &ignored : err);
	if (found <= 0)
		return r < 0 ? r : found;
	return err_say(err, r < 0 ? r : -ENOENT,
		       "this folder was renamed: its history is that of '%s': `cordon log --adopt` "
		       "takes it over",
		       was);
}

/* Its name in the folder, or NULL; points into *clean, heap. */
static const char *place(const struct here *p, const char *arg, char **clean)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *joined = path_join(cwd ? cwd : p->folder, arg);

	*clean = path_clean(joined);
	return path_below(*clean, p->folder);
}

int here_paths(const struct here *p, const struct strings *args, size_t first, struct strings *ret,
	       struct err *err)
{
	for (size_t i = first; i < args->n; i++) {
		AUTO_FREE char *clean = NULL;
		const char *below = place(p, args->list[i], &clean);

		if (!below)
			return err_say(err, -EINVAL, "'%s': outside the working folder %s",
				       args->list[i], p->folder);
		strings_add(ret, xstrdup(below));
	}
	return 0;
}

void here_places(const struct here *p, const struct strings *args, struct strings *ret)
{
	for (size_t i = 0; i < args->n; i++) {
		AUTO_FREE char *clean = NULL;
		const char *below = place(p, args->list[i], &clean);

		strings_add(ret, xstrdup(below ? below : clean));
	}
}

void here_paths_done(struct strings *paths)
{
	for (size_t i = 0; i < paths->n; i++)
		free((void *)(uintptr_t)paths->list[i]);
	strings_done(paths);
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool wants_colour(void)
{
	static int answer = -1;

	if (answer < 0) {
		const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

		answer = isatty(STDOUT_FILENO) && !(no && *no) && term && !str_eq(term, "dumb");
	}
	return answer;
}

const char *style_on(enum style s)
{
	static const char *const codes[] = {
		[STYLE_NONE] = "",	   [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
		[STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m", [STYLE_YELLOW] = "\033[33m",
		[STYLE_CYAN] = "\033[36m",
	};

	return wants_colour() ? codes[s] : "";
}

const char *style_off(void)
{
	return wants_colour() ? "\033[0m" : "";
}

int screen_columns(void)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col == 0)
		return 80;
	return ws.ws_col;
}

void show_time(char *out, size_t size, int64_t wall_us)
{
	time_t then = (time_t)(wall_us / 1000000), now = (time_t)(clock_wall_us() / 1000000);
	struct tm a, b;

	localtime_r(&then, &a);
	localtime_r(&now, &b);
	if (a.tm_year == b.tm_year && a.tm_yday == b.tm_yday)
		strftime(out, size, "%H:%M:%S", &a);
	else if (a.tm_year == b.tm_year)
		strftime(out, size, "%b %d %H:%M", &a);
	else
		strftime(out, size, "%Y-%m-%d", &a);
}

void show_on(FILE *to, const char *s, size_t len)
{
	AUTO_BUF struct buf b = BUF_INIT;

	text_escape(&b, s, len);
	fputs(b.data, to);
}

void show_text(const char *s, size_t len)
{
	show_on(stdout, s, len);
}

void show_wrapped(const char *text, int margin, int columns)
{
	int width = MAX(20, columns - margin), used = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		AUTO_BUF struct buf word = BUF_INIT;
		int cols;

		text_escape(&word, text, n);
		cols = text_width(word.data);
		if (used && used + 1 + cols > width) {
			printf("\n%*s", margin, "");
			used = 0;
		}
		printf("%s%s", used ? " " : "", word.data);
		used += cols + (used > 0);
		text += n + strspn(text + n, " ");
	}
	putchar('\n');
}

int finish(int status, struct err *err)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (err && err->code == 0)
		err_set(err, errno ? -errno : -EIO, "write to standard output");
	return CMD_FAILED;
}
