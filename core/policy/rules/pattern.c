/* pattern - parses a path with wildcards. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/rules/pattern.h"

#include <string.h>

static bool is_wild(const struct pattern_part *part)
{
	return part->deep || part->shape.form == GLOB_ANY;
}

static bool is_deep(const char *text, size_t len)
{
	return len == 2 && text[0] == '*' && text[1] == '*';
}

/* Properties of a character within its component. */
enum {
	CHAR_END = 1,
	CHAR_GLOB = 2,
	CHAR_FOLDS = 4,
	CHAR_FOLDS_LAST = 8, /* only at the end of the component */
};
#define FOLDS_8(at)                                                                                \
	[at] = CHAR_FOLDS, [(at) + 1] = CHAR_FOLDS, [(at) + 2] = CHAR_FOLDS,                       \
	[(at) + 3] = CHAR_FOLDS, [(at) + 4] = CHAR_FOLDS, [(at) + 5] = CHAR_FOLDS,                 \
	[(at) + 6] = CHAR_FOLDS, [(at) + 7] = CHAR_FOLDS
#define FOLDS_64(at)                                                                               \
	FOLDS_8(at), FOLDS_8((at) + 8), FOLDS_8((at) + 16), FOLDS_8((at) + 24),                    \
		FOLDS_8((at) + 32), FOLDS_8((at) + 40), FOLDS_8((at) + 48), FOLDS_8((at) + 56)
static const unsigned char meaning[256] = {
	[0] = CHAR_END,
	['/'] = CHAR_END,
	['*'] = CHAR_GLOB,
	['?'] = CHAR_GLOB,
	['['] = CHAR_GLOB,
	[']'] = CHAR_GLOB,
	['\\'] = CHAR_GLOB,
	['~'] = CHAR_FOLDS,
	[':'] = CHAR_FOLDS,
	['.'] = CHAR_FOLDS_LAST,
	[' '] = CHAR_FOLDS_LAST,
	FOLDS_8('A'),
	FOLDS_8('I'),
	FOLDS_8('Q'),
	['Y'] = CHAR_FOLDS,
	['Z'] = CHAR_FOLDS,
	FOLDS_64(128),
	FOLDS_64(192),
};

/* Returns the length of the component that begins here; *seen: its characters' properties. */
static size_t look(const char *text, unsigned *seen)
{
	unsigned what, all = 0;
	size_t n = 0;

	for (;; n++) {
		while (!(what = meaning[(unsigned char)text[n]]))
			n++;
		if (what & CHAR_END)
			break;
		all |= what;
	}
	if (all & CHAR_FOLDS_LAST && !(meaning[(unsigned char)text[n - 1]] & CHAR_FOLDS_LAST))
		all &= ~(unsigned)CHAR_FOLDS_LAST;
	*seen = all;
	return n;
}

static bool no(const char **why, const char *words)
{
	*why = words;
	return false;
}

static const char *wrong_part(const char *text, size_t len)
{
	if (len == 0)
		return "it holds '//' or ends in '/', which no path does: leave it out, or end in "
		       "/**";
	if (text[0] == '.' && (len == 1 || (len == 2 && text[1] == '.')))
		return "it holds '.' or '..', which no path does: write the place itself";
	return NULL;
}

/* The state before the first part. */
static const struct pattern_part nothing = {.leading = true, .joined = true, .plain = true};

/* Sets a part without special characters, as nearly all are. */
static void set_literal(struct pattern_part *part, const struct pattern_part *before, size_t from,
			size_t len)
{
	part->from = (uint32_t)from;
	part->len = (uint32_t)len;
	part->as_is = true;
	part->deep = false;
	part->leading = before->leading;
	part->joined = before->joined & (from == (size_t)before->from + before->len + 1);
	part->plain = before->plain;
	part->deeps = before->deeps;
	part->literals = before->literals + (unsigned)len;
	part->shape = (struct glob_shape){
		.form = GLOB_LITERAL, .literals = (uint32_t)len, .prefix_len = (uint32_t)len};
}

/* Sets a part with special characters. */
static bool set_glob(struct pattern *p, struct pattern_part *part, const char **why)
{
	const char *text = p->text.data + part->from;

	part->as_is = part->leading = false;
	part->literals -= part->len;
	part->deep = is_deep(text, part->len);
	if (part->deep) {
		part->deeps++;
		part->plain = false;
		part->shape = (struct glob_shape){.form = GLOB_LITERAL};
		return true;
	}
	part->shape = glob_look(text, part->len, &p->literal);
	if (part->shape.form == GLOB_BAD)
		return no(why, part->shape.bad);
	part->plain &= part->shape.form == GLOB_LITERAL;
	part->literals += part->shape.literals;
	return true;
}

/* Adds the component at `from` as a part; adjacent double asterisks are one part. */
static bool add_part(struct pattern *p, size_t from, size_t *ret_len, const char **why)
{
	struct pattern_part *part = &p->parts[p->n];
	const struct pattern_part *before = p->n ? part - 1 : &nothing;
	const char *text = p->text.data + from, *wrong;
	unsigned seen;
	size_t len = *ret_len = look(text, &seen);

	if (before->deep && is_deep(text, len))
		return true;
	if (p->n == PATTERN_PARTS)
		return no(why, "it has too many components");
	wrong = !len || *text == '.' ? wrong_part(text, len) : NULL;
	if (wrong)
		return no(why, wrong);
	set_literal(part, before, from, len);
	part->at = (uint32_t)p->literal.len;
	part->folds = before->folds | ((seen & (CHAR_FOLDS | CHAR_FOLDS_LAST)) != 0);
	if (seen & CHAR_GLOB && !set_glob(p, part, why))
		return false;
	p->n++;
	return true;
}

/* Moves the wildcards at the end to the tail. */
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

/* Returns the number of equal leading bytes, up to len. */
static size_t pattern_alike(const char *a, const char *b, size_t len)
{
	size_t n = 0;

	for (uint64_t x, y; n + sizeof(x) <= len; n += sizeof(x)) {
		memcpy(&x, a + n, sizeof(x));
		memcpy(&y, b + n, sizeof(y));
		if (x != y)
			break;
	}
	while (n < len && a[n] == b[n])
		n++;
	return n;
}

/* Returns whether text has the same part. The first `same` bytes are equal. */
static bool is_kept(const struct pattern_part *part, const char *text, size_t same)
{
	size_t end = (size_t)part->from + part->len;

	return part->joined && end <= same && (!text[end] || text[end] == '/');
}

/* Keeps the leading parts that text shares with the last pattern. Returns where the rest begins. */
static size_t keep_parts(struct pattern *p, const char *text, size_t len)
{
	size_t same = pattern_alike(p->text.data, text, MIN(len, p->text.len)), k = p->total, at;

	while (k && !is_kept(&p->parts[k - 1], text, same))
		k--;
	at = k ? (size_t)p->parts[k - 1].from + p->parts[k - 1].len : 0;
	if (p->literal.len && (k < p->total || !k))
		buf_truncate(&p->literal, k ? p->parts[k].at : 0);
	p->n = p->same = k;
	if (p->text.cap <= len)
		buf_reserve(&p->text, len);
	memcpy(p->text.data + same, text + same, len - same + 1);
	p->text.len = len;
	return at;
}

static bool parse_parts(struct pattern *p, const char *text, const char **why)
{
	size_t at = keep_parts(p, text, strlen(text)), len;

	p->total = 0; /* until parsing succeeds */
	if (*text != '/')
		return no(why, "it is not absolute: begin it with /, ~/, $FOLDER/ or **/");
	while (at < p->text.len && p->text.len > 1) {
		if (!add_part(p, at + 1, &len, why))
			return false;
		at += 1 + len;
	}
	p->total = p->n;
	return true;
}

bool pattern_parse(struct pattern *p, const char *text, const char **why)
{
	const struct pattern_part *last;

	p->serial++;
	if (!parse_parts(p, text, why))
		return false;
	last = p->n ? &p->parts[p->n - 1] : NULL;
	p->folds = last && last->folds;
	if (last && last->deeps > PATTERN_MAX_DEPTH)
		return no(why, "it has more than four '**'");
	cut_tail(p);
	last = p->n ? &p->parts[p->n - 1] : NULL;
	p->literals = last ? last->literals : 0;
	p->plain = !last || last->plain;
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
		buf_add(out, pattern_literal(p, part), part->shape.prefix_len);
	}
	if (out->len == start)
		buf_ch(out, '/');
}
