/* learned - turns the requests of a run into rules for the user to review. */
/* SPDX-License-Identifier: MIT */
#include "core/session/answers/learned.h"

#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/policy/rules/rules.h"

/* The number of files of one directory that stand for the whole directory. */
#define MANY 4

struct place { /* a place that was requested */
	char *path;
	enum rule_kind kind;
	bool is_dir, allowed, secret, no_tree;
};

struct learned {
	char *home, *command;
	struct place *list;
	size_t n, cap, beyond;
};

struct learned *learned_new(const char *home, const char *command)
{
	struct learned *l = xcalloc(1, sizeof(*l));

	l->home = xstrdup(home);
	l->command = xstrdup(command);
	return l;
}

void learned_free(struct learned *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i].path);
	free(l->list);
	free(l->home);
	free(l->command);
	free(l);
}

bool learned_allows(const struct ask *ask)
{
	return !ask->held && !ask->secret && (ask->kind == RULE_READ || ask->kind == RULE_EXEC);
}

void learned_note(struct learned *l, const struct ask *ask)
{
	if (ask->held)
		return;
	if (l->n == LEARNED_MAX) {
		l->beyond++;
		return;
	}
	if (l->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		l->list = xrealloc(l->list, l->cap * sizeof(*l->list));
	}
	l->list[l->n++] = (struct place){.path = xstrdup(ask->path),
					 .kind = ask->kind,
					 .is_dir = ask->is_dir,
					 .allowed = learned_allows(ask),
					 .secret = ask->secret,
					 .no_tree = ask->no_tree};
}

size_t learned_count(const struct learned *l)
{
	return l->n + l->beyond;
}

/* ---- rules -------------------------------------------------------------------------------------
 */

static int rank(char c)
{
	return c == '/' ? 1 : c ? 2 + (unsigned char)c : 0;
}

/* Orders by kind, then by path as a walk does: what is inside a directory follows it. */
static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	size_t i = 0;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	while (x->path[i] && x->path[i] == y->path[i])
		i++;
	return rank(x->path[i]) - rank(y->path[i]);
}

static void sort_once(struct learned *l)
{
	size_t n = 0;

	if (l->n == 0)
		return;
	qsort(l->list, l->n, sizeof(*l->list), by_place);
	for (size_t i = 1; i < l->n; i++) {
		if (by_place(&l->list[n], &l->list[i]) == 0) {
			l->list[n].allowed &= l->list[i].allowed;
			free(l->list[i].path);
		} else {
			l->list[++n] = l->list[i];
		}
	}
	l->n = n + 1;
}

static size_t parent_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash > path ? (size_t)(slash - path) : 1;
}

/* Returns the place's directory, or the place if it is one, if enough of its files were allowed and
 * a tree may be offered; heap. */
static char *whole_directory(const struct learned *l, size_t at)
{
	const struct place *p = &l->list[at];
	size_t len = p->is_dir ? strlen(p->path) : parent_len(p->path), files = 0;
	bool open = !p->no_tree;

	for (size_t i = 0; i < l->n; i++) {
		const struct place *o = &l->list[i];

		if (o->is_dir || parent_len(o->path) != len || strncmp(o->path, p->path, len) != 0)
			continue;
		files += o->allowed && o->kind == p->kind;
		open &= !o->no_tree;
	}
	return open && files >= MANY ? xstrndup(p->path, len) : NULL;
}

/* Adds a rule, with "~/x" for a path in the home folder. Frees the pattern. */
static void add_rule(const struct learned *l, struct buf *out, enum rule_kind kind, char *pattern)
{
	const char *rest = path_below(pattern, l->home);
	AUTO_FREE char *value =
		xasprintf("%s %s%s", kind == RULE_EXEC ? "read,exec" : rule_kind_words[kind],
			  rest && *rest ? "~/" : "", rest && *rest ? rest : pattern);

	rules_line(out, "allow", value);
	free(pattern);
}

static void add_answer(const struct learned *l, struct buf *out, const struct place *p,
		       const char *object, enum answer_extent extent)
{
	char *patterns[2];

	answer_patterns(object, extent, patterns);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (patterns[i])
			add_rule(l, out, p->kind, patterns[i]);
}

/* Adds a rule for a place. Returns the first place that the rule does not cover. */
static size_t add_place(const struct learned *l, struct buf *out, size_t i)
{
	const struct place *p = &l->list[i];
	AUTO_FREE char *whole = whole_directory(l, i);
	AUTO_FREE char *object =
		xasprintf("%s%s", whole ? whole : p->path, whole || p->is_dir ? "/" : "");
	size_t next = i + 1;

	/* A listed directory: its names, but not what is in it. */
	add_answer(l, out, p, object, whole ? EXTENT_TREE : EXTENT_EXACT);
	while (whole && next < l->n && l->list[next].kind == p->kind &&
	       path_is_beneath(l->list[next].path, whole))
		next++;
	return next;
}

static void add_comment(struct buf *out, const struct place *p)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, p->path, strlen(p->path));
	buf_fmt(out, ";   %s %s%s\n", rule_kind_words[p->kind], shown.data,
		p->secret && p->kind != RULE_UNIX ? "   (secret by its name)" : "");
}

void learned_rules(struct learned *l, struct buf *out)
{
	AUTO_BUF struct buf name = BUF_INIT;
	size_t refused = 0;
	char when[32];

	sort_once(l);
	clock_iso(when, clock_wall_us());
	text_escape(&name, l->command, strlen(l->command));
	buf_fmt(out,
		"; What %s asked for on %s.\n"
		"; Take out what it should not have; then append the rest to your own settings.\n",
		name.data, when);
	buf_fmt(out, "[rule \"learned on %s\"]\n", when);
	for (size_t i = 0; i < l->n;)
		i = l->list[i].allowed ? add_place(l, out, i) : i + 1;
	for (size_t i = 0; i < l->n; i++) {
		if (l->list[i].allowed)
			continue;
		if (!refused++)
			buf_str(out, "; Refused meanwhile, and not proposed:\n");
		add_comment(out, &l->list[i]);
	}
	if (l->beyond)
		buf_fmt(out, "; %zu more places were asked for than are listed here.\n", l->beyond);
}
