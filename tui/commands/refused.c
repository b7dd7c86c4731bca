/* refused - what a run without a human was not let read or run, told once a tree, with the remedy.
 */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/refused.h"

#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/policy/policy.h"

/* Below $HOME: what holds the folders of many programs, secret ones too. */
static const char *const shared[] = {".cache", ".config", ".local/share", ".local/state", ".local"};

static size_t components(const char *path, size_t n)
{
	const char *at = path;

	for (; n > 0 && *at; n--) {
		at += *at == '/';
		at += strcspn(at, "/");
	}
	return (size_t)(at - path);
}

/* What to grant: a project, a program's folder; never a whole home or a disk. Heap. */
static char *pattern_of(const char *path, const char *home)
{
	const char *rest = path_below(path, home);
	bool in_home = rest && *rest;
	const char *from = in_home ? rest : path;
	size_t len = components(from, in_home ? 1 : 2);

	if (!in_home && len < strlen(path) && strncmp(home, path, len) == 0 &&
	    (home[len] == '/' || !home[len]))
		len = strlen(path);
	for (size_t i = 0; in_home && i < ARRAY_LEN(shared); i++)
		if (path_is_beneath(from, shared[i])) {
			len = components(from,
					 components(shared[i], 1) < strlen(shared[i]) ? 3 : 2);
			break;
		}
	return xasprintf("%s%.*s%s", in_home ? "~/" : "", (int)len, from, from[len] ? "/**" : "");
}

static void count(struct refused *r, const struct row *row, const char *home)
{
	AUTO_FREE char *pattern = pattern_of(row->text, home);
	bool runs = str_eq(row->op, "exec");
	size_t i = 0;

	while (i < r->n && !str_eq(r->list[i].pattern, pattern))
		i++;
	if (i == REFUSED_MAX) {
		r->beyond++;
		return;
	}
	if (i == r->n)
		r->list[r->n++] = (struct refused_tree){.pattern = take_ptr(&pattern)};
	r->list[i].places++;
	r->list[i].runs |= runs;
}

void refused_note(struct refused *r, const struct model *m, const char *home)
{
	size_t i = m->row_count;
	const struct row *row;

	while (i > 0 && model_row(m, i - 1)->seq > r->seen)
		i--;
	for (; (row = model_row(m, i)); i++) {
		r->seen = row->seq;
		if (row->kind == ROW_DENY && str_eq(row->more, policy_ungranted) &&
		    (str_eq(row->op, "read") || str_eq(row->op, "exec")))
			count(r, row, home);
	}
}

void refused_words(const struct refused *r, struct buf *out)
{
	for (size_t i = 0; i < r->n; i++) {
		const struct refused_tree *t = &r->list[i];
		AUTO_BUF struct buf shown = BUF_INIT;

		text_escape(&shown, t->pattern, strlen(t->pattern));
		buf_fmt(out,
			"cordon: reading %s was refused (%zu place%s): no rule grants it and "
			"nobody can be asked: say allow = %s %s in a [rule], or run cordon learn\n",
			shown.data, t->places, t->places == 1 ? "" : "s",
			t->runs ? "read,exec" : "read", shown.data);
	}
	if (r->beyond)
		buf_fmt(out, "cordon: %zu more places were refused: see cordon audit\n", r->beyond);
}

void refused_done(struct refused *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->list[i].pattern);
	*r = (struct refused){0};
}
