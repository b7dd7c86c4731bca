/* guest_fuse - serves the guest's FUSE messages from a share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/uio.h>

#include "backends/vm/fs/fs_tree.h"

/*
 * The codec of one mount, without a transport and without libfuse. The guest is hostile: sizes,
 * names and counts are checked before use (the table in guest_fuse.c), nodes and handles are table
 * numbers. Bytes of a request are copied first, so that the guest cannot change them later; only
 * the content of READ and WRITE goes between guest memory and file directly.
 *
 * Life: guest_fuse_new() -> guest_fuse_serve()... -> guest_fuse_free(). INIT begins anew.
 */
struct fuse_session;

/*
 * One request. The transport owns it until reply(), which is called by guest_fuse_serve() or later
 * by the loop. in and out are valid during guest_fuse_serve() only.
 */
struct fuse_io {
	const struct iovec *in, *out;
	size_t n_in, n_out;
	size_t in_len, out_len;
	/*
	 * Sends the answer: len bytes of data, followed by `direct` bytes that are in out already.
	 * len 0: the request has no answer. Frees io.
	 */
	void (*reply)(struct fuse_io *io, const void *data, size_t len, size_t direct);
};

struct fuse_session *guest_fuse_new(struct fs_tree *tree); /* borrowed */
void guest_fuse_serve(struct fuse_session *s, struct fuse_io *io);
/* Cancels the requests that the keeper has not answered, without a reply. */
void guest_fuse_cancel(struct fuse_session *s);
/* Also forgets the guest's nodes and handles, after a reset of the guest. */
void guest_fuse_reset(struct fuse_session *s);
void guest_fuse_free(struct fuse_session *s); /* as guest_fuse_reset(); NULL is a no-op */
/* Returns the number of requests that the keeper has not answered. */
size_t guest_fuse_waiting(const struct fuse_session *s);

/* ---- pieces of scattered memory -------------------------------------------------------------- */

/* Copy up to len bytes at offset `at`, less at the end of the pieces. Return the number of
 * bytes. */
size_t iov_read(const struct iovec *v, size_t n, size_t at, void *to, size_t len);
size_t iov_write(const struct iovec *v, size_t n, size_t at, const void *from, size_t len);
/* Finds the pieces of at most len bytes at offset `at`, at most max pieces. Returns their
 * number. */
size_t iov_slice(const struct iovec *v, size_t n, size_t at, size_t len, struct iovec *ret,
		 size_t max);
