/* answers - describes answers in words, and refuses answers that would allow too much. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/model.h"

/*
 * Returns the object of an answer. "this file" is ask->path; "its directory" is the directory of
 * the path, or the path itself if it is one. Heap string.
 */
char *answers_object(const struct ask *ask, const struct answer *a) MUST_USE;

/* Appends the words of an answer: "allow reading everything in ~/notes and below, for this session,
 * until 14:05". Raw bytes: escape before the user sees them. */
void answers_words(struct buf *out, const struct model *m, const struct ask *ask,
		   const struct answer *a);

/* Returns NULL if the answer may be given, else why not. No answer opens a whole home, or a
 * directory with secrets or with files of cordon. */
const char *answers_refusal(const struct model *m, const struct ask *ask, const struct answer *a);

struct cJSON;
/* Reads scope, extent, until and persist (protocol.json); leaves ret->allow unchanged. */
int answers_from_json(const struct cJSON *object, struct answer *ret, struct err *err) MUST_USE;

/* Returns the usual name of an operation: "write" for "openat"; op itself if it has no other. */
const char *answers_op(const char *op);
/* Returns the name for a question, before the object: "create the folder", "set the times of". */
const char *answers_wish(const char *op);
const char *answers_scope_name(enum answer_scope scope);    /* "once", ... as on the command line */
const char *answers_extent_name(enum answer_extent extent); /* "exact", "dir", "tree" */
int answers_find_scope(const char *name);		    /* -1: unknown, here and below */
int answers_find_extent(const char *name);
