/* setup - adds the files of `cordon install` to a home, and removes them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Life:     setup_new() -> setup_add_*() -> setup_apply() -> setup_free(). No file is written
 *           before setup_apply().
 * Manifest: <state_dir>/installed.json names each file that was written, with the hash of its
 *           content and, if a file existed before, the backup of that below <state_dir>/backup. The
 *           manifest is written before each file, so an interrupted installation can be removed,
 *           too.
 * Links:    if a settings file is a symbolic link, its target is written.
 * Threads:  one.
 */
struct setup;

enum setup_state {
	SETUP_NEW,    /* the file does not exist and will be made */
	SETUP_MERGE,  /* the file exists: our part is added, the rest stays */
	SETUP_THERE,  /* nothing to do */
	SETUP_REFUSED /* left alone; `why` has the reason */
};

struct setup_item {
	char *path;	   /* absolute */
	const char *what;  /* "hook of Claude Code"; borrowed */
	const char *after; /* the user's next step, or NULL; borrowed */
	enum setup_state state;
	char *why;  /* SETUP_REFUSED */
	char *text; /* the new content; NULL: unchanged */
	mode_t mode;
};

/* Returns 0, or -EBADMSG: the manifest is damaged. */
int setup_new(struct setup **ret, const char *state_dir, struct err *err) MUST_USE;
void setup_free(struct setup *s); /* NULL is a no-op */

/* Adds a file of cordon alone. An existing file with another content is left alone, unless an older
 * cordon wrote it. */
void setup_add_file(struct setup *s, const char *path, const char *what, const char *text);
/* Adds hooks to the JSON settings of an agent: {"hooks": {event: [entry, ...]}}; see hooks.h. The
 * list ends with NULL; the item is named after the first one. */
struct setup_hook;
void setup_add_hooks(struct setup *s, const char *path, const struct setup_hook *const *hooks);

size_t setup_count(const struct setup *s);
const struct setup_item *setup_item(const struct setup *s, size_t i);

/* Writes new and merged files. On failure err names the file; files written before it stay and are
 * in the manifest. */
int setup_apply(struct setup *s, struct err *err) MUST_USE;

/*
 * Removes the files of the manifest. A file that was changed since keeps the changes: our hook is
 * removed from it, or it is left alone. Calls told(data, path, words) for each. Returns -ENOENT if
 * nothing is installed. dry: only reports.
 */
int setup_remove(const char *state_dir, bool dry,
		 void (*told)(void *data, const char *path, const char *words), void *data,
		 struct err *err) MUST_USE;
