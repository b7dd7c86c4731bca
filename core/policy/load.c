/* load - `[rule]` sections of the settings: from words to rules, and the tests in them. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/net/host.h"
#include "core/policy/rules/pattern.h"
#include "core/policy/policy_priv.h"
#include "core/policy/builtin/sockets.h"
#include "core/policy/builtin/tool_homes.h"

struct loader {
	const struct rules_scope *scope;
	rules_on_error on_error;
	void *data;
	struct links *links;
	bool changed;	     /* the project's file was trusted with another content */
	bool bundle_allowed; /* the section's ask lines (bundle.c) */
	size_t errors;
	struct rules *at; /* where the last pattern was placed, and what its base was */
	enum link_place what;
	struct buf whole;  /* a pattern behind a place */
	const char *place; /* that it begins with, quoted: so many bytes of it */
	size_t quoted;
};

static void complain(struct loader *l, const struct config_rule *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);
static void complain(struct loader *l, const struct config_rule *at, const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	l->errors++;
	l->on_error(l->data, at->file, at->line, b.data);
}

/* ---- patterns -------------------------------------------------------------------------------- */

/* "$SSH_AUTH_SOCK" and the like: the socket that the variable names, which may be none. */
static bool is_socket_variable(const char *text, size_t n, const char **ret)
{
	for (size_t i = 0; sockets_variables[i]; i++) {
		if (strlen(sockets_variables[i]) != n || memcmp(sockets_variables[i], text, n) != 0)
			continue;
		*ret = sockets_variables[i];
		return true;
	}
	return false;
}

/* What a leading variable stands for; NULL: *why. Heap. */
static char *variable(const struct rules_scope *scope, const char *name, size_t len,
		      const char **why)
{
	static const struct {
		const char *name, *usual; /* below $HOME */
	} list[] = {{"HOME", ""},
		    {"USER", NULL},
		    {"XDG_CONFIG_HOME", "/.config"},
		    {"XDG_STATE_HOME", "/.local/state"},
		    {"XDG_DATA_HOME", "/.local/share"},
		    {"XDG_CACHE_HOME", "/.cache"},
		    {"XDG_RUNTIME_DIR", NULL}};
	size_t i = 0;
	const char *set;

	while (i < ARRAY_LEN(list) &&
	       !(strlen(list[i].name) == len && memcmp(list[i].name, name, len) == 0))
		i++;
	*why = "unknown variable: say $FOLDER, $ABOVE, $HOME, $USER, $XDG_..._HOME or, of a "
	       "socket, "
	       "$SSH_AUTH_SOCK";
	if (i == ARRAY_LEN(list))
		return NULL;
	set = i ? getenv(list[i].name) : NULL;
	*why = "its variable is not set to an absolute path";
	if (set && *set == '/')
		return path_clean(set);
	if (list[i].usual)
		return xasprintf("%s%s", scope->home, list[i].usual);
	if (str_eq(list[i].name, "XDG_RUNTIME_DIR"))
		return xasprintf("/run/user/%u", geteuid());
	return NULL;
}

/* The pattern behind a place that is taken as it is, and stays where it is while l is used. Lent
 * until the next one. */
static const char *behind(struct loader *l, const char *place, const char *rest)
{
	size_t len;

	if (l->place != place) {
		buf_clear(&l->whole);
		if (!str_eq(place, "/"))
			glob_quote(&l->whole, place);
		l->place = place;
		l->quoted = l->whole.len;
	}
	if (!l->quoted && !*rest)
		rest = "/";
	len = strlen(rest);
	if (l->whole.cap <= l->quoted + len)
		buf_reserve(&l->whole, len);
	memcpy(l->whole.data + l->quoted, rest, len + 1);
	l->whole.len = l->quoted + len;
	return l->whole.data;
}

typedef bool (*on_pattern)(void *data, const char *pattern, const char **why);

/* $ABOVE: each directory that this one lies in, but not /. */
static bool expand_above(struct loader *l, const char *folder, const char *rest, on_pattern on,
			 void *data, const char **why)
{
	AUTO_FREE char *dir = path_dir(folder);
	bool good = true;

	while (good && !str_eq(dir, "/")) {
		char *up = path_dir(dir);

		good = on(data, behind(l, dir, rest), why);
		l->place = NULL; /* freed */
		free(dir);
		dir = up;
	}
	return good;
}

/* $FOLDER, $ABOVE, a socket's variable, another one. */
static bool expand_variable(struct loader *l, const char *text, on_pattern on, void *data,
			    const char **why)
{
	const char *const *folders = l->scope->folders;
	AUTO_FREE char *place = NULL;
	size_t n = strcspn(text, "/");
	const char *name;
	bool good = true;

	if (n == strlen("$FOLDER") && str_starts(text, "$FOLDER")) {
		for (size_t i = 0; good && folders && folders[i]; i++)
			good = on(data, behind(l, folders[i], text + n), why);
		return good;
	}
	if (n == strlen("$ABOVE") && str_starts(text, "$ABOVE")) {
		for (size_t i = 0; good && folders && folders[i]; i++)
			good = expand_above(l, folders[i], text + n, on, data, why);
		return good;
	}
	if (is_socket_variable(text + 1, n - 1, &name)) {
		place = sockets_named(name, getenv(name));
		if (!place) /* it is nobody's */
			return true;
	} else {
		place = variable(l->scope, text + 1, n - 1, why);
	}
	if (!place)
		return false;
	good = on(data, behind(l, place, text + n), why);
	l->place = NULL; /* freed */
	return good;
}

/* `~`, a variable or a double asterisk at the head of a pattern; on() for each that it stands for.
 */
static bool expand(struct loader *l, const char *text, on_pattern on, void *data, const char **why)
{
	if (text[0] == '$')
		return expand_variable(l, text, on, data, why);
	if (text[0] == '~' && (text[1] == '/' || !text[1]))
		return on(data, behind(l, l->scope->home, text + 1), why);
	if (text[0] == '*' && text[1] == '*') {
		AUTO_FREE char *place = path_join("/", text);

		return on(data, place, why);
	}
	return on(data, text, why);
}

/* ---- rules ----------------------------------------------------------------------------------- */

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

/* What the whole section says about each of its rules. */
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
			complain(l, &at, "until is given twice in rule '%s'", at.name);
		else if (!words_until(at.value, &ret->until))
			complain(l, &at, "'%s' is no date: say 2026-12-31 or 2026-12-31 18:00",
				 at.value);
	}
}

struct placing {
	struct loader *loader;
	struct rules *rules;
	uint32_t number;
	bool there; /* there may be something of it */
};

/* Where the leading directory without wildcards, as it is written, ends. */
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

/* A leading directory as it is, without the `\`. Heap. */
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
 * Where links lead, the rule is about that too. Not what allows, by way of a link in a working
 * folder: the agent may have made it. `pattern` may be lent by behind().
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
	good = rules_place(p->rules, p->number, behind(l, real, rest), why);
	l->place = NULL; /* freed */
	return good;
}

static enum link_place look_quoted(struct loader *l, const char *pattern, size_t len)
{
	AUTO_FREE char *place = unquoted(pattern, len);

	return links_look(l->links, place, strlen(place));
}

/* What the leading directory of a pattern is; where it is the last one's, that is known. */
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
		complain(l, c, "'%s': %s", c->value, why);
		return;
	}
	if (!trusted && rule.verdict == RULE_ALLOW) {
		complain(l, c,
			 "'allow = %s': a file in the working folder may not allow anything until "
			 "you trust it%s: read it, then say cordon policy trust",
			 c->value, l->changed ? ", and it has changed since you did" : "");
		return;
	}
	to.number = rules_add_lent(r, &rule);
	if (rule.kinds >> RULE_PLACES) {
		if (!rules_place_host(r, to.number, rule.pattern, &why)) {
			complain(l, c, "impossible host '%s': %s", rule.pattern, why);
			rules_remove(r, to.number);
		}
		return;
	}
	if (!expand(l, rule.pattern, place_one, &to, &why)) {
		complain(l, c, "impossible pattern '%s': %s", rule.pattern, why);
		rules_remove(r, to.number);
		return;
	}
	if (!to.there)
		rules_note_absent(r, to.number);
}

/* The human was asked about this bundle, and said always. */
static bool is_allowed(const struct config *c, const struct rule_frame *frame)
{
	const char *const *names;
	size_t n = frame->level == LEVEL_PROFILE ? config_list(c, "bundle.allow", &names) : 0;

	for (size_t i = 0; i < n; i++)
		if (str_eq(names[i], frame->name))
			return true;
	return false;
}

/* Returns whether a setting takes the section of a profile away. */
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
			complain(&l, &at, "too many rules: at most %d", RULES_MAX);
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
	tool_homes_grant(trusted, c, scope);
	return l.errors == 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

struct target {
	struct buf path;
	struct pattern pattern;
};

/* A test is about one path: written as a pattern, but without wildcards. */
static bool take_path(void *data, const char *pattern, const char **why)
{
	struct target *t = data;

	if (!pattern_parse(&t->pattern, pattern, why))
		return false;
	*why = "a test names one path, without wildcards";
	if (!t->pattern.plain || t->pattern.max)
		return false;
	buf_clear(&t->path);
	for (size_t i = 0; i < t->pattern.n; i++) {
		const struct pattern_part *part = &t->pattern.parts[i];

		buf_ch(&t->path, '/');
		buf_add(&t->path, pattern_literal(&t->pattern, part), part->shape.prefix_len);
	}
	return true;
}

/* A test about a host. */
static void run_host_test(struct loader *l, struct rules *r, const struct config_rule *c,
			  unsigned kinds, const char *text)
{
	const unsigned all = (1u << (NET_ADDRS + 1)) - 1;
	struct net_target t;
	const char *why;

	if (!net_target_parse(&t, text, &why)) {
		complain(l, c, "'%s = %s': %s", c->key, c->value, why);
		return;
	}
	for (int k = RULE_PLACES; k < RULE_KINDS; k++) {
		struct rule_match m = {0};
		bool found;

		if (!(kinds & 1u << k))
			continue;
		found = rules_decide_host(r, (enum rule_kind)k, &t, all, 0, &m) &&
			str_eq(m.rule->of->name, c->name) && str_eq(m.rule->of->file, c->file);
		if (found != (c->what == CONFIG_MATCH))
			complain(l, c, "'%s = %s': %s", c->key, c->value,
				 found	  ? "this rule decides"
				 : m.rule ? "another rule decides"
					  : "no rule matches");
	}
}

/* Does a rule of this section decide? */
static void run_test(struct loader *l, struct rules *r, const struct config_rule *c,
		     struct target *t)
{
	bool want = c->what == CONFIG_MATCH;
	const char *text = NULL, *why = NULL;
	unsigned kinds = words_kinds(c->value, &text, &why);

	buf_clear(&t->path);
	if (kinds >> RULE_PLACES) {
		run_host_test(l, r, c, kinds, text);
		return;
	}
	if (!kinds || !expand(l, text, take_path, t, &why)) {
		complain(l, c, "'%s = %s': %s", c->key, c->value, why);
		return;
	}
	for (int k = 0; k < RULE_PLACES && t->path.len; k++) {
		struct rule_match m = {0};
		bool found;

		if (!(kinds & 1u << k))
			continue;
		found = rules_decide(r, (enum rule_kind)k, t->path.data, 0, &m) &&
			str_eq(m.rule->of->name, c->name) && str_eq(m.rule->of->file, c->file);
		if (found == want)
			continue;
		if (want && m.rule)
			complain(l, c, "'match = %s': rule '%s' decides (line %d)", c->value,
				 m.rule->of->name, m.rule->line);
		else if (want)
			complain(l, c, "'match = %s': no rule matches", c->value);
		else
			complain(l, c, "'not-match = %s': this rule decides (line %d)", c->value,
				 m.rule->line);
	}
}

bool rules_test(struct rules *r, const struct config *c, const struct rules_scope *scope,
		rules_on_error on_error, void *data)
{
	struct loader l = {.scope = scope, .on_error = on_error, .data = data, .whole = BUF_INIT};
	struct target t = {.path = BUF_INIT, .pattern = PATTERN_INIT};

	for (size_t i = 0; i < config_rules(c); i++) {
		const struct config_rule at = config_rule(c, i);

		if (at.what == CONFIG_MATCH || at.what == CONFIG_NOT_MATCH)
			run_test(&l, r, &at, &t);
	}
	buf_done(&t.path);
	pattern_done(&t.pattern);
	buf_done(&l.whole);
	return l.errors == 0;
}
