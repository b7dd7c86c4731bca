/* folder - the one way to change a working folder: policy, then the journal, then the change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/keeper/caller.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/outside.h"
#include "core/policy/answer.h"
#include "core/policy/policy.h"

/*
 * One call here is one request of one process. It asks the policy, finds the caller's step, passes
 * the operation to the journal, reports the first touch, and returns the caller's result. Doors
 * resolve names; this code knows nothing of system calls. core/keeper owns every folder.
 */

/* ---- operations, named as the system calls; see core/journal/op.h for struct at -------------- */

int folder_open(struct folder *f, const struct caller *c, const struct at *at, int flags,
		mode_t mode);
int folder_tmpfile(struct folder *f, const struct caller *c, const struct at *dir, int flags,
		   mode_t mode);
int folder_mkdir(struct folder *f, const struct caller *c, const struct at *at, mode_t mode);
int folder_mknod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode,
		 dev_t dev);
int folder_symlink(struct folder *f, const struct caller *c, const char *target,
		   const struct at *at);
int folder_link(struct folder *f, const struct caller *c, const struct at *from,
		const struct at *to);
int folder_unlink(struct folder *f, const struct caller *c, const struct at *at);
int folder_rmdir(struct folder *f, const struct caller *c, const struct at *at);
int folder_rename(struct folder *f, const struct caller *c, const struct at *from,
		  const struct at *to, unsigned flags);
int folder_bind(struct folder *f, const struct caller *c, int sock, const struct at *at, int base,
		const char *text);
int folder_truncate(struct folder *f, const struct caller *c, const struct at *at, off_t size);
int folder_chmod(struct folder *f, const struct caller *c, const struct at *at, mode_t mode);
int folder_chown(struct folder *f, const struct caller *c, const struct at *at, uid_t uid,
		 gid_t gid);
int folder_utimens(struct folder *f, const struct caller *c, const struct at *at,
		   const struct timespec times[2]);
int folder_setxattr(struct folder *f, const struct caller *c, const struct at *at, const char *name,
		    const void *value, size_t size, int flags);
int folder_removexattr(struct folder *f, const struct caller *c, const struct at *at,
		       const char *name);
/* Returns whether the inode may be changed through an open descriptor without capture: it was made
 * or kept in this step. */
bool folder_has_inode(struct folder *f, const struct caller *c, const struct object *o);

/*
 * ---- macOS: the kernel performs the call itself once cordon allows it (core/journal/op.h) ----
 *
 * These calls judge, ask and capture like the operation of that name, and perform nothing. They
 * return 0 if the kernel may perform it.
 */
int folder_foresee_open(struct folder *f, const struct caller *c, const struct at *at, int flags);
int folder_foresee_make(struct folder *f, const struct caller *c, const struct at *at, bool dir);
/* The target is unknown. */
int folder_foresee_symlink(struct folder *f, const struct caller *c, const struct at *at);
int folder_foresee_link(struct folder *f, const struct caller *c, const struct at *from,
			const struct at *to);
int folder_foresee_remove(struct folder *f, const struct caller *c, const struct at *at);
/* A file from elsewhere replaces this one: judged as a write, captured as a removal. */
int folder_foresee_replace(struct folder *f, const struct caller *c, const struct at *at);
/* If the second name exists, the call may be an exchange (RENAME_SWAP), which the kernel does not
 * report: it is judged in both directions. */
int folder_foresee_rename(struct folder *f, const struct caller *c, const struct at *from,
			  const struct at *to);
int folder_foresee_meta(struct folder *f, const struct caller *c, const struct at *at);
/* Notes that the kernel has performed the operation. */
void folder_note_made(struct folder *f, const struct caller *c, const struct at *at);
void folder_note_moved(struct folder *f, const struct caller *c, const struct at *from,
		       const struct at *to);
