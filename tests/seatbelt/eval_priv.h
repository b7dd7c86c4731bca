/* eval_priv - expressions of a profile, between the reader and who answers. */
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
/* All expressions of the text, as one list. */
int expr_read(struct expr **ret, const char *text, size_t len, struct err *err) MUST_USE;
void expr_free(struct expr *e); /* and what follows it */
bool expr_is(const struct expr *e, const char *word);
/* A list that begins with this word. */
bool expr_is_list(const struct expr *e, const char *word);

/* ---- services.c ---- */
/* The same of one rule, or of one filter. */
const char *service_unknown(const struct expr *e);

/* ---- filter.c ---- */
/* Is it a filter that is known, and its strings resolved? */
int filter_check(struct expr *f, const char *const *params, struct err *err) MUST_USE;
bool filter_matches(const struct expr *f, const struct eval_query *q);
