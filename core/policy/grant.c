/* grant - what mounts can say of the rules: trees shown as they are, places that are not there. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"

/* ---- granted --------------------------------------------------------------------------------- */

/*
 * What is shown natively is not asked about any more, so it must be right for all of it, for good:
 * no rule decides differently about something in it, and it does not expire. A link is not shown:
 * what it leads to is another place.
 */
static bool fits_natively(struct policy *p, const char *path, bool tree)
{
	const char *reason;
	struct stat st;

	if (!places_hold(&p->gated, path) || places_hold(&p->granted, path))
		return false;
	if (policy_check_read(p, RULE_READ, path, &reason) != POLICY_ALLOW)
		return false;
	if (tree &&
	    (rules_restrict_beneath(p->rules, path) || rules_restrict_beneath(p->untrusted, path)))
		return false;
	if (lstat(path, &st) < 0)
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

/* Outside the gate nobody can be asked about a read: what may not be read does not exist. */
static void hide_place(struct policy *p, const struct rule *rule, const char *path)
{
	enum rule_kind kind = rule->kinds & 1u << RULE_READ ? RULE_READ : RULE_EXEC;
	const char *reason;
	struct stat st;

	if (places_hold(&p->gated, path) && !places_hold(&p->folders, path))
		return;
	if (!str_eq(path, "/") && policy_check_read(p, kind, path, &reason) != POLICY_ALLOW &&
	    lstat(path, &st) == 0)
		hidden_add(p, xstrdup(path));
}

static void take_rule(struct policy *p, struct rules *r, uint32_t number)
{
	const struct rule *rule = rules_at(r, number);
	const char *const *patterns;
	size_t n = rules_patterns(r, number, &patterns);
	bool reads = rule && rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC);

	if (!rule || !rule->name) /* the folders' own */
		return;
	if (rule->verdict == RULE_ALLOW && rule->kinds & 1u << RULE_WRITE)
		p->writes_outside = true;
	for (size_t i = 0; reads && i < n; i++) {
		AUTO_FREE char *path = NULL;
		bool tree = rules_place_of(r, number, i, &path) == PLACE_TREE;

		if (!path)
			continue;
		if (rule->verdict != RULE_ALLOW)
			hide_place(p, rule, path);
		else if (rule->kinds & 1u << RULE_READ && !rule->until)
			grant(p, path, tree);
	}
}

void grant_collect(struct policy *p)
{
	for (uint32_t i = 0; i < rules_count(p->rules); i++)
		take_rule(p, p->rules, i);
	for (uint32_t i = 0; i < rules_count(p->untrusted); i++)
		take_rule(p, p->untrusted, i);
	for (size_t i = 0; i < p->usual.n; i++)
		grant(p, p->usual.list[i], true);
}

/* ---- for the backends ------------------------------------------------------------------------ */

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
	return p->writes_outside;
}

bool policy_restricts(const struct policy *p, const char *dir)
{
	return rules_restrict_beneath(p->rules, dir) || rules_restrict_beneath(p->untrusted, dir);
}
