/* requests - serves requests of cordon to the keeper: answers, limits, signals, the end. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/requests.h"

#include <signal.h>

#include "core/base/log.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/grants.h"
#include "core/keeper/approvals/safeguard.h"
#include "core/keeper/brokered.h"
#include "core/keeper/channel.h"
#include "core/keeper/flows.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/group.h"
#include "core/keeper/steps/hook_steps.h"
#include "core/keeper/steps/kill_command.h"
#include "core/keeper/steps/shells.h"
#include "core/keeper/undo_requests.h"
#include "core/record/redact.h"

static void freeze(struct keeper *k)
{
	k->frozen = true;
	asks_drop_all(k);
	for (size_t i = 0; i < k->n_doors; i++)
		k->doors[i]->ops->drop_all(k->doors[i]);
}

static void serve_answer(struct keeper *k, struct wire_in *in)
{
	uint64_t ask = wire_get_u64(in);
	struct answer a = {.allow = wire_get_u8(in) == 1};

	a.scope = (enum answer_scope)wire_get_u8(in);
	a.extent = (enum answer_extent)wire_get_u8(in);
	a.up = wire_get_u8(in);
	a.until = wire_get_i64(in);
	in->bad |= a.scope > SCOPE_ORG || a.extent > EXTENT_BUNDLE || a.up > ANSWER_UP_MAX;
	if (!in->bad)
		asks_answer(k, ask, &a);
}

static void set_limit(uint64_t *limit, struct wire_in *in)
{
	uint64_t v = wire_get_u64(in);

	if (!in->bad && v != LIMIT_SAME)
		*limit = v;
}

/* Sets the limits of all folders. Lower limits delete nothing before the next session. */
static void serve_limits(struct keeper *k, struct wire_in *in)
{
	struct journal_options o = k->spec->journal;
	struct guard_limits *guard = &k->spec->guard;
	uint64_t steps = o.steps, timeout = guard->timeout_s;

	set_limit(&o.size, in);
	set_limit(&o.step_size, in);
	set_limit(&steps, in);
	set_limit(&guard->most[LOSS_DELETE], in);
	set_limit(&guard->most[LOSS_OVERWRITE], in);
	set_limit(&guard->most[LOSS_REPLACE], in);
	set_limit(&guard->overwrite_bytes, in);
	set_limit(&timeout, in);
	guard->timeout_s = (uint32_t)MIN(timeout, (uint64_t)UINT32_MAX);
	o.steps = (size_t)steps;
	k->spec->journal = o;
	journal_set_limits(k->journal, &o);
}

static void serve_group(struct keeper *k, struct wire_in *in)
{
	AUTO_FREE char *given = wire_get_cstr(in);
	AUTO_FREE char *name = given ? redact_copy(k->spec->redact, given) : NULL;
	struct err err = {0};

	if (!in->bad && group_from_cordon(k, name, &err) < 0)
		keeper_note(k, "the agent's turn has no step of its own: %s", err.text);
}

static void serve_revoke(struct keeper *k, uint64_t rule)
{
	if (rule & GRANT_OF_LINE)
		safeguard_revoke(k, rule);
	grants_revoke(k, rule);
}

static void serve_forbid(struct keeper *k, struct wire_in *in)
{
	uint64_t ask = wire_get_u64(in);
	AUTO_FREE char *target = wire_get_cstr(in);

	if (!in->bad)
		flow_forbid(k, ask, target);
}

static void serve_publish(struct keeper *k, struct wire_in *in)
{
	uint32_t port = wire_get_u32(in), host_port = wire_get_u32(in);
	struct span who = wire_get_str(in);
	AUTO_FREE char *by = xstrndup(who.data, who.len);

	if (!in->bad && port > 0 && port <= UINT16_MAX && host_port > 0 && host_port <= UINT16_MAX)
		flow_publish(k, (uint16_t)port, (uint16_t)host_port, by);
}

static void serve(struct keeper *k, struct wire_in *in)
{
	int sig;

	switch ((int)in->type) {
	case WIRE_ANSWER:
		serve_answer(k, in);
		break;
	case WIRE_REVOKE:
		serve_revoke(k, wire_get_u64(in));
		break;
	case WIRE_END_FLOW:
		flow_end(k, wire_get_u64(in));
		break;
	case WIRE_FORBID:
		serve_forbid(k, in);
		break;
	case WIRE_PUBLISH:
		serve_publish(k, in);
		break;
	case WIRE_SECRET_KEPT:
		brokered_kept(k, wire_get_u64(in));
		break;
	case WIRE_PLAN_REQ:
		undo_serve_plan(k, in);
		break;
	case WIRE_UNDO_REQ:
		undo_serve_undo(k, in);
		break;
	case WIRE_RESTORE_REQ:
		undo_serve_restore(k, in);
		break;
	case WIRE_CANCEL: /* too late: the request has ended */
		break;
	case WIRE_SIGNAL:
		sig = (int)wire_get_u32(in);
		if (k->sandbox && sig > 0 && sig < NSIG)
			k->spec->backend->signal(k->sandbox, sig);
		break;
	case WIRE_STOP:
		ending_stop(k);
		break;
	case WIRE_TURN:
		hook_spoke(k);
		break;
	case WIRE_NOTICE:
		hook_notice(k, wire_get_str(in));
		break;
	case WIRE_FREEZE:
		freeze(k);
		break;
	case WIRE_GROUP:
		serve_group(k, in);
		break;
	case WIRE_LIMITS:
		serve_limits(k, in);
		break;
	case WIRE_SHELL:
		shells_start(k, in);
		break;
	case WIRE_SHELL_SIGNAL:
		shells_signal(k, in);
		break;
	case WIRE_SHUTDOWN:
		k->quit = true;
		break;
	default:
		in->bad = true;
	}
}

void requests_serve(struct keeper *k)
{
	while (!k->quit) {
		struct wire_in in;
		size_t used;
		int r = wire_next(&k->in, &in, &used);

		if (r == 0)
			return;
		if (r == 1) {
			/* Remove the frame first, because an undo reads further frames. */
			AUTO_BUF struct buf frame = BUF_INIT;

			buf_add(&frame, k->in.data, used);
			buf_drop_front(&k->in, used);
			r = wire_next(&frame, &in, &used);
			serve(k, &in);
		}
		if (r < 0 || in.bad) {
			log_error("keeper", "cordon sent an invalid request");
			k->gone = k->quit = true;
		}
	}
}
