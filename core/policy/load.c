/* load - `[rule]` sections of the settings: from words to rules, and the tests in them. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/pattern.h"
#include "core/policy/policy_priv.h"
#include "core/policy/sockets.h"

struct loader {
	const struct rules_scope *scope;
	rules_on_error on_error;
	void *data;
	struct links *links;
	bool changed; /* the project's file was trusted with another content */
	size_t errors;
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

/* ---- words ----------------------------------------------------------------------------------- */

/* "read,exec PATTERN": the kinds, and where the pattern begins; 0: *why. */
static unsigned parse_kinds(const char *value, const char **ret_pattern, const char **why)
{
	unsigned kinds = 0;
	const char *p = value;

	for (;;) {
		size_t n = 0, k = 0;

		while (p[n] && p[n] != ',' && p[n] != ' ' && p[n] != '\t')
			n++;
		while (k < RULE_KINDS &&
		       !(strncmp(rule_kind_words[k], p, n) == 0 && !rule_kind_words[k][n]))
			k++;
		*why = "unknown kind: say read, write, exec or unix, several with commas, then a "
		       "pattern";
		if (k == RULE_KINDS)
			return 0;
		kinds |= 1u << k;
		p += n;
		if (*p != ',')
			break;
		p++;
	}
	while (*p == ' ' || *p == '\t')
		p++;
	*why = "no pattern: say for instance read ~/notes/**";
	*ret_pattern = p;
	return *p ? kinds : 0;
}

/* "2026-12-31" is to the end of that day, local time; "2026-12-31 18:00[:00]". */
static bool parse_until(const char *s, int64_t *ret)
{
	static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S",
					    "%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"};

	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		struct tm tm = {.tm_isdst = -1}, day;
		const char *end = strptime(s, forms[i], &tm);
		time_t t;

		if (!end || *end)
			continue;
		day = tm;
		t = mktime(&tm);
		/* mktime() makes the 2nd of March of the 30th of February. */
		if (t == (time_t)-1 || tm.tm_mday != day.tm_mday || tm.tm_mon != day.tm_mon)
			return false;
		if (i == 0) {
			day.tm_mday++;
			day.tm_isdst = -1;
			t = mktime(&day);
		}
		*ret = t;
		return true;
	}
	return false;
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
	if (l->place != place) {
		buf_clear(&l->whole);
		if (!str_eq(place, "/"))
			glob_quote(&l->whole, place);
		l->place = place;
		l->quoted = l->whole.len;
	}
	buf_truncate(&l->whole, l->quoted);
	buf_str(&l->whole, rest);
	if (!l->whole.len)
		buf_ch(&l->whole, '/');
	return l->whole.data;
}

typedef bool (*on_pattern)(void *data, const char *pattern, const char **why);

/* $ABOVE: each directory that this one lies in, but not /. */
static bool expand_above(struct loader *l, const char *folder, const char *rest, on_pattern on,
			 void *data, const char **why)
{
	AUTO_FREE char *dir = answer_dir(folder);

	while (!str_eq(dir, "/")) {
		char *up = answer_dir(dir);

		if (!on(data, behind(l, dir, rest), why)) {
			free(up);
			return false;
		}
		free(dir);
		dir = up;
	}
	return true;
}

/* `~`, a variable or a double asterisk at the head of a pattern; on() for each that it stands for.
 */
static bool expand(struct loader *l, const char *text, on_pattern on, void *data, const char **why)
{
	const char *const *folders = l->scope->folders;
	AUTO_FREE char *place = NULL;
	const char *name;
	size_t n;
	bool good = true;

	if (text[0] == '*' && text[1] == '*')
		place = path_join("/", text);
	if (text[0] == '~' && (text[1] == '/' || !text[1]))
		return on(data, behind(l, l->scope->home, text + 1), why);
	if (text[0] != '$')
		return on(data, place ? place : text, why);
	n = strcspn(text, "/");
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

/* ---- rules ----------------------------------------------------------------------------------- */

static int verdict_of(const char *key)
{
	for (int i = RULE_ALLOW; i <= RULE_HIDE; i++)
		if (str_eq(rule_verdict_words[i], key))
			return i;
	return -1;
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

/* The lines of one section, which follow each other. */
static size_t section_end(const struct config_rule *list, size_t n, size_t at)
{
	size_t end = at + 1;

	while (end < n && list[end].level == list[at].level &&
	       str_eq(list[end].name, list[at].name) && str_eq(list[end].file, list[at].file))
		end++;
	return end;
}

/* What the whole section says about each of its rules. */
static void section_frame(struct loader *l, const struct config_rule *list, size_t from, size_t to,
			  struct rule *ret)
{
	*ret = (struct rule){.name = list[from].name,
			     .file = list[from].file,
			     .level = level_of(list[from].level)};
	for (size_t i = from; i < to; i++) {
		const struct config_rule *c = &list[i];

		if (*c->key == 'r' && str_eq(c->key, "reason"))
			ret->reason = c->value;
		if (*c->key != 'u' || !str_eq(c->key, "until"))
			continue;
		if (ret->until)
			complain(l, c, "until is given twice in rule '%s'", c->name);
		else if (!parse_until(c->value, &ret->until))
			complain(l, c, "'%s' is no date: say 2026-12-31 or 2026-12-31 18:00",
				 c->value);
	}
}

struct placing {
	struct rules *rules;
	uint32_t number;
};

static bool place_one(void *data, const char *pattern, const char **why)
{
	const struct placing *p = data;

	return rules_place(p->rules, p->number, pattern, why);
}

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
 * folder: the agent may have made it.
 */
static bool place_behind_links(struct loader *l, struct rules *r, uint32_t number, size_t i,
			       const char **why)
{
	const char *pattern = rules_pattern(r, number, i);
	size_t base = rules_base(r, number, i);
	size_t len = base ? base : base_length(pattern);
	AUTO_FREE char *place = NULL;
	AUTO_FREE char *real = NULL;
	bool good, inside = false;

	if ((base || !memchr(pattern, '\\', len)) && !links_on(l->links, pattern, len))
		return true;
	place = unquoted(pattern, len);
	if (!links_on(l->links, place, strlen(place)))
		return true;
	*why = "a loop of links";
	if (links_follow(place, l->scope->folders, &real, &inside) < 0)
		return false;
	if (str_eq(real, place) || (inside && rules_at(r, number)->verdict == RULE_ALLOW))
		return true;
	good = rules_place(r, number, behind(l, real, pattern + len), why);
	l->place = NULL; /* freed */
	return good;
}

static bool follow_links(struct loader *l, struct rules *r, uint32_t number, const char **why)
{
	size_t n = rules_patterns(r, number); /* and not those that are added here */

	for (size_t i = 0; i < n; i++)
		if (!place_behind_links(l, r, number, i, why))
			return false;
	return true;
}

static void load_rule(struct loader *l, struct rules *r, const struct config_rule *c,
		      const struct rule *frame)
{
	struct rule rule = *frame;
	struct placing to = {.rules = r};
	int verdict = verdict_of(c->key);
	const char *why = NULL;

	if (verdict < 0)
		return;
	rule.verdict = (enum rule_verdict)verdict;
	rule.line = c->line;
	rule.kinds = parse_kinds(c->value, &rule.pattern, &why);
	if (!rule.kinds) {
		complain(l, c, "'%s': %s", c->value, why);
		return;
	}
	if (c->untrusted && rule.verdict == RULE_ALLOW) {
		complain(l, c,
			 "'allow = %s': a file in the working folder may not allow anything until "
			 "you trust it%s: read it, then say cordon policy trust",
			 c->value, l->changed ? ", and it has changed since you did" : "");
		return;
	}
	to.number = rules_add(r, &rule);
	if (!expand(l, rule.pattern, place_one, &to, &why) ||
	    !follow_links(l, r, to.number, &why)) {
		complain(l, c, "impossible pattern '%s': %s", rule.pattern, why);
		rules_remove(r, to.number);
	}
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
	const struct config_rule *list;
	size_t n = config_rules(c, &list);

	for (size_t i = 0, end; i < n; i = end) {
		struct rules *to = list[i].untrusted ? untrusted : trusted;
		struct rule frame;

		end = section_end(list, n, i);
		if (rules_count(to) + (end - i) > RULES_MAX) {
			complain(&l, &list[i], "too many rules: at most %d", RULES_MAX);
			break;
		}
		section_frame(&l, list, i, end, &frame);
		for (size_t k = i; k < end; k++)
			load_rule(&l, to, &list[k], &frame);
	}
	links_free(l.links);
	buf_done(&l.whole);
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
		buf_add(&t->path, t->pattern.literal.data + part->at, part->shape.prefix_len);
	}
	return true;
}

/* Does a rule of this section decide? */
static void run_test(struct loader *l, struct rules *r, const struct config_rule *c,
		     struct target *t)
{
	bool want = str_eq(c->key, "match");
	const char *text = NULL, *why = NULL;
	unsigned kinds = parse_kinds(c->value, &text, &why);

	buf_clear(&t->path);
	if (!kinds || !expand(l, text, take_path, t, &why)) {
		complain(l, c, "'%s = %s': %s", c->key, c->value, why);
		return;
	}
	for (int k = 0; k < RULE_KINDS && t->path.len; k++) {
		struct rule_match m = {0};
		bool found;

		if (!(kinds & 1u << k))
			continue;
		found = rules_decide(r, (enum rule_kind)k, t->path.data, 0, &m) &&
			str_eq(m.rule->name, c->name) && str_eq(m.rule->file, c->file);
		if (found == want)
			continue;
		if (want && m.rule)
			complain(l, c, "'match = %s': rule '%s' decides (line %d)", c->value,
				 m.rule->name, m.rule->line);
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
	const struct config_rule *list;
	size_t n = config_rules(c, &list);

	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].key, "match") || str_eq(list[i].key, "not-match"))
			run_test(&l, r, &list[i], &t);
	buf_done(&t.path);
	pattern_done(&t.pattern);
	buf_done(&l.whole);
	return l.errors == 0;
}
