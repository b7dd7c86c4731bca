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

#define LIST_AFTER 16

/* Rules that name one place after the other in one directory: of thousands few are there, and
 * reading the directory once says which. */
struct series {
	struct buf dir;
	size_t n;	     /* asked about so far, in dir */
	bool listed;	     /* all that is there is in names, sorted */
	struct places names; /* */
};

/* What may not be listed is asked for one by one. */
static void list_names(struct series *s)
{
	int r = places_list(s->dir.data, &s->names, NULL);

	s->listed = r == 0 || r == -ENOENT || r == -ENOTDIR;
}

/* Is there surely nothing of this path? */
static bool is_missing(struct series *s, const char *path)
{
	const char *name = path_base(path);
	size_t len = (size_t)MAX(name - path - 1, 1);

	if (s->dir.len != len || memcmp(s->dir.data, path, len) != 0) {
		places_done(&s->names);
		buf_clear(&s->dir);
		buf_add(&s->dir, path, len);
		s->n = 0;
		s->listed = false;
	}
	if (++s->n == LIST_AFTER)
		list_names(s);
	return s->listed && !places_have(&s->names, name, strlen(name));
}

/* Outside the gate nobody can be asked about a read: what may not be read does not exist. */
static void hide_rule(struct policy *p, const struct rule *rule, const char *path)
{
	enum rule_kind kind = rule->kinds & 1u << RULE_READ ? RULE_READ : RULE_EXEC;
	const char *reason;
	struct stat st;

	if (lstat(path, &st) < 0 || policy_check_read(p, kind, path, &reason) == POLICY_ALLOW)
		return;
	for (size_t i = p->n_set; i < p->n_hidden; i++)
		if (str_eq(p->hidden[i], path))
			return;
	hidden_add(p, xstrdup(path));
}

static void take_place(struct policy *p, struct series *s, const struct rule *rule,
		       const char *path, bool tree)
{
	bool gated, allows = rule->verdict == RULE_ALLOW;

	if (!path[1] || is_missing(s, path))
		return;
	gated = places_hold(&p->gated, path);
	if (allows && gated && rule->kinds & 1u << RULE_READ && !rule->until)
		grant(p, path, tree);
	else if (!allows && (!gated || places_hold(&p->folders, path)))
		hide_rule(p, rule, path);
}

static void take_rules(struct policy *p, struct rules *r)
{
	struct series s = {.dir = BUF_INIT};
	AUTO_BUF struct buf path = BUF_INIT;

	for (uint32_t i = 0; i < rules_count(r); i++) {
		const struct rule *rule = rules_at(r, i);
		size_t n = rules_patterns(r, i);

		if (!rule || !rule->name) /* the folders' own */
			continue;
		if (rule->verdict == RULE_ALLOW && rule->kinds & 1u << RULE_WRITE)
			p->writes_outside = true;
		if (!(rule->kinds & (1u << RULE_READ | 1u << RULE_EXEC)))
			continue;
		for (size_t k = 0; k < n; k++) {
			enum rule_place place = rules_place_of(r, i, k, &path);

			if (path.len)
				take_place(p, &s, rule, path.data, place == PLACE_TREE);
		}
	}
	places_done(&s.names);
	buf_done(&s.dir);
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
