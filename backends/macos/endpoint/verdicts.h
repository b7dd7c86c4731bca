/* verdicts - answers of the human about directories, for as long as they last. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What is asked about a directory: one answer is good for all files right in it. */
enum es_access {
	ES_READS,
	ES_WRITES, /* writes, creates, removes, renames */
	ES_RUNS,
};

#define VERDICTS_MAX 256 /* the one that was used least recently goes first */

struct verdicts;

struct verdicts *verdicts_new(void);
void verdicts_free(struct verdicts *v); /* NULL is a no-op */
/* Until this time, of the caller's clock. */
void verdicts_add(struct verdicts *v, const char *dir, enum es_access access, bool allow,
		  int64_t until_us);
/* 1: allowed, 0: denied, -ENOENT: nothing is known, or not any more. */
int verdicts_find(struct verdicts *v, const char *dir, enum es_access access, int64_t now_us);
void verdicts_clear(struct verdicts *v); /* the rules have changed */
