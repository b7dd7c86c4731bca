/* rules - stores the lines of `[rule]` sections as written, in few bytes each. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/pages.h"
#include "core/config/config_priv.h"

const char *const rule_line_keys[] = {[CONFIG_ALLOW] = "allow", [CONFIG_ASK] = "ask",
				      [CONFIG_DENY] = "deny",	[CONFIG_HIDE] = "hide",
				      [CONFIG_UNTIL] = "until", [CONFIG_REASON] = "reason",
				      [CONFIG_MATCH] = "match", [CONFIG_NOT_MATCH] = "not-match"};

/* Does what str_eq() does, faster for short words; called once for each line. */
static bool is_word(const char *s, const char *word)
{
	while (*word && *s == *word) {
		s++;
		word++;
	}
	return *s == *word;
}

static size_t rule_key(const char *name)
{
	size_t i = 0;

	while (i < ARRAY_LEN(rule_line_keys) && !is_word(name, rule_line_keys[i]))
		i++;
	return i;
}

bool rule_lines_take(const char *name)
{
	return rule_key(name) < ARRAY_LEN(rule_line_keys);
}

/* Sets the section: the last line's if it is equal, else a new one. */
static void set_section(struct rule_lines *l, const struct rule_section *s)
{
	const struct rule_section *last = l->n_sections ? &l->sections[l->n_sections - 1] : NULL;
	struct rule_section copy = *s;

	if (last && last->level == s->level && last->untrusted == s->untrusted &&
	    str_eq(last->name, s->name) && str_eq(last->file, s->file))
		return;
	copy.name = arena_str(&l->strings, s->name);
	copy.file = arena_again(&l->strings, s->file, last ? last->file : NULL);
	if ((l->n_sections & (l->n_sections - 1)) == 0)
		l->sections = xrealloc(l->sections,
				       MAX(l->n_sections * 2, (size_t)8) * sizeof(*l->sections));
	l->sections[l->n_sections++] = copy;
}

static void make_room(struct rule_lines *l, size_t more)
{
	l->cap = MAX(l->cap * 2, l->n + MAX(more, (size_t)64));
	l->list = xrealloc(l->list, l->cap * sizeof(*l->list));
	pages_fill(l->list + l->n, more * sizeof(*l->list));
}

static void add_line(struct rule_lines *l, const char *value, size_t key, int number)
{
	struct rule_section *s = &l->sections[l->n_sections - 1];

	if (l->n == l->cap)
		make_room(l, 1);
	l->list[l->n++] = (struct rule_line){.value = value,
					     .section = (uint32_t)(l->n_sections - 1),
					     .number = number,
					     .key = (unsigned)key};
	s->end = l->n;
	s->framed = s->framed || key == CONFIG_UNTIL || key == CONFIG_REASON;
}

void rule_lines_add(struct rule_lines *l, const struct config_rule *rule)
{
	size_t key = rule_key(rule->key);

	if (key == ARRAY_LEN(rule_line_keys))
		return;
	set_section(l, &(struct rule_section){.name = rule->name,
					      .file = rule->file,
					      .level = rule->level,
					      .untrusted = rule->untrusted});
	add_line(l, arena_str(&l->strings, rule->value), key, rule->line);
}

/* Says what is wrong with a line. */
static int bad_rule(const struct config_source *src, const struct config_setting *s, size_t key,
		    struct err *err)
{
	AUTO_FREE char *origin = config_source_origin(src);
	const char *name = strchr(s->section, '.');

	if (!name || strlen(name + 1) > CONFIG_MAX_NAME)
		return err_say(err, -EINVAL,
			       "%s: a rule needs a name of at most %d bytes: write [rule \"name\"]",
			       origin, CONFIG_MAX_NAME);
	if (key == ARRAY_LEN(rule_line_keys))
		return err_say(err, -EINVAL,
			       "%s: unknown key '%s' in a rule: say allow, ask, deny, hide, until, "
			       "reason, match or not-match",
			       origin, s->name);
	if (!s->value || !*s->value)
		return err_say(err, -EINVAL, "%s: %s needs a value", origin, s->name);
	return err_say(err, -EINVAL, "%s: too many lines of rules: at most %d", origin,
		       CONFIG_MAX_RULES);
}

/* Adds a setting of [rule "name"]. */
int rule_lines_set(struct rule_lines *l, const struct config_source *src,
		   const struct config_setting *s, struct err *err)
{
	size_t key = s->again && s->name == l->name ? l->key : rule_key(s->name);
	const char *name = s->section + strlen("rule.");

	if (key == ARRAY_LEN(rule_line_keys) || !s->value || !*s->value || l->n >= CONFIG_MAX_RULES)
		return bad_rule(src, s, key, err);
	if (!s->again) {
		if (s->section[strlen("rule")] != '.' || strlen(name) > CONFIG_MAX_NAME)
			return bad_rule(src, s, key, err);
		set_section(l, &(struct rule_section){.name = name,
						      .file = src->file,
						      .level = src->level,
						      .untrusted = src->untrusted});
	}
	if (l->n + s->left > l->cap)
		make_room(l, s->left);
	l->name = s->name;
	l->key = key;
	add_line(l, s->stays ? s->value : arena_str(&l->strings, s->value), key, src->line);
	return 0;
}

void rule_lines_done(struct rule_lines *l)
{
	free(l->sections);
	free(l->list);
	arena_done(&l->strings);
}
