/* refused - summarises the refusals of a run without a user, and proposes rules. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/session/model.h"

/*
 * Life:    zero -> refused_note() after each change of the model -> refused_words() ->
 *          refused_done(); or refused_add() for each row -> refused_rules() -> refused_done().
 * Threads: one owner.
 * Bounds:  REFUSED_MAX trees and REFUSED_PATHS paths of each; places of other trees are only
 *          counted. With `whole`, REFUSED_ALL of both.
 *
 * The proposed rule is for the refused path; for a file that was written, for its directory; for
 * several paths, for the deepest directory that holds them. If that directory would hold a working
 * folder, or is the home folder or a directory of documents in it, the rule names the paths one by
 * one. A path whose name looks random gets no rule.
 */
#define REFUSED_MAX   8
#define REFUSED_PATHS 4
#define REFUSED_ALL   500

struct refused {
	struct refused_tree {
		char *pattern;	  /* covers its places: "~/docs/" and two stars */
		char *why;	  /* for refused writes: the reason; NULL: refused reads */
		bool runs;	  /* programs of it were refused, too */
		const char *host; /* pattern is a host, for this kind of rule: static; else NULL */
		bool exact;	  /* a rule must name the place itself */
		size_t places;
		char **paths; /* the first ones, each once */
		size_t n_paths;
		char *common; /* the deepest directory that holds all paths; NULL: one path */
	} * list;
	size_t n, beyond;
	bool whole;		    /* set by the owner: use REFUSED_ALL */
	const char *home;	    /* of refused_note(); borrowed */
	const char *const *folders; /* the working folders, set by the owner; NULL: none */
	uint64_t seen;		    /* sequence number of the last row looked at */
};

void refused_done(struct refused *r);
/* Counts the model's new rows. home: absolute; patterns have `~/` in its place. */
void refused_note(struct refused *r, const struct model *m, const char *home);
/* Counts one row; r->home must be set. */
void refused_add(struct refused *r, const struct row *row);
/* Appends "allow = ..." lines that would allow all of it. Returns whether there are any. */
bool refused_rules(const struct refused *r, struct buf *out);
/* Appends a line for each tree, then the section of a settings file that would allow all of it;
 * nothing if there was no refusal. */
void refused_words(const struct refused *r, struct buf *out);
