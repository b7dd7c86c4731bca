/* answers - what an answer means in words, and which answers nobody is offered. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/*
 * What an answer speaks of. "this file" is ask->path; "its directory" is the directory that it lies
 * in, or itself where it is one. Heap string.
 */
char *answers_object(const struct ask *ask, const struct answer *a) MUST_USE;

/* "allow reading everything in ~/notes and below, for this session, until 14:05". Raw bytes: escape
 * before a human sees them. */
void answers_words(struct buf *out, const struct model *m, const struct ask *ask,
		   const struct answer *a);

/* NULL: it may be given; else why not, in words. Nobody opens a whole home, or a place where
 * secrets or cordon's own files are kept, by one key. */
const char *answers_refusal(const struct model *m, const struct ask *ask, const struct answer *a);

struct cJSON;
/* scope, extent, until and persist (protocol.json); ret->allow is left as it is. */
int answers_from_json(const struct cJSON *object, struct answer *ret, struct err *err) MUST_USE;

/* What a human calls an operation: "write" for "openat". Itself where it has no other name. */
const char *answers_op(const char *op);
/* The same in a question, before the object: "create the folder", "set the times of". */
const char *answers_wish(const char *op);
const char *answers_scope_name(enum answer_scope scope);    /* "once", ... as on the command line */
const char *answers_extent_name(enum answer_extent extent); /* "exact", "dir", "tree" */
int answers_find_scope(const char *name);		    /* -1: unknown; below too */
int answers_find_extent(const char *name);
