/* sources - descriptors that the keeper's loop polls, and their callbacks. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

struct keeper;

/* Exits are seen before requests of the same turn: a request may come from a reused pid. */
enum source_rank {
	RANK_EXIT,
	RANK_OTHER,
	RANK_COUNT
};

struct source {
	int fd; /* -1: dead, freed at the end of the turn */
	enum source_rank rank;
	void (*fn)(void *data);
	void *data;
	struct source *next;
};

int source_add(struct keeper *k, int fd, uint32_t events, enum source_rank rank,
	       void (*fn)(void *data), void *data, struct source **ret);
void source_again(struct keeper *k, struct source *s, uint32_t events); /* after EPOLLONESHOT */
void source_remove(struct keeper *k, struct source *s);			/* NULL is a no-op */
void sources_bury(struct keeper *k);
