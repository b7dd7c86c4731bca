/* op - the operations that change a folder: captured in a step's log, then performed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "core/base/buf.h"

struct obj;
struct step;

/*
 * A name in a directory. dirfd is a descriptor of ours (O_PATH or not) from our own writable mount,
 * never one of the agent's. name is one component, with a trailing slash if the caller had one; it
 * may be "." or ".." where the kernel would refuse it anyway. name "" means the object that dirfd
 * itself refers to (metadata operations and truncate); then dir/leaf say where it is.
 */
struct at {
	int root;	   /* journal_add_root() number, 0 for the folder */
	int dirfd;	   /* */
	const char *dir;   /* path of the directory relative to the root, "" for the root itself */
	const char *name;  /* */
	const char *leaf;  /* with name "": the object's own name in dir; else NULL */
	int64_t absent_us; /* clock_mono_us() when this call saw that nothing has the name; or 0 */
};

/*
 * Every function returns 0 (or a descriptor) or the negative errno that the kernel would have given
 * the caller natively, or -ENOSPC/-EIO/-EDQUOT when the journal could not keep what was there; then
 * nothing has been changed. Symbolic links in the last component are never followed (the caller has
 * resolved them); op_open() adds O_NOFOLLOW itself. The process umask is the caller's: set it
 * first. *touched is set when this was the first change of that path in this step (for the audit
 * log).
 */
int op_open(struct step *s, const struct at *at, int flags, mode_t mode, bool *touched);
int op_tmpfile(struct step *s, const struct at *dir, int flags, mode_t mode); /* O_TMPFILE */
int op_mkdir(struct step *s, const struct at *at, mode_t mode, bool *touched);
int op_mknod(struct step *s, const struct at *at, mode_t mode, dev_t dev, bool *touched);
int op_symlink(struct step *s, const char *target, const struct at *at, bool *touched);
/* Link the object at `from` (name "" and dirfd O_PATH for an open file); both on one mount. */
int op_link(struct step *s, const struct at *from, const struct at *to, bool *touched);
int op_unlink(struct step *s, const struct at *at, bool *touched);
int op_rmdir(struct step *s, const struct at *at, bool *touched);
int op_rename(struct step *s, const struct at *from, const struct at *to, unsigned flags,
	      bool *touched);
/* Bind an AF_UNIX socket of the caller's (our duplicate) to a name. Its address is the caller's
 * text, at most 108 bytes, if that leads there from the directory base; NULL: the bare name. */
int op_bind(struct step *s, int sock, const struct at *at, int base, const char *text,
	    bool *touched);

/* Objects: name "" or a last component that is not followed. */
int op_truncate(struct step *s, const struct at *at, off_t size, bool *touched);
int op_chmod(struct step *s, const struct at *at, mode_t mode, bool *touched);
int op_chown(struct step *s, const struct at *at, uid_t uid, gid_t gid, bool *touched);
int op_utimens(struct step *s, const struct at *at, const struct timespec times[2], bool *touched);
/* Mode, owner, times and attributes at once, as meta_read() found them and as far as we may. */
int op_set_attrs(struct step *s, const struct at *at, struct span meta);
int op_setxattr(struct step *s, const struct at *at, const char *name, const void *value,
		size_t size, int flags, bool *touched);
int op_removexattr(struct step *s, const struct at *at, const char *name, bool *touched);

/* True when this inode was made in this step, or its old content and metadata are already kept:
 * changing it through any descriptor needs no further capture. */
bool step_has_inode(const struct step *s, const struct obj *o);

/*
 * ---- changes that somebody else performs (step/op_foreseen.c) ----
 *
 * On macOS the agent changes a folder by itself, once the kernel has our leave. These capture what
 * such a change is about to lose, and perform nothing. Whether it is performed nobody tells in
 * time: what they record undoes nothing then. So a file that loses its name is kept as a clone
 * (else a copy), never as a second name, which what goes on under the first would change; undo
 * brings it back as a new inode. Of a directory that is renamed nothing can be recorded before:
 * op_note_moved().
 *
 * -ENOENT: nothing is there to be changed. -EEXIST: there is something where nothing may be.
 */
/* To be opened for writing, with these flags, or cut (O_TRUNC); made if there is none, with
 * O_CREAT. */
int op_foresee_open(struct step *s, const struct at *at, int flags, bool *touched);
/* A file of any type, a link to one, or a directory is to be made. */
int op_foresee_make(struct step *s, const struct at *at, bool dir, bool *touched);
int op_foresee_remove(struct step *s, const struct at *at, bool *touched);
int op_foresee_rename(struct step *s, const struct at *from, const struct at *to, bool *touched);
int op_foresee_meta(struct step *s, const struct at *at, bool *touched);
/* It has been made, or moved: what the step knows of inodes and names; a directory's record. */
void op_note_made(struct step *s, const struct at *at);
int op_note_moved(struct step *s, const struct at *from, const struct at *to);
