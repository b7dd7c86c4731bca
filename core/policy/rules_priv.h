/* rules_priv - between what decides and what tells of it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/net/host.h"
#include "core/policy/rules.h"
#include "core/policy/lazy_rules.h"

struct kept {
	struct rule rule;
	uint32_t patterns; /* the newest, in the index */
	bool removed, absent, waits;
};

struct frame {
	struct rule_frame frame;
	struct frame *next;
};

/* Words for a rule that somebody has asked about. */
struct words {
	uint32_t number;
	const char *text;
	UT_hash_handle hh;
};

struct host_rule {
	uint32_t number;
	struct net_pattern pattern;
};

struct rules {
	struct kept *list;
	size_t n, cap;
	size_t n_of[RULE_KINDS], n_strict[RULE_KINDS]; /* live ones */
	struct rule_index *index;
	struct shelves shelves;
	struct host_rule *hosts; /* of kinds about hosts; a rule may have several */
	size_t n_hosts, cap_hosts;
	struct config *lender; /* whose strings are here, or NULL */
	struct frame *frames;
	struct words *words;
	struct arena strings;
	struct buf scratch;	       /* a folded path */
	struct pattern pattern, alias; /* large: not on the stack */
	size_t base_parts;	       /* what rules_base() told of */
	uint64_t follows;	       /* serial of the pattern behind that one; 0: none */
};

/* What makes the difference between two rules that match, the first one first. */
enum rules_order {
	ORDER_OVER,
	ORDER_FINAL,
	ORDER_DEPTH,
	ORDER_LITERALS,
	ORDER_TAIL,
	ORDER_LEVEL,
	ORDER_PORTS,
	ORDER_VERDICT,
	ORDER_AGE,
	ORDER_PLACE,
};

/* Positive: a decides. *by says what made the difference. */
int rules_compare(const struct rule_match *a, const struct rule_match *b, int64_t now,
		  enum rules_order *by);
/* All that match: those of these kinds (1 << enum rule_kind), and maybe others. */
void rules_find(struct rules *r, unsigned kinds, const char *path, index_on_hit on, void *data);
/* rules_hosts.c: the patterns of a rule that is removed. */
void rules_drop_hosts(struct rules *r, uint32_t number);
/* For the words that were made. */
void rules_free_words(struct rules *r);
