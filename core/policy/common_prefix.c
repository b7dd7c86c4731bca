/* common_prefix - what many lines of rules begin with: those that follow each other mostly begin
 * alike. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/common_prefix.h"

#include <string.h>

/* Components have two bytes at least. */
#define LEN_MAX ((size_t)PATTERN_PARTS * 2 - 2)

void stem_done(struct stem *s)
{
	buf_done(&s->of.dir);
}

void stem_forget(struct stem *s)
{
	s->len = 0;
	s->before = NULL;
}

/* Up to the last `/` that both lines have. */
static size_t common(const char *a, const char *b)
{
	size_t n = 0, slash = 0;

	for (; a[n] && a[n] == b[n]; n++)
		if (a[n] == '/')
			slash = n;
	return slash;
}

/* Names, and maybe a double asterisk behind them. */
static bool look_at_dir(struct stem *s, struct links *l)
{
	const struct buf *dir = &s->of.dir;
	struct pattern_rest names;

	if (!dir->len || !pattern_rest(dir->data, &names) || names.star)
		return false;
	s->of.deep = names.plain < dir->len;
	s->folds = names.folds;
	s->at = links_dir(l, dir->data, names.plain);
	return links_place(s->at) != IS_LINK;
}

void stem_learn(struct stem *s, const struct rules *to, struct links *l,
		const struct stem_line *line)
{
	size_t written = (size_t)(line->pattern - line->value) + line->skip;
	size_t n = s->before ? common(s->before, line->value) : 0;

	s->before = line->value;
	if (s->to == to && s->len && s->len == n && memcmp(s->value, line->value, n) == 0)
		return;
	s->len = 0;
	if (n < written || line->kinds & 1u << RULE_UNIX) /* whose files are looked for at once */
		return;
	buf_clear(&s->of.dir);
	buf_add(&s->of.dir, line->expanded, line->head + n - written);
	if (!look_at_dir(s, l))
		return;
	s->to = to;
	s->value = line->value;
	s->len = n;
	s->kinds = line->kinds;
	s->pattern = (size_t)(line->pattern - line->value);
	s->of.skip = n - s->pattern;
	s->is_open = false;
}

/* Is nothing of it there, and no link on the way? */
static bool is_missing(const struct stem *s, const char *rest, const struct pattern_rest *names)
{
	bool is_name = !names->star || names->plain > names->first + 1;

	if (s->of.deep) /* anywhere: it names no place */
		return names->plain == names->first + 1;
	return !is_name || links_lack(s->at, rest + 1, names->first);
}

bool stem_take(struct stem *s, struct rules *to, const char *value, struct rule *rule)
{
	struct pattern_rest names;
	const char *rest = value + s->len;

	if (!s->len || s->to != to || strncmp(value, s->value, s->len + 1) != 0 ||
	    !pattern_rest(rest, &names) || s->of.dir.len + names.len > LEN_MAX ||
	    ((s->folds || names.folds) && rule->verdict != RULE_ALLOW) ||
	    !is_missing(s, rest, &names))
		return false;
	if (!s->is_open && !rules_open_shelf(to, &s->of)) {
		s->to = NULL;
		return false;
	}
	s->is_open = true;
	rule->kinds = s->kinds;
	rule->pattern = value + s->pattern;
	rules_wait(to, rule, names.plain);
	return true;
}
