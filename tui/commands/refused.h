/* refused - what a run without a human was not let read, run or write, told once a tree, with the
 * remedy. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/session/model.h"

/*
 * Life:    zero -> refused_note() whenever the model changed -> refused_words() -> refused_done().
 * Threads: one owner.
 * Bounds:  REFUSED_MAX trees; the places of others are only counted.
 */
#define REFUSED_MAX 8

struct refused {
	struct refused_tree {
		char *pattern;	  /* "~/docs/" and two stars: what a rule would say */
		char *why;	  /* of what was not written; NULL: of what was not read */
		bool runs;	  /* programs of it too */
		const char *host; /* pattern is a host, for this kind of rule: static; else NULL */
		size_t places;
	} list[REFUSED_MAX];
	size_t n, beyond;
	uint64_t seen; /* sequence number of the last row looked at */
};

void refused_done(struct refused *r);
/* home: absolute; patterns say `~/` for it. Counts the model's new rows. */
void refused_note(struct refused *r, const struct model *m, const char *home);
/* A line for each tree, then the section of a settings file that would allow it all; nothing when
 * nothing was refused. */
void refused_words(const struct refused *r, struct buf *out);
