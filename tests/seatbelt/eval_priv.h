/* eval_priv - expressions of a profile, shared by reader and evaluator. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/seatbelt/eval.h"
#include "tests/seatbelt/match.h"

enum expr_kind {
	EXPR_LIST,
	EXPR_WORD,
	EXPR_STRING,
};

struct expr {
	enum expr_kind kind;
	char *text;	     /* of a word or string; heap */
	struct match *match; /* of a string that is a regular expression */
	struct expr *first;  /* of a list */
	struct expr *next;
	int line;
};

/* ---- expr.c ---- */
#define EXPR_MAX_DEPTH 40
/* Reads all expressions of the text, as one list. */
int expr_read(struct expr **ret, const char *text, size_t len, struct err *err) MUST_USE;
void expr_free(struct expr *e); /* with its successors */
bool expr_is(const struct expr *e, const char *word);
/* Returns whether it is a list that begins with this word. */
bool expr_is_list(const struct expr *e, const char *word);

/* ---- services.c ---- */
/* Does the same for one rule, or for one filter. */
const char *service_unknown(const struct expr *e);

/* ---- filter.c ---- */
/* Checks that the filter is known, and resolves its strings. */
int filter_check(struct expr *f, const char *const *params, struct err *err) MUST_USE;
bool filter_matches(const struct expr *f, const struct eval_query *q);
