/* index_priv - the structure of the pattern index, shared by its builder and its lookup. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <string.h>
#include <xxhash.h>

#include "core/policy/rules/pattern.h"

/*
 * A node is a position in one or more patterns, with the step to it from its parent: the whole text
 * of a component without wildcards, else the longer of the literal texts at its two ends, so that
 * ten thousand patterns such as *.key1 in one directory are as quick as one. Nodes that are reached
 * by a text are in one hash table. A double asterisk is a node that also leads to itself. A file of
 * rules is read at every start, and new memory is expensive: members that few nodes need are in
 * struct more.
 *
 * Walking keeps the set of nodes that match the path so far. It is at most as large as the number
 * of nodes, and small in practice; PATTERN_MAX_DEPTH bounds the share of one pattern.
 */
enum way {
	WAY_TEXT,
	WAY_HEAD, /* `text*`: a name that begins with it */
	WAY_TAIL, /* `*text` */
	WAY_PREFIX,
	WAY_SUFFIX,
	WAY_DEEP,
};

struct node {
	uint32_t parent, next; /* next in the hash chain */
	uint32_t text;	       /* in index.text: the component, or one end of it */
	uint32_t len : 29;
	enum way way : 3;
	uint32_t entries; /* patterns whose head ends here; 0: none */
	uint32_t more;	  /* 0: nothing */
	uint32_t mark;	  /* equals rule_index.step: the node is in the current set */
};

struct more {
	uint64_t weight;	 /* of the patterns below this node */
	uint32_t deep;		 /* child after a double asterisk; 0: none */
	uint32_t affixes;	 /* first of its list; 0: none */
	uint32_t glob, glob_len; /* WAY_PREFIX, WAY_SUFFIX: the component */
};

/* A length of component ends that occurs below a node. */
struct affix {
	enum way way;
	uint32_t len, next;
};

struct entry {
	uint32_t number, next, also;
	uint32_t node, literals;
	unsigned char min;
	bool any;
	unsigned char names; /* INDEX_AS_IS, INDEX_FOLDED */
};
_Static_assert(PATTERN_PARTS <= UCHAR_MAX, "a tail has no more");

#define VECTOR(type, name)                                                                         \
	struct {                                                                                   \
		type *list;                                                                        \
		uint32_t n, cap;                                                                   \
	} name

/* The last pattern added, and its nodes: the next one often has the same beginning. */
struct last {
	const struct pattern *pattern;
	uint64_t serial;
	size_t n;
	uint32_t nodes[PATTERN_PARTS];
};

struct rule_index {
	VECTOR(struct node, nodes);
	VECTOR(struct more, more);
	VECTOR(struct affix, affixes);
	VECTOR(struct entry, entries);
	uint32_t unused;  /* entries that were removed */
	uint32_t *chains; /* hash table of nodes; 0 ends a chain */
	uint32_t n_chains;
	struct buf text;
	struct last as_is, alias; /* alias: for folded names alone */
	uint32_t step;		  /* generation of marks */
	uint32_t *set, *next_set;
	uint32_t set_cap, n_set, n_next;
};

static inline uint32_t deep_of(const struct rule_index *x, uint32_t node)
{
	return x->more.list[x->nodes.list[node].more].deep; /* element 0 has none */
}

/* Returns whether the way covers the whole component. */
static inline bool is_whole(enum way way)
{
	return way == WAY_TEXT || way == WAY_HEAD || way == WAY_TAIL;
}

/* The key of a node: the last step to it. */
struct way_to {
	uint32_t parent;
	enum way way;
	const char *text;
	size_t len;
};

static inline uint32_t *chain_of(const struct rule_index *x, const struct way_to *w)
{
	uint64_t h = XXH3_64bits_withSeed(w->text, w->len, (uint64_t)w->parent << 3 | w->way);

	return &x->chains[h & (x->n_chains - 1)];
}

static inline bool is_way(const struct rule_index *x, const struct node *node,
			  const struct way_to *w)
{
	return node->parent == w->parent && node->way == w->way && node->len == w->len &&
	       memcmp(x->text.data + node->text, w->text, w->len) == 0;
}
