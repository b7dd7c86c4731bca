/* pattern - a path with wildcards, taken apart; an index that finds all that match a path. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/glob.h"

#define PATTERN_PARTS	  128
#define PATTERN_MAX_DEPTH 4 /* of double asterisks: what one pattern may cost is bounded by it */
#define PATTERN_ANY	  UINT16_MAX

/*
 * The head is everything up to the last component that names something; the tail is the `*` and
 * double asterisks behind it, as the least and the most components that may follow. So `/a/b` is
 * 0..0 behind /a/b, `/a/b/` with a double asterisk is 0..any, `/a/b/` with one asterisk is 1..1.
 */
struct pattern {
	struct pattern_part {
		uint32_t from, len; /* in `text` */
		uint32_t at;	    /* where its literal text begins in `literal`, */
		bool as_is;	    /* or nothing in it has a meaning of its own */
		bool deep;	    /* a double asterisk: any number of components */
		/* Of all parts up to this one. */
		bool leading; /* they are as they are */
		bool joined;  /* they follow each other in `text` */
		bool plain, folds;
		unsigned deeps, literals;
		struct glob_shape shape;
	} parts[PATTERN_PARTS];
	size_t n;	   /* parts of the head */
	unsigned literals; /* characters of the head that stand for themselves */
	unsigned min, max; /* components of the tail; max may be PATTERN_ANY */
	bool plain;	   /* no wildcards in the head */
	bool folds;	   /* names_fold_path() may change it */
	struct buf text;   /* the pattern */
	struct buf literal;
	size_t total;	 /* parts, those of the tail included */
	size_t same;	 /* of those, how many the pattern before began with */
	uint64_t serial; /* grows with each that is parsed */
};
#define PATTERN_INIT                                                                               \
	{                                                                                          \
		.text = BUF_INIT, .literal = BUF_INIT                                              \
	}
#define AUTO_PATTERN CLEANUP(pattern_done)

/* The literal text of a part: len is its shape's. */
static inline const char *pattern_literal(const struct pattern *p, const struct pattern_part *part)
{
	return part->as_is ? p->text.data + part->from : p->literal.data + part->at;
}

/* text: absolute, as in a rule after `~` and variables were expanded. False: *why says why it can
 * never match, or is no pattern. Cheap where the last one that p was used for began alike. */
bool pattern_parse(struct pattern *p, const char *text, const char **why) MUST_USE;
void pattern_done(struct pattern *p);
/* Append the longest leading directory without wildcards, "/" at least. */
void pattern_base(const struct pattern *p, struct buf *out);

/*
 * What nearly all patterns go on with behind their leading directory: names, of which a `*` may end
 * the last, and a double asterisk or nothing behind them.
 */
struct pattern_rest {
	size_t len, plain; /* all of it; up to the first wildcard, the `/` before it left out */
	size_t first;	   /* the first name, as far as that is plain */
	bool star;	   /* ends the last name */
	bool folds;	   /* names_fold_path() may change it */
};
/* text: from its `/` on. False: it goes on with something else, or is no pattern. */
bool pattern_rest(const char *text, struct pattern_rest *ret) MUST_USE;
/* How many of the first len bytes of both are the same, from the first one on. */
size_t pattern_alike(const char *a, const char *b, size_t len);

/*
 * Patterns by their components: a path is looked up by walking down all patterns at once, so the
 * time grows with the length of the path and not with the number of patterns.
 *
 * Life:    index_new() -> index_free(). Numbers are the caller's.
 * Threads: one; looking up uses scratch memory of the index.
 */
struct rule_index;

struct index_hit {
	uint32_t number;
	unsigned depth;	   /* components of the path that the head covers: deeper is nearer */
	unsigned literals; /* then: more of it is spelled out */
	unsigned max, min; /* then: less may follow */
};

struct rule_index *index_new(void) MUST_USE;
void index_free(struct rule_index *x);			     /* NULL is a no-op */
void index_reserve(struct rule_index *x, uint32_t patterns); /* so many will be added */

/* Which names a pattern is about: those of a path as it is, or as names_fold_path() makes it. */
#define INDEX_AS_IS  1u
#define INDEX_FOLDED 2u

struct index_rule {
	uint32_t number;
	unsigned names;
	uint64_t weight; /* counted for index_beneath() on the way to the pattern; 0: it is not */
	uint32_t also;	 /* another pattern of the same; 0: none */
};
/* What it is called by from now on, never 0. */
uint32_t index_add(struct rule_index *x, const struct pattern *p, const struct index_rule *rule);
/* As it was added, `also` apart. */
void index_remove(struct rule_index *x, uint32_t entry, uint64_t weight);
uint32_t index_also(const struct rule_index *x, uint32_t entry);
unsigned index_names(const struct rule_index *x, uint32_t entry);
/* The pattern, as text: not just as it was written, but it says the same. */
void index_text(const struct rule_index *x, uint32_t entry, struct buf *out);
/* What it names. *ret is only added to where that is one place or tree: its path. */
enum pattern_place {
	PLACE_MANY, /* wildcards */
	PLACE_ONE,
	PLACE_TREE, /* it and all below */
};
enum pattern_place index_place(const struct rule_index *x, uint32_t entry, struct buf *ret);
/* Every pattern about such names that matches this absolute, clean path, in no order; a number may
 * come more than once, at several depths. */
typedef void (*index_on_hit)(void *data, const struct index_hit *hit);
void index_find(struct rule_index *x, const char *path, unsigned names, index_on_hit on,
		void *data);
/* Sum of the weights of what names places strictly beneath this path. deep: also of what matches
 * there because of a double asterisk above, and would wherever the path went. */
uint64_t index_beneath(struct rule_index *x, const char *path, bool deep);
