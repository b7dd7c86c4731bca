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
 * The proposed rule is for the refused path; for a written file, for its directory; for several
 * paths, for the deepest directory that contains them. If that directory contains a working folder,
 * or is the home folder or a directory of documents in it, the rule names each path. A path whose
 * name looks random gets no rule.
 */
#define REFUSED_MAX   8
#define REFUSED_PATHS 4
#define REFUSED_ALL   500

struct refused {
	struct refused_tree {
		char *pattern;	  /* covers its places: "~/docs/" and two stars */
		char *why;	  /* reason of refused writes; NULL: refused reads */
		bool runs;	  /* programs in it were refused as well */
		const char *host; /* kind of rule, if pattern is a host: static; else NULL */
		bool exact;	  /* a rule must name the path itself */
		size_t places;
		char **paths; /* the first ones, without duplicates */
		size_t n_paths;
		char *common; /* deepest directory above all paths; NULL: one path */
	} * list;
	size_t n, beyond;
	bool whole;		    /* set by the owner: use REFUSED_ALL */
	const char *home;	    /* set by refused_note(); borrowed */
	const char *const *folders; /* the working folders, set by the owner; NULL: none */
	uint64_t seen;		    /* sequence number of the last counted row */
};

void refused_done(struct refused *r);
/* Counts the model's new rows. home: absolute; patterns have `~/` in its place. */
void refused_note(struct refused *r, const struct model *m, const char *home);
/* Counts one row; r->home must be set. */
void refused_add(struct refused *r, const struct row *row);
/* Appends "allow = ..." lines for all refusals. Returns whether there are any. */
bool refused_rules(const struct refused *r, struct buf *out);
/* Appends a line for each tree, and the section of a settings file that would allow all of them;
 * nothing if there was no refusal. */
void refused_words(const struct refused *r, struct buf *out);
