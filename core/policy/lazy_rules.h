/* lazy_rules - rules that no path has come near yet: they are in no index. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/policy/pattern.h"

/*
 * Ten thousand rules are read at every start, and hardly any of them is asked about. So those that
 * begin alike and name nothing that is there wait on a shelf, with the text that all of them begin
 * with: a path that begins otherwise matches none. The first one that does has the whole shelf put
 * into the index.
 *
 * Life: zero-initialised; shelves_done().
 */
#define SHELVES	  16
#define SHELF_FEW 64 /* less than that is not worth one */

/* What patterns begin with: names, and maybe a double asterisk behind them. What was written has a
 * `/` behind the first `skip` bytes; the rest of it follows `dir`. */
struct shelf_stem {
	struct buf dir;
	size_t skip;
	bool deep;
};

struct shelf {
	struct buf dir; /* of the stem */
	size_t skip;
	struct buf base;     /* each path that one of them matches begins with it; */
	struct buf inner;    /* deep: and has this behind it; else empty */
	uint32_t first, end; /* rules that wait are among these; */
	uint32_t n;	     /* so many. 0: nothing waits any more */
	unsigned kinds;	     /* of all of them */
	uint64_t weight;     /* their sum, as for index_add() */
};

struct shelves {
	struct shelf list[SHELVES];
	size_t n;
};

void shelves_done(struct shelves *s);
/* The last one, when it has so few rules that another will take its place; or NULL. */
struct shelf *shelves_few(struct shelves *s);
/* For rules of this stem from now on. False: there is no room. */
bool shelves_open(struct shelves *s, const struct shelf_stem *stem) MUST_USE;
/* On the one that was opened last. Numbers grow. rest: behind the stem; so much of it is plain. */
void shelves_add(struct shelves *s, uint32_t number, const char *rest, size_t plain);
/* Where this rule waits; it does. */
struct shelf *shelves_of(struct shelves *s, uint32_t number);
/* May one of them be about this path? */
bool shelf_is_near(const struct shelf *s, const char *path);
/* Does each of them name something strictly beneath this directory? */
bool shelf_is_beneath(const struct shelf *s, const char *dir);
void shelf_clear(struct shelf *s); /* nothing waits there any more */
