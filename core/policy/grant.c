/* grant - the parts of the rules that mounts can express: trees to show, paths to hide. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"

/* ---- granted --------------------------------------------------------------------------------- */

/*
 * Returns whether a directory may be shown natively. Its files are then not asked about, so the
 * grant must hold for all of it, permanently: no rule decides differently about a file in it, and
 * it does not expire. A link is not shown: its target is another path.
 */
static bool fits_natively(struct policy *p, const char *path, bool tree)
{
	const char *reason;
	struct stat st;

	if (!places_cover(&p->gated, path) || places_cover(&p->granted, path))
		return false;
	if (policy_check_read(p, RULE_READ, path, &reason) != POLICY_ALLOW)
		return false;
	if (tree &&
	    (rules_restrict_beneath(p->rules, path) || rules_restrict_beneath(p->untrusted, path)))
		return false;
	if (listing_lacks(p->at_home, path) || lstat(path, &st) < 0)
		return false;
	return S_ISREG(st.st_mode) || (tree && S_ISDIR(st.st_mode));
}

static bool is_resolved(const char *path)
{
	AUTO_FREE char *real = realpath(path, NULL);

	return str_eq(real, path);
}

static void grant(struct policy *p, const char *path, bool tree)
{
	if (fits_natively(p, path, tree) && is_resolved(path))
		places_add(&p->granted, xstrdup(path));
}

/* ---- from rules ------------------------------------------------------------------------------ */

/* Hides a path that may not be read. Outside the gate no question about a read is possible. */
static void hide_rule(struct policy *p, const struct rule *rule, const char *path)
{
	enum rule_kind kind = rule->kinds & 1u << RULE_READ ? RULE_READ : RULE_EXEC;
	const char *reason;
	struct stat st;

	if (listing_lacks(p->at_home, path) || lstat(path, &st) < 0 ||
	    policy_check_read(p, kind, path, &reason) == POLICY_ALLOW)
		return;
	for (size_t i = p->n_set; i < p->n_hidden; i++)
		if (str_eq(p->hidden[i], path))
			return;
	hidden_add(p, xstrdup(path));
}

static void take_place(struct policy *p, const struct rule *rule, const char *path, bool tree)
{
	bool gated, allows = rule->verdict == RULE_ALLOW;

	if (!path[1])
		return;
	gated = places_cover(&p->gated, path);
	if (allows && gated && rule->kinds & 1u << RULE_READ && !rule->of->until)
		grant(p, path, tree);
	else if (!allows && (!gated || places_cover(&p->folders, path)))
		hide_rule(p, rule, path);
}

/* Keeps the leading directories of a rule that allows writing, or asks about it. */
static void note_written(struct policy *p, struct rules *r, uint32_t number)
{
	AUTO_BUF struct buf text = BUF_INIT;

	for (uint32_t at = 0; (at = rules_next(r, number, at));) {
		rules_place_of(r, at, &text);
		if (!text.len) {
			rules_text(r, at, &text);
			text.len = strcspn(text.data, "*?[\\{");
			text.data[text.len] = '\0';
			while (text.len && text.data[text.len - 1] != '/')
				text.data[--text.len] = '\0';
		}
		places_add(&p->written, path_clean(text.len ? text.data : "/"));
	}
}

/* Collects lists from the rules. Of thousands of rules few name an existing path. */
static void take_rules(struct policy *p, struct rules *r)
{
	AUTO_BUF struct buf path = BUF_INIT;

	for (uint32_t i = 0; i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);

		if (!rule || !rule->of->name) /* the folders' own rules */
			continue;
		if (rule->verdict <= RULE_ASK && rule->kinds & 1u << RULE_WRITE)
			note_written(p, r, i);
		if (!(rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC)) || rules_is_absent(r, i))
			continue;
		for (uint32_t at = 0; (at = rules_next(r, i, at));) {
			enum pattern_place place = rules_place_of(r, at, &path);

			if (path.len)
				take_place(p, rule, path.data, place == PLACE_TREE);
		}
	}
}

void grant_collect(struct policy *p)
{
	take_rules(p, p->rules);
	take_rules(p, p->untrusted);
	for (size_t i = 0; i < p->usual.n; i++)
		grant(p, p->usual.list[i], true);
}

/* ---- lists for the backends ------------------------------------------------------------------ */

size_t policy_gated(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->gated.list;
	return p->gated.n;
}

size_t policy_granted(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->granted.list;
	return p->granted.n;
}

bool policy_writes_outside(const struct policy *p)
{
	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (rule && rule->of->name && rule->verdict == RULE_ALLOW &&
		    rule->kinds & 1u << RULE_WRITE)
			return true;
	}
	return false;
}

bool policy_writes_at(const struct policy *p, const char *dir)
{
	AUTO_FREE char *in_it = NULL;
	const char *reason;
	bool above = false;

	for (size_t i = 0; i < p->written.n; i++) {
		if (path_is_beneath(p->written.list[i], dir))
			return true;
		above = above || path_is_beneath(dir, p->written.list[i]);
	}
	if (!above)
		return false;
	in_it = path_join(dir, "x");
	return policy_check_outside(p, POLICY_WRITE, in_it, &reason) == POLICY_ALLOW;
}

bool policy_restricts(const struct policy *p, const char *dir)
{
	return rules_restrict_beneath(p->rules, dir) || rules_restrict_beneath(p->untrusted, dir);
}
