/* section_lines - rules, and the built-in lists that rules may loosen, as rules of a profile. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/profile/profile_priv.h"

#include <string.h>

#include "backends/macos/profile/regex.h"
#include "core/base/path.h"
#include "core/policy/rules/pattern.h"

#define KIND(k) (1u << (k))
#define READS	(KIND(RULE_READ) | KIND(RULE_EXEC))

/* ---- one line -------------------------------------------------------------------------------- */

static bool allows(const struct policy_line *l)
{
	return l->rule->verdict == RULE_ALLOW;
}

/* Returns the rule's path without its backslashes. Heap; NULL: the rule has wildcards. */
static char *plain_path(const struct policy_line *l, bool *ret_tree)
{
	struct pattern p = PATTERN_INIT;
	AUTO_BUF struct buf path = BUF_INIT;
	const char *why;
	bool good = pattern_parse(&p, l->pattern, &why) && p.plain && !p.min && p.n;

	*ret_tree = p.max == PATTERN_ANY;
	for (size_t i = 0; good && i < p.n; i++) {
		buf_ch(&path, '/');
		buf_add(&path, pattern_literal(&p, &p.parts[i]), p.parts[i].shape.literals);
	}
	pattern_done(&p);
	return good ? buf_take(&path) : NULL;
}

static void put_wide(struct build *b, const struct policy_line *l)
{
	AUTO_BUF struct buf re = BUF_INIT;

	if (regex_pattern(&re, l->pattern, REGEX_WIDE))
		sbpl_regex(b->s, re.data);
}

/* Writes an exact filter for the line. Returns false, and writes nothing, if there is none. */
static bool put_exact(struct build *b, const struct policy_line *l)
{
	AUTO_BUF struct buf re = BUF_INIT;
	bool tree;
	AUTO_FREE char *path = plain_path(l, &tree);

	if (path && tree)
		sbpl_subpath(b->s, path);
	else if (path)
		sbpl_literal(b->s, path);
	else if (regex_pattern(&re, l->pattern, REGEX_EXACT))
		sbpl_regex(b->s, re.data);
	else
		return false;
	return true;
}

/* Writes the allow rule. It is left out if Seatbelt cannot express its filter exactly. */
static void put_allowing(struct build *b, const struct policy_line *l, const char *operations)
{
	size_t start = b->s->text.len;

	sbpl_allow(b->s, operations);
	if (put_exact(b, l)) {
		sbpl_end(b->s);
		return;
	}
	buf_truncate(&b->s->text, start);
	b->skipped++;
}

static void put_denying(struct build *b, const struct policy_line *l, const char *operations)
{
	sbpl_deny(b->s, operations);
	put_wide(b, l);
	sbpl_end(b->s);
}

/* Returns whether the profile may leave this write open, because a client of Endpoint Security
 * holds it. The client does not ask about reads. */
static bool is_left_open(const struct build *b, const struct policy_line *l)
{
	return b->spec->gate && l->rule->verdict == RULE_ASK;
}

/* ---- reads ----------------------------------------------------------------------------------- */

static const char *denied_reads(const struct policy_line *l)
{
	bool hide = l->rule->verdict == RULE_HIDE;

	switch (l->rule->kinds & READS) {
	case KIND(RULE_READ):
		return hide ? "file-read*" : OPS_CONTENT;
	case KIND(RULE_EXEC):
		return "process-exec*";
	default:
		return hide ? "file-read* process-exec*" : OPS_CONTENT " process-exec*";
	}
}

static const char *allowed_reads(const struct policy_line *l)
{
	switch (l->rule->kinds & READS) {
	case KIND(RULE_READ):
		return "file-read*";
	case KIND(RULE_EXEC):
		return "process-exec*";
	default:
		return "file-read* process-exec*";
	}
}

/* Closes a gated tree, except for paths that are open without a rule. */
static void put_gate(struct build *b, const char *gate)
{
	const char *const *usual;
	size_t n = policy_usual(b->policy, &usual), n_open = 0;

	sbpl_deny(b->s, OPS_CONTENT " process-exec*");
	sbpl_open(b->s, "require-all");
	sbpl_subpath(b->s, gate);
	sbpl_open(b->s, "require-not");
	sbpl_open(b->s, "require-any");
	for (char *const *f = b->folders; *f; f++, n_open++)
		sbpl_subpath(b->s, *f);
	for (char *const *t = b->temp; *t; t++, n_open++)
		sbpl_subpath(b->s, *t);
	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(usual[i], gate) && ++n_open)
			sbpl_subpath(b->s, usual[i]);
	if (!n_open)
		sbpl_literal(b->s, "/dev/null");
	sbpl_close(b->s);
	sbpl_close(b->s);
	sbpl_close(b->s);
	sbpl_end(b->s);
}

/* Writes built-in lists of these depths, before rules of the same depth. */
static void put_builtin(struct build *b, unsigned from, unsigned to, bool writes)
{
	const char *const *list;
	size_t n_uncoverable, n_final, n = policy_gated(b->policy, &list);

	for (size_t i = 0; !writes && i < n; i++)
		if (path_depth(list[i]) >= from && path_depth(list[i]) < to)
			put_gate(b, list[i]);
	policy_hidden_parts(b->policy, &n_uncoverable, &n_final);
	policy_hidden(b->policy, &list);
	for (size_t i = 0; i < n_uncoverable; i++) {
		if (path_depth(list[i]) < from || path_depth(list[i]) >= to)
			continue;
		sbpl_deny(b->s, writes ? OPS_WRITE : "file-read* process-exec*");
		sbpl_subpath(b->s, list[i]);
		sbpl_end(b->s);
	}
}

static unsigned depth_of(const struct policy_line *l)
{
	return l->deep && !allows(l) ? UINT32_MAX : l->depth;
}

static void put_line(struct build *b, const struct policy_line *l, bool writes)
{
	if (writes && is_left_open(b, l))
		return;
	if (!allows(l))
		put_denying(b, l, writes ? OPS_WRITE : denied_reads(l));
	else if (!writes || l->depth > 0) /* no rule opens all of / for writing */
		put_allowing(b, l, writes ? OPS_WRITE : allowed_reads(l));
	else
		b->skipped++;
}

static void put_lines(struct build *b, unsigned kinds, bool writes)
{
	unsigned done = 0;

	for (size_t i = 0; i < b->n_lines; i++) {
		const struct policy_line *l = &b->lines[i];
		unsigned depth = depth_of(l);

		if (l->final || !(l->rule->kinds & kinds))
			continue;
		if (depth >= done) {
			unsigned next = depth == UINT32_MAX ? depth : depth + 1;

			put_builtin(b, done, next, writes);
			done = next;
		}
		put_line(b, l, writes);
	}
	put_builtin(b, done, UINT32_MAX, writes);
}

void section_read_lines(struct build *b)
{
	sbpl_comment(b->s, "Reads: rules, and what is hidden or asked about; the nearer the later");
	put_lines(b, READS, false);
}

/* ---- writes ---------------------------------------------------------------------------------- */

void section_write_lines(struct build *b)
{
	sbpl_comment(b->s, "Writes: rules, the nearer the later");
	put_lines(b, KIND(RULE_WRITE), true);
}

/* Returns the directory before each pattern's wildcards. */
static char **bases_of(const struct policy_line *list, size_t n)
{
	char **bases = xcalloc(n + 1, sizeof(*bases));
	struct pattern p = PATTERN_INIT;

	for (size_t i = 0; i < n; i++) {
		AUTO_BUF struct buf base = BUF_INIT;
		const char *why;

		if (pattern_parse(&p, list[i].pattern, &why))
			pattern_base(&p, &base);
		bases[i] = buf_take(&base);
	}
	pattern_done(&p);
	return bases;
}

static bool may_meet(const char *a, const char *b)
{
	return path_is_beneath(a, b) || path_is_beneath(b, a);
}

/*
 * Denies writing of paths in a folder that the agent may not read: a write could reveal them. A
 * later allow line overrides this.
 */
static void put_unreadable(struct build *b, const struct policy_line *list, size_t n, size_t at,
			   char *const *bases)
{
	bool some = false;

	sbpl_deny(b->s, OPS_WRITE);
	sbpl_open(b->s, "require-all");
	put_wide(b, &list[at]);
	sbpl_open(b->s, "require-any");
	put_subpaths(b, b->folders);
	sbpl_close(b->s);
	for (size_t i = at + 1; !list[at].final && i < n; i++) {
		if (!allows(&list[i]) || !(list[i].rule->kinds & KIND(RULE_READ)) ||
		    !may_meet(bases[i], bases[at]))
			continue;
		if (!some) {
			sbpl_open(b->s, "require-not");
			sbpl_open(b->s, "require-any");
			sbpl_literal(b->s, "/dev/null");
			some = true;
		}
		(void)!put_exact(b, &list[i]);
	}
	if (some) {
		sbpl_close(b->s);
		sbpl_close(b->s);
	}
	sbpl_close(b->s);
	sbpl_end(b->s);
}

static void put_unreadables(struct build *b, const struct policy_line *list, size_t n)
{
	char **bases = bases_of(list, n);

	for (size_t i = 0; *b->folders && i < n; i++)
		if (!allows(&list[i]) && list[i].rule->kinds & KIND(RULE_READ))
			put_unreadable(b, list, n, i, bases);
	util_free_list(&bases);
}

static void put_last(struct build *b, const struct policy_line *l)
{
	if (allows(l))
		return;
	if (l->rule->kinds & READS)
		put_denying(b, l, denied_reads(l));
	if (l->rule->kinds & KIND(RULE_WRITE) && !is_left_open(b, l))
		put_denying(b, l, OPS_WRITE);
}

void section_last_lines(struct build *b)
{
	sbpl_comment(b->s, "What decides over all rules");
	put_unreadables(b, b->lines, b->n_lines);
	put_unreadables(b, b->untrusted, b->n_untrusted);
	for (size_t i = 0; i < b->n_lines; i++)
		if (b->lines[i].final)
			put_last(b, &b->lines[i]);
	for (size_t i = 0; i < b->n_untrusted; i++)
		put_last(b, &b->untrusted[i]);
}

/* ---- exact paths ----------------------------------------------------------------------------- */

static bool is_in_folder(const struct build *b, const char *path)
{
	return path_is_in(path, (const char *const *)b->folders);
}

/* Returns whether the policy allows each kind of change of this path. */
static bool may_write(const struct build *b, const char *path)
{
	static const enum policy_act acts[] = {POLICY_WRITE,   POLICY_REMOVE,	 POLICY_RENAME_FROM,
					       POLICY_META,    POLICY_LINK_FROM, POLICY_RENAME_TO,
					       POLICY_SYMLINK, POLICY_DIR_TO,	 POLICY_MKDIR};
	bool inside = is_in_folder(b, path), good = true;
	const char *why;

	for (size_t i = 0; good && i < ARRAY_LEN(acts); i++)
		good = (inside ? policy_check(b->policy, acts[i], path, &why)
			       : policy_check_outside(b->policy, acts[i], path, &why)) ==
		       POLICY_ALLOW;
	return good;
}

static void put_place(struct build *b, const char *operations, const char *path)
{
	sbpl_allow(b->s, operations);
	sbpl_literal(b->s, path);
	sbpl_end(b->s);
}

void section_exact(struct build *b)
{
	sbpl_comment(b->s, "Places that a rule names, also where their names are protected");
	for (size_t i = 0; i < b->n_lines; i++) {
		const struct policy_line *l = &b->lines[i];
		bool tree;
		AUTO_FREE char *path = allows(l) ? plain_path(l, &tree) : NULL;
		const char *why;

		if (!path || tree)
			continue;
		if (l->rule->kinds & KIND(RULE_READ) &&
		    policy_check_read(b->policy, RULE_READ, path, &why) == POLICY_ALLOW)
			put_place(b, "file-read*", path);
		if (l->rule->kinds & KIND(RULE_EXEC) &&
		    policy_check_read(b->policy, RULE_EXEC, path, &why) == POLICY_ALLOW)
			put_place(b, "process-exec*", path);
		if (l->rule->kinds & KIND(RULE_WRITE) && may_write(b, path))
			put_place(b, OPS_WRITE, path);
	}
}
