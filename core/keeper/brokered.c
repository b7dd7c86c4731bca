/* brokered - judges uses of the user's keys by the broker (core/broker/broker.h). */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/brokered.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "core/broker/note.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/channel.h"
#include "core/keeper/events.h"
#include "core/keeper/state.h"
#include "core/os/text.h"
#include "core/record/redact.h"

#define USES_MAX 256 /* waiting uses; the broker has far fewer clients */
#define TURN_MAX 64  /* notes per turn of the loop */
/* Below numbers of threads, and below the numbers that the proxy makes up. */
#define TID_BASE (-0x40000000)

/* A use that waits for an answer. */
struct use {
	uint64_t id;
	enum rule_kind kind;
	bool granted;
	char target[NET_TARGET_TEXT], text[BROKER_TEXT];
};

struct brokered {
	struct door door;
	struct keeper *keeper;
	int sock; /* -1: the broker has ended */
	struct use *uses[USES_MAX];
	size_t n;
};

static void end_broker(struct brokered *b);

/* Sends a note to the broker, which reads whenever it is idle. A full socket means that the broker
 * is stuck for good, so it is ended. */
static void tell(struct brokered *b, const struct broker_note *note)
{
	if (b->sock >= 0 && send(b->sock, note, sizeof(*note), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EINTR)
		end_broker(b);
}

/* ---- the decision ---------------------------------------------------------------------------- */

static int find_agent(struct brokered *b, enum rule_kind kind, struct caller *ret)
{
	int r = keeper_caller(b->keeper, b->keeper->agent_pid, ret);

	if (r < 0)
		return r;
	ret->door = &b->door;
	ret->op = kind == RULE_CONNECT ? "secret" : kind == RULE_SIGN ? "sign" : "credentials";
	return 0;
}

/* Returns 0, -EACCES, or -FOLDER_HELD if the user is asked. */
static int judge(struct brokered *b, const struct use *u)
{
	struct keeper *k = b->keeper;
	struct wished w = {.kind = u->kind, .path = u->target, .via = *u->text ? u->text : NULL};
	struct net_target target;
	enum policy_verdict v;
	struct caller c;
	int r = find_agent(b, u->kind, &c);

	if (r < 0 || k->frozen || !net_target_parse(&target, u->target, NULL))
		return -EACCES;
	c.request = u->id;
	c.granted = u->granted;
	c.tid = TID_BASE - (int)(u->id & 0x3ffffff);
	v = policy_check_flow(k->policy, u->kind, &target, NULL, &w.reason);
	if (v == POLICY_ALLOW || (v == POLICY_ASK && u->granted))
		return 0;
	if (v == POLICY_ASK && asks_possible(k))
		return asks_park(k, &c, &w);
	if (v == POLICY_ASK)
		keeper_deny_unasked(k, &c, u->target, -EACCES, w.reason);
	else
		keeper_deny(k, &c, u->target, -EACCES, w.reason);
	return -EACCES;
}

static void forget(struct brokered *b, size_t i)
{
	free(b->uses[i]);
	b->uses[i] = b->uses[--b->n];
}

static size_t find(const struct brokered *b, uint64_t id)
{
	size_t i = 0;

	while (i < b->n && b->uses[i]->id != id)
		i++;
	return i;
}

static void decide(struct brokered *b, size_t i)
{
	int r = judge(b, b->uses[i]);
	const struct broker_note answer = {
		.what = BROKER_ANSWER, .id = b->uses[i]->id, .allow = r == 0};

	if (r == -FOLDER_HELD)
		return;
	forget(b, i);
	tell(b, &answer);
}

/* ---- messages of the broker ------------------------------------------------------------------ */

static void want(struct brokered *b, const struct broker_note *note)
{
	struct use *u;

	if (b->n == USES_MAX || find(b, note->id) < b->n) {
		tell(b, &(struct broker_note){.what = BROKER_ANSWER, .id = note->id});
		return;
	}
	u = xcalloc(1, sizeof(*u));
	u->id = note->id;
	u->kind = note->kind == RULE_SIGN ? RULE_SIGN : RULE_CREDENTIALS;
	memcpy(u->target, note->target, sizeof(u->target));
	memcpy(u->text, note->text, sizeof(u->text));
	b->uses[b->n++] = u;
	decide(b, b->n - 1);
}

/* Reports a use for the activity list and the audit log. It changes no file, so it belongs to no
 * step. */
static void used(struct brokered *b, const struct broker_note *note)
{
	enum rule_kind kind = note->kind == BROKER_USE_SECRET ? RULE_CONNECT
			      : note->kind == RULE_SIGN	      ? RULE_SIGN
							      : RULE_CREDENTIALS;
	struct caller c;

	if (find_agent(b, kind, &c) < 0)
		return;
	if (note->what == BROKER_NONE)
		keeper_deny(b->keeper, &c, note->target, -EACCES, note->text);
	else
		event_used(b->keeper, &c, note->target, note->text);
}

/* Tells cordon to redact a secret, before it goes inside. */
static void pass_secret(struct brokered *b, struct broker_note *note)
{
	struct keeper *k = b->keeper;
	size_t mark = wire_begin(&k->out, WIRE_SECRET);

	if (k->spec->redact)
		(void)redact_secret(k->spec->redact, note->text);
	wire_u64(&k->out, note->id);
	wire_cstr(&k->out, note->text);
	wire_end(&k->out, mark);
	keeper_urgent(k);
	explicit_bzero(note, sizeof(*note));
}

static void gone(struct brokered *b, uint64_t id)
{
	size_t i = find(b, id);

	if (i == b->n)
		return;
	keeper_request_gone(b->keeper, &b->door, id);
	forget(b, i);
}

static void hear(struct brokered *b, struct broker_note *note)
{
	note->target[sizeof(note->target) - 1] = note->text[sizeof(note->text) - 1] = '\0';
	switch ((enum broker_what)note->what) {
	case BROKER_WANT:
		want(b, note);
		return;
	case BROKER_GONE:
		gone(b, note->id);
		return;
	case BROKER_USED:
	case BROKER_NONE:
		used(b, note);
		return;
	case BROKER_SECRET:
		pass_secret(b, note);
		return;
	case BROKER_ANSWER:
	case BROKER_KEPT:
		return;
	}
}

static void on_note(void *data)
{
	struct brokered *b = data;

	for (int i = 0; i < TURN_MAX && b->sock >= 0; i++) {
		struct broker_note note;
		ssize_t n = recv(b->sock, &note, sizeof(note), MSG_DONTWAIT);

		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			return;
		if (n != (ssize_t)sizeof(note))
			end_broker(b);
		else
			hear(b, &note);
	}
}

/* Closes the socket and refuses waiting uses. The broker is not started again. */
static void end_broker(struct brokered *b)
{
	if (b->sock < 0)
		return;
	keeper_unwatch(b->keeper, b->sock);
	util_close_fd(&b->sock);
	b->sock = -1;
	while (b->n)
		gone(b, b->uses[0]->id);
}

/* ---- the door -------------------------------------------------------------------------------- */

static struct brokered *self(struct door *d)
{
	return (struct brokered *)(void *)((char *)d - offsetof(struct brokered, door));
}

static void answered(struct door *d, uint64_t id, enum door_verdict verdict)
{
	struct brokered *b = self(d);
	size_t i = find(b, id);

	if (i == b->n)
		return;
	if (verdict == VERDICT_ALLOW || verdict == VERDICT_RETRY) {
		b->uses[i]->granted = verdict == VERDICT_ALLOW;
		decide(b, i);
		return;
	}
	forget(b, i);
	tell(b, &(struct broker_note){.what = BROKER_ANSWER, .id = id});
}

static void drop_all(struct door *d)
{
	struct brokered *b = self(d);

	while (b->n)
		answered(d, b->uses[0]->id, VERDICT_DENY);
}

static void close_door(struct door *d)
{
	struct brokered *b = self(d);

	b->keeper->brokered = NULL;
	end_broker(b);
	free(b);
}

static const struct door_ops ops = {
	.answered = answered,
	.drop_all = drop_all,
	.close = close_door,
};

int brokered_start(struct keeper *k, int sock, struct err *err)
{
	struct brokered *b = xcalloc(1, sizeof(*b));
	int r;

	b->door = (struct door){.ops = &ops, .fd = -1};
	b->keeper = k;
	b->sock = sock;
	r = keeper_watch(k, sock, on_note, b);
	if (r == 0)
		r = keeper_add_door(k, &b->door);
	if (r < 0) {
		end_broker(b);
		free(b);
		return err_set(err, r, "reach the broker");
	}
	k->brokered = b;
	return 0;
}

void brokered_kept(struct keeper *k, uint64_t id)
{
	if (k->brokered)
		tell(k->brokered, &(struct broker_note){.what = BROKER_KEPT, .id = id});
}
