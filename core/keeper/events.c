/* events - reports events inside to cordon, for the audit log and the activity list. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/events.h"

#include <errno.h>
#include <string.h>

#include "core/keeper/procs.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/service.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/ancestry.h"
#include "core/keeper/steps/steps.h"
#include "core/keeper/wire.h"
#include "core/record/redact.h"

#define TALLIES_US 1000000
#define SEEN_MAX   8192 /* remembered refusals; when full, all are forgotten */

/* A refusal that was reported for a command. A program may retry a refused call all day. */
struct seen {
	uint64_t key;
	UT_hash_handle hh;
};

void events_done(struct keeper *k)
{
	struct seen *s, *next;

	HASH_ITER (hh, k->seen, s, next) {
		HASH_DEL(k->seen, s);
		free(s);
	}
	k->n_seen = 0;
}

static bool is_news(struct keeper *k, const struct caller *c, const char *path)
{
	const struct command *command = c->proc ? c->proc->command : NULL;
	uint64_t key = XXH3_64bits_withSeed(path, strlen(path), (uint64_t)(uintptr_t)command);
	struct seen *s;

	if (c->op)
		key = XXH3_64bits_withSeed(c->op, strlen(c->op), key);
	HASH_FIND(hh, k->seen, &key, sizeof(key), s);
	if (s)
		return false;
	if (k->n_seen >= SEEN_MAX)
		events_done(k);
	s = xcalloc(1, sizeof(*s));
	s->key = key;
	HASH_ADD(hh, k->seen, key, sizeof(s->key), s);
	k->n_seen++;
	return true;
}

static size_t open_frame(struct keeper *k, enum wire_type type, const struct caller *c, int result)
{
	size_t mark = wire_begin(&k->out, type);

	wire_i64(&k->out, steps_id(k, c->proc));
	wire_i64(&k->out, shown_pid(c->pid));
	wire_u32(&k->out, (uint32_t)result);
	wire_cstr(&k->out, c->op);
	return mark;
}

/* Returns the rule that allows a change of one of the two paths, such as a rename's target. */
static const char *allowed_by(const struct keeper *k, const char *path, const char *path2)
{
	const char *words = k->policy ? policy_allowed_by(k->policy, path) : NULL;

	return !words && k->policy && path2 && *path2 == '/' ? policy_allowed_by(k->policy, path2)
							     : words;
}

void event_touch(struct keeper *k, const struct caller *c, const char *path, const char *path2)
{
	size_t mark;

	steps_touched(k, c->proc);
	mark = open_frame(k, WIRE_TOUCH, c, 0);
	wire_cstr(&k->out, path);
	wire_cstr(&k->out, path2);
	wire_cstr(&k->out, allowed_by(k, path, path2));
	wire_end(&k->out, mark);
}

void event_used(struct keeper *k, const struct caller *c, const char *host, const char *key)
{
	const struct caller nobody = {.pid = c->pid, .op = c->op};
	size_t mark = open_frame(k, WIRE_TOUCH, &nobody, 0);

	wire_cstr(&k->out, host);
	wire_cstr(&k->out, key);
	wire_cstr(&k->out, NULL);
	wire_end(&k->out, mark);
}

static void tell_denied(struct keeper *k, const struct caller *c, const char *path, int result,
			const char *reason, enum wire_refusal how)
{
	size_t mark = open_frame(k, WIRE_DENY, c, result);

	wire_cstr(&k->out, path);
	wire_cstr(&k->out, NULL);
	wire_cstr(&k->out, reason);
	wire_u8(&k->out, how ? how : policy_is_expected(k->policy, reason) ? WIRE_EXPECTED : 0);
	wire_end(&k->out, mark);
}

static void deny(struct keeper *k, const struct caller *c, const char *path, int result,
		 const char *reason, enum wire_refusal how)
{
	if (is_news(k, c, path))
		tell_denied(k, c, path, result, reason, how);
}

void keeper_deny(struct keeper *k, const struct caller *c, const char *path, int result,
		 const char *reason)
{
	deny(k, c, path, result, reason, 0);
}

void keeper_looked(struct keeper *k, const struct caller *c, const char *path)
{
	tell_denied(k, c, path, -ENOENT, "does not exist inside", WIRE_EXPECTED);
}

void keeper_deny_unasked(struct keeper *k, const struct caller *c, const char *path, int result,
			 const char *reason)
{
	deny(k, c, path, result, reason, WIRE_UNASKED);
}

void keeper_deny_crowded(struct keeper *k, const struct caller *c, const char *path)
{
	k->tallies.crowded++;
	deny(k, c, path, -EACCES, "too many requests wait for an answer", WIRE_CROWDED);
}

void keeper_service(struct keeper *k, int pid, const char *comm, const char *operation,
		    const char *service, bool allowed)
{
	const struct caller c = {.pid = pid, .op = operation};
	AUTO_FREE char *by = xasprintf(SERVICE_ASKED_BY "%s", comm);

	if (!allowed)
		deny(k, &c, service, -EPERM, by, 0);
	else if (is_news(k, &c, service))
		event_touch(k, &c, service, NULL);
}

void events_tallies(struct keeper *k, bool now)
{
	struct tallies *t = &k->tallies;
	size_t mark;

	if (t->told == t->checks + t->crowded || (!now && k->now - t->told_at < TALLIES_US))
		return;
	t->told = t->checks + t->crowded;
	t->told_at = k->now;
	mark = wire_begin(&k->out, WIRE_TALLIES);
	wire_u64(&k->out, t->checks);
	wire_u64(&k->out, t->by_rule);
	wire_u64(&k->out, t->by_answer);
	wire_u64(&k->out, t->asked);
	wire_u64(&k->out, t->crowded);
	wire_end(&k->out, mark);
}

void keeper_count_reads(struct keeper *k, uint64_t n)
{
	k->tallies.checks += n;
	k->tallies.by_rule += n;
}

void keeper_exec(struct keeper *k, const struct caller *c, const char *path, const char *argv,
		 size_t argv_len)
{
	AUTO_BUF struct buf known = BUF_INIT;
	int64_t step;
	size_t mark;

	/* Redact before the history, the audit log and the lists get it. */
	buf_add(&known, argv, argv_len);
	if (k->spec->redact && argv_len)
		redact_text(k->spec->redact, known.data, argv_len);
	argv = known.data;
	step = c->proc ? steps_exec(k, c->proc, argv, argv_len) : 0;
	mark = wire_begin(&k->out, WIRE_EXEC);
	wire_i64(&k->out, step);
	wire_i64(&k->out, shown_pid(c->pid));
	wire_i64(&k->out, c->proc ? shown_pid(c->proc->parent) : 0);
	wire_cstr(&k->out, path);
	wire_str(&k->out, argv, argv_len);
	wire_end(&k->out, mark);
}
