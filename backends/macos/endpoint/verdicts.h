/* verdicts - the user's answers about directories, for as long as they last. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Kinds of access to a directory: one answer counts for all files directly in it. */
enum es_access {
	ES_READS,
	ES_WRITES, /* writes, creates, removes, renames */
	ES_RUNS,
};

#define VERDICTS_MAX 256 /* the least recently used goes first */

struct verdicts;

struct verdicts *verdicts_new(void);
void verdicts_free(struct verdicts *v); /* NULL is a no-op */
/* Adds an answer that lasts until this time of the caller's clock. */
void verdicts_add(struct verdicts *v, const char *dir, enum es_access access, bool allow,
		  int64_t until_us);
/* Returns 1 if allowed, 0 if denied, -ENOENT if there is no answer or it has expired. */
int verdicts_find(struct verdicts *v, const char *dir, enum es_access access, int64_t now_us);
void verdicts_clear(struct verdicts *v); /* the rules have changed */
