/* folder - the one way to change a working folder: policy, then the journal, then the change. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/op.h"
#include "core/policy/answer.h"
#include "core/policy/policy.h"

/*
 * One call here is one request of one process. It asks the policy, finds the caller's step, hands
 * the operation to the journal, reports the first touch, and gives back what the caller gets.
 * Doors resolve names; this knows nothing of system calls. core/keeper owns every folder.
 */
struct folder; /* a working folder, or a directory outside that a human granted */
struct keeper;

struct proc; /* the keeper's record of a process (core/keeper/keeper_priv.h) */

/*
 * Who asks. keeper_caller() fills pid, tid and proc; the door adds the rest. Valid for one
 * call: never kept over a turn of the loop (a parked request asks keeper_caller() again).
 */
struct caller {
	int pid, tid;	   /* host ids */
	mode_t umask;	   /* for doors that perform by themselves; folder_*() know it better */
	struct door *door; /* whose request it is; NULL: the first one's */
	uint64_t request;  /* the door's name for this request, comes back through door_ops.answered
			    */
	bool granted;	   /* the human has just allowed this very request */
	bool may_wait;	   /* -FOLDER_WAITS will do */
	const char *op;	   /* system call name, for events: "unlink" */
	struct proc *proc; /* opaque */
	bool known;	   /* tid is a process that was seen before: not to be taken for another */
};

/*
 * 0, a descriptor, or negative errno for the caller; -FOLDER_HELD: parked, the door keeps the
 * request open until answered().
 */
#define FOLDER_HELD 4096
/*
 * Nothing was done: the door keeps the request, and serves it again from the beginning, not allowed
 * to wait, once keeper_gather_sync() has brought what several of them will record to the disk.
 */
#define FOLDER_WAITS 4097

/* ---- the set of folders ---------------------------------------------------------------------- */

/* The folder that holds this absolute clean path, *below = rest of it; NULL: outside of all. */
struct folder *folders_find(struct keeper *k, const char *path, const char **below);
struct folder *folders_at(struct keeper *k, size_t i); /* NULL past the last */
const char *folder_path(const struct folder *f);       /* absolute */
int folder_fd(const struct folder *f);		       /* our O_PATH directory, borrowed */
int folder_root(const struct folder *f);	       /* for struct at */
uint64_t folder_dir_moves(const struct folder *f);     /* grows when directories are renamed */
int folder_store_fd(const struct folder *f);	       /* its undo store, borrowed */

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
/* May an open descriptor's inode be changed in place without capture (made or kept in this step)?
 */
bool folder_has_inode(struct folder *f, const struct caller *c, const struct stat *st);

/* A request for a place outside every folder. 0: let the floor answer it (CONTINUE); 1: a human
 * allowed it, its directory is a folder now: resolve again; -FOLDER_HELD: asked; other negatives:
 * refuse. path is absolute as the caller sees it. */
int folder_outside(struct keeper *k, const struct caller *c, const char *path);
/*
 * May the caller read (execute, connect to) this object, that no mount grants? path is resolved,
 * absolute and clean; via is the path as the caller wrote it where that differs, else NULL.
 * 0: yes; -EACCES: no; -ENOENT: hidden; -FOLDER_HELD: asked, door_ops.answered() follows with
 * c->request. Headless: no instead of asked.
 */
int folder_read(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path,
		const char *via);
/* After the human allowed it: the directory as a folder of its own (journaled, undoable). */
int folder_grant(struct keeper *k, const char *dir, struct folder **ret);
/* Run fn(arg) where the keeper's own confinement does not reach (see keeper.h). folder_*() on a
 * granted folder do this by themselves. Synchronous; -EPERM where there is no such thread. */
int folder_run_outside(struct keeper *k, int (*fn)(void *arg), void *arg);
