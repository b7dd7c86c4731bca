/* setup - the files that `cordon install` adds to a home, and how they are taken away again. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Life:     setup_new() -> setup_add_*() -> setup_apply() -> setup_free(). Nothing is written
 * before setup_apply(). Manifest: <state_dir>/installed.json names each file that was written, with
 * the hash of what was written and, where a file was there before, a copy of it below
 * <state_dir>/backup. It is written before each file: what died in between is taken away like the
 * rest. Links:    a settings file that is a symbolic link is written where it leads. Threads:  one.
 */
struct setup;

enum setup_state {
	SETUP_NEW,    /* the file is not there: it will be */
	SETUP_MERGE,  /* the file is there: our part is added, the rest stays */
	SETUP_THERE,  /* nothing to do */
	SETUP_REFUSED /* left alone; why says the reason */
};

struct setup_item {
	char *path;	   /* absolute */
	const char *what;  /* "hook of Claude Code"; borrowed */
	const char *after; /* what the user does then, or NULL; borrowed */
	enum setup_state state;
	char *why;  /* SETUP_REFUSED */
	char *text; /* what will be written; NULL: nothing */
	mode_t mode;
};

/* -EBADMSG: the manifest is damaged. */
int setup_new(struct setup **ret, const char *state_dir, struct err *err) MUST_USE;
void setup_free(struct setup *s); /* NULL is a no-op */

/* A file of its own. One that is there and differs is left alone, unless an older cordon wrote it.
 */
void setup_add_file(struct setup *s, const char *path, const char *what, const char *text);
/* Hooks in an agent's JSON settings: {"hooks": {event: [entry, ...]}}; see hooks.h. The list ends
 * with NULL; the first one names the whole. */
struct setup_hook;
void setup_add_hooks(struct setup *s, const char *path, const struct setup_hook *const *hooks);

size_t setup_count(const struct setup *s);
const struct setup_item *setup_item(const struct setup *s, size_t i);

/* Writes what is new or merged. On failure err names the file; what was written before it stays and
 * is in the manifest. */
int setup_apply(struct setup *s, struct err *err) MUST_USE;

/*
 * Takes away what the manifest names. A file that was changed since keeps the changes: our hook is
 * taken out of it, or it is left alone. told(data, path, words) for each. -ENOENT: nothing is
 * installed. dry: only tell.
 */
int setup_remove(const char *state_dir, bool dry,
		 void (*told)(void *data, const char *path, const char *words), void *data,
		 struct err *err) MUST_USE;
