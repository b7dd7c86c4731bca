/* index - a tree of the components of all patterns; adds and removes patterns. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/pages.h"
#include "core/policy/rules/index_priv.h"

/* Adds an element, which the caller fills in, and returns its number. 0 means none, so the first
 * element is not used. */
#define VECTOR_ADD(v)                                                                              \
	((v).n == (v).cap ? ((v).cap = MAX((v).cap * 2, 64u),                                      \
			     (v).list = xrealloc((v).list, (v).cap * sizeof(*(v).list)))           \
			  : (v).list,                                                              \
	 (v).n++)

/* Estimated new nodes per pattern: two for `~/tools/one/bin`. */
#define NODES_EACH 2
#define TEXT_EACH  8 /* bytes per pattern */

/* ---- life ------------------------------------------------------------------------------------ */

struct rule_index *index_new(void)
{
	struct rule_index *x = xcalloc(1, sizeof(*x));

	x->text = (struct buf)BUF_INIT;
	VECTOR_ADD(x->nodes);
	x->nodes.list[0] = (struct node){0}; /* the root */
	VECTOR_ADD(x->more);
	x->more.list[0] = (struct more){0};
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
	free(x->more.list);
	free(x->affixes.list);
	free(x->entries.list);
	free(x->chains);
	free(x->set);
	free(x->next_set);
	buf_done(&x->text);
	free(x);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static void set_chains(struct rule_index *x, uint32_t n)
{
	free(x->chains);
	x->n_chains = n;
	x->chains = xcalloc(n, sizeof(*x->chains));
	for (uint32_t i = 1; i < x->nodes.n; i++) {
		struct node *node = &x->nodes.list[i];
		const struct way_to w = {node->parent, node->way, x->text.data + node->text,
					 node->len};
		uint32_t *chain;

		if (node->way == WAY_DEEP)
			continue;
		chain = chain_of(x, &w);
		node->next = *chain;
		*chain = i;
	}
}

#define VECTOR_RESERVE(v, more)                                                                    \
	((v).cap < (v).n + (more) ? ((v).cap = (v).n + (more),                                     \
				     (v).list = xrealloc((v).list, (v).cap * sizeof(*(v).list)))   \
				  : (v).list)

void index_reserve(struct rule_index *x, uint32_t patterns)
{
	uint32_t n = x->n_chains;

	VECTOR_RESERVE(x->nodes, patterns * NODES_EACH);
	VECTOR_RESERVE(x->entries, patterns);
	buf_reserve(&x->text, (size_t)patterns * TEXT_EACH);
	pages_fill(x->text.data + x->text.len, (size_t)patterns * TEXT_EACH);
	pages_fill(x->nodes.list + x->nodes.n, patterns * sizeof(*x->nodes.list));
	pages_fill(x->entries.list + x->entries.n, patterns * sizeof(*x->entries.list));
	while (n < patterns)
		n *= 2;
	if (n > x->n_chains)
		set_chains(x, n);
}

/* Returns the node's struct more, and makes it if needed. */
static struct more *more_of(struct rule_index *x, uint32_t node)
{
	uint32_t *at = &x->nodes.list[node].more;

	if (!*at) {
		*at = VECTOR_ADD(x->more);
		x->more.list[*at] = (struct more){0};
	}
	return &x->more.list[*at];
}

static struct way_to way_to(uint32_t parent, const struct pattern *p,
			    const struct pattern_part *part)
{
	const struct glob_shape *s = &part->shape;
	struct way_to w = {parent, WAY_TEXT, pattern_literal(p, part), s->prefix_len};
	bool star = part->len == s->literals + (size_t)1;

	if (s->form == GLOB_LITERAL)
		return w;
	if (s->suffix_len <= s->prefix_len) {
		star = star && p->text.data[part->from + part->len - 1] == '*';
		w.way = star ? WAY_HEAD : WAY_PREFIX;
		return w;
	}
	w.way = star && p->text.data[part->from] == '*' ? WAY_TAIL : WAY_SUFFIX;
	w.text += s->suffix_at;
	w.len = s->suffix_len;
	return w;
}

static uint32_t find_child(const struct rule_index *x, const struct pattern *p,
			   const struct pattern_part *part, const struct way_to *w, uint32_t chain)
{
	uint32_t i = chain;

	for (; i; i = x->nodes.list[i].next) {
		const struct node *node = &x->nodes.list[i];
		const struct more *more = &x->more.list[node->more];

		if (is_way(x, node, w) &&
		    (is_whole(w->way) || (more->glob_len == part->len &&
					  memcmp(x->text.data + more->glob,
						 p->text.data + part->from, part->len) == 0)))
			break;
	}
	return i;
}

static void note_affix(struct rule_index *x, const struct way_to *w)
{
	struct more *more = more_of(x, w->parent);
	uint32_t i = more->affixes;

	while (i && (x->affixes.list[i].way != w->way || x->affixes.list[i].len != w->len))
		i = x->affixes.list[i].next;
	if (i)
		return;
	i = VECTOR_ADD(x->affixes);
	x->affixes.list[i] = (struct affix){w->way, (uint32_t)w->len, more->affixes};
	more->affixes = i;
}

static uint32_t add_bytes(struct rule_index *x, const char *data, size_t len)
{
	uint32_t at = (uint32_t)x->text.len;

	buf_add(&x->text, data, len);
	return at;
}

static uint32_t add_child(struct rule_index *x, const struct pattern *p,
			  const struct pattern_part *part, const struct way_to *w, uint32_t *chain)
{
	uint32_t i = VECTOR_ADD(x->nodes);

	x->nodes.list[i] = (struct node){.parent = w->parent,
					 .next = *chain,
					 .way = w->way,
					 .text = add_bytes(x, w->text, w->len),
					 .len = (uint32_t)w->len};
	*chain = i;
	if (w->way != WAY_TEXT)
		note_affix(x, w);
	if (!is_whole(w->way)) {
		struct more *more = more_of(x, i);

		more->glob = add_bytes(x, p->text.data + part->from, part->len);
		more->glob_len = part->len;
	}
	if (x->nodes.n > x->n_chains * NODES_EACH)
		set_chains(x, x->n_chains * 4);
	return i;
}

static uint32_t make_deep(struct rule_index *x, uint32_t parent)
{
	uint32_t child = deep_of(x, parent);

	if (child)
		return child;
	child = VECTOR_ADD(x->nodes);
	x->nodes.list[child] = (struct node){.parent = parent, .way = WAY_DEEP};
	more_of(x, parent)->deep = child;
	return child;
}

/* fresh: the node is new, so it has no children. */
static uint32_t make_child(struct rule_index *x, uint32_t node, const struct pattern *p,
			   const struct pattern_part *part, bool fresh)
{
	struct way_to w;
	uint32_t *chain, child;

	if (part->deep)
		return make_deep(x, node);
	w = way_to(node, p, part);
	chain = chain_of(x, &w);
	child = fresh ? 0 : find_child(x, p, part, &w, *chain);
	return child ? child : add_child(x, p, part, &w, chain);
}

/* ---- adding and removing --------------------------------------------------------------------- */

/* Returns how many leading components the last pattern shares with this one; 0: unknown. */
static size_t shared_parts(const struct last *last, const struct pattern *p)
{
	bool next = p == last->pattern && p->serial == last->serial + 1;

	return next ? MIN(p->same, MIN(last->n, p->n)) : 0;
}

/* Makes the nodes of the pattern's head. Returns the last one. */
static uint32_t make_nodes(struct rule_index *x, const struct pattern *p, struct last *last)
{
	size_t shared = shared_parts(last, p);
	uint32_t node = shared ? last->nodes[shared - 1] : 0, n = x->nodes.n;

	last->pattern = p;
	last->serial = p->serial;
	last->n = p->n;
	for (size_t k = shared; k < p->n; k++)
		last->nodes[k] = node = make_child(x, node, p, &p->parts[k], node >= n);
	return node;
}

/* Adds the weight to all ancestors of this node. */
static void weigh(struct rule_index *x, uint32_t node, uint64_t weight)
{
	while (node) {
		node = x->nodes.list[node].parent;
		more_of(x, node)->weight += weight;
	}
}

uint32_t index_add(struct rule_index *x, const struct pattern *p, const struct index_rule *rule)
{
	struct last *last = rule->names == INDEX_FOLDED ? &x->alias : &x->as_is;
	uint32_t node = make_nodes(x, p, last), i = x->unused;

	if (rule->weight)
		weigh(x, node, rule->weight);
	if (i)
		x->unused = x->entries.list[i].next;
	else
		i = VECTOR_ADD(x->entries);
	x->entries.list[i] = (struct entry){.number = rule->number,
					    .next = x->nodes.list[node].entries,
					    .also = rule->also,
					    .node = node,
					    .literals = p->literals,
					    .min = (unsigned char)p->min,
					    .any = p->max == PATTERN_ANY,
					    .names = (unsigned char)rule->names};
	x->nodes.list[node].entries = i;
	return i;
}

void index_remove(struct rule_index *x, uint32_t entry, uint64_t weight)
{
	struct entry *e = &x->entries.list[entry];
	uint32_t *at = &x->nodes.list[e->node].entries;

	if (weight)
		weigh(x, e->node, -weight);
	while (*at != entry)
		at = &x->entries.list[*at].next;
	*at = e->next;
	e->next = x->unused;
	x->unused = entry;
}

/* ---- patterns of entries --------------------------------------------------------------------- */

uint32_t index_also(const struct rule_index *x, uint32_t entry)
{
	return x->entries.list[entry].also;
}

unsigned index_names(const struct rule_index *x, uint32_t entry)
{
	return x->entries.list[entry].names;
}

/* Lists the nodes from below the root to this one. Returns their number. */
static size_t way_down(const struct rule_index *x, uint32_t node, uint32_t ret[PATTERN_PARTS])
{
	size_t n = 0, at;

	for (uint32_t i = node; i; i = x->nodes.list[i].parent)
		n++;
	at = n;
	for (uint32_t i = node; i; i = x->nodes.list[i].parent)
		ret[--at] = i;
	return n;
}

static void quote(const struct rule_index *x, const struct node *node, struct buf *out)
{
	AUTO_FREE char *text = xstrndup(x->text.data + node->text, node->len);

	glob_quote(out, text);
}

static void add_text(const struct rule_index *x, const struct node *node, struct buf *out)
{
	const struct more *more = &x->more.list[node->more];

	switch (node->way) {
	case WAY_TEXT:
	case WAY_HEAD:
		quote(x, node, out);
		buf_str(out, node->way == WAY_HEAD ? "*" : "");
		return;
	case WAY_TAIL:
		buf_ch(out, '*');
		quote(x, node, out);
		return;
	case WAY_PREFIX:
	case WAY_SUFFIX:
		buf_add(out, x->text.data + more->glob, more->glob_len);
		return;
	case WAY_DEEP:
		buf_str(out, "**");
		return;
	}
}

void index_text(const struct rule_index *x, uint32_t entry, struct buf *out)
{
	const struct entry *e = &x->entries.list[entry];
	uint32_t nodes[PATTERN_PARTS];
	size_t n = way_down(x, e->node, nodes);

	for (size_t i = 0; i < n; i++) {
		buf_ch(out, '/');
		add_text(x, &x->nodes.list[nodes[i]], out);
	}
	for (unsigned i = 0; i < e->min; i++)
		buf_str(out, "/*");
	if (e->any)
		buf_str(out, "/**");
	else if (!n && !e->min)
		buf_ch(out, '/');
}

static void add_path(const struct rule_index *x, uint32_t node, struct buf *out)
{
	uint32_t nodes[PATTERN_PARTS];
	size_t n = way_down(x, node, nodes);

	for (size_t i = 0; i < n; i++) {
		const struct node *at = &x->nodes.list[nodes[i]];

		buf_ch(out, '/');
		buf_add(out, x->text.data + at->text, at->len);
	}
	if (!n)
		buf_ch(out, '/');
}

/* Returns whether all steps up to the root are plain names. */
static bool is_plain(const struct rule_index *x, uint32_t node)
{
	while (node && x->nodes.list[node].way == WAY_TEXT)
		node = x->nodes.list[node].parent;
	return !node;
}

enum pattern_place index_place(const struct rule_index *x, uint32_t entry, struct buf *ret)
{
	const struct entry *e = &x->entries.list[entry];

	if (e->min || !is_plain(x, e->node))
		return PLACE_MANY;
	add_path(x, e->node, ret);
	return e->any ? PLACE_TREE : PLACE_ONE;
}
