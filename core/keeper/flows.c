/* flows - connections of the agent: what the policy says of them, and news of them for cordon. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/flows.h"

#include <errno.h>
#include <string.h>

#include "core/keeper/keeper_priv.h"

static const char op[] = "connect";

bool flow_can_ask(const struct keeper *k)
{
	return asks_possible(k);
}

/* What is asked about, or refused: the address, where all that is missing is a rule about it. */
static void name_wish(struct wished *w, const struct flow *f, bool special,
		      char text[NET_TARGET_TEXT], char via[NET_TARGET_TEXT])
{
	struct net_target at = {.port = f->target->port};
	bool by_name = !f->target->host.is_addr;

	net_target_format(f->target, text);
	w->path = text;
	if (!by_name || !f->addr)
		return;
	net_host_from_addr(&at.host, f->addr);
	if (special) {
		net_target_format(f->target, via);
		net_target_format(&at, text);
	} else {
		net_target_format(&at, via);
	}
	w->via = via;
}

static bool hands_out_much(const struct flow *f, bool special)
{
	const struct net_addr *to = f->target->host.is_addr ? &f->target->host.addr : f->addr;

	return special && to && net_addr_class(to) == NET_METADATA;
}

int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f)
{
	char text[NET_TARGET_TEXT], via[NET_TARGET_TEXT];
	struct wished w = {.kind = RULE_CONNECT};
	struct caller as = *c;
	enum policy_verdict v;
	bool special;

	as.op = op;
	v = policy_check_flow(k->policy, RULE_CONNECT, f->target, f->addr, &special, &w.reason);
	name_wish(&w, f, special, text, via);
	w.secret = hands_out_much(f, special);
	if (k->frozen)
		return -EACCES;
	if (v == POLICY_ALLOW || (v == POLICY_ASK && c->granted))
		return 0;
	if (v == POLICY_ASK && asks_possible(k))
		return asks_park(k, &as, &w);
	if (v == POLICY_ASK)
		keeper_deny_unasked(k, &as, w.path, -EACCES, w.reason);
	else
		keeper_deny(k, &as, w.path, -EACCES, w.reason);
	return -EACCES;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool target_of_name(struct net_target *ret, const char *name)
{
	*ret = (struct net_target){0};
	return net_host_parse(&ret->host, name, strlen(name), NULL) && !ret->host.is_addr;
}

enum policy_verdict flow_judge_name(struct keeper *k, const char *name)
{
	struct net_target t;
	const char *reason;
	bool special;

	if (k->frozen || !target_of_name(&t, name))
		return POLICY_DENY;
	return policy_check_flow(k->policy, RULE_CONNECT, &t, NULL, &special, &reason);
}

void flow_deny_name(struct keeper *k, const char *name, bool unasked)
{
	const struct caller nobody = {.op = op};
	struct net_target t;
	const char *reason = NULL;
	bool special;

	if (target_of_name(&t, name))
		policy_check_flow(k->policy, RULE_CONNECT, &t, NULL, &special, &reason);
	if (unasked)
		keeper_deny_unasked(k, &nobody, name, -EACCES, reason);
	else
		keeper_deny(k, &nobody, name, -EACCES, reason);
}

/* ---- news ------------------------------------------------------------------------------------ */

void flow_tell(struct keeper *k, const struct flow_news *n)
{
	char text[NET_TARGET_TEXT] = "", addr[NET_ADDR_TEXT] = "";
	size_t mark = wire_begin(&k->out, WIRE_FLOW);

	if (n->target)
		net_target_format(n->target, text);
	if (n->addr)
		net_addr_format(n->addr, addr);
	wire_u64(&k->out, n->id);
	wire_u8(&k->out, (uint8_t)n->state);
	wire_i64(&k->out, n->caller ? steps_id(k, n->caller->proc) : 0);
	wire_i64(&k->out, n->caller ? n->caller->pid : 0);
	wire_u64(&k->out, n->sent);
	wire_u64(&k->out, n->received);
	wire_cstr(&k->out, text);
	wire_cstr(&k->out, addr);
	wire_end(&k->out, mark);
}
