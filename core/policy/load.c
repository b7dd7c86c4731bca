/* load - reads `[rule]` sections of the settings, and makes rules of them. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/load_priv.h"

#include <string.h>

#include "core/policy/builtin/tool_homes.h"

void loader_complain(struct loader *l, const struct config_rule *at, const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	l->errors++;
	l->on_error(l->data, at->file, at->line, b.data);
}

static enum rule_verdict verdict_of(enum config_rule_key what)
{
	static const enum rule_verdict verdicts[] = {[CONFIG_ALLOW] = RULE_ALLOW,
						     [CONFIG_ASK] = RULE_ASK,
						     [CONFIG_DENY] = RULE_DENY,
						     [CONFIG_HIDE] = RULE_HIDE};

	return verdicts[what];
}

static enum rule_level level_of(enum config_level level)
{
	switch (level) {
	case CONFIG_BUILTIN:
		return LEVEL_BUILTIN;
	case CONFIG_PROFILE:
		return LEVEL_PROFILE;
	case CONFIG_ORG:
		return LEVEL_ORG;
	case CONFIG_USER:
		return LEVEL_USER;
	case CONFIG_PROJECT:
		return LEVEL_PROJECT;
	case CONFIG_FILE:
	case CONFIG_OPTION:
		break;
	}
	return LEVEL_OPTION;
}

/* Fills in the common part of a section's rules. */
static void section_frame(struct loader *l, const struct config *c, size_t from,
			  struct rule_frame *ret)
{
	const struct config_rule first = config_rule(c, from);

	*ret = (struct rule_frame){
		.name = first.name, .file = first.file, .level = level_of(first.level)};
	for (size_t i = from; first.framed && i < first.end; i++) {
		const struct config_rule at = config_rule(c, i);

		if (at.what == CONFIG_REASON)
			ret->reason = at.value;
		if (at.what != CONFIG_UNTIL)
			continue;
		if (ret->until)
			loader_complain(l, &at, "until is given twice in rule '%s'", at.name);
		else if (!words_until(at.value, &ret->until))
			loader_complain(l, &at,
					"'%s' is no date: say 2026-12-31 or 2026-12-31 18:00",
					at.value);
	}
}

struct placing {
	struct loader *loader;
	struct rules *rules;
	uint32_t number;
	bool there; /* a path of it may exist */
};

/* Returns the length of the leading directory without wildcards, as written. */
static size_t base_length(const char *pattern)
{
	size_t n = 0;

	for (size_t i = 0; pattern[i]; i++) {
		if (pattern[i] == '\\' && pattern[i + 1])
			i++;
		else if (pattern[i] != ']' && glob_is_special(pattern[i]))
			break;
		if (pattern[i + 1] == '/' || !pattern[i + 1])
			n = i + 1;
	}
	return n;
}

/* Returns a leading directory without its backslashes. Heap. */
static char *unquoted(const char *pattern, size_t len)
{
	char *base = xstrndup(pattern, len), *to = base;

	for (const char *from = base; *from; from++) {
		from += *from == '\\' && from[1];
		*to++ = *from;
	}
	*to = '\0';
	return base;
}

/*
 * Applies the rule also to the target of links in its directory. An allow rule does not follow a
 * link in a working folder, which the agent may have made. `pattern` may be a result of
 * loader_behind().
 */
static bool place_behind(struct placing *p, const char *pattern, size_t len, const char **why)
{
	struct loader *l = p->loader;
	AUTO_FREE char *place = unquoted(pattern, len);
	AUTO_FREE char *rest = xstrdup(pattern + len);
	AUTO_FREE char *real = NULL;
	bool good, inside = false;

	*why = "a loop of links";
	if (links_follow(place, l->scope->folders, &real, &inside) < 0)
		return false;
	if (str_eq(real, place) || (inside && rules_at(p->rules, p->number)->verdict == RULE_ALLOW))
		return true;
	good = rules_place(p->rules, p->number, loader_behind(l, real, rest), why);
	l->place = NULL; /* freed by the return */
	return good;
}

static enum link_place look_quoted(struct loader *l, const char *pattern, size_t len)
{
	AUTO_FREE char *place = unquoted(pattern, len);

	return links_look(l->links, place, strlen(place));
}

/* Returns the type of a pattern's leading directory, which is cached from the last pattern. */
static enum link_place look_at(struct placing *p, const char *pattern, const struct rules_base *b)
{
	struct loader *l = p->loader;

	if (!b->again || l->at != p->rules)
		l->what = b->known || !memchr(pattern, '\\', b->len)
				  ? links_look(l->links, pattern, b->len)
				  : look_quoted(l, pattern, b->len);
	l->at = p->rules;
	return l->what;
}

static bool place_one(void *data, const char *pattern, const char **why)
{
	struct placing *p = data;
	struct rules_base base;
	enum link_place what;

	if (!rules_place(p->rules, p->number, pattern, why))
		return false;
	rules_base(p->rules, &base);
	if (!base.known)
		base.len = base_length(pattern);
	what = look_at(p, pattern, &base);
	p->there = p->there || (base.is_place && what != IS_MISSING);
	return what != IS_LINK || place_behind(p, pattern, base.len, why);
}

static void load_rule(struct loader *l, struct rules *r, const struct config_rule *c,
		      const struct rule_frame *frame)
{
	struct rule rule = {.of = frame, .line = c->line};
	struct placing to = {.loader = l, .rules = r};
	const char *why = NULL;
	bool trusted = !c->untrusted;

	if (c->what > CONFIG_HIDE)
		return;
	rule.verdict = verdict_of(c->what);
	if (rule.verdict == RULE_ASK && l->bundle_allowed && str_starts(c->value, "write "))
		rule.verdict = RULE_ALLOW;
	rule.kinds = words_kinds(c->value, &rule.pattern, &why);
	if (!rule.kinds) {
		loader_complain(l, c, "'%s': %s", c->value, why);
		return;
	}
	if (l->scope->kinds && !(rule.kinds & l->scope->kinds))
		return;
	if (!trusted && rule.verdict == RULE_ALLOW) {
		loader_complain(
			l, c,
			"'allow = %s': a file in the working folder may not allow anything until "
			"you trust it%s: read it, then say cordon policy trust",
			c->value, l->changed ? ", and it has changed since you did" : "");
		return;
	}
	to.number = rules_add_lent(r, &rule);
	if (rule.kinds >> RULE_PLACES) {
		if (!rules_place_host(r, to.number, rule.pattern, &why)) {
			loader_complain(l, c, "impossible host '%s': %s", rule.pattern, why);
			rules_remove(r, to.number);
		}
		return;
	}
	if (!loader_expand(l, rule.pattern, place_one, &to, &why)) {
		loader_complain(l, c, "impossible pattern '%s': %s", rule.pattern, why);
		rules_remove(r, to.number);
		return;
	}
	if (!to.there)
		rules_note_absent(r, to.number);
}

/* Returns whether the user has answered "always" for this bundle. */
static bool is_allowed(const struct config *c, const struct rule_frame *frame)
{
	const char *const *names;
	size_t n = frame->level == LEVEL_PROFILE ? config_list(c, "bundle.allow", &names) : 0;

	for (size_t i = 0; i < n; i++)
		if (str_eq(names[i], frame->name))
			return true;
	return false;
}

/* Returns whether a setting disables the profile's section. */
static bool is_off(const struct config *c, const struct rule_frame *frame)
{
	return frame->level == LEVEL_PROFILE && str_eq(frame->name, "registries") &&
	       !config_bool(c, "network.registries");
}

bool rules_load(struct rules *trusted, struct rules *untrusted, const struct config *c,
		const struct rules_scope *scope, rules_on_error on_error, void *data)
{
	struct loader l = {.scope = scope,
			   .on_error = on_error,
			   .data = data,
			   .links = links_new(),
			   .whole = BUF_INIT,
			   .changed = config_project(c) == TRUST_CHANGED};
	size_t n = config_rules(c);

	rules_reserve(trusted, n, c);
	rules_reserve(untrusted, 0, c);
	for (size_t i = 0, end; i < n;) {
		struct config_rule at = config_rule(c, i);
		struct rules *to = at.untrusted ? untrusted : trusted;
		const struct rule_frame *kept;
		struct rule_frame frame;

		end = at.end;
		if (rules_count(to) + (end - i) > RULES_MAX) {
			loader_complain(&l, &at, "too many rules: at most %d", RULES_MAX);
			break;
		}
		section_frame(&l, c, i, &frame);
		l.bundle_allowed = is_allowed(c, &frame);
		kept = rules_frame(to, &frame);
		if (is_off(c, &frame))
			i = end;
		while (i < end) {
			at = config_rule(c, i++);
			load_rule(&l, to, &at, kept);
		}
	}
	links_free(l.links);
	buf_done(&l.whole);
	if (!scope->kinds || scope->kinds & 1u << RULE_READ)
		tool_homes_grant(trusted, c, scope);
	return l.errors == 0;
}
