/* explain - lists all rules and built-in lists about a path, and why each does or does not
 * decide. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/policy/policy_priv.h"

static const char *policy_word(enum policy_verdict v)
{
	static const char *const words[] = {
		[POLICY_ALLOW] = "allow", [POLICY_VET] = "ask",	  [POLICY_ASK] = "ask",
		[POLICY_DENY] = "deny",	  [POLICY_HIDE] = "hide",
	};

	return words[v];
}

struct policy_finding *explain_add(struct findings *f)
{
	f->list = xrealloc(f->list, (f->n + 1) * sizeof(*f->list));
	f->list[f->n] = (struct policy_finding){0};
	return &f->list[f->n++];
}

void explain_rule(struct findings *f, struct rules *r, const struct rule *rule, const char *lost)
{
	struct policy_finding *to = explain_add(f);

	to->verdict = rule_verdict_words[rule->verdict];
	to->words = rule->of->reason ? rule->of->reason
		    : rule->of->name ? rule->of->name
				     : rules_words(r, rule);
	to->origin = rules_origin(r, rule);
	to->rule = rule->pattern;
	to->lost = lost;
}

static void add_builtin(struct findings *f, const struct builtin *b, const char *lost)
{
	struct policy_finding *to = explain_add(f);

	to->verdict = policy_word(b->verdict);
	to->words = b->reason ? b->reason : "no built-in protection covers it";
	if (b->verdict == POLICY_VET)
		to->words = "git obeys it; only settings that cannot run anything pass without a "
			    "question";
	to->origin = "built in";
	to->lost = lost;
}

static void add_rules(struct findings *f, struct rules *r, enum rule_kind kind, const char *path,
		      const char *first_lost)
{
	struct rule_match *list = NULL;
	int64_t now = policy_now();
	size_t n = rules_explain(r, kind, path, now, &list);

	for (size_t i = 0; i < n; i++) {
		bool over = list[i].rule->of->until && list[i].rule->of->until <= now;

		explain_rule(f, r, list[i].rule,
			     over ? "it has expired"
			     : i  ? rules_why_lost(&list[0], &list[i], now)
				  : first_lost);
	}
	free(list);
}

static struct builtin builtin_of(const struct policy *p, enum rule_kind kind, const char *path)
{
	const char *reason;

	if (kind != RULE_WRITE)
		return check_builtin_read(p, kind, path);
	/* Places outside that a rule lets be written are judged as in a working folder. */
	if (places_cover(&p->folders, path) ||
	    policy_check_outside(p, POLICY_WRITE, path, &reason) == POLICY_ALLOW)
		return check_builtin_write(p, POLICY_WRITE, path);
	return check_builtin_outside(p, path);
}

const char *policy_allowed_by(const struct policy *p, const char *path)
{
	struct rule_match m;
	struct builtin b;

	if (!rules_decide(p->rules, RULE_WRITE, path, policy_now(), &m) ||
	    m.rule->verdict != RULE_ALLOW)
		return NULL;
	b = builtin_of(p, RULE_WRITE, path);
	return b.verdict == POLICY_ALLOW || check_builtin_gives_way(&b, &m)
		       ? rules_words(p->rules, m.rule)
		       : NULL;
}

bool policy_is_of_profile(const struct policy *p, const char *path)
{
	AUTO_FREE struct rule_match *list = NULL;
	size_t n = rules_explain(p->rules, RULE_WRITE, path, policy_now(), &list);
	bool found = false;

	for (size_t i = 0; i < n; i++)
		found = found || list[i].rule->of->level == LEVEL_PROFILE;
	return found || check_leads_to_writes(p, path, true); /* which looks at every rule */
}

/* Returns how much of a pattern names the program's own directory in the home, or 0. */
static size_t own_len(const char *pattern)
{
	static const char *const shared[] = {".cache", ".config", ".local/share", ".local/state"};
	size_t len = 0;

	for (size_t i = 0; i < ARRAY_LEN(shared); i++)
		if (path_below(pattern, shared[i]))
			len = strlen(shared[i]) + 1;
	len += strcspn(pattern + len, "/");
	return len <= strcspn(pattern, "*?[\\") && pattern[len] ? len : 0;
}

struct own_dirs {
	const char *home, *quoted; /* quoted: as patterns have it */
	char **list;
	size_t n;
};

static bool add_own_dir(void *data, const char *pattern)
{
	struct own_dirs *own = data;
	const char *below = path_below(pattern, own->quoted);
	size_t len = below ? own_len(below) : 0;

	if (len)
		util_list_push(&own->list, &own->n,
			       xasprintf("%s/%.*s", own->home, (int)len, below));
	return false;
}

char **policy_own_dirs(const struct policy *p, const char *home)
{
	AUTO_BUF struct buf quoted = BUF_INIT;
	struct own_dirs own = {.home = home};

	glob_quote(&quoted, home);
	own.quoted = quoted.data;
	(void)check_each_write(p, true, add_own_dir, &own);
	return own.list;
}

static void swap(struct policy_finding *a, struct policy_finding *b)
{
	struct policy_finding t = *a;

	*a = *b;
	*b = t;
}

/* Decides like combine() in check.c, and also lists the losers. */
size_t policy_explain(struct policy *p, enum rule_kind kind, const char *path,
		      struct policy_finding **ret)
{
	struct builtin b;
	struct findings f = {0};
	struct rule_match m = {0}, u = {0};
	enum policy_verdict said, v;
	bool found, strict;
	const char *rule_lost = "what is built in is stricter, and about a nearer place";
	const char *built_lost = "a rule that is as near or nearer decides";
	size_t at;

	if (kind >= RULE_PLACES)
		return flows_explain(p, kind, path, ret);
	b = builtin_of(p, kind, path);
	found = rules_decide(p->rules, kind, path, policy_now(), &m);
	strict = rules_decide(p->untrusted, kind, path, policy_now(), &u);
	said = found ? verdict_of_rule(m.rule->verdict) : POLICY_ALLOW;
	v = b.verdict;
	if (found && (said >= v || check_builtin_gives_way(&b, &m))) {
		rule_lost = NULL;
		built_lost = said > v ? "a rule is stricter" : built_lost;
		v = said;
	} else {
		built_lost = NULL;
	}
	if (b.final)
		rule_lost = "no rule makes this place visible";
	if (strict && verdict_of_rule(u.rule->verdict) > v) {
		add_rules(&f, p->untrusted, kind, path, NULL);
		rule_lost = rule_lost ? rule_lost : "the project's file makes it stricter";
		built_lost = built_lost ? built_lost : "the project's file makes it stricter";
		strict = false;
	}
	at = f.n;
	add_rules(&f, p->rules, kind, path, rule_lost);
	if (!built_lost || b.verdict != POLICY_ALLOW)
		add_builtin(&f, &b, built_lost);
	if (!built_lost) /* first, if it decides */
		for (size_t i = f.n - 1; i > at; i--)
			swap(&f.list[i], &f.list[i - 1]);
	if (strict)
		add_rules(&f, p->untrusted, kind, path, "an untrusted file can only be stricter");
	*ret = f.list;
	return f.n;
}

bool policy_is_expected(const struct policy *p, const char *reason)
{
	return reason && rules_words_are_profiles(p->rules, reason);
}

void policy_rules(const struct policy *p, const struct rules **ret_trusted,
		  const struct rules **ret_untrusted)
{
	*ret_trusted = p->rules;
	*ret_untrusted = p->untrusted;
}
