/* history - the steps of a journal: what each changed, and the files of before and after. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"
#include "core/journal/steps.h"

struct step_info {
	int64_t id;
	enum step_kind kind;
	int64_t began_us, ended_us; /* wall clock */
	int exit_status;	    /* wait(2)-decoded: code, or 128+signal */
	bool incomplete;	    /* a change could not be captured; `why` says which */
	/* It changed granted places only, nothing in a working folder. */
	bool elsewhere;
	bool granted; /* one of these by the user's own rule or answer, or by the agent's edit tool
		       */
	/* From this path on, no change was captured; NULL: all were. */
	char *unprotected;
	size_t created, modified, deleted, renamed;
	char *command;
	char *why;	/* NULL unless incomplete */
	char **folders; /* the folders that it changed, NULL-terminated; NULL: this one alone */
};

/*
 * Returns whether the step only holds an agent's own files: its transcript, caches, or snapshots of
 * the folder. Such a step changed granted places only, and no command of the agent's task made it.
 * elsewhere: and none of them is `granted`. changed: number of files.
 */
bool step_is_note(enum step_kind kind, bool elsewhere, size_t changed, const char *command);

/* Returns whether the step is the user's own, by a command or a shell beside the agent. A
 * rollback that includes it stops, as at an external edit; UNDO_KEEP_MINE and UNDO_MERGE do not
 * settle that. */
#define YOURS_MARK "you: " /* begins the command of each such step, and of no other */
bool step_is_yours(const char *command);
/* Returns whether the step is the user's `undo --step`, or a piece that the review took back. No
 * step of an agent is of this kind and has such a name. */
bool step_is_restore(enum step_kind kind, const char *command);
/* Returns the name of a step without the agent's, with which that of an ambient step begins. */
const char *step_deed(enum step_kind kind, const char *command);

/* Lists the steps of all folders of the session, newest first; a step that changed several folders
 * comes once. undone: lists the steps in the redo stack instead. */
int journal_list(struct journal *j, bool undone, struct step_info **ret, size_t *ret_n,
		 struct err *err) MUST_USE;
/* Lists the numbers of these steps, newest first, each once. Reads names alone, no step. */
int journal_ids(struct journal *j, bool undone, int64_t **ret, size_t *ret_n, struct err *err)
	MUST_USE;
/* Loads a kept step as journal_list() does. -ENOENT: there is no such step, or no longer. */
int journal_info(struct journal *j, int64_t id, struct step_info *ret, struct err *err) MUST_USE;
void step_info_done(struct step_info *s);
/* Finds the newest kept step of all folders of the session; 0: none. Reads names alone, no step. */
int journal_newest(struct journal *j, int64_t *ret) MUST_USE;
bool step_info_has(const struct step_info *list, size_t n, int64_t id);
void step_info_free(struct step_info *list, size_t n);
/*
 * Returns the folders of this listed step in which it is undone although it is kept in another one
 * (undone: in which it is kept), or NULL if there is none. A crash leaves such a step, and an undo
 * with UNDO_FORCE. Heap array that ends with NULL; the names are i's.
 */
const char **journal_split(const struct journal *j, const struct step_info *i, bool undone);
/* Says that no kept step has this number: it is undone in a folder of j's session (NULL: in none),
 * or unknown; other: there is one with the other sign, which is named. Returns -ENOENT. */
int step_unknown(struct journal *j, int64_t id, bool other, struct err *err);

/* Lists the steps of j's own store that a process had open when it died, newest first. The next
 * start rolls them back. Empty while a session runs. */
int journal_interrupted(struct journal *j, struct step_info **ret, size_t *ret_n, struct err *err)
	MUST_USE;

/* Lists the steps of j's own store that still run or were interrupted, newest first. */
int journal_open_steps(struct journal *j, struct step_info **ret, size_t *ret_n, struct err *err)
	MUST_USE;

/* Sets touched[i] for each step list[i] (from journal_list()) that touched one of these paths of
 * the folder, or a path below one. Follows renames back from the newest step. */
int journal_touched(struct journal *j, const struct step_info *list, size_t n,
		    const char *const *paths, size_t n_paths, bool *touched, struct err *err)
	MUST_USE;

/* The net effect of one step on one path. */
enum change_kind {
	CHANGE_CREATED,
	CHANGE_MODIFIED, /* content, or type, or metadata alone */
	CHANGE_DELETED,
	CHANGE_RENAMED, /* and perhaps modified */
};

struct change_side {
	bool exists;
	mode_t mode; /* type and all 12 bits */
	uid_t uid;
	gid_t gid;
	uint64_t size, ino;
	int64_t mtime_ns;
};

struct change {
	enum change_kind kind;
	struct journal *in; /* the folder's, one of the session's */
	/* absolute path of the root that the path belongs to; NULL: j's folder */
	char *base;
	int root;
	char *path;	/* relative to the root, raw bytes */
	char *old_path; /* CHANGE_RENAMED, else NULL */
	struct change_side before, after;
	bool linked; /* the file had other hard links: it may have been changed through them */
};

/* Returns whether changes of a kept or undone step are missing, in any of its folders. */
bool journal_is_incomplete(struct journal *j, int64_t id);
int journal_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err) MUST_USE;
void change_free(struct change *list, size_t n);

/*
 * Opens the content at a change's path before (after = false) or after the step: from the step
 * itself, from the next later step that touched the path, or from the folder. A symbolic link gives
 * its target. *ret_fd: a readable descriptor at offset 0, owned by the caller. Returns 0, or
 * -ESTALE if the content after the step no longer exists, because of an external edit.
 */
int journal_content(struct journal *j, int64_t id, const struct change *c, bool after, int *ret_fd,
		    struct err *err) MUST_USE;

/*
 * Reads the current state of a path, relative to j's folder or absolute in a folder of the session.
 * Follows no link. *ret_fd: as above, or -1 if the object has no bytes.
 */
int journal_present(struct journal *j, const char *path, struct change_side *ret, int *ret_fd,
		    struct err *err) MUST_USE;
