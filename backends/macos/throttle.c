/* throttle - measures a session's use at intervals, slows the session down, and ends it. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/throttle.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/util.h"

#define HELD_MAX 1024

struct throttle {
	struct throttle_spec spec;
	struct quota quota;
	uint64_t tick;
	int nice;	      /* where the session began: cordon may run under nice(1) */
	pid_t held[HELD_MAX]; /* stopped by us, parents first */
	size_t n_held;
};

struct throttle *throttle_new(const struct throttle_spec *spec)
{
	struct throttle *t = xcalloc(1, sizeof(*t));

	t->spec = *spec;
	t->nice = getpriority(PRIO_PROCESS, 0);
	return t;
}

int throttle_period(const struct throttle *t)
{
	return t->quota.action == QUOTA_SLOW ? THROTTLE_TICK_MS : THROTTLE_LOOK_MS;
}

bool throttle_is_holding(const struct throttle *t)
{
	return t->n_held > 0;
}

/* ---- stopping and continuing ----------------------------------------------------------------- */

static size_t look_inside(const struct throttle *t, pid_t *out)
{
	const struct throttle_spec *s = &t->spec;

	return s->os->list_inside(s->os->data, s->session, s->root, out, HELD_MAX);
}

static void let_go(struct throttle *t)
{
	while (t->n_held)
		(void)kill(t->held[--t->n_held], SIGCONT);
}

static void hold(struct throttle *t)
{
	size_t n = look_inside(t, t->held);

	for (size_t i = 0; i < n; i++)
		if (t->held[i] > 1 && t->held[i] != getpid() && kill(t->held[i], SIGSTOP) == 0)
			t->held[t->n_held++] = t->held[i];
}

static void set_priority(const struct throttle *t, int added)
{
	const int nice = MIN(t->nice + added, 19);
	pid_t inside[HELD_MAX];
	size_t n = look_inside(t, inside);

	for (size_t i = 0; i < n; i++)
		(void)setpriority(PRIO_PROCESS, (id_t)inside[i], nice);
}

/* ---- judging --------------------------------------------------------------------------------- */

static void look(struct throttle *t)
{
	const struct throttle_spec *s = &t->spec;
	enum quota_action before = t->quota.action, now;
	enum quota_reason reason = t->quota.reason;
	struct mac_usage usage;
	char why[200];

	if (s->os->usage(s->os->data, s->root, &usage) < 0)
		return; /* it ended after it was listed */
	now = quota_judge(&t->quota, &s->limits, &usage, s->os->pressure(s->os->data), why,
			  sizeof(why));
	if (now != QUOTA_GO && (now != before || t->quota.reason != reason))
		s->say(s->data, why);
	if (now == QUOTA_END || now == before)
		return;
	set_priority(t, quota_nice(&t->quota, &s->limits));
	t->tick = 0;
}

void throttle_tick(struct throttle *t)
{
	bool slow = t->quota.action == QUOTA_SLOW;

	if (t->quota.action == QUOTA_END)
		return;
	let_go(t);
	if (!slow || t->tick % (THROTTLE_LOOK_MS / THROTTLE_TICK_MS) == 0)
		look(t);
	if (t->quota.action == QUOTA_END)
		t->spec.end(t->spec.data);
	else if (quota_hold(&t->quota, t->tick))
		hold(t);
	t->tick++;
}

void throttle_free(struct throttle *t)
{
	if (!t)
		return;
	let_go(t);
	free(t);
}
