/* listening - finds the host's sockets that rules name, which are shown inside from the start. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <glob.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"
#include "core/policy/builtin/sockets.h"

/* Limits, so that a rule for a whole tree does not slow the start down. A rule of its own shows a
 * socket that is left out. */
#define SHOWN_MAX 256
#define LOOK_MAX  4096 /* names */
#define LOOK_DEEP 4    /* directories */

/* Adds a socket by its own path. A link's target is another path, to which the rule applies as
 * well. */
static void consider(struct policy *p, const char *path)
{
	AUTO_FREE char *real = NULL;
	const char *reason;
	struct stat st;

	if (p->sockets.n >= SHOWN_MAX || lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return;
	real = realpath(path, NULL);
	if (real && str_eq(real, path) && !places_has(&p->sockets, path) &&
	    policy_check_read(p, RULE_UNIX, path, &reason) <= POLICY_ASK)
		places_add(&p->sockets, take_ptr(&real));
}

static void look_in(struct policy *p, const char *dir, int deep, int *budget)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (*budget)-- > 0 && (e = readdir(d))) {
		AUTO_FREE char *path = path_join(dir, e->d_name);

		if (e->d_type == DT_SOCK)
			consider(p, path);
		else if (e->d_type == DT_DIR && deep > 1 && !str_eq(e->d_name, ".") &&
			 !str_eq(e->d_name, ".."))
			look_in(p, path, deep - 1, budget);
	}
}

static void look_for(struct policy *p, const char *pattern)
{
	glob_t found = {0};

	/* A double asterisk would need a search of whole trees. */
	if (!strstr(pattern, "**") && glob(pattern, GLOB_NOSORT, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			consider(p, found.gl_pathv[i]);
	globfree(&found);
}

static void take_rule(struct policy *p, uint32_t number)
{
	const struct rule *rule = rules_at(p->rules, number);
	AUTO_BUF struct buf path = BUF_INIT;
	int budget = LOOK_MAX;

	if (!rule || rule->verdict > RULE_ASK || !(rule->kinds & 1u << RULE_UNIX))
		return;
	for (uint32_t at = 0; (at = rules_next(p->rules, number, at));) {
		enum pattern_place place = rules_place_of(p->rules, at, &path);

		if (place == PLACE_ONE)
			consider(p, path.data);
		else if (place == PLACE_TREE && !str_eq(path.data, "/"))
			look_in(p, path.data, LOOK_DEEP, &budget);
		if (place != PLACE_MANY)
			continue;
		rules_text(p->rules, at, &path);
		look_for(p, path.data);
	}
}

void listening_collect(struct policy *p)
{
	if (policy_opens_sockets(p))
		for (uint32_t i = 0; i < rules_count(p->rules); i++)
			take_rule(p, i);
}

bool policy_opens_sockets(const struct policy *p)
{
	return rules_of(p->rules, RULE_UNIX) > 0;
}

size_t policy_sockets(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->sockets.list;
	return p->sockets.n;
}
