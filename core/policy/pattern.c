/* pattern - a path with wildcards, taken apart. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/pattern.h"

#include <string.h>

static bool is_wild(const struct pattern_part *part)
{
	return part->deep || part->shape.form == GLOB_ANY;
}

/* One component into the next part; deep ones that follow each other are one. */
static bool add_part(struct pattern *p, const char *text, size_t len, const char **why)
{
	struct pattern_part *part = &p->parts[p->n];
	bool deep = len == 2 && memcmp(text, "**", 2) == 0;

	if (deep && p->n && p->parts[p->n - 1].deep)
		return true;
	*why = "it has too many components";
	if (p->n == PATTERN_PARTS)
		return false;
	*why = "it holds '//' or ends in '/', which no path does: leave it out, or end in /**";
	if (len == 0)
		return false;
	*why = "it holds '.' or '..', which no path does: write the place itself";
	if (text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.')))
		return false;
	*part = (struct pattern_part){.text = text, .len = len, .at = p->literal.len, .deep = deep};
	if (!deep)
		part->shape = glob_look(text, len, &p->literal);
	*why = part->shape.bad;
	if (!deep && part->shape.form == GLOB_BAD)
		return false;
	p->n++;
	return true;
}

static bool count_deep(const struct pattern *p, const char **why)
{
	size_t deep = 0;

	for (size_t i = 0; i < p->n; i++)
		deep += p->parts[i].deep;
	*why = "it has more than four '**'";
	return deep <= PATTERN_MAX_DEPTH;
}

/* The wildcards at the end are the tail. */
static void cut_tail(struct pattern *p)
{
	bool deep = false;

	p->min = 0;
	while (p->n && is_wild(&p->parts[p->n - 1])) {
		deep = deep || p->parts[p->n - 1].deep;
		p->min += !p->parts[--p->n].deep;
	}
	p->max = deep ? PATTERN_ANY : p->min;
}

bool pattern_parse(struct pattern *p, const char *text, const char **why)
{
	p->n = 0;
	p->literals = 0;
	p->plain = true;
	buf_clear(&p->literal);
	*why = "it is not absolute: begin it with /, ~/, $FOLDER/ or **/";
	if (*text != '/')
		return false;
	for (const char *c = text; *c && !str_eq(text, "/");) {
		size_t len = (size_t)(strchrnul(c + 1, '/') - (c + 1));

		if (!add_part(p, c + 1, len, why))
			return false;
		c += 1 + len;
	}
	if (!count_deep(p, why))
		return false;
	cut_tail(p);
	for (size_t i = 0; i < p->n; i++) {
		p->literals += p->parts[i].shape.literals;
		p->plain = p->plain && p->parts[i].shape.form == GLOB_LITERAL && !p->parts[i].deep;
	}
	return true;
}

void pattern_done(struct pattern *p)
{
	buf_done(&p->literal);
}

char *pattern_base(const struct pattern *p)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (size_t i = 0; i < p->n; i++) {
		const struct pattern_part *part = &p->parts[i];

		if (part->deep || part->shape.form != GLOB_LITERAL)
			break;
		buf_ch(&b, '/');
		buf_add(&b, p->literal.data + part->at, part->shape.prefix_len);
	}
	if (!b.len)
		buf_ch(&b, '/');
	return buf_take(&b);
}
