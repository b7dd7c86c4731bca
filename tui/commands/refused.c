/* refused - what a run without a human was not let read, run or write, told once a tree, with the
 * remedy. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/refused.h"

#include <errno.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"
#include "core/policy/glob.h"
#include "core/policy/policy.h"
#include "core/policy/rules.h"

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

/* A pattern for this path: a name may hold what means something in a pattern. Heap. */
static char *quoted(bool in_home, const char *path, size_t len, const char *tail)
{
	AUTO_FREE char *part = xstrndup(path, len);
	struct buf b = BUF_INIT;

	buf_str(&b, in_home ? "~/" : "");
	glob_quote(&b, part);
	buf_str(&b, tail);
	return buf_take(&b);
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
	return quoted(in_home, from, len, from[len] ? "/**" : "");
}

/* What is protected, or a profile asks about, is opened one by one, with what may run it in view; a
 * rule about more would not count there either. */
static char *write_pattern_of(const struct row *row, const char *home)
{
	const char *below = path_below(row->text, home);

	if (row->result == -EROFS && str_eq(row->more, policy_ungranted))
		return pattern_of(row->text, home);
	if (below && *below)
		return quoted(true, below, strlen(below), "");
	return quoted(false, row->text, strlen(row->text), "");
}

static bool is_same(const struct refused_tree *t, const char *pattern, const char *why)
{
	return str_eq(t->pattern, pattern) && !t->why == !why;
}

/* why: it was not written; borrowed. */
static void count(struct refused *r, char *pattern, const char *why, bool runs)
{
	size_t i = 0;

	while (i < r->n && !is_same(&r->list[i], pattern, why))
		i++;
	if (i == REFUSED_MAX) {
		r->beyond++;
		free(pattern);
		return;
	}
	if (i == r->n)
		r->list[r->n++] = (struct refused_tree){.pattern = xstrdup(pattern),
							.why = why ? xstrdup(why) : NULL};
	r->list[i].places++;
	r->list[i].runs |= runs;
	free(pattern);
}

/* One name, looked up and then dialled, is told once: with the port, where that is known. kind:
 * static. */
static void count_host(struct refused *r, const struct row *row, const char *kind)
{
	size_t len = strlen(row->text);

	for (size_t i = 0; i < r->n; i++) {
		struct refused_tree *t = &r->list[i];

		if (str_eq(t->host, kind) && strncmp(t->pattern, row->text, len) == 0 &&
		    (!t->pattern[len] || t->pattern[len] == ':')) {
			t->places++;
			return;
		}
	}
	if (r->n == REFUSED_MAX) {
		r->beyond++;
		return;
	}
	r->list[r->n++] = (struct refused_tree){.pattern = xstrdup(row->text),
						.why = xstrdup(row->more ? row->more : ""),
						.places = 1,
						.host = kind};
}

/* The kind of rule that speaks of this host; NULL: it is a path. Static. */
static const char *host_kind(const struct row *row)
{
	static const char *const kinds[] = {"connect", "credentials", "sign"};

	for (size_t i = 0; i < ARRAY_LEN(kinds) && row->text[0] != '/'; i++)
		if (str_eq(row->op, kinds[i]))
			return kinds[i];
	return NULL;
}

/* Nobody is asked about one. */
static bool is_listening(const struct row *row)
{
	return (str_eq(row->op, "bind") || str_eq(row->op, "listen")) && *row->text &&
	       row->text[0] != '/' && row->more;
}

static void note_row(struct refused *r, const struct row *row, const char *home)
{
	if (row->kind != ROW_DENY)
		return;
	if (is_listening(row))
		count_host(r, row, "bind");
	else if (row->unasked && host_kind(row))
		count_host(r, row, host_kind(row));
	else if (row->unasked)
		count(r, write_pattern_of(row, home), row->more ? row->more : "", false);
	else if (str_eq(row->more, policy_ungranted) &&
		 (str_eq(row->op, "read") || str_eq(row->op, "exec")))
		count(r, pattern_of(row->text, home), NULL, str_eq(row->op, "exec"));
}

void refused_note(struct refused *r, const struct model *m, const char *home)
{
	size_t i = m->row_count;
	const struct row *row;

	while (i > 0 && model_row(m, i - 1)->seq > r->seen)
		i--;
	for (; (row = model_row(m, i)); i++) {
		r->seen = row->seq;
		note_row(r, row, home);
	}
}

static const char *host_words(const char *kind)
{
	for (int k = RULE_PLACES; k < RULE_KINDS; k++)
		if (str_eq(kind, rule_kind_words[k]))
			return rule_kind_gerunds[k];
	return rule_kind_gerunds[RULE_CONNECT];
}

static void tell(const struct refused_tree *t, struct buf *out)
{
	AUTO_BUF struct buf shown = BUF_INIT, why = BUF_INIT;

	text_escape(&shown, t->pattern, strlen(t->pattern));
	if (t->why)
		text_escape(&why, t->why, strcspn(t->why, ";"));
	if (str_eq(t->host, "bind")) {
		buf_fmt(out, "cordon: listening at %s was refused: %s\n", shown.data, why.data);
		return;
	}
	if (t->host) {
		buf_fmt(out, "cordon: %s %s was refused: %s, and nobody can be asked\n",
			host_words(t->host), shown.data, why.data);
		return;
	}
	buf_fmt(out, "cordon: %s %s was refused (%zu place%s): %s, and nobody can be asked\n",
		t->why ? "writing" : "reading", shown.data, t->places, t->places == 1 ? "" : "s",
		t->why ? why.data : "no rule grants it");
}

/* A control character that a settings file cannot say, or a terminal would obey. */
static bool can_be_said(const char *pattern)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	text_escape(&shown, pattern, strlen(pattern));
	return str_eq(shown.data, pattern);
}

static bool add_rule(const struct refused_tree *t, struct buf *out)
{
	const char *kinds = t->host ? t->host : t->why ? "write" : t->runs ? "read,exec" : "read";
	AUTO_BUF struct buf value = BUF_INIT;

	if (!can_be_said(t->pattern))
		return false;
	buf_fmt(&value, "%s %s", kinds, t->pattern);
	rules_line(out, "allow", value.data);
	return true;
}

void refused_words(const struct refused *r, struct buf *out)
{
	AUTO_BUF struct buf rules = BUF_INIT;
	bool any = false;

	for (size_t i = 0; i < r->n; i++)
		tell(&r->list[i], out);
	if (r->beyond)
		buf_fmt(out, "cordon: %zu more places were refused: see cordon audit\n", r->beyond);
	for (size_t i = 0; i < r->n; i++)
		any |= add_rule(&r->list[i], &rules);
	if (any)
		buf_fmt(out,
			"cordon: what should be allowed of it, to paste into "
			"~/.config/cordon/config:\n[rule \"refused before\"]\n%s",
			rules.data);
}

void refused_done(struct refused *r)
{
	for (size_t i = 0; i < r->n; i++)
		free(r->list[i].pattern), free(r->list[i].why);
	*r = (struct refused){0};
}
