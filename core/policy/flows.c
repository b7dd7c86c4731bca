/* flows - judges connections to hosts: by rules about names and about addresses. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/net/host.h"
#include "core/policy/policy_priv.h"

/*
 * Rules and users name hosts, connections have addresses, and the owner of a name can point it to
 * any address. So both are judged: if rules apply to the name and others to the address, the
 * stricter wins; a rule about any host applies if neither has one.
 */
#define BY_ANY	(1u << NET_ANY)
#define BY_NAME (1u << NET_NAME | 1u << NET_DOMAIN)
#define BY_ADDR (1u << NET_ADDRS)

static const char unasked[] = "no rule covers this host";

/* ---- options of the command line ------------------------------------------------------------- */

static void add_named(struct policy *p, const char *option, const char *const *patterns, size_t n)
{
	const struct rule_frame frame = {.level = LEVEL_OPTION, .file = option};
	const struct rule rule = {.of = &frame,
				  .verdict = RULE_ALLOW,
				  .kinds = 1u << RULE_CONNECT,
				  .pattern = patterns[0]};
	uint32_t number = rules_add(p->rules, &rule);
	const char *why;

	/* Invalid hosts were refused when the options were parsed; if one is here, stop adding. */
	for (size_t i = 0; i < n; i++)
		if (!rules_place_host(p->rules, number, patterns[i], &why))
			return;
}

void flows_named(struct policy *p, const struct policy_spec *spec)
{
	for (const char *const *host = spec->hosts; host && *host; host++) {
		AUTO_FREE char *below = xasprintf("*.%s", *host);
		struct net_pattern given;
		const char *why;
		bool both = net_pattern_parse(&given, *host, &why) && given.kind == NET_NAME;

		add_named(p, "--allow-domain", (const char *const[]){*host, below}, both ? 2 : 1);
	}
	if (spec->public_hosts)
		add_named(p, "--allow-network", (const char *const[]){"*"}, 1);
}

/* ---- the decision ---------------------------------------------------------------------------- */

/* The result of one set of rules. */
struct said {
	struct rule_match name, addr, any;
	const struct rule *rule; /* that decides; NULL: none matches */
};

static bool is_final(const struct rule *r)
{
	return r && r->of->level == LEVEL_ORG && r->verdict >= RULE_DENY;
}

static const struct rule *stricter(const struct rule *a, const struct rule *b)
{
	if (!a || !b)
		return a ? a : b;
	return b->verdict > a->verdict ? b : a;
}

static void look(struct rules *r, enum rule_kind kind, const struct net_target *t,
		 const struct net_addr *addr, struct said *ret)
{
	struct net_target at = {.port = t->port};
	int64_t now = policy_now();

	*ret = (struct said){0};
	rules_decide_host(r, kind, t, BY_ANY, now, &ret->any);
	if (!t->host.is_addr)
		rules_decide_host(r, kind, t, BY_NAME, now, &ret->name);
	if (addr) {
		net_host_from_addr(&at.host, addr);
		rules_decide_host(r, kind, &at, BY_ADDR, now, &ret->addr);
	}
	ret->rule = stricter(ret->name.rule, ret->addr.rule);
	if (!ret->rule || is_final(ret->any.rule))
		ret->rule = ret->any.rule;
}

static const char *special_words(const struct net_addr *addr)
{
	enum net_class c = net_addr_class(addr);

	return c == NET_PUBLIC ? "an address of this host" : net_class_words(c);
}

static bool is_special(const struct net_addr *addr)
{
	return net_addr_class(addr) != NET_PUBLIC || policy_is_own_address(addr);
}

/* Returns whether the rule allows this special address. A rule for half of all addresses names none
 * of them in particular. */
static bool opens_special(const struct rule_match *m, const struct net_addr *addr)
{
	unsigned least = 7 + (net_addr_is_v4(addr) ? 96 : 0); /* an IPv6 rule is not about IPv4 */

	return m->rule && m->rule->verdict == RULE_ALLOW && m->depth > least;
}

enum policy_verdict policy_check_flow(const struct policy *p, enum rule_kind kind,
				      const struct net_target *t, const struct net_addr *addr,
				      const char **ret_reason)
{
	const struct net_addr *to = t->host.is_addr ? &t->host.addr : addr;
	struct said trusted, strict;
	enum policy_verdict v;

	look(p->rules, kind, t, to, &trusted);
	look(p->untrusted, kind, t, to, &strict);
	v = trusted.rule ? verdict_of_rule(trusted.rule->verdict) : POLICY_ASK;
	*ret_reason = trusted.rule ? rules_words(p->rules, trusted.rule) : unasked;
	if (strict.rule && verdict_of_rule(strict.rule->verdict) > v) {
		v = verdict_of_rule(strict.rule->verdict);
		*ret_reason = rules_words(p->untrusted, strict.rule);
	}
	return MIN(v, POLICY_DENY);
}

enum policy_verdict policy_check_address(const struct policy *p, enum rule_kind kind,
					 const struct net_addr *addr, uint16_t port,
					 const char **ret_reason)
{
	struct net_target t = {.port = port};
	struct rule_match own, strict;
	int64_t now = policy_now();

	net_host_from_addr(&t.host, addr);
	rules_decide_host(p->rules, kind, &t, BY_ADDR, now, &own);
	rules_decide_host(p->untrusted, kind, &t, BY_ADDR, now, &strict);
	if (own.rule && own.rule->verdict >= RULE_DENY) {
		*ret_reason = rules_words(p->rules, own.rule);
		return POLICY_DENY;
	}
	if (strict.rule && strict.rule->verdict >= RULE_DENY) {
		*ret_reason = rules_words(p->untrusted, strict.rule);
		return POLICY_DENY;
	}
	if (opens_special(&own, addr) || !is_special(addr))
		return POLICY_ALLOW;
	*ret_reason = special_words(addr);
	return POLICY_ASK;
}

/* ---- answers --------------------------------------------------------------------------------- */

void answer_host_patterns(const char *target, enum answer_extent extent, char *ret[2])
{
	struct net_target t;
	const char *domain, *why;
	char text[NET_TARGET_TEXT];
	uint16_t port;

	ret[0] = ret[1] = NULL;
	if (!net_target_parse(&t, target, &why))
		return;
	port = t.port;
	switch (extent) {
	case EXTENT_EXACT:
		net_target_format(&t, text);
		ret[0] = xstrdup(text);
		return;
	case EXTENT_DIR:
		t.port = 0;
		net_target_format(&t, text);
		ret[0] = xstrdup(text);
		return;
	case EXTENT_TREE:
		if (t.host.is_addr || !net_registered_domain(t.host.name, &domain))
			return;
		ret[0] = port ? xasprintf("%s:%u", domain, port) : xstrdup(domain);
		ret[1] = xasprintf("*.%s", ret[0]);
		return;
	case EXTENT_BUNDLE: /* for paths only */
		return;
	}
}

bool flows_offered(const char *target, enum answer_extent extent)
{
	const char *domain, *why;
	struct net_target t;

	if (extent == EXTENT_EXACT)
		return true;
	if (extent == EXTENT_BUNDLE || !net_target_parse(&t, target, &why))
		return false;
	/* Services of localhost and of special addresses are asked about one by one. */
	if (t.host.is_addr ? is_special(&t.host.addr) : str_eq(t.host.name, "localhost"))
		return false;
	if (extent == EXTENT_DIR)
		return true;
	return !t.host.is_addr && net_registered_domain(t.host.name, &domain);
}

/* ---- functions for `cordon why` -------------------------------------------------------------- */

static void add_rules(struct findings *f, struct rules *r, enum rule_kind kind,
		      const struct net_target *t, const char *lost)
{
	AUTO_FREE struct rule_match *list = NULL;
	int64_t now = policy_now();
	size_t n = rules_explain_host(r, kind, t, now, &list);

	for (size_t i = 0; i < n; i++)
		explain_rule(f, r, list[i].rule,
			     i ? rules_why_lost(&list[0], &list[i], now) : lost);
}

static void add_builtin(struct findings *f, const char *words, const char *lost)
{
	*explain_add(f) = (struct policy_finding){
		.verdict = "ask", .words = words, .origin = "built in", .lost = lost};
}

size_t flows_explain(struct policy *p, enum rule_kind kind, const char *target,
		     struct policy_finding **ret)
{
	static const char name_lost[] = "rules about names do not open such an address";
	struct findings f = {0};
	const char *reason, *why;
	struct net_target t;
	struct said strict;
	enum policy_verdict v;
	bool special, denied;

	*ret = NULL;
	if (!net_target_parse(&t, target, &why))
		return 0;
	v = policy_check_flow(p, kind, &t, NULL, &reason);
	denied = v == POLICY_DENY;
	special = t.host.is_addr && !denied &&
		  policy_check_address(p, kind, &t.host.addr, t.port, &reason) == POLICY_ASK;
	look(p->untrusted, kind, &t, t.host.is_addr ? &t.host.addr : NULL, &strict);
	if (special)
		add_builtin(&f, reason, NULL);
	if (strict.rule && v == verdict_of_rule(strict.rule->verdict)) {
		add_rules(&f, p->untrusted, kind, &t, NULL);
		add_rules(&f, p->rules, kind, &t, "the project's file makes it stricter");
	} else {
		add_rules(&f, p->rules, kind, &t, special ? name_lost : NULL);
		add_rules(&f, p->untrusted, kind, &t, "an untrusted file can only be stricter");
	}
	if (f.n == 0)
		add_builtin(&f, unasked, NULL);
	*ret = f.list;
	return f.n;
}
