/* reload - replaces the rules of settings in a policy that is in use. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/policy/policy_priv.h"

/* Copies a rule without a name, of the command line or an answer. Rules of settings have names. */
static uint32_t carry_one(struct rules *to, struct rules *from, uint32_t number)
{
	uint32_t as = rules_add(to, rules_at(from, number));
	AUTO_BUF struct buf text = BUF_INIT;
	const char *why;

	for (uint32_t at = 0; (at = rules_next(from, number, at));) {
		rules_text(from, at, &text);
		if (!rules_place(to, as, text.data, &why))
			continue; /* cannot fail: it was a valid pattern */
	}
	rules_carry_hosts(to, as, from, number);
	return as;
}

static void carry(struct policy *p, struct rules *to)
{
	for (uint32_t i = 0; i < rules_count(p->rules); i++) {
		const struct rule *rule = rules_at(p->rules, i);

		if (rule && !rule->of->name && rule->of->level != LEVEL_SESSION)
			carry_one(to, p->rules, i);
	}
	for (size_t i = 0; i < p->n_given; i++)
		p->given[i].rule = carry_one(to, p->rules, p->given[i].rule);
}

int policy_reload(struct policy *p, const struct config *config, struct err *err)
{
	const struct rules_scope scope = {.home = p->home,
					  .folders = (const char *const *)p->folders.list};
	struct rules *trusted = rules_new(), *untrusted = rules_new();
	struct err first = {0};

	if (!rules_load(trusted, untrusted, config, &scope, policy_first_error, &first)) {
		rules_free(trusted);
		rules_free(untrusted);
		return err_say(err, -EINVAL, "%s", first.text);
	}
	carry(p, trusted);
	policy_forget_old(p);
	p->old = p->rules;
	p->old_untrusted = p->untrusted;
	p->rules = trusted;
	p->untrusted = untrusted;
	return 0;
}

static void swap(struct rules **a, struct rules **b)
{
	struct rules *r = *a;

	*a = *b;
	*b = r;
}

bool policy_takes_back(struct policy *p, const char *path)
{
	const char *why;
	bool was;

	if (!p->old || policy_check_read(p, RULE_READ, path, &why) == POLICY_ALLOW)
		return false;
	swap(&p->rules, &p->old);
	swap(&p->untrusted, &p->old_untrusted);
	was = policy_check_read(p, RULE_READ, path, &why) == POLICY_ALLOW;
	swap(&p->rules, &p->old);
	swap(&p->untrusted, &p->old_untrusted);
	return was;
}

void policy_forget_old(struct policy *p)
{
	rules_free(take_ptr(&p->old));
	rules_free(take_ptr(&p->old_untrusted));
}
