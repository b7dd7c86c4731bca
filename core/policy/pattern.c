/* pattern - a path with wildcards, taken apart. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/pattern.h"

#include <string.h>

static bool is_wild(const struct pattern_part *part)
{
	return part->deep || part->shape.form == GLOB_ANY;
}

/* One component into the next part; deep ones that follow each other are one. */
static bool add_part(struct pattern *p, size_t from, size_t len, const char **why)
{
	struct pattern_part *part = &p->parts[p->n];
	const char *text = p->text.data + from;
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
	*part = (struct pattern_part){.from = from, .len = len, .at = p->literal.len, .deep = deep};
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

/* Parts that text has in common with the last one stay as they are; where the rest begins. */
static size_t keep_parts(struct pattern *p, const char *text)
{
	const char *last = p->text.data;
	size_t at = 0, k = 0, alike = 0;

	while (text[alike] && text[alike] == last[alike])
		alike++;
	for (; k < p->total; k++) {
		const struct pattern_part *part = &p->parts[k];
		size_t end = part->from + part->len;

		if (part->from != at + 1 || end > alike || (text[end] && text[end] != '/'))
			break;
		at = end;
	}
	if (k < p->total || !k)
		buf_truncate(&p->literal, k ? p->parts[k].at : 0);
	p->n = p->same = k;
	return at;
}

static bool parse_parts(struct pattern *p, const char *text, const char **why)
{
	size_t at = keep_parts(p, text);

	p->total = 0; /* until all is well */
	buf_clear(&p->text);
	buf_str(&p->text, text);
	*why = "it is not absolute: begin it with /, ~/, $FOLDER/ or **/";
	if (*text != '/')
		return false;
	while (at < p->text.len && p->text.len > 1) {
		size_t len =
			(size_t)(strchrnul(p->text.data + at + 1, '/') - p->text.data) - at - 1;

		if (!add_part(p, at + 1, len, why))
			return false;
		at += 1 + len;
	}
	p->total = p->n;
	return true;
}

bool pattern_parse(struct pattern *p, const char *text, const char **why)
{
	p->literals = 0;
	p->plain = true;
	p->serial++;
	if (!parse_parts(p, text, why) || !count_deep(p, why))
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
	buf_done(&p->text);
	buf_done(&p->literal);
}

void pattern_base(const struct pattern *p, struct buf *out)
{
	size_t start = out->len;

	for (size_t i = 0; i < p->n; i++) {
		const struct pattern_part *part = &p->parts[i];

		if (part->deep || part->shape.form != GLOB_LITERAL)
			break;
		buf_ch(out, '/');
		buf_add(out, p->literal.data + part->at, part->shape.prefix_len);
	}
	if (out->len == start)
		buf_ch(out, '/');
}
