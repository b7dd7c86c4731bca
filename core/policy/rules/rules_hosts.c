/* rules_hosts - finds the rule about hosts that decides about a target. */
/* SPDX-License-Identifier: MIT */
#include <netinet/in.h>
#include <string.h>

#include "core/policy/rules/rules_priv.h"

/*
 * There are tens of rules about hosts, and ten thousand about paths: so all are examined. The order
 * of rules_compare() decides as for paths: depth is how exactly the host is named; at equal depth
 * the rule for fewer ports decides.
 */

static void place(struct rules *r, uint32_t number, const struct net_pattern *p)
{
	if (r->n_hosts == r->cap_hosts) {
		r->cap_hosts = r->cap_hosts ? 2 * r->cap_hosts : 32;
		r->hosts = xrealloc(r->hosts, r->cap_hosts * sizeof(*r->hosts));
	}
	r->hosts[r->n_hosts++] = (struct host_rule){number, *p};
}

/* Adds the addresses of localhost. Programs find that name in a file, so their connections have an
 * address. */
static void place_loopback(struct rules *r, uint32_t number, const struct net_pattern *name)
{
	const struct net_addr both[] = {net_addr_v4(INADDR_LOOPBACK), {{[15] = 1}}};

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct net_pattern at = *name;

		at.kind = NET_ADDRS;
		at.name[0] = '\0';
		at.addr = both[i];
		at.bits = 128;
		place(r, number, &at);
	}
}

bool rules_place_host(struct rules *r, uint32_t number, const char *pattern, const char **why)
{
	struct net_pattern p;

	if (!net_pattern_parse(&p, pattern, why))
		return false;
	place(r, number, &p);
	if (p.kind == NET_NAME && str_eq(p.name, "localhost") &&
	    r->list[number].rule.kinds & 1u << RULE_CONNECT)
		place_loopback(r, number, &p);
	return true;
}

void rules_drop_hosts(struct rules *r, uint32_t number)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_hosts; i++)
		if (r->hosts[i].number != number)
			r->hosts[n++] = r->hosts[i];
	r->n_hosts = n;
}

void rules_carry_hosts(struct rules *r, uint32_t as, const struct rules *from, uint32_t number)
{
	for (size_t i = 0; i < from->n_hosts; i++)
		if (from->hosts[i].number == number)
			place(r, as, &from->hosts[i].pattern);
}

static struct rule_match match_of(const struct rules *r, const struct host_rule *h)
{
	return (struct rule_match){.rule = &r->list[h->number].rule,
				   .depth = net_pattern_depth(&h->pattern),
				   .ports = net_pattern_ports(&h->pattern)};
}

static bool is_over(const struct rule *rule, int64_t now)
{
	return rule->of->until && rule->of->until <= now;
}

static bool decide(struct rules *r, enum rule_kind kind, const struct net_target *t,
		   unsigned patterns, int64_t now, struct rule_match *ret)
{
	struct rule_match best = {0};

	for (size_t i = 0; i < r->n_hosts; i++) {
		const struct host_rule *h = &r->hosts[i];
		const struct rule_match m = match_of(r, h);
		enum rules_order by;

		if (!(patterns & 1u << h->pattern.kind) || !(m.rule->kinds & 1u << kind) ||
		    is_over(m.rule, now) || !net_pattern_matches(&h->pattern, t))
			continue;
		if (!best.rule || rules_compare(&m, &best, now, &by) > 0)
			best = m;
	}
	*ret = best;
	return best.rule != NULL;
}

bool rules_decide_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
		       unsigned patterns, int64_t now, struct rule_match *ret)
{
	struct rule_match loosest = {0};

	if (t->port)
		return decide(r, kind, t, patterns, now, ret);
	/* Try each port at which a pattern for this host begins: it represents the ports up to the
	 * next one. */
	for (size_t i = 0; i < r->n_hosts; i++) {
		struct net_target at = *t;
		struct rule_match m;

		if (!net_pattern_matches(&r->hosts[i].pattern, t))
			continue;
		at.port = r->hosts[i].pattern.from;
		if (decide(r, kind, &at, patterns, now, &m) &&
		    (!loosest.rule || m.rule->verdict < loosest.rule->verdict))
			loosest = m;
	}
	*ret = loosest;
	return loosest.rule != NULL;
}

size_t rules_explain_host(struct rules *r, enum rule_kind kind, const struct net_target *t,
			  int64_t now, struct rule_match **ret)
{
	struct rule_match *list = NULL;
	enum rules_order by;
	size_t n = 0;

	for (size_t i = 0; i < r->n_hosts; i++) {
		const struct rule_match m = match_of(r, &r->hosts[i]);
		size_t at = n;

		if (!(m.rule->kinds & 1u << kind) || !net_pattern_matches(&r->hosts[i].pattern, t))
			continue;
		list = xrealloc(list, (n + 1) * sizeof(*list));
		for (; at > 0 && rules_compare(&m, &list[at - 1], now, &by) > 0; at--)
			list[at] = list[at - 1];
		list[at] = m;
		n++;
	}
	*ret = list;
	return n;
}
