/* section_writes - writing in a profile: an allow list, and denials of renames around it. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "backends/macos/profile/profile_priv.h"
#include "backends/macos/profile/regex.h"
#include "core/base/path.h"
#include "core/policy/rules/pattern.h"

void section_writes(struct build *b)
{
	sbpl_comment(b->s, "Writes: the working folders and temporary directories");
	if (!*b->folders && !*b->temp)
		return;
	sbpl_allow(b->s, OPS_WRITE);
	put_subpaths(b, b->folders);
	put_subpaths(b, b->temp);
	sbpl_end(b->s);
}

/* ---- places where names are protected -------------------------------------------------------- */

/*
 * Adds a place. A directory can be renamed from any of these places to any other, so a name that is
 * protected in one of them is protected in all. For a rule with wildcards the place is the
 * directory before them.
 */
static void add_root(struct buf *roots, const char *path)
{
	buf_ch(roots, roots->len ? '|' : '(');
	if (path[1])
		regex_quote(roots, path, strlen(path));
}

static void add_roots(struct buf *roots, char *const *list)
{
	for (; *list; list++)
		add_root(roots, *list);
}

static void add_line_root(struct buf *roots, const char *text)
{
	struct pattern p = PATTERN_INIT;
	AUTO_BUF struct buf base = BUF_INIT;
	const char *why;

	if (pattern_parse(&p, text, &why)) {
		pattern_base(&p, &base);
		add_root(roots, base.data);
	}
	pattern_done(&p);
}

void find_roots(struct build *b)
{
	add_roots(&b->roots, b->folders);
	add_roots(&b->roots, b->temp);
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct policy_line *l = &b->lines[i];

		if (l->rule->verdict == RULE_ALLOW && l->rule->kinds & 1u << RULE_WRITE)
			add_line_root(&b->roots, l->pattern);
	}
	if (b->roots.len)
		buf_ch(&b->roots, ')');
}

/* ---- renames of directories above closed places ---------------------------------------------- */

/* A rename of a directory above a closed place would move it to a path that no rule names. */
#define OPS_RENAME "file-write-unlink file-write-create"

/* Writes "^/a(/b(/c)?)?$", which matches all directories above /a/b/c/d. */
static void put_ways(struct build *b, const char *path)
{
	AUTO_BUF struct buf re = BUF_INIT;
	size_t open = 0;

	buf_ch(&re, '^');
	for (const char *at = path; *at == '/' && strchr(at + 1, '/');) {
		size_t n = strcspn(at + 1, "/");

		if (open++)
			buf_ch(&re, '(');
		buf_ch(&re, '/');
		regex_quote(&re, at + 1, n);
		at += 1 + n;
	}
	if (!open)
		return;
	while (--open)
		buf_str(&re, ")?");
	buf_ch(&re, '$');
	sbpl_regex(b->s, re.data);
}

/* Writes the same for a pattern: each leading part that ends in a name. */
static void put_pattern_ways(struct build *b, const char *text)
{
	struct pattern p = PATTERN_INIT;
	AUTO_BUF struct buf way = BUF_INIT;
	AUTO_BUF struct buf re = BUF_INIT;
	const char *why;
	size_t n = 0;

	if (pattern_parse(&p, text, &why) && p.n)
		n = p.n - !p.min; /* the pattern's own paths are denied anyway */
	for (size_t i = 0; i < n; i++) {
		buf_ch(&way, '/');
		buf_add(&way, p.text.data + p.parts[i].from, p.parts[i].len);
		buf_clear(&re);
		if (!p.parts[i].deep && regex_pattern(&re, way.data, REGEX_WIDE))
			sbpl_regex(b->s, re.data);
	}
	pattern_done(&p);
}

static void put_lines_ways(struct build *b, const struct policy_line *list, size_t n)
{
	const unsigned kinds = 1u << RULE_WRITE | 1u << RULE_READ;

	for (size_t i = 0; i < n; i++)
		if (list[i].rule->verdict != RULE_ALLOW && list[i].rule->kinds & kinds &&
		    !(b->spec->gate && list[i].rule->verdict == RULE_ASK &&
		      !(list[i].rule->kinds & 1u << RULE_READ)))
			put_pattern_ways(b, list[i].pattern);
}

static bool is_beside(const char *a, const char *b)
{
	size_t n = (size_t)(path_base(a) - a);

	return n == (size_t)(path_base(b) - b) && strncmp(a, b, n) == 0;
}

void section_ways(struct build *b)
{
	const char *const *list, *path;
	size_t n = policy_hidden(b->policy, &list);

	sbpl_comment(b->s, "Directories above what is closed keep their names");
	sbpl_deny(b->s, OPS_RENAME);
	sbpl_literal(b->s, "/");
	for (size_t i = 0; i < n; i++)
		if (!i || !is_beside(list[i], list[i - 1]))
			put_ways(b, list[i]);
	for (size_t i = 0; (path = policy_guarded_at(b->policy, i)); i++)
		put_ways(b, path);
	for (char *const *f = b->folders; *f; f++)
		put_ways(b, *f);
	put_lines_ways(b, b->lines, b->n_lines);
	put_lines_ways(b, b->untrusted, b->n_untrusted);
	sbpl_end(b->s);
	sbpl_deny(b->s, OPS_RENAME);
	sbpl_literal(b->s, "/");
	for (char *const *f = b->folders; *f; f++)
		sbpl_literal(b->s, *f);
	for (char *const *t = b->temp; *t; t++)
		sbpl_literal(b->s, *t);
	sbpl_end(b->s);
}
