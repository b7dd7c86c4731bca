/* pairfix - two folders of one session, for the tests of steps that have parts in both. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/support/journalfix.h"

/* Two folders of one session: `a` is the first, `b` the other. */
struct pair {
	struct fix *a, *b;
};

static inline void pair_open(struct pair *p)
{
	p->a->followed = true;
	fix_open(p->a);
	p->a->followed = false;
	p->b->with = p->a->j;
	fix_open(p->b);
}

static inline void pair_close(struct pair *p)
{
	fix_drop_dirs(p->a);
	fix_drop_dirs(p->b);
	journal_close(p->b->j);
	journal_close(p->a->j);
	p->a->j = p->b->j = NULL;
	p->a->s = p->b->s = NULL;
}

static inline int setup(void **state)
{
	struct pair *p = xcalloc(1, sizeof(*p));

	p->a = fix_new();
	p->b = fix_new();
	/* One state directory, as in a session. */
	free(p->b->state);
	p->b->state = xstrdup(p->a->state);
	pair_close(p);
	pair_open(p);
	*state = p;
	return 0;
}

static inline int teardown(void **state)
{
	struct pair *p = *state;

	fix_free(p->b);
	fix_free(p->a);
	free(p);
	return 0;
}

static inline void begin_both(struct pair *p, const char *command)
{
	begin(p->a, command);
	assert_int_equal(journal_begin_part(p->b->j, p->a->s, &p->b->s, &p->a->err), 0);
}

static inline size_t listed(struct fix *f, bool undone, int64_t *newest)
{
	struct step_info *list;
	size_t n;

	assert_int_equal(journal_list(f->j, undone, &list, &n, &f->err), 0);
	*newest = n ? list[0].id : 0;
	step_info_free(list, n);
	return n;
}

struct trees {
	char *a, *b;
};

static inline struct trees both(struct pair *p)
{
	return (struct trees){snap(p->a), snap(p->b)};
}

static inline void trees_done(struct trees *t)
{
	free(t->a);
	free(t->b);
}

#define AUTO_TREES CLEANUP(trees_done)

static inline void assert_trees(struct pair *p, const struct trees *want)
{
	assert_tree(p->a, want->a);
	assert_tree(p->b, want->b);
}

static inline void change(struct fix *f)
{
	put(f, "new", "new");
	put(f, "kept", "changed");
	rm(f, "gone");
	md(f, "d");
	mv(f, "moved", "d/moved", 0);
}

static inline void prepare(struct pair *p)
{
	begin_both(p, "prepare");
	for (int i = 0; i < 2; i++) {
		struct fix *f = i ? p->b : p->a;

		put(f, "kept", "was");
		put(f, "gone", "gone");
		put(f, "moved", "moved");
	}
	commit(p->a);
}

static inline void step_in_each(struct pair *p)
{
	begin(p->a, "a alone");
	put(p->a, "n", "n");
	commit(p->a);
	begin(p->b, "b alone");
	put(p->b, "y", "y");
	commit(p->b);
}

static inline void step_in_both(struct pair *p, const char *command)
{
	begin_both(p, command);
	change(p->a);
	change(p->b);
	commit(p->a);
	p->b->s = NULL;
}
