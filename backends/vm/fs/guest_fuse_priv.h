/* guest_fuse_priv - state of FUSE requests, for the files of the codec. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <linux/fuse.h>

#include "backends/vm/fs/guest_fuse.h"

#define FUSE_BODY_MAX  (FS_VALUE_MAX + 4 * PATH_MAX)
#define FUSE_WRITE_MAX (1 << 20)
#define FUSE_PIECES    1024 /* per READ or WRITE: IOV_MAX */

/* How long the guest caches names and attributes; an open notices changes at once
 * (fs_was_edited()). */
#define FUSE_VALID_S 1

/* A request that waits for the keeper: a copy of the members that its answer needs. */
struct fuse_wait {
	struct fuse_wait *prev, *next;
	struct fuse_session *s;
	struct fuse_io *io;
	uint64_t unique, ask;
	uint32_t opcode, flags;
	struct fs_node *node; /* pinned */
	char *from, *to;      /* of a rename, relative to the root; NULL */
	char name[NAME_MAX + 1];
};

struct fuse_session {
	struct fs_tree *tree;
	bool ready; /* INIT was received */
	struct fuse_wait *waits;
	size_t n_waits;
	_Alignas(8) char body[FUSE_BODY_MAX + 1];
};

/* A request during guest_fuse_serve(). */
struct fuse_req {
	struct fuse_session *s;
	struct fs_tree *tree;
	struct fuse_io *io;
	struct fuse_in_header h;
	struct fs_node *node; /* of h.nodeid; NULL if the opcode needs none */
	const void *arg;      /* the fixed part of the body */
	const char *name[2];
	const char *rest; /* bytes after arg and names */
	size_t rest_len;
};

/* ---- guest_fuse.c: answers. Each ends the request. ---- */
void guest_fuse_reply_err(struct fuse_req *r, int error); /* 0 or negative errno */
void guest_fuse_reply(struct fuse_req *r, const void *data, size_t len);
void guest_fuse_reply_entry(struct fuse_req *r, struct fs_node *n, const struct stat *st);
void guest_fuse_reply_attr(struct fuse_req *r, const struct stat *st);
/* The same for a request that waited. */
void guest_fuse_answer(struct fuse_io *io, uint64_t unique, int error, const void *data,
		       size_t len);
void guest_fuse_fill_entry(struct fs_tree *t, struct fuse_entry_out *e, const struct fs_node *n,
			   const struct stat *st);
void guest_fuse_fill_attr(struct fs_tree *t, struct fuse_attr *a, const struct stat *st);
/* Returns the handle, if it is of that kind and of the request's node. Else answers EBADF and
 * returns NULL. */
struct fs_handle *guest_fuse_handle(struct fuse_req *r, uint64_t fh, bool dir);

/* Returns the flags for the answer to an open for reading: the guest keeps its cached content if
 * the file has not changed. */
static inline uint32_t guest_fuse_open_flags(const struct fs_node *n)
{
	return n->unchanged ? FOPEN_KEEP_CACHE : 0;
}

/* ---- guest_fuse_wait.c: questions to the keeper ---- */
/* Sends the note to the keeper; the caller has filled in spots and values. If it cannot be sent,
 * answers the request with an error. */
void guest_fuse_ask(struct fuse_req *r, struct fs_node *node, const struct fs_note_parts *p,
		    uint32_t flags);

/* ---- guest_fuse_read.c, guest_fuse_change.c: one function for each message ---- */
typedef void (*guest_fuse_handler)(struct fuse_req *r);
void guest_fuse_lookup(struct fuse_req *r);
void guest_fuse_getattr(struct fuse_req *r);
void guest_fuse_readlink(struct fuse_req *r);
void guest_fuse_statfs(struct fuse_req *r);
void guest_fuse_open_native(struct fuse_req *r);
void guest_fuse_opendir(struct fuse_req *r);
void guest_fuse_readdir(struct fuse_req *r);
void guest_fuse_readdirplus(struct fuse_req *r);
void guest_fuse_release(struct fuse_req *r);
void guest_fuse_releasedir(struct fuse_req *r);
void guest_fuse_read(struct fuse_req *r);
void guest_fuse_write(struct fuse_req *r);
void guest_fuse_fsync(struct fuse_req *r);
void guest_fuse_fsyncdir(struct fuse_req *r);
void guest_fuse_lseek(struct fuse_req *r);
void guest_fuse_fallocate(struct fuse_req *r);
void guest_fuse_copy_range(struct fuse_req *r);
void guest_fuse_getxattr(struct fuse_req *r);
void guest_fuse_listxattr(struct fuse_req *r);

void guest_fuse_open(struct fuse_req *r);
void guest_fuse_create(struct fuse_req *r);
void guest_fuse_mknod(struct fuse_req *r);
void guest_fuse_mkdir(struct fuse_req *r);
void guest_fuse_symlink(struct fuse_req *r);
void guest_fuse_link(struct fuse_req *r);
void guest_fuse_unlink(struct fuse_req *r);
void guest_fuse_rmdir(struct fuse_req *r);
void guest_fuse_rename(struct fuse_req *r);
void guest_fuse_rename2(struct fuse_req *r);
void guest_fuse_setattr(struct fuse_req *r);
void guest_fuse_setxattr(struct fuse_req *r);
void guest_fuse_removexattr(struct fuse_req *r);
