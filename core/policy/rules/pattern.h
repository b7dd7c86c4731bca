/* pattern - parses paths with wildcards; an index finds all patterns that match a path. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/rules/glob.h"

#define PATTERN_PARTS	  128
#define PATTERN_MAX_DEPTH 4 /* double asterisks, which limits the cost of one pattern */
#define PATTERN_ANY	  UINT16_MAX

/*
 * The head ends with the last named component; the tail is the `*` and double asterisks after it,
 * as the minimum and maximum number of further components. `/a/b` has the tail 0..0, `/a/b/` with a
 * double asterisk 0..any, `/a/b/` with one asterisk 1..1.
 */
struct pattern {
	struct pattern_part {
		uint32_t from, len; /* in `text` */
		uint32_t at;	    /* start of its literal text in `literal`, unless as_is */
		bool as_is;	    /* it has no special characters */
		bool deep;	    /* a double asterisk: any number of components */
		/* The next two are about all parts up to this one. */
		bool leading; /* all are as_is */
		bool joined;  /* all are adjacent in `text` */
		bool plain, folds;
		unsigned deeps, literals;
		struct glob_shape shape;
	} parts[PATTERN_PARTS];
	size_t n;	   /* parts of the head */
	unsigned literals; /* literal characters of the head */
	unsigned min, max; /* components of the tail; max may be PATTERN_ANY */
	bool plain;	   /* no wildcards in the head */
	bool folds;	   /* names_fold_path() may change it */
	struct buf text;   /* the pattern */
	struct buf literal;
	size_t total;	 /* parts, including the tail */
	size_t same;	 /* leading parts that equal the pattern before */
	uint64_t serial; /* increases with each pattern that is parsed */
};
#define PATTERN_INIT                                                                               \
	{                                                                                          \
		.text = BUF_INIT, .literal = BUF_INIT                                              \
	}
#define AUTO_PATTERN CLEANUP(pattern_done)

/* Returns the literal text of a part; its length is in the shape. */
static inline const char *pattern_literal(const struct pattern *p, const struct pattern_part *part)
{
	return part->as_is ? p->text.data + part->from : p->literal.data + part->at;
}

/* Parses an absolute pattern, after `~` and variables were expanded. Returns false if it is invalid
 * or can never match: *why has the reason. Fast if the last pattern parsed into p begins alike. */
bool pattern_parse(struct pattern *p, const char *text, const char **why) MUST_USE;
void pattern_done(struct pattern *p);
/* Appends the longest leading directory without wildcards, at least "/". */
void pattern_base(const struct pattern *p, struct buf *out);

/*
 * Patterns by their components: a path is looked up by walking down all patterns at once, so the
 * time grows with the length of the path and not with the number of patterns.
 *
 * Life:    index_new() -> index_free(). Numbers are the caller's.
 * Threads: one; look-ups use scratch memory of the index.
 */
struct rule_index;

struct index_hit {
	uint32_t number;
	unsigned depth;	   /* components of the path that the head covers: more is nearer */
	unsigned literals; /* next: more literal characters */
	unsigned max, min; /* next: fewer components may follow */
};

struct rule_index *index_new(void) MUST_USE;
void index_free(struct rule_index *x);			     /* NULL is a no-op */
void index_reserve(struct rule_index *x, uint32_t patterns); /* patterns: how many will be added */

/* The names that a pattern applies to: those of the path itself, or folded ones
 * (names_fold_path()). */
#define INDEX_AS_IS  1u
#define INDEX_FOLDED 2u

struct index_rule {
	uint32_t number;
	unsigned names;
	uint64_t weight; /* counted by index_beneath() above the pattern; 0: not counted */
	uint32_t also;	 /* another pattern of the same rule; 0: none */
};
/* Adds a pattern. Returns its entry, never 0. */
uint32_t index_add(struct rule_index *x, const struct pattern *p, const struct index_rule *rule);
/* Removes an entry. weight: as added. Other patterns of the rule (`also`) stay. */
void index_remove(struct rule_index *x, uint32_t entry, uint64_t weight);
uint32_t index_also(const struct rule_index *x, uint32_t entry);
unsigned index_names(const struct rule_index *x, uint32_t entry);
/* Appends the pattern as text, equivalent to the written one. */
void index_text(const struct rule_index *x, uint32_t entry, struct buf *out);
/* The kinds of paths that a pattern matches. index_place() appends the path to *ret if it is one
 * path or tree. */
enum pattern_place {
	PLACE_MANY, /* wildcards */
	PLACE_ONE,
	PLACE_TREE, /* the path and all below */
};
enum pattern_place index_place(const struct rule_index *x, uint32_t entry, struct buf *ret);
/* Calls on() for every pattern for such names that matches this absolute, clean path, in no order.
 * A number may come more than once, at several depths. */
typedef void (*index_on_hit)(void *data, const struct index_hit *hit);
void index_find(struct rule_index *x, const char *path, unsigned names, index_on_hit on,
		void *data);
/* Returns the sum of the weights of patterns for paths strictly beneath this path. deep: also of
 * patterns that match there by a double asterisk above, and would match beneath any path. */
uint64_t index_beneath(struct rule_index *x, const char *path, bool deep);
