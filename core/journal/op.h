/* op - the operations that change a folder: captured in a step's log, then performed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>
#include <time.h>

#include "core/base/buf.h"

struct object;
struct step;

/*
 * A name in a directory. dirfd is a descriptor of this process (O_PATH or not) from its own
 * writable mount, never one of the agent's. name is one component, with a trailing slash if the
 * caller had one; it may be "." or ".." where the kernel would refuse it anyway. name "" means the
 * object that dirfd itself refers to (metadata operations and truncate); then dir/leaf say where it
 * is.
 */
struct at {
	int root; /* journal_add_root() number, 0 for the folder */
	int dirfd;
	const char *dir; /* path of the directory relative to the root, "" for the root itself */
	const char *name;
	const char *leaf; /* with name "": the object's own name in dir; else NULL */
	/* clock_mono_us() when this call saw that the name did not exist; or 0 */
	int64_t absent_us;
};

/*
 * Every function returns 0 (or a descriptor) or the negative errno that the kernel would have given
 * the caller natively, or -ENOSPC/-EIO/-EDQUOT when the journal could not capture the old state;
 * then nothing has been changed. Symbolic links in the last component are never followed (the
 * caller has resolved them); op_open() adds O_NOFOLLOW itself. The process umask is the caller's:
 * set it first. *touched is set when this was the first change of that path in this step, or
 * renames what the step made (for the audit log).
 */
int op_open(struct step *s, const struct at *at, int flags, mode_t mode, bool *touched);
int op_tmpfile(struct step *s, const struct at *dir, int flags, mode_t mode); /* O_TMPFILE */
int op_mkdir(struct step *s, const struct at *at, mode_t mode, bool *touched);
int op_mknod(struct step *s, const struct at *at, mode_t mode, dev_t dev, bool *touched);
int op_symlink(struct step *s, const char *target, const struct at *at, bool *touched);
/* Links the object at `from` (name "" and dirfd O_PATH for an open file) to `to`, on the same
 * mount. */
int op_link(struct step *s, const struct at *from, const struct at *to, bool *touched);
int op_unlink(struct step *s, const struct at *at, bool *touched);
int op_rmdir(struct step *s, const struct at *at, bool *touched);
int op_rename(struct step *s, const struct at *from, const struct at *to, unsigned flags,
	      bool *touched);
/* Binds an AF_UNIX socket (a duplicate of the caller's) to a name. Its address is the caller's
 * text, at most 108 bytes, if that leads to the name from the directory base; NULL: the bare
 * name. */
int op_bind(struct step *s, int sock, const struct at *at, int base, const char *text,
	    bool *touched);

/* Objects: name "" or a last component that is not followed. */
int op_truncate(struct step *s, const struct at *at, off_t size, bool *touched);
int op_chmod(struct step *s, const struct at *at, mode_t mode, bool *touched);
int op_chown(struct step *s, const struct at *at, uid_t uid, gid_t gid, bool *touched);
int op_utimens(struct step *s, const struct at *at, const struct timespec times[2], bool *touched);
/* Sets mode, owner, times and attributes at once, as attributes_read() encoded them, as far as
 * permissions allow. */
int op_set_attrs(struct step *s, const struct at *at, struct span meta);
int op_setxattr(struct step *s, const struct at *at, const char *name, const void *value,
		size_t size, int flags, bool *touched);
int op_removexattr(struct step *s, const struct at *at, const char *name, bool *touched);

/* Returns whether the step created this inode or already captured its old content and metadata:
 * then changing it through any descriptor needs no further capture. */
bool step_has_inode(const struct step *s, const struct object *o);

/*
 * ---- changes that the agent's process performs (step/op_foreseen.c) ----
 *
 * On macOS the agent changes a folder by itself, once the kernel has our permission. These
 * functions capture the state that such a change is about to destroy, and perform nothing. No event
 * says in time whether the change was performed; if it was not, undoing the record changes nothing.
 * So a file that is about to lose its name is kept as a clone (else a copy), never as a second hard
 * link, because writes through the first name would change that too; undo restores it as a new
 * inode. A rename of a directory cannot be recorded beforehand: see op_note_moved().
 *
 * -ENOENT: the object to be changed does not exist. -EEXIST: an object exists where none may be.
 */
/* The file will be opened for writing with these flags, or truncated (O_TRUNC); with O_CREAT it
 * will be created if it does not exist. */
int op_foresee_open(struct step *s, const struct at *at, int flags, bool *touched);
/* A file of any type, a hard link, or a directory will be created. */
int op_foresee_make(struct step *s, const struct at *at, bool dir, bool *touched);
int op_foresee_remove(struct step *s, const struct at *at, bool *touched);
int op_foresee_rename(struct step *s, const struct at *from, const struct at *to, bool *touched);
int op_foresee_meta(struct step *s, const struct at *at, bool *touched);
/* Note that an object was created or moved: they update the step's inodes and names, and
 * op_note_moved() writes the record of a directory's rename. */
void op_note_made(struct step *s, const struct at *at);
int op_note_moved(struct step *s, const struct at *from, const struct at *to);
