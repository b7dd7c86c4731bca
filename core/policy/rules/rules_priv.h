/* rules_priv - the set of rules, shared by the files that decide and the files that explain. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/arena.h"
#include "core/base/hash.h"
#include "core/net/host.h"
#include "core/policy/rules/rules.h"

struct kept {
	struct rule rule;
	uint32_t patterns; /* the newest pattern in the index */
	bool removed, absent;
};

struct frame {
	struct rule_frame frame;
	struct frame *next;
};

/* The text of a rule, made on demand. */
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
	size_t n_of[RULE_KINDS], n_strict[RULE_KINDS]; /* live rules of each kind */
	struct rule_index *index;
	struct host_rule *hosts; /* about hosts; a rule may have several */
	size_t n_hosts, cap_hosts;
	struct config *lender; /* configuration whose strings the rules borrow, or NULL */
	struct frame *frames;
	struct words *words;
	struct arena strings;
	struct buf scratch;	       /* a folded path */
	struct pattern pattern, alias; /* large: not on the stack */
	size_t base_parts;	       /* parts of the last result of rules_base() */
	uint64_t follows;	       /* serial of the next pattern; 0: none */
};

/* The differences that decide between two matching rules, in order. */
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

/* Compares two matching rules. Returns a positive number if a decides. *by: the difference that
 * decides. */
int rules_compare(const struct rule_match *a, const struct rule_match *b, int64_t now,
		  enum rules_order *by);
/* Calls on() for each pattern that matches, of all kinds of rules. */
void rules_find(struct rules *r, const char *path, index_on_hit on, void *data);
/* rules_hosts.c: removes the patterns of a removed rule. */
void rules_drop_hosts(struct rules *r, uint32_t number);
/* Frees the texts of rules. */
void rules_free_words(struct rules *r);
