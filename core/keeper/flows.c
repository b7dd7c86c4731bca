/* flows - judges network connections of the agent, and reports them to cordon. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/flows.h"

#include <errno.h>
#include <string.h>

#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/grants.h"
#include "core/keeper/channel.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/steps.h"
#include "core/net/book.h"
#include "core/os/processes.h"

static const char op[] = "connect";

bool flow_can_ask(const struct keeper *k)
{
	return asks_possible(k);
}

struct judged {
	enum policy_verdict verdict;
	struct wished w;
	char text[NET_TARGET_TEXT],
		via[NET_TARGET_TEXT]; /* the target of the question, and its other form */
};

static int settle(struct keeper *k, const struct caller *c, const struct judged *j)
{
	struct caller as = *c;

	as.op = op;
	if (k->frozen)
		return -EACCES;
	if (j->verdict == POLICY_ALLOW || (j->verdict == POLICY_ASK && c->granted))
		return 0;
	if (j->verdict == POLICY_ASK && asks_possible(k))
		return asks_park(k, &as, &j->w);
	if (j->verdict == POLICY_ASK)
		keeper_deny_unasked(k, &as, j->w.path, -EACCES, j->w.reason);
	else
		keeper_deny(k, &as, j->w.path, -EACCES, j->w.reason);
	return -EACCES;
}

static void judge_address(struct keeper *k, const struct net_addr *addr, uint16_t port,
			  struct judged *j)
{
	const char *reason;
	enum policy_verdict v = policy_check_address(k->policy, RULE_CONNECT, addr, port, &reason);

	/* If both ask, the address's reason says more than that no rule matches the name. */
	if (v == POLICY_ALLOW || v < j->verdict)
		return;
	j->verdict = v;
	j->w.reason = reason;
	j->w.secret = net_addr_class(addr) == NET_METADATA;
}

int flow_judge(struct keeper *k, const struct caller *c, const struct flow *f)
{
	const struct net_host *host = &f->target->host;
	struct judged j = {.w = {.kind = RULE_CONNECT}};

	j.verdict = policy_check_flow(k->policy, RULE_CONNECT, f->target, f->addr, &j.w.reason);
	net_target_format(f->target, j.text);
	j.w.path = j.text;
	if (host->is_addr) {
		judge_address(k, &host->addr, f->target->port, &j);
	} else if (f->addr) {
		net_addr_format(f->addr, j.via);
		j.w.via = j.via;
	}
	return settle(k, c, &j);
}

int flow_judge_address(struct keeper *k, const struct caller *c, const struct flow *f)
{
	struct judged j = {.verdict = POLICY_ALLOW, .w = {.kind = RULE_CONNECT}};
	struct net_target at = {.port = f->target->port};

	judge_address(k, f->addr, f->target->port, &j);
	net_host_from_addr(&at.host, f->addr);
	net_target_format(&at, j.text);
	net_target_format(f->target, j.via);
	j.w.path = j.text;
	j.w.via = j.via;
	return settle(k, c, &j);
}

bool flow_may_name(struct keeper *k, const struct caller *c, const struct flow *f,
		   const char *named)
{
	AUTO_FREE char *why = NULL, *path = NULL;
	bool by_name = !f->target->host.is_addr;
	struct net_target t = {.port = f->target->port};
	enum policy_verdict v = by_name ? POLICY_DENY : POLICY_ALLOW;
	const char *reason = "no host has such a name";
	struct caller as = *c;
	char text[NET_TARGET_TEXT];

	if (net_host_parse(&t.host, named, strlen(named), NULL))
		v = policy_check_flow(k->policy, RULE_CONNECT, &t, f->addr, &reason);
	if (v == POLICY_ALLOW || (v == POLICY_ASK && !by_name))
		return true;
	as.op = op;
	net_target_format(f->target, text);
	why = xasprintf("%s: a connection to %s names it", reason, text);
	path = xasprintf("%s:%u", named, t.port);
	if (v == POLICY_ASK && !asks_possible(k))
		keeper_deny_unasked(k, &as, path, -EACCES, why);
	else
		keeper_deny(k, &as, path, -EACCES, why);
	return false;
}

size_t flow_allowed(const struct keeper *k, const struct net_addr *addr, size_t n, uint16_t port,
		    struct net_addr *ret)
{
	const char *reason;
	size_t may = 0;

	for (size_t i = 0; i < n; i++)
		if (policy_check_address(k->policy, RULE_CONNECT, &addr[i], port, &reason) ==
		    POLICY_ALLOW)
			ret[may++] = addr[i];
	return may;
}

bool flow_name_of(const struct keeper *k, const struct net_book *book, const struct net_addr *addr,
		  uint16_t port, struct net_host *ret)
{
	const char *name, *reason;
	bool found = false;

	for (size_t i = 0; (name = book_name(book, addr, i)) != NULL; i++) {
		struct net_target t = {.port = port};
		bool allowed;

		if (!net_host_parse(&t.host, name, strlen(name), NULL))
			continue;
		allowed = policy_check_flow(k->policy, RULE_CONNECT, &t, addr, &reason) ==
			  POLICY_ALLOW;
		if (!found || allowed)
			*ret = t.host;
		found = true;
		if (allowed)
			break;
	}
	return found;
}

void flow_deny_local(struct keeper *k, const struct caller *c, const struct net_addr *addr,
		     uint16_t port)
{
	struct net_target t = {.port = port};
	AUTO_FREE char *why = NULL;
	char text[NET_TARGET_TEXT];
	struct caller as = *c;

	as.op = op;
	net_host_from_addr(&t.host, addr);
	net_target_format(&t, text);
	why = xasprintf("it is a service of this host's loopback; \"allow = connect %s\" shows it "
			"inside",
			text);
	if (asks_possible(k))
		keeper_deny(k, &as, text, -ECONNREFUSED, why);
	else
		keeper_deny_unasked(k, &as, text, -ECONNREFUSED, why);
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

	if (k->frozen || !target_of_name(&t, name))
		return POLICY_DENY;
	return policy_check_flow(k->policy, RULE_CONNECT, &t, NULL, &reason);
}

void flow_deny_name(struct keeper *k, const char *name, bool unasked)
{
	const struct caller nobody = {.op = op};
	struct net_target t;
	const char *reason = NULL;

	if (target_of_name(&t, name))
		policy_check_flow(k->policy, RULE_CONNECT, &t, NULL, &reason);
	if (unasked)
		keeper_deny_unasked(k, &nobody, name, -EACCES, reason);
	else
		keeper_deny(k, &nobody, name, -EACCES, reason);
}

/* ---- reports --------------------------------------------------------------------------------- */

void flow_program(int pid, char *out, size_t size)
{
	if (!os_process_name(pid, out, size))
		*out = '\0';
}

void flow_tell(struct keeper *k, const struct flow_news *n)
{
	char text[NET_TARGET_TEXT] = "", addr[NET_ADDR_TEXT] = "", program[32] = "";
	size_t mark = wire_begin(&k->out, WIRE_FLOW);

	if (n->target)
		net_target_format(n->target, text);
	if (n->program)
		snprintf(program, sizeof(program), "%s", n->program);
	else if (n->caller)
		flow_program(n->caller->pid, program, sizeof(program));
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
	wire_cstr(&k->out, n->why);
	wire_cstr(&k->out, program);
	wire_end(&k->out, mark);
}

#define SAID_MAX 4096

void flow_say(struct keeper *k, struct buf *said, const char *words)
{
	if (said->len + strlen(words) > SAID_MAX || strstr(said->data, words))
		return;
	buf_fmt(said, "%s\n", words);
	keeper_warn(k, "%s", words);
}

void flow_rewritten(struct keeper *k, const struct caller *c, const char *as, const char *from,
		    const char *to)
{
	size_t mark = wire_begin(&k->out, WIRE_REWRITE);

	wire_i64(&k->out, steps_id(k, c->proc));
	wire_i64(&k->out, c->pid);
	wire_cstr(&k->out, as);
	wire_cstr(&k->out, from);
	wire_cstr(&k->out, to);
	wire_end(&k->out, mark);
}

/* ---- requests of cordon ---------------------------------------------------------------------- */

void flow_end(struct keeper *k, uint64_t id)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->end_flow)
			k->doors[i]->ops->end_flow(k->doors[i], id);
}

void flow_forbid(struct keeper *k, uint64_t ask, const char *target)
{
	AUTO_FREE char *key = question_key(RULE_CONNECT, target);
	const struct question q = {.id = ask, .kind = RULE_CONNECT, .key = key, .path = key + 1};
	/* Any answer that allowed it includes the port, so this denies the port, too. */
	const struct answer deny = {.scope = SCOPE_SESSION};

	grants_add(k, &q, &deny);
}

/* ---- ports inside ---------------------------------------------------------------------------- */

void flow_publish(struct keeper *k, uint16_t port, uint16_t host_port, const char *by)
{
	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->publish)
			k->doors[i]->ops->publish(k->doors[i], port, host_port, by);
}

void port_tell(struct keeper *k, const struct port_news *n)
{
	size_t mark = wire_begin(&k->out, WIRE_PORT);
	char program[32] = "";

	if (n->pid > 0)
		flow_program(n->pid, program, sizeof(program));
	wire_u8(&k->out, (uint8_t)n->state);
	wire_u32(&k->out, n->port);
	wire_u32(&k->out, n->host_port);
	wire_i64(&k->out, n->pid);
	wire_u32(&k->out, (uint32_t)n->code);
	wire_cstr(&k->out, program);
	wire_cstr(&k->out, n->by);
	wire_end(&k->out, mark);
}

const char *port_allowed_by(struct keeper *k, uint16_t port)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	const char *allowed = NULL;

	for (size_t i = 0; i < ARRAY_LEN(names) && !k->frozen; i++) {
		struct net_target t = {.port = port};
		enum policy_verdict v = POLICY_DENY;
		const char *reason;

		if (net_host_parse(&t.host, names[i], strlen(names[i]), NULL))
			v = policy_check_flow(k->policy, RULE_BIND, &t, NULL, &reason);
		if (v == POLICY_DENY)
			return NULL;
		if (v == POLICY_ALLOW)
			allowed = reason;
	}
	return allowed;
}
