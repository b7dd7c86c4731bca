/* index_match - finds the patterns that match a path, by walking down all of them at once. */
/* SPDX-License-Identifier: MIT */
#include "core/os/text.h"
#include "core/policy/rules/index_priv.h"

struct walk {
	struct rule_index *x;
	unsigned depth, total; /* components so far, and of the whole path */
	unsigned names;
	index_on_hit on;
	void *data;
};

static void tell_entries(const struct walk *w, const struct node *node)
{
	unsigned rest = w->total - w->depth;

	for (uint32_t i = node->entries; i;) {
		const struct entry *e = &w->x->entries.list[i];
		const struct index_hit hit = {e->number, w->depth, e->literals,
					      e->any ? PATTERN_ANY : e->min, e->min};

		i = e->next;
		if (e->names & w->names && rest >= e->min && (e->any || rest == e->min))
			w->on(w->data, &hit);
	}
}

/* Adds a node to which the path so far leads. */
static void reach(struct walk *w, uint32_t i)
{
	struct rule_index *x = w->x;

	for (; x->nodes.list[i].mark != x->step; i = deep_of(x, i)) {
		struct node *node = &x->nodes.list[i];

		node->mark = x->step;
		x->next_set[x->n_next++] = i;
		if (w->on)
			tell_entries(w, node);
		if (!deep_of(x, i))
			return;
	}
}

static void follow(struct walk *w, const struct way_to *to, const struct span *name)
{
	const struct rule_index *x = w->x;

	for (uint32_t i = *chain_of(x, to); i; i = x->nodes.list[i].next) {
		const struct node *node = &x->nodes.list[i];
		const struct more *more = &x->more.list[node->more];

		if (is_way(x, node, to) &&
		    (is_whole(to->way) ||
		     glob_match(x->text.data + more->glob, more->glob_len, name->data, name->len)))
			reach(w, i);
	}
}

static void step_from(struct walk *w, uint32_t node, const struct span *name)
{
	const struct rule_index *x = w->x;
	const struct way_to whole = {node, WAY_TEXT, name->data, name->len};

	if (x->nodes.list[node].way == WAY_DEEP)
		reach(w, node);
	follow(w, &whole, name);
	for (uint32_t i = x->more.list[x->nodes.list[node].more].affixes; i;
	     i = x->affixes.list[i].next) {
		const struct affix *a = &x->affixes.list[i];
		bool tail = a->way == WAY_TAIL || a->way == WAY_SUFFIX;
		struct way_to end = {node, a->way, name->data, a->len};

		if (a->len > name->len)
			continue;
		end.text += tail ? name->len - a->len : 0;
		follow(w, &end, name);
	}
}

static void begin_step(struct rule_index *x)
{
	uint32_t *set = x->set;

	x->set = x->next_set;
	x->next_set = set;
	x->n_set = x->n_next;
	x->n_next = 0;
	if (++x->step == 0) { /* once in four thousand million components */
		for (uint32_t i = 0; i < x->nodes.n; i++)
			x->nodes.list[i].mark = 0;
		x->step = 1;
	}
}

static void walk(struct walk *w, const char *path)
{
	struct rule_index *x = w->x;

	if (x->set_cap < x->nodes.n) {
		x->set_cap = x->nodes.cap;
		x->set = xrealloc(x->set, x->set_cap * sizeof(*x->set));
		x->next_set = xrealloc(x->next_set, x->set_cap * sizeof(*x->next_set));
	}
	x->n_next = 0;
	begin_step(x);
	for (const char *c = path; *c; c++)
		w->total += *c == '/' && c[1];
	reach(w, 0);
	while (w->depth < w->total && x->n_next) {
		struct span name = {.data = ++path};

		name.len = (size_t)(strchrnul(path, '/') - path);
		path += name.len;
		w->depth++;
		begin_step(x);
		for (uint32_t i = 0; i < x->n_set; i++)
			step_from(w, x->set[i], &name);
	}
}

void index_find(struct rule_index *x, const char *path, unsigned names, index_on_hit on, void *data)
{
	struct walk w = {.x = x, .names = names, .on = on, .data = data};

	if (x->nodes.n > 1 || x->nodes.list[0].entries)
		walk(&w, path);
}

uint64_t index_beneath(struct rule_index *x, const char *path, bool deep)
{
	struct walk w = {.x = x};
	uint64_t sum = 0;

	if (!x->more.list[x->nodes.list[0].more].weight)
		return 0;
	walk(&w, path);
	for (uint32_t i = 0; w.depth == w.total && i < x->n_next; i++) {
		const struct node *node = &x->nodes.list[x->next_set[i]];

		if (deep || node->way != WAY_DEEP)
			sum += x->more.list[node->more].weight;
	}
	return sum;
}
