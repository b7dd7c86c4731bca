/* grants - answers that apply to more than one call: to a step, or to the session. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/grants.h"

#include <errno.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/approvals/still_open.h"
#include "core/keeper/procs.h"
#include "core/keeper/channel.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/steps.h"
#include "core/net/host.h"

/*
 * A refused program tries again, and a script is opened by the kernel and again by its interpreter.
 * So an answer for one call also applies to the same process and object for a short time
 * (approval.remember). Not so if it allowed a change, or a use of the user's keys: the next one
 * needs a question of its own.
 */
/* ---- what an answer covers ------------------------------------------------------------------- */

/* Returns whether an answer about `object` covers the target. Both are "HOST:PORT". */
static bool covers_host(const char *object, enum answer_extent extent, const char *target)
{
	struct net_target t;
	char *patterns[2];
	const char *why;
	bool covered = false;

	if (!net_target_parse(&t, target, &why))
		return false;
	answer_host_patterns(object, extent, patterns);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
		AUTO_FREE char *text = patterns[i];
		struct net_pattern p;

		covered = covered || (text && net_pattern_parse(&p, text, &why) &&
				      net_pattern_matches(&p, &t));
	}
	return covered;
}

bool grants_cover(enum rule_kind kind, const char *object, enum answer_extent extent,
		  const char *path)
{
	const char *slash = strrchr(object, '/');
	size_t dir = (size_t)(slash - object), len = strlen(object);
	const char *rest;

	if (kind >= RULE_PLACES)
		return covers_host(object, extent, path);
	if (extent == EXTENT_EXACT || extent == EXTENT_BUNDLE) {
		len -= len > 1 && !slash[1];
		return strncmp(path, object, len) == 0 && !path[len];
	}
	if (strncmp(path, object, dir) != 0 || (path[dir] && path[dir] != '/'))
		return false;
	if (extent == EXTENT_TREE)
		return true;
	rest = path[dir] ? path + dir + 1 : "";
	return !strchr(rest, '/');
}

static bool is_over(const struct answer *a)
{
	return a->until && clock_expiry_s() >= a->until;
}

/* Returns the newest grant that covers the path. A permission to run includes to read. */
static const struct grant *find_step(const struct command *c, enum rule_kind kind, const char *path)
{
	for (const struct grant *g = c ? c->grants : NULL; g; g = g->next) {
		bool same = g->kind == kind ||
			    (kind == RULE_READ && g->kind == RULE_EXEC && g->answer.allow);

		if (same && !is_over(&g->answer) &&
		    grants_cover(kind, g->path, g->answer.extent, path))
			return g;
	}
	return NULL;
}

/* ---- answers for repeated calls -------------------------------------------------------------- */

static char *recent_key(int pid, enum rule_kind kind, const char *path)
{
	AUTO_FREE char *key = question_key(kind, path);

	return xasprintf("%d %s", pid, key);
}

static void recent_drop(struct keeper *k, struct recent *r)
{
	HASH_DEL(k->recent, r);
	free(r->key);
	free(r);
}

static const struct recent *recent_find(struct keeper *k, int pid, enum rule_kind kind,
					const char *path)
{
	AUTO_FREE char *key = recent_key(pid, kind, path);
	struct recent *r;

	HASH_FIND_STR(k->recent, key, r);
	if (r && r->until <= k->now) {
		recent_drop(k, r);
		return NULL;
	}
	if (r) { /* keep the list sorted by last use */
		HASH_DEL(k->recent, r);
		HASH_ADD_KEYPTR(hh, k->recent, r->key, strlen(r->key), r);
	}
	return r;
}

static void recent_add(struct keeper *k, int pid, enum rule_kind kind, const char *path, bool allow)
{
	AUTO_FREE char *key = recent_key(pid, kind, path);
	struct proc *p = proc_known(k, pid);
	struct recent *r;

	if (!k->spec->ask_again_s || !p)
		return;
	HASH_FIND_STR(k->recent, key, r);
	if (r)
		recent_drop(k, r);
	else if (HASH_COUNT(k->recent) >= RECENT_MAX)
		recent_drop(k, k->recent);
	r = xcalloc(1, sizeof(*r));
	r->key = take_ptr(&key);
	r->pid = pid;
	r->allow = allow;
	r->until = k->now + (int64_t)k->spec->ask_again_s * 1000000;
	HASH_ADD_KEYPTR(hh, k->recent, r->key, strlen(r->key), r);
	p->answered = true;
}

/* Forgets the answers for this process, because its pid may be reused. */
void grants_leave(struct keeper *k, const struct proc *p)
{
	struct recent *r, *next;

	if (!p->answered)
		return;
	HASH_ITER (hh, k->recent, r, next) {
		if (r->pid == p->self.tid)
			recent_drop(k, r);
	}
}

int grants_find(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path)
{
	const struct command *command = c->proc ? steps_command(k, c->proc) : NULL;
	const struct grant *g = find_step(command, kind, path);
	const struct recent *r;

	if (g) {
		k->tallies.by_answer++;
		return g->answer.allow ? 1 : -EACCES;
	}
	r = k->recent ? recent_find(k, c->pid, kind, path) : NULL;
	if (!r && k->recent && kind == RULE_READ) {
		r = recent_find(k, c->pid, RULE_EXEC, path);
		r = r && r->allow ? r : NULL;
	}
	if (!r)
		return 0;
	k->tallies.by_answer++;
	return r->allow ? 1 : -EACCES;
}

/* ---- answers --------------------------------------------------------------------------------- */

void grants_tell(struct keeper *k, enum wire_type type, uint64_t rule, uint64_t ask)
{
	size_t mark = wire_begin(&k->out, type);

	wire_u64(&k->out, rule);
	if (type == WIRE_GIVEN)
		wire_u64(&k->out, ask);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

static void grant_free(struct grant *g)
{
	free(g->path);
	free(g);
}

static void tell_doors_rule(struct keeper *k, const struct ruled *r)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->ruled)
			k->doors[i]->ops->ruled(k->doors[i], r);
}

void grants_add(struct keeper *k, const struct question *q, const struct answer *a)
{
	struct grant *g;

	if (a->scope == SCOPE_ONCE) {
		if (!a->allow ||
		    (q->kind != RULE_WRITE && q->kind != RULE_CREDENTIALS && q->kind != RULE_SIGN))
			recent_add(k, q->pid, q->kind, q->path, a->allow);
		return;
	}
	g = xcalloc(1, sizeof(*g));
	g->kind = q->kind;
	g->path = answer_object(q->path, q->is_dir, a);
	g->answer = *a;
	if (a->scope == SCOPE_STEP) {
		g->id = GRANT_OF_STEP | ++k->last_grant;
		LL_PREPEND(q->command->grants, g);
	} else {
		g->id = policy_answer(k->policy, q->kind, g->path, a);
		if (!g->id) { /* too many rules: it applies to this call only */
			grant_free(g);
			return;
		}
		tell_doors_rule(k, &(struct ruled){g->id, g->kind, g->path, a});
		LL_PREPEND(k->grants, g);
	}
	grants_tell(k, WIRE_GIVEN, g->id, q->id);
}

static struct grant *take_from(struct grant **list, uint64_t id)
{
	for (struct grant *g = *list; g; g = g->next) {
		if (g->id == id) {
			LL_DELETE(*list, g);
			return g;
		}
	}
	return NULL;
}

static struct grant *take_grant(struct keeper *k, uint64_t id)
{
	struct grant *g = take_from(&k->grants, id);

	for (struct command *c = k->commands; c && !g; c = c->next)
		g = take_from(&c->grants, id);
	return g;
}

void grants_tell_doors(struct keeper *k, enum rule_kind kind, const char *object,
		       const struct answer *a)
{
	AUTO_FREE char *dir = NULL;

	if (kind >= RULE_PLACES || a->extent == EXTENT_EXACT || a->extent == EXTENT_BUNDLE ||
	    a->scope < SCOPE_SESSION)
		return;
	dir = xstrndup(object, (size_t)(strrchr(object, '/') - object));
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->granted)
			k->doors[i]->ops->granted(k->doors[i], kind, *dir ? dir : "/", a);
}

struct left {
	struct keeper *k;
	const struct grant *grant;
};

/* Returns whether the revoked grant covers the open file, and no other rule allows to read it. */
static bool is_left(void *data, int pid, enum hold what, const char *path)
{
	const struct left *l = data;
	const struct grant *g = l->grant;
	const char *why;

	(void)pid;
	if (!grants_cover(g->kind, g->path, g->answer.extent, path))
		return false;
	if (g->kind == RULE_WRITE)
		return what == HOLD_WRITTEN;
	return policy_check_read(l->k->policy, RULE_READ, path, &why) != POLICY_ALLOW;
}

/* Reports files that stay open. Called before the doors hide them: a file in a removed mount has no
 * path. */
static void tell_left(struct keeper *k, const struct grant *g)
{
	struct left l = {k, g};
	struct remains r;

	/* /proc does not show the peer of a socket, so there is nothing to report. */
	if (g->kind >= RULE_UNIX)
		return;
	remains_look(k, is_left, &l, &r);
	remains_tell(k, g->id, &r);
}

/* Revokes an answer, and answers for repeated calls to the same processes: the user wants to be
 * asked again. */
void grants_revoke(struct keeper *k, uint64_t id)
{
	struct grant *g = take_grant(k, id);

	if (!g)
		return;
	if (!(id & GRANT_OF_STEP)) {
		policy_revoke(k->policy, id);
		tell_doors_rule(k, &(struct ruled){.id = id});
	}
	while (k->recent)
		recent_drop(k, k->recent);
	grants_tell(k, WIRE_GIVEN_OVER, id, 0);
	if (g->answer.allow) {
		tell_left(k, g);
		g->answer.allow = false;
		grants_tell_doors(k, g->kind, g->path, &g->answer);
	}
	grant_free(g);
}

void grants_forget(struct keeper *k, struct command *c)
{
	while (c->grants) {
		struct grant *g = c->grants;

		LL_DELETE(c->grants, g);
		grants_tell(k, WIRE_GIVEN_OVER, g->id, 0);
		grant_free(g);
	}
}

void grants_done(struct keeper *k)
{
	while (k->grants) {
		struct grant *g = k->grants;

		LL_DELETE(k->grants, g);
		grant_free(g);
	}
	while (k->recent)
		recent_drop(k, k->recent);
}
