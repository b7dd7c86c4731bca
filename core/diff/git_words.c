/* git_words - describes the changes of a step in a git directory: branches, stash, index. */
/* SPDX-License-Identifier: MIT */
#include "core/diff/git_words.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/diff/diff.h"
#include "core/diff/git_words_priv.h"
#include "core/os/text.h"

#define REF_BYTES 4096
#define LOG_BYTES (4u << 20)
#define REFS_MAX  200 /* of one fetch; further refs are not read */

struct telling {
	struct git_words *words;
	struct journal *journal;
	int64_t step;
	const struct change *list;
	size_t n, refs;
	bool moved; /* a branch or HEAD moved, or a stash was made: the index follows */
	bool reset; /* by the reflog of HEAD */
};

static void add(struct git_words *w, char *words)
{
	if (w->n < GIT_WORDS_MAX) {
		w->list[w->n++] = words;
		return;
	}
	free(words);
	free(w->list[GIT_WORDS_MAX - 1]);
	w->more += w->more ? 1 : 2;
	w->list[GIT_WORDS_MAX - 1] = xasprintf("%zu more changes of refs", w->more);
}

static void say(struct telling *t, const char *fmt, ...) PRINTF_LIKE(2, 3);
static void say(struct telling *t, const char *fmt, ...)
{
	AUTO_FREE char *words = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&words, fmt, ap) < 0)
		words = NULL;
	va_end(ap);
	for (size_t i = 0; words && i < t->words->n; i++)
		if (str_eq(t->words->list[i], words))
			return;
	if (words)
		add(t->words, take_ptr(&words));
}

/* ---- sides of a change ----------------------------------------------------------------------- */

/* Returns one side's bytes as a heap string; NULL: there is no such file, or none that is kept. */
static char *side_of(const struct telling *t, const struct change *c, bool after, size_t max,
		     size_t *ret_len)
{
	const struct change_side *s = after ? &c->after : &c->before;
	AUTO_CLOSE int fd = -1;
	struct err err = {0};
	char *text = NULL;

	if (!s->exists || !S_ISREG(s->mode) ||
	    journal_content(t->journal, t->step, c, after, &fd, &err) < 0 ||
	    io_read_all(fd, max, &text, ret_len) < 0)
		return NULL;
	return text;
}

static char *text_of(const struct telling *t, const struct change *c, bool after, size_t max)
{
	size_t len;

	return side_of(t, c, after, max, &len);
}

/* Returns the change of "logs/NAME" in the git directory of this one's. */
static const struct change *log_of(const struct telling *t, const struct change *c,
				   const char *name)
{
	size_t dir = strlen(c->path) - strlen(name);

	for (size_t i = 0; i < t->n; i++) {
		const char *path = t->list[i].path;

		if (t->list[i].root == c->root && strncmp(path, c->path, dir) == 0 &&
		    str_starts(path + dir, "logs/") && str_eq(path + dir + 5, name))
			return &t->list[i];
	}
	return NULL;
}

/* ---- reflogs --------------------------------------------------------------------------------- */

static bool next_line(const char **at, struct reflog_line *ret)
{
	const char *line = *at, *end = strchrnul(line, '\n'), *tab;
	size_t hex = strspn(line, "0123456789abcdef");

	if (!*line)
		return false;
	*at = *end ? end + 1 : end;
	tab = memchr(line, '\t', (size_t)(end - line));
	*ret = (struct reflog_line){.message = tab ? tab + 1 : end,
				    .len = tab ? (size_t)(end - tab - 1) : 0};
	if (hex < SHORT_HEX || line[hex] != ' ')
		return true;
	snprintf(ret->was, sizeof(ret->was), "%.*s", SHORT_HEX, line);
	snprintf(ret->is, sizeof(ret->is), "%.*s", SHORT_HEX, line + hex + 1);
	return true;
}

/* What a step added to the log of a ref. */
struct added {
	size_t lines, commits, lost; /* lost: removed lines */
	struct reflog_line last;
	char *before, *after;
};

static void added_done(struct added *a)
{
	free(a->before);
	free(a->after);
}

static bool is_commit(const struct reflog_line *l)
{
	return str_starts(l->message, "commit");
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (const char *at = text; at && (at = strchr(at, '\n')); at++)
		n++;
	return n;
}

static void read_added(const struct telling *t, const struct change *log, struct added *ret)
{
	const char *at;
	size_t had;

	*ret = (struct added){.last = {.message = ""}};
	if (!log)
		return;
	ret->before = text_of(t, log, false, LOG_BYTES);
	ret->after = text_of(t, log, true, LOG_BYTES);
	had = count_lines(ret->before);
	if (!ret->after || count_lines(ret->after) < had) {
		ret->lost = had - (ret->after ? count_lines(ret->after) : 0);
		return;
	}
	at = ret->after;
	for (struct reflog_line l; next_line(&at, &l);) {
		if (had) {
			had--;
			continue;
		}
		ret->lines++;
		ret->commits += is_commit(&l);
		ret->last = l;
	}
}

/* Returns how many commits were taken back, by the reflog before the step: those between the ref's
 * old value and an earlier one that it has again. 0: unknown. */
static size_t taken_back(const char *log, const char *was, const char *is)
{
	struct reflog_line lines[64];
	size_t n = 0, commits = 0;
	char now[sizeof(lines->is)];

	for (const char *at = log; at && next_line(&at, &lines[n % ARRAY_LEN(lines)]);)
		n++;
	snprintf(now, sizeof(now), "%s", was);
	for (size_t i = n; i-- > 0 && i + ARRAY_LEN(lines) >= n;) {
		const struct reflog_line *l = &lines[i % ARRAY_LEN(lines)];

		if (!is_commit(l) || !str_eq(l->is, now))
			continue;
		commits += !str_starts(l->message, "commit (amend)");
		snprintf(now, sizeof(now), "%s", l->was);
		if (str_eq(now, is))
			return commits;
	}
	return 0;
}

/* ---- refs ------------------------------------------------------------------------------------ */

/* Copies the first digits of a value, or "" if it is none. */
static void take_hex(char ret[SHORT_HEX + 1], const char *text)
{
	bool is_hex = text && strspn(text, "0123456789abcdef") >= SHORT_HEX;

	snprintf(ret, SHORT_HEX + 1, "%.*s", SHORT_HEX, is_hex ? text : "");
}

static const char *plural(size_t n)
{
	return n == 1 ? "" : "s";
}

/* Adds "main: f918ed4 -> fca8856, 1 commit taken back". */
static void say_moved(struct telling *t, const char *name, const char *was, const char *is,
		      const struct added *log)
{
	size_t back = taken_back(log->before, was, is);
	const char *message = log->last.message;
	int len = (int)MIN(log->last.len, (size_t)200);

	if (back)
		say(t, "%s: %s -> %s, %zu commit%s taken back", name, was, is, back, plural(back));
	else if (log->lines > 1 && log->commits == log->lines)
		say(t, "%s: %s -> %s, %zu commits", name, was, is, log->commits);
	else if (str_starts(message, "commit: "))
		say(t, "%s: %s -> %s, 1 commit: %.*s", name, was, is, len - 8, message + 8);
	else if (len)
		say(t, "%s: %s -> %s, %.*s", name, was, is, len, message);
	else
		say(t, "%s: %s -> %s", name, was, is);
}

static void tell_branch(struct telling *t, const struct change *c, const char *ref,
			const char *name, const char *kind)
{
	AUTO_FREE char *before = text_of(t, c, false, REF_BYTES);
	AUTO_FREE char *after = text_of(t, c, true, REF_BYTES);
	char was[SHORT_HEX + 1], is[SHORT_HEX + 1];
	struct added log;

	take_hex(was, before);
	take_hex(is, after);
	read_added(t, log_of(t, c, ref), &log);
	if (*was && *is && !str_eq(was, is))
		say_moved(t, name, was, is, &log);
	else if (*is && !*was && str_starts(log.last.message, "commit (initial): "))
		say(t, "%s: first commit: %.*s", name, (int)MIN(log.last.len - 18, (size_t)200),
		    log.last.message + 18);
	else if (*is && !*was && log.before) /* it was in the packed refs */
		say_moved(t, name, log.last.was, is, &log);
	else if (*is && !*was)
		say(t, "new %s %s at %s", kind, name, is);
	else if (*was && !c->after.exists)
		say(t, "%s %s gone, it was at %s", kind, name, was);
	added_done(&log);
}

/* Writes "HEAD: main -> feature". */
static void name_head(const char *text, char *out, size_t size)
{
	char hex[SHORT_HEX + 1];

	take_hex(hex, text);
	if (text && str_starts(text, "ref: refs/heads/"))
		snprintf(out, size, "%.*s", (int)strcspn(text + 16, "\n"), text + 16);
	else
		snprintf(out, size, "%s", *hex ? hex : "?");
}

static void tell_head(struct telling *t, const struct change *c)
{
	AUTO_FREE char *before = text_of(t, c, false, REF_BYTES);
	AUTO_FREE char *after = text_of(t, c, true, REF_BYTES);
	char was[160], is[160];

	name_head(before, was, sizeof(was));
	name_head(after, is, sizeof(is));
	if (!before && after)
		say(t, "new repository, on %s", is);
	else if (before && after && !str_eq(was, is))
		say(t, "HEAD: %s -> %s%s", was, is, str_starts(after, "ref: ") ? "" : ", detached");
	t->moved = true;
}

static void read_reset(struct telling *t, const struct change *log)
{
	struct added a;

	read_added(t, log, &a);
	t->reset |= str_starts(a.last.message, "reset: ");
	added_done(&a);
}

static void tell_stash(struct telling *t, const struct change *log)
{
	struct reflog_line last = {.message = ""};
	struct added a;

	read_added(t, log, &a);
	for (const char *at = a.before; at && next_line(&at, &last);)
		;
	if (a.lines)
		say(t, "stashed: %.*s", (int)MIN(a.last.len, (size_t)200), a.last.message);
	else if (a.lost == 1)
		say(t, "stash dropped: %.*s", (int)MIN(last.len, (size_t)200), last.message);
	else if (a.lost)
		say(t, "%zu stashes dropped", a.lost);
	t->moved = true;
	added_done(&a);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void tell_ref(struct telling *t, const struct change *c, const char *rest)
{
	static const struct {
		const char *dir, *kind;
		bool moves;
	} dirs[] = {{"refs/heads/", "branch", true},
		    {"refs/tags/", "tag", false},
		    {"refs/remotes/", "remote branch", false}};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		if (!str_starts(rest, dirs[i].dir) || t->refs++ > REFS_MAX)
			continue;
		tell_branch(t, c, rest, rest + strlen(dirs[i].dir), dirs[i].kind);
		t->moved |= dirs[i].moves && c->before.exists && c->after.exists;
	}
}

/* Adds the state of an operation of several commands: "merge begun". */
static void tell_state(struct telling *t, const struct change *c, const char *rest)
{
	static const char *const states[][2] = {{"MERGE_HEAD", "merge"},
						{"CHERRY_PICK_HEAD", "cherry-pick"},
						{"REVERT_HEAD", "revert"},
						{"REBASE_HEAD", "rebase: conflict"}};

	for (size_t i = 0; i < ARRAY_LEN(states); i++)
		if (str_eq(rest, states[i][0]) && c->before.exists != c->after.exists)
			say(t, "%s %s", states[i][1], c->after.exists ? "begun" : "over");
}

/* Returns whether the step wrote this path of the folder, or this object. */
static bool wrote(const struct telling *t, const struct change *index, const char *path)
{
	size_t dir = strlen(index->path) - strlen("index");

	for (size_t i = 0; i < t->n; i++) {
		const struct change *c = &t->list[i];

		if (c->root == index->root && strncmp(c->path, index->path, dir) == 0 &&
		    str_eq(c->path + dir, path))
			return true;
	}
	return false;
}

static bool wrote_object(const struct telling *t, const struct change *index,
			 const struct index_change *x)
{
	char path[sizeof("objects/") + 2 * sizeof(x->object) + 1];
	size_t at = (size_t)snprintf(path, sizeof(path), "objects/");

	for (size_t i = 0; i < x->hash; i++)
		at += (size_t)snprintf(path + at, sizeof(path) - at, i ? "%02x" : "%02x/",
				       x->object[i]);
	return x->hash && wrote(t, index, path);
}

/* Describes changed entries of the index: a blob that the step wrote is staged; an entry that
 * returns to an older blob is unstaged, as by git reset. */
static void tell_index(struct telling *t, const struct change *c, const char *rest)
{
	AUTO_FREE char *before = NULL, *after = NULL;
	size_t before_len = 0, after_len = 0;
	AUTO_BUF struct buf names = BUF_INIT;
	struct index_change x;

	if (!str_eq(rest, "index") || t->moved)
		return;
	before = side_of(t, c, false, DIFF_MAX_BYTES, &before_len);
	after = side_of(t, c, true, DIFF_MAX_BYTES, &after_len);
	if (!after || !index_compare(&x, before, before_len, after, after_len))
		return;
	for (size_t i = 0; i < MIN(x.n, (size_t)INDEX_NAMES); i++)
		buf_fmt(&names, "%s%s", i ? ", " : "", x.names[i]);
	if (!x.n && !t->words->n)
		say(t, "index: no file differs");
	else if (x.n)
		say(t, "index: %zu file%s %s: %s%s", x.n, plural(x.n),
		    x.gone == x.n			  ? "taken out"
		    : t->reset || !wrote_object(t, c, &x) ? "unstaged"
							  : "staged",
		    names.data, x.n > INDEX_NAMES ? " ..." : "");
	index_change_done(&x);
}

static void tell_all(struct telling *t,
		     void (*tell)(struct telling *t, const struct change *c, const char *rest))
{
	for (size_t i = 0; i < t->n; i++) {
		const char *rest = diff_below_git(t->list[i].path);

		if (rest && !str_ends(rest, ".lock"))
			tell(t, &t->list[i], rest);
	}
}

static void tell_other(struct telling *t, const struct change *c, const char *rest)
{
	if (str_eq(rest, "HEAD"))
		tell_head(t, c);
	else if (str_eq(rest, "logs/HEAD"))
		read_reset(t, c);
	else if (str_eq(rest, "logs/refs/stash"))
		tell_stash(t, c);
	else
		tell_state(t, c, rest);
}

void git_words_add(struct git_words *w, struct journal *j, int64_t step, const struct change *list,
		   size_t n)
{
	struct telling t = {.words = w, .journal = j, .step = step, .list = list, .n = n};

	tell_all(&t, tell_ref);
	tell_all(&t, tell_other);
	tell_all(&t, tell_index);
}

static void add_step(struct git_words *w, struct journal *j, int64_t step)
{
	struct change *list = NULL;
	struct err err = {0};
	size_t n = 0;

	if (journal_changes(j, step, &list, &n, &err) == 0)
		git_words_add(w, j, step, list, n);
	change_free(list, n);
}

/* Returns the index of a step in a list. */
static size_t place_of(const int64_t *list, size_t n, int64_t id, size_t else_at)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == id)
			return i;
	return else_at;
}

void git_words_range(struct git_words *w, struct journal *j, int64_t from, int64_t to, bool newest)
{
	AUTO_FREE int64_t *list = NULL;
	struct err err = {0};
	size_t n = 0, first, last;

	if (from && from == to) { /* it may be an undone step */
		add_step(w, j, from);
		return;
	}
	if (journal_ids(j, false, &list, &n, &err) < 0 || !n)
		return;
	first = newest ? 0 : place_of(list, n, from, n - 1);
	last = place_of(list, n, to, 0);
	for (size_t i = MAX(first, last) + 1; i-- > MIN(first, last);)
		add_step(w, j, list[i]);
}

void git_words_done(struct git_words *w)
{
	for (size_t i = 0; i < w->n; i++)
		free(w->list[i]);
	*w = (struct git_words){0};
}
