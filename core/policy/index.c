/* index - all patterns at once: a tree of their components, walked along a path. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <string.h>
#include <xxhash.h>

#include "core/policy/pattern.h"

/*
 * A node is a place in one or more patterns. Its edges lie in one hash table: by the whole text of
 * a component without wildcards, else by the longer of what stands at both ends of it, so that ten
 * thousand patterns such as *.key1 in one directory are as quick as one. A node knows which lengths
 * of such ends there are. A double asterisk is a node that stays where it is.
 *
 * Walking keeps the set of nodes that the path so far leads to. It is at most as large as the
 * number of nodes, and small in practice; PATTERN_MAX_DEPTH bounds what one pattern can add.
 */
enum edge_kind {
	EDGE_TEXT,
	EDGE_PREFIX,
	EDGE_SUFFIX,
};

struct node {
	uint32_t deep;	  /* child behind a double asterisk; 0: none */
	uint32_t affixes; /* first of its list; 0: none */
	uint32_t entries; /* patterns whose head ends here; 0: none */
	uint32_t mark;	  /* in the set of this step */
	bool is_deep;
	uint64_t weight; /* of the patterns that go on from here */
};

struct edge {
	uint32_t node, child, next; /* next in the hash chain */
	enum edge_kind kind;
	uint32_t text, text_len; /* in index.text: whole component, or one end of it */
	uint32_t glob, glob_len;
};

struct affix {
	enum edge_kind kind;
	size_t len;
	uint32_t next;
};

struct entry {
	uint32_t number, next;
	unsigned literals, min, max;
};

#define VECTOR(type, name)                                                                         \
	struct {                                                                                   \
		type *list;                                                                        \
		uint32_t n, cap;                                                                   \
	} name

struct rule_index {
	VECTOR(struct node, nodes);
	VECTOR(struct edge, edges);
	VECTOR(struct affix, affixes);
	VECTOR(struct entry, entries);
	uint32_t unused;  /* entries that were removed */
	uint32_t *chains; /* hash table of edges; 0 ends a chain */
	uint32_t n_chains;
	struct buf text;
	/* The pattern that was added last, and its nodes: the next one mostly begins like it. */
	const struct pattern *last;
	uint64_t last_serial;
	size_t n_last;
	uint32_t last_nodes[PATTERN_PARTS];
	uint32_t step; /* generation of marks */
	uint32_t *set, *next_set;
	uint32_t set_cap, n_set, n_next;
};

/* Room for one more; number 0 means none, so the first element is left out. */
#define VECTOR_ADD(v)                                                                              \
	((v).n == (v).cap ? ((v).cap = MAX((v).cap * 2, 64u),                                      \
			     (v).list = xrealloc((v).list, (v).cap * sizeof(*(v).list)))           \
			  : (v).list,                                                              \
	 (v).list[(v).n] = (__typeof__(*(v).list)){0}, (v).n++)

/* ---- life ------------------------------------------------------------------------------------ */

struct rule_index *index_new(void)
{
	struct rule_index *x = xcalloc(1, sizeof(*x));

	x->text = (struct buf)BUF_INIT;
	VECTOR_ADD(x->nodes); /* the root */
	VECTOR_ADD(x->edges);
	VECTOR_ADD(x->affixes);
	VECTOR_ADD(x->entries);
	x->n_chains = 256;
	x->chains = xcalloc(x->n_chains, sizeof(*x->chains));
	return x;
}

void index_free(struct rule_index *x)
{
	if (!x)
		return;
	free(x->nodes.list);
	free(x->edges.list);
	free(x->affixes.list);
	free(x->entries.list);
	free(x->chains);
	free(x->set);
	free(x->next_set);
	buf_done(&x->text);
	free(x);
}

/* ---- edges ----------------------------------------------------------------------------------- */

static uint32_t *chain_of(const struct rule_index *x, uint32_t node, enum edge_kind kind,
			  const char *text, size_t len)
{
	uint64_t h = XXH3_64bits_withSeed(text, len, (uint64_t)node << 2 | kind);

	return &x->chains[h & (x->n_chains - 1)];
}

static bool edge_is(const struct rule_index *x, const struct edge *e, uint32_t node,
		    enum edge_kind kind, const char *text, size_t len)
{
	return e->node == node && e->kind == kind && e->text_len == len &&
	       memcmp(x->text.data + e->text, text, len) == 0;
}

static void grow_chains(struct rule_index *x)
{
	free(x->chains);
	x->n_chains *= 4;
	x->chains = xcalloc(x->n_chains, sizeof(*x->chains));
	for (uint32_t i = 1; i < x->edges.n; i++) {
		struct edge *e = &x->edges.list[i];
		uint32_t *chain =
			chain_of(x, e->node, e->kind, x->text.data + e->text, e->text_len);

		e->next = *chain;
		*chain = i;
	}
}

/* How an edge for this part is found: its kind and the text. */
static enum edge_kind edge_key(const struct pattern *p, const struct pattern_part *part,
			       const char **ret, size_t *ret_len)
{
	const struct glob_shape *s = &part->shape;

	*ret = p->literal.data + part->at;
	*ret_len = s->prefix_len;
	if (s->form == GLOB_LITERAL)
		return EDGE_TEXT;
	if (s->suffix_len <= s->prefix_len)
		return EDGE_PREFIX;
	*ret += s->suffix_at;
	*ret_len = s->suffix_len;
	return EDGE_SUFFIX;
}

static uint32_t find_child(const struct rule_index *x, uint32_t node, const struct pattern *p,
			   const struct pattern_part *part)
{
	const char *text;
	size_t len;
	enum edge_kind kind = edge_key(p, part, &text, &len);

	if (part->deep)
		return x->nodes.list[node].deep;
	for (uint32_t i = *chain_of(x, node, kind, text, len); i; i = x->edges.list[i].next) {
		const struct edge *e = &x->edges.list[i];

		if (edge_is(x, e, node, kind, text, len) &&
		    (kind == EDGE_TEXT ||
		     (e->glob_len == part->len &&
		      memcmp(x->text.data + e->glob, p->text.data + part->from, part->len) == 0)))
			return e->child;
	}
	return 0;
}

static void note_affix(struct rule_index *x, uint32_t node, enum edge_kind kind, size_t len)
{
	uint32_t i = x->nodes.list[node].affixes;

	while (i && (x->affixes.list[i].kind != kind || x->affixes.list[i].len != len))
		i = x->affixes.list[i].next;
	if (i)
		return;
	i = VECTOR_ADD(x->affixes);
	x->affixes.list[i] = (struct affix){kind, len, x->nodes.list[node].affixes};
	x->nodes.list[node].affixes = i;
}

static void add_edge(struct rule_index *x, uint32_t node, uint32_t child, const struct pattern *p,
		     const struct pattern_part *part)
{
	const char *text;
	size_t len;
	enum edge_kind kind = edge_key(p, part, &text, &len);
	uint32_t i = VECTOR_ADD(x->edges), *chain;
	struct edge *e = &x->edges.list[i];

	*e = (struct edge){.node = node, .child = child, .kind = kind, .text_len = (uint32_t)len};
	e->text = (uint32_t)x->text.len;
	buf_add(&x->text, text, len);
	if (kind != EDGE_TEXT) {
		e->glob = (uint32_t)x->text.len;
		e->glob_len = (uint32_t)part->len;
		buf_add(&x->text, p->text.data + part->from, part->len);
		note_affix(x, node, kind, len);
	}
	if (x->edges.n > x->n_chains) {
		grow_chains(x);
		return;
	}
	chain = chain_of(x, node, kind, text, len);
	e->next = *chain;
	*chain = i;
}

static uint32_t make_child(struct rule_index *x, uint32_t node, const struct pattern *p,
			   const struct pattern_part *part)
{
	uint32_t child = find_child(x, node, p, part);

	if (child)
		return child;
	child = VECTOR_ADD(x->nodes);
	if (part->deep) {
		x->nodes.list[node].deep = child;
		x->nodes.list[child].is_deep = true;
	} else {
		add_edge(x, node, child, p, part);
	}
	return child;
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* How many components this pattern begins with that the last one did, too; 0: not known. */
static size_t shared_parts(const struct rule_index *x, const struct pattern *p)
{
	bool next = p == x->last && p->serial == x->last_serial + 1;

	return next ? MIN(p->same, MIN(x->n_last, p->n)) : 0;
}

void index_add(struct rule_index *x, const struct pattern *p, uint32_t number, uint64_t weight)
{
	size_t shared = shared_parts(x, p);
	uint32_t node = 0, i = x->unused;

	x->last = p;
	x->last_serial = p->serial;
	x->n_last = p->n;
	for (size_t k = 0; k < p->n; k++) {
		x->nodes.list[node].weight += weight;
		node = k < shared ? x->last_nodes[k] : make_child(x, node, p, &p->parts[k]);
		x->last_nodes[k] = node;
	}
	if (i)
		x->unused = x->entries.list[i].next;
	else
		i = VECTOR_ADD(x->entries);
	x->entries.list[i] = (struct entry){.number = number,
					    .next = x->nodes.list[node].entries,
					    .literals = p->literals,
					    .min = p->min,
					    .max = p->max};
	x->nodes.list[node].entries = i;
}

void index_remove(struct rule_index *x, const struct pattern *p, uint32_t number, uint64_t weight)
{
	uint32_t node = 0, *at;

	for (size_t k = 0; k < p->n; k++) {
		x->nodes.list[node].weight -= weight;
		node = find_child(x, node, p, &p->parts[k]);
		assert(node);
	}
	for (at = &x->nodes.list[node].entries; *at; at = &x->entries.list[*at].next) {
		struct entry *e = &x->entries.list[*at];
		uint32_t i = *at;

		if (e->number != number)
			continue;
		*at = e->next;
		e->next = x->unused;
		x->unused = i;
		return;
	}
	assert(!"a pattern that was added");
}

/* ---- looking up ------------------------------------------------------------------------------ */

struct walk {
	struct rule_index *x;
	unsigned depth, total; /* components so far, and of the whole path */
	index_on_hit on;
	void *data;
};

static void tell_entries(const struct walk *w, const struct node *node)
{
	unsigned rest = w->total - w->depth;

	for (uint32_t i = node->entries; i;) {
		const struct entry *e = &w->x->entries.list[i];
		const struct index_hit hit = {e->number, w->depth, e->literals, e->max, e->min};

		i = e->next;
		if (rest >= e->min && (e->max == PATTERN_ANY || rest <= e->max))
			w->on(w->data, &hit);
	}
}

/* The path so far leads to this node. */
static void reach(struct walk *w, uint32_t i)
{
	struct rule_index *x = w->x;

	for (; x->nodes.list[i].mark != x->step; i = x->nodes.list[i].deep) {
		struct node *node = &x->nodes.list[i];

		node->mark = x->step;
		x->next_set[x->n_next++] = i;
		if (w->on)
			tell_entries(w, node);
		if (!node->deep)
			return;
	}
}

static void follow(struct walk *w, uint32_t node, enum edge_kind kind, const struct span *name,
		   size_t at, size_t len)
{
	struct rule_index *x = w->x;
	const char *text = name->data + at;

	for (uint32_t i = *chain_of(x, node, kind, text, len); i; i = x->edges.list[i].next) {
		const struct edge *e = &x->edges.list[i];

		if (edge_is(x, e, node, kind, text, len) &&
		    (kind == EDGE_TEXT ||
		     glob_match(x->text.data + e->glob, e->glob_len, name->data, name->len)))
			reach(w, e->child);
	}
}

static void step_from(struct walk *w, uint32_t node, const struct span *name)
{
	const struct rule_index *x = w->x;

	if (x->nodes.list[node].is_deep)
		reach(w, node);
	follow(w, node, EDGE_TEXT, name, 0, name->len);
	for (uint32_t i = x->nodes.list[node].affixes; i; i = x->affixes.list[i].next) {
		const struct affix *a = &x->affixes.list[i];

		if (a->len <= name->len)
			follow(w, node, a->kind, name,
			       a->kind == EDGE_PREFIX ? 0 : name->len - a->len, a->len);
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

void index_find(struct rule_index *x, const char *path, index_on_hit on, void *data)
{
	struct walk w = {.x = x, .on = on, .data = data};

	if (x->nodes.n > 1 || x->nodes.list[0].entries)
		walk(&w, path);
}

uint64_t index_beneath(struct rule_index *x, const char *path, bool deep)
{
	struct walk w = {.x = x};
	uint64_t sum = 0;

	if (!x->nodes.list[0].weight)
		return 0;
	walk(&w, path);
	for (uint32_t i = 0; w.depth == w.total && i < x->n_next; i++)
		if (deep || !x->nodes.list[x->next_set[i]].is_deep)
			sum += x->nodes.list[x->next_set[i]].weight;
	return sum;
}
