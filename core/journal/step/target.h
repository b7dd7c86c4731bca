/* target - the target of an operation: its path for the record, its name, its object. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/fs/object.h"
#include "core/journal/op.h"
#include "core/journal/step/step.h"

struct where {
	int root;
	int dirfd;
	const char *raw;  /* the name as the caller gave it, for the kernel's verdict */
	const char *bare; /* without trailing slashes; "" is dirfd itself */
	const char *dir;
	char *path; /* relative to the root; NULL: the object has no name any more */
	char *own;  /* memory of bare, when it had to be cut */
	bool plain; /* "." or "..": the kernel refuses; nothing to keep */
	struct obj obj;
};

#define AUTO_WHERE CLEANUP(where_done)
#define WHERE_NONE                                                                                 \
	{                                                                                          \
		.dirfd = -1                                                                        \
	}

void where_done(struct where *w);
void where_set(struct where *w, const struct at *at);
/* The same, and look what is there (obj.mode 0: nothing). */
int where_look(struct where *w, const struct at *at) MUST_USE;
/* Times of the directory that holds it. */
int where_touch_dir(struct step *s, const struct where *w) MUST_USE;
/* A file about to lose its name: keep its content first if somebody may go on writing to it. */
int where_keep_written(struct step *s, const struct where *w) MUST_USE;
void where_report(struct step *s, const struct where *w, const struct obj *before, bool *touched);
/* Made in this step, by this name, and known to no other: its creation is the record. */
bool where_is_own(struct step *s, const struct where *w);
/* The record of an empty directory that is about to go. */
int where_keep_dir(struct step *s, const struct where *w) MUST_USE;
/* from has become to; both: they have changed places. */
void where_moved(struct step *s, const struct where *from, const struct where *to, bool both);
