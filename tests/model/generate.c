/* generate - makes a sequence of acts from a seed. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/model/model.h"

static uint64_t state;

/* xorshift64*: the same on every machine. */
static unsigned rnd(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * 0x2545f4914f6cdd1du) >> 33) % n;
}

static bool one_in(unsigned n)
{
	return rnd(n) == 0;
}

const char *act_name(enum act_kind kind)
{
	static const char *const names[] = {
#define X(id, name, weight) name,
		ACTS(X)
#undef X
	};
	return names[kind];
}

void act_print(FILE *out, const struct act *a)
{
	fprintf(out, "%-8s who=%u x=%u y=%u %s %s\n", act_name(a->kind), a->who, a->x, a->y, a->a,
		a->b);
}

/* Picks one of few names on few levels, so that acts meet. */
static void pick(char out[16])
{
	static const char names[] = "abcd";
	unsigned depth = 1 + (one_in(2) ? 0 : rnd(3));

	for (unsigned i = 0; i < depth; i++) {
		out[2 * i] = names[rnd(4)];
		out[2 * i + 1] = i + 1 < depth ? '/' : '\0';
	}
}

static struct act *add(struct sequence *s, enum act_kind kind, unsigned who)
{
	static struct act spill;
	struct act *a = s->n < ACTS_MAX ? &s->acts[s->n++] : &spill;

	*a = (struct act){.kind = kind, .who = who, .x = rnd(1u << 16), .y = rnd(1u << 16)};
	pick(a->a);
	pick(a->b);
	return a;
}

static enum act_kind draw(void)
{
	static const unsigned weights[] = {
#define X(id, name, weight) weight,
		ACTS(X)
#undef X
	};
	unsigned sum = 0, at;

	for (size_t i = 0; i < ARRAY_LEN(weights); i++)
		sum += weights[i];
	at = rnd(sum);
	for (size_t i = 0; i < ARRAY_LEN(weights); i++) {
		if (at < weights[i])
			return (enum act_kind)i;
		at -= weights[i];
	}
	return ACT_WRITE;
}

static void work(struct sequence *s, unsigned who, unsigned n)
{
	/* Some steps stay in one corner, so that they conflict more often. */
	bool corner = one_in(3);
	char path[16];

	pick(path);
	while (n--) {
		struct act *a = add(s, draw(), who);

		if (corner && one_in(2))
			memcpy(one_in(2) ? a->a : a->b, path, sizeof(path));
	}
}

static void one_step(struct sequence *s)
{
	unsigned who = rnd(WHO_MAX);

	add(s, ACT_BEGIN, who);
	work(s, who, 1 + rnd(one_in(4) ? 25 : 8));
	if (one_in(5)) { /* another at the same time */
		unsigned other = (who + 1 + rnd(WHO_MAX - 1)) % WHO_MAX;

		add(s, ACT_BEGIN, other);
		for (unsigned i = rnd(8); i > 0; i--)
			work(s, one_in(2) ? who : other, 1);
		add(s, one_in(12) ? ACT_ABORT : ACT_COMMIT, one_in(2) ? who : other);
		work(s, who, rnd(3));
		add(s, ACT_COMMIT, other);
	}
	add(s, one_in(10) ? ACT_ABORT : ACT_COMMIT, who);
}

static void external(struct sequence *s)
{
	for (unsigned n = 1 + rnd(2); n > 0; n--) {
		if (one_in(4))
			add(s, ACT_POKE, rnd(WHO_MAX));
		add(s, ACT_EXTERNAL, 0);
	}
}

static void undo(struct sequence *s, bool externals)
{
	for (unsigned n = 1 + rnd(3); n > 0; n--) {
		struct act *a = add(s, one_in(3) ? ACT_REDO : ACT_UNDO, 0);

		a->x = 1 + rnd(3);
		if (one_in(8) && externals)
			external(s);
	}
}

/* Short distances are as likely as long ones. */
static void kill_within(struct sequence *s, unsigned bits)
{
	struct act *a = add(s, ACT_KILL, 0);

	a->x = 1 + rnd(1u << rnd(bits));
	a->y = one_in(2) ? 0 : rnd(1u << rnd(12));
}

static struct act *add_at(struct sequence *s, enum act_kind kind, const char *path, unsigned x,
			  unsigned y)
{
	struct act *a = add(s, kind, 0);

	memcpy(a->a, path, sizeof(a->a));
	a->x = x;
	a->y = y;
	return a;
}

/* A step changes the first line of a text, an external edit adds to its end; then the step is
 * rolled back with a merge, which may be killed, and redone. */
static void merge(struct sequence *s, unsigned kills)
{
	char path[16] = {(char)('a' + rnd(4))};

	for (unsigned i = 0; i < 2; i++) {
		for (unsigned who = 0; who < WHO_MAX; who++)
			add(s, ACT_COMMIT, who);
		add(s, ACT_BEGIN, 0);
		add_at(s, ACT_WRITE, path, i ? 0 : 1, i ? 1 : 6);
		if (i && one_in(2))
			work(s, 0, 1 + rnd(3));
	}
	add(s, ACT_COMMIT, 0);
	add_at(s, ACT_EXTERNAL, path, 0, 3);
	if (kills && one_in(2))
		kill_within(s, 10);
	add_at(s, ACT_UNDO, path, 1, one_in(2) ? 5 : 7);
	if (!one_in(3))
		add(s, ACT_REDO, 0);
}

/* Restores a path of some step, often several. The steps have ended before a kill is possible. */
static void restore(struct sequence *s, unsigned kills)
{
	if (kills && one_in(2)) {
		add(s, ACT_COMMIT, 0);
		add(s, ACT_COMMIT, 1);
		add(s, ACT_COMMIT, 2);
		kill_within(s, 10);
	}
	for (unsigned n = 1 + rnd(3); n > 0; n--) {
		struct act *a = add(s, ACT_RESTORE, 0);

		if (one_in(2))
			a->a[1] = '\0';
	}
}

/* Maintains the store, sometimes with a kill and a recovery. */
static void look_after(struct sequence *s, unsigned kills)
{
	add(s, ACT_COMMIT, 0);
	if (kills && one_in(2))
		kill_within(s, 8);
	if (one_in(2))
		add(s, ACT_TIDY, 0);
	else
		add(s, ACT_PRUNE, 0)->x = 1 + rnd(6);
}

void generate(struct sequence *s, uint64_t seed, bool externals)
{
	unsigned rounds, kills, edits;

	s->n = 0;
	state = seed * 0x9e3779b97f4a7c15u + 1;
	for (int i = 0; i < 8; i++)
		rnd(2);
	rounds = 2 + rnd(8);
	kills = one_in(2) ? 0 : 2 + rnd(6);
	edits = one_in(3) && externals ? 4 : 0;
	add(s, ACT_BEGIN, 0);
	work(s, 0, 10 + rnd(15));
	add(s, ACT_COMMIT, 0);
	while (rounds-- && s->n < ACTS_MAX - 60) {
		if (kills && one_in(kills))
			kill_within(s, 11);
		if (edits && one_in(edits))
			external(s);
		if (edits && one_in(6))
			merge(s, kills);
		switch (rnd(10)) {
		case 0:
		case 1:
		case 2:
			undo(s, edits);
			break;
		case 3:
			if (one_in(3))
				add(s, ACT_REOPEN, 0);
			else
				restore(s, kills);
			break;
		case 4:
			look_after(s, kills);
			break;
		default:
			one_step(s);
		}
	}
	if (kills && one_in(2))
		kill_within(s, 11);
	/* All the way back, and forth again. */
	for (int i = 0; i < 2; i++) {
		add(s, ACT_UNDO, 0)->x = one_in(2) ? 99 : 1 + rnd(4);
		add(s, ACT_REDO, 0);
	}
	add(s, ACT_UNDO, 0)->x = 99;
}
