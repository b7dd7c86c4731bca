/* grant - what mounts can say of the rules: trees shown as they are, places that are not there. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
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

/* Rules that name one place after the other in one directory. */
struct series {
	char *dir;
	enum rule_kind kind;
	size_t n;
};

#define LIST_AFTER 16

static void hide_place(struct policy *p, enum rule_kind kind, const char *path)
{
	const char *reason;
	struct stat st;

	if (lstat(path, &st) < 0 || policy_check_read(p, kind, path, &reason) == POLICY_ALLOW)
		return;
	for (size_t i = p->n_set; i < p->n_hidden; i++)
		if (str_eq(p->hidden[i], path))
			return;
	hidden_add(p, xstrdup(path));
}

/* Thousands of names, of which few are there: it is quicker to ask about what is there. */
static bool hide_in(struct policy *p, enum rule_kind kind, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return errno == ENOENT || errno == ENOTDIR;
	while ((e = readdir(d))) {
		AUTO_FREE char *path = NULL;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		path = path_join(dir, e->d_name);
		hide_place(p, kind, path);
	}
	return true;
}

/* Outside the gate nobody can be asked about a read: what may not be read does not exist. */
static void hide_rule(struct policy *p, struct series *s, const struct rule *rule, const char *path)
{
	enum rule_kind kind = rule->kinds & 1u << RULE_READ ? RULE_READ : RULE_EXEC;
	char *dir;

	if (str_eq(path, "/") || (places_hold(&p->gated, path) && !places_hold(&p->folders, path)))
		return;
	dir = answer_dir(path);
	s->n = str_eq(dir, s->dir) && s->kind == kind ? s->n + 1 : 0;
	s->kind = kind;
	free(s->dir);
	s->dir = dir;
	if (s->n > LIST_AFTER)
		return;
	if (s->n == LIST_AFTER && hide_in(p, kind, dir))
		return;
	hide_place(p, kind, path);
	if (s->n == LIST_AFTER) /* it may not be listed: go on one by one */
		s->n = 0;
}

static void take_rule(struct policy *p, struct rules *r, uint32_t number, struct series *s)
{
	const struct rule *rule = rules_at(r, number);
	size_t n = rules_patterns(r, number);
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
			hide_rule(p, s, rule, path);
		else if (rule->kinds & 1u << RULE_READ && !rule->until)
			grant(p, path, tree);
	}
}

static void take_rules(struct policy *p, struct rules *r)
{
	struct series s = {0};

	for (uint32_t i = 0; i < rules_count(r); i++)
		take_rule(p, r, i, &s);
	free(s.dir);
}

void grant_collect(struct policy *p)
{
	take_rules(p, p->rules);
	take_rules(p, p->untrusted);
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
