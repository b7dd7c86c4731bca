/* match - regular expressions as in profiles, byte by byte, in time length x size. */
/* SPDX-License-Identifier: MIT */
#include "tests/seatbelt/match.h"

#include <errno.h>
#include <string.h>

#include "core/base/buf.h"

#define MAX_STEPS 200000
#define MAX_DEPTH 64

/* The program of a machine that follows all alternatives at once. */
enum op {
	OP_CHAR,  /* x: the byte */
	OP_SET,	  /* x: number of the set */
	OP_SPLIT, /* continues at x and at y */
	OP_JUMP,  /* on at x */
	OP_BEGIN, /* only at the start of the text */
	OP_END,	  /* only at its end */
	OP_FOUND,
};

struct step {
	enum op op;
	uint32_t x, y;
};

struct set {
	uint8_t bits[32];
};

struct threads {
	uint32_t *list, n;
};

struct match {
	struct step *steps;
	uint32_t n, cap;
	struct set *sets;
	uint32_t n_sets;
	uint32_t *mark, round;
	struct threads now, next, stack;
};

struct parser {
	struct match *m;
	const char *at;
	int depth;
	const char *why;
};

/* ---- parsing --------------------------------------------------------------------------------- */

static uint32_t emit(struct parser *p, enum op op, uint32_t x)
{
	struct match *m = p->m;

	if (m->n >= MAX_STEPS) {
		p->why = "it is too large";
		return 0;
	}
	if (m->n == m->cap) {
		m->cap = m->cap ? m->cap * 2 : 64;
		m->steps = xrealloc(m->steps, m->cap * sizeof(*m->steps));
	}
	m->steps[m->n] = (struct step){op, x, 0};
	return m->n++;
}

/* Makes room for one instruction at `at`, and adjusts targets behind it. */
static void insert(struct parser *p, uint32_t at, enum op op)
{
	struct match *m = p->m;

	emit(p, op, 0);
	if (p->why)
		return;
	memmove(&m->steps[at + 1], &m->steps[at], (m->n - 1 - at) * sizeof(*m->steps));
	m->steps[at] = (struct step){op, 0, 0};
	for (uint32_t i = at + 1; i < m->n; i++) {
		struct step *s = &m->steps[i];

		if ((s->op == OP_SPLIT || s->op == OP_JUMP) && s->x >= at)
			s->x++;
		if (s->op == OP_SPLIT && s->y >= at)
			s->y++;
	}
}

static void add(struct set *s, unsigned c)
{
	s->bits[c / 8] = (uint8_t)(s->bits[c / 8] | 1u << (c % 8));
}

static bool holds(const struct set *s, unsigned c)
{
	return s->bits[c / 8] >> (c % 8) & 1;
}

static void emit_set(struct parser *p, const struct set *s)
{
	struct match *m = p->m;

	m->sets = xrealloc(m->sets, (m->n_sets + 1) * sizeof(*m->sets));
	m->sets[m->n_sets] = *s;
	emit(p, OP_SET, m->n_sets++);
}

/* In a set a `\` has no special meaning, as POSIX says. */
static void parse_set(struct parser *p)
{
	struct set s = {{0}};
	bool inverse = *++p->at == '^';

	p->at += inverse;
	do {
		unsigned from = (unsigned char)*p->at, to = from;

		if (!*p->at) {
			p->why = "'[' without its ']'";
			return;
		}
		if (p->at[1] == '-' && p->at[2] && p->at[2] != ']') {
			to = (unsigned char)p->at[2];
			p->at += 2;
		}
		for (unsigned c = from; c <= to; c++)
			add(&s, c);
		p->at++;
	} while (*p->at != ']');
	p->at++;
	for (size_t i = 0; inverse && i < sizeof(s.bits); i++)
		s.bits[i] = (uint8_t)~s.bits[i];
	emit_set(p, &s);
}

static void parse_ways(struct parser *p);

static void parse_group(struct parser *p)
{
	if (++p->depth > MAX_DEPTH) {
		p->why = "it is too deep";
		return;
	}
	p->at++;
	parse_ways(p);
	if (!p->why && *p->at != ')')
		p->why = "'(' without its ')'";
	p->at += *p->at == ')';
	p->depth--;
}

static void parse_one(struct parser *p)
{
	struct set all;

	switch (*p->at) {
	case '(':
		parse_group(p);
		return;
	case '[':
		parse_set(p);
		return;
	case '.':
		memset(&all, 0xff, sizeof(all));
		emit_set(p, &all);
		break;
	case '^':
		emit(p, OP_BEGIN, 0);
		break;
	case '$':
		emit(p, OP_END, 0);
		break;
	case '*':
	case '+':
	case '?':
	case '{':
	case '}':
		p->why = "it has a repetition of nothing, or one that profiles do not have";
		break;
	case '\\':
		if (!*++p->at) {
			p->why = "'\\' with nothing behind it";
			return;
		}
		emit(p, OP_CHAR, (unsigned char)*p->at);
		break;
	default:
		emit(p, OP_CHAR, (unsigned char)*p->at);
	}
	p->at++;
}

static void repeat(struct parser *p, uint32_t start)
{
	struct match *m = p->m;
	char c = *p->at;
	uint32_t split;

	if (c != '*' && c != '+' && c != '?')
		return;
	p->at++;
	if (c == '+') {
		split = emit(p, OP_SPLIT, start);
		if (!p->why)
			m->steps[split].y = m->n;
		return;
	}
	insert(p, start, OP_SPLIT);
	if (c == '*')
		emit(p, OP_JUMP, start);
	if (p->why)
		return;
	m->steps[start].x = start + 1;
	m->steps[start].y = m->n;
}

static void parse_row(struct parser *p)
{
	while (!p->why && *p->at && *p->at != '|' && *p->at != ')') {
		uint32_t start = p->m->n;

		parse_one(p);
		if (!p->why)
			repeat(p, start);
	}
}

static void parse_ways(struct parser *p)
{
	uint32_t *ends = NULL;
	size_t n_ends = 0;
	uint32_t start = p->m->n;

	parse_row(p);
	while (!p->why && *p->at == '|') {
		uint32_t split = start;

		p->at++;
		insert(p, split, OP_SPLIT);
		ends = xrealloc(ends, (n_ends + 1) * sizeof(*ends));
		ends[n_ends++] = emit(p, OP_JUMP, 0);
		if (p->why)
			break;
		p->m->steps[split].x = split + 1;
		p->m->steps[split].y = p->m->n;
		start = p->m->n;
		parse_row(p);
	}
	for (size_t i = 0; !p->why && i < n_ends; i++)
		p->m->steps[ends[i]].x = p->m->n;
	free(ends);
}

int match_new(struct match **ret, const char *regex, struct err *err)
{
	struct match *m = xcalloc(1, sizeof(*m));
	struct parser p = {.m = m, .at = regex};

	parse_ways(&p);
	if (!p.why && *p.at)
		p.why = "')' without its '('";
	emit(&p, OP_FOUND, 0);
	if (p.why) {
		match_free(m);
		return err_say(err, -EINVAL, "the regular expression '%s' is no good: %s", regex,
			       p.why);
	}
	m->mark = xcalloc(m->n, sizeof(*m->mark));
	m->now.list = xcalloc(m->n, sizeof(uint32_t));
	m->next.list = xcalloc(m->n, sizeof(uint32_t));
	m->stack.list = xcalloc(2 * (size_t)m->n + 2, sizeof(uint32_t));
	*ret = m;
	return 0;
}

void match_free(struct match *m)
{
	if (!m)
		return;
	free(m->steps);
	free(m->sets);
	free(m->mark);
	free(m->now.list);
	free(m->next.list);
	free(m->stack.list);
	free(m);
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Adds all states that are reached from there without a byte. Returns true if the program's end is
 * among them. */
static bool reach(struct match *m, struct threads *to, uint32_t from, bool begin, bool end)
{
	struct threads *todo = &m->stack;

	todo->list[0] = from;
	todo->n = 1;
	while (todo->n) {
		uint32_t i = todo->list[--todo->n];
		const struct step *s = &m->steps[i];

		if (m->mark[i] == m->round)
			continue;
		m->mark[i] = m->round;
		if (s->op == OP_FOUND)
			return true;
		if (s->op == OP_SPLIT)
			todo->list[todo->n++] = s->y;
		if (s->op == OP_SPLIT || s->op == OP_JUMP)
			todo->list[todo->n++] = s->x;
		else if ((s->op == OP_BEGIN && begin) || (s->op == OP_END && end))
			todo->list[todo->n++] = i + 1;
		else if (s->op == OP_CHAR || s->op == OP_SET)
			to->list[to->n++] = i;
	}
	return false;
}

static bool takes(const struct match *m, uint32_t i, unsigned char c)
{
	const struct step *s = &m->steps[i];

	return s->op == OP_CHAR ? s->x == c : holds(&m->sets[s->x], c);
}

bool match_finds(struct match *m, const char *text)
{
	bool anchored = m->steps[0].op == OP_BEGIN;

	m->now.n = 0;
	m->round++;
	if (reach(m, &m->now, 0, true, !*text))
		return true;
	for (; *text && (m->now.n || !anchored); text++) {
		struct threads swap = m->now;
		bool end = !text[1];

		m->next.n = 0;
		m->round++;
		for (uint32_t i = 0; i < m->now.n; i++)
			if (takes(m, m->now.list[i], (unsigned char)*text) &&
			    reach(m, &m->next, m->now.list[i] + 1, false, end))
				return true;
		if (!anchored && reach(m, &m->next, 0, false, end))
			return true;
		m->now = m->next;
		m->next = swap;
	}
	return false;
}
