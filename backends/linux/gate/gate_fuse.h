/* gate_fuse - the handlers for the kernel's requests to the read gate. */
/* SPDX-License-Identifier: MIT */
#pragma once

#define FUSE_USE_VERSION 312
#include <fuse_lowlevel.h>

#include "backends/linux/gate/gate_nodes.h"
#include "backends/linux/gate/gate_priv.h"

/* A file system: one gated tree. Threads: one, all handlers run in the server's loop. */
struct gate_fs {
	const struct gate_server *server;
	struct gate_tree tree;
	struct fuse_session *session;
	bool broken; /* unmounted, or an error of the device */
};

/* Opens the tree and takes the device. Without a path: the file system of stand-ins for hidden
 * files (stand_ins.c). Returns 0 or negative errno. */
int gate_fs_init(struct gate_fs *fs, const struct gate_server *server, const char *path, int fuse)
	MUST_USE;
void gate_fs_done(struct gate_fs *fs);
/* Makes the kernel request all cached attributes again. Does not take the kernel's lock of a
 * directory, as an invalidation of a name would: a lookup that waits for this thread may hold
 * it. */
void gate_fs_disbelieve(struct gate_fs *fs);

/* ---- opens that wait for the keeper (gate_held.c) -------------------------------------------- */

/* An object that an open() or opendir() request has opened, to hand over or drop. */
struct gate_open {
	struct gate_fs *fs;
	fuse_req_t req;
	fuse_ino_t ino;
	struct fuse_file_info file;
	int fd;
	bool dir, exec;
	bool withheld; /* hidden: not opened, whatever the answer */
	bool special;  /* neither opened nor allowed; the keeper reports it */
};
extern const struct fuse_lowlevel_ops stand_in_ops;
void gate_fs_on_init(void *data, struct fuse_conn_info *conn);
/* Returns whether the keeper answers. Earlier requests are cordon's own; the agent starts soon
 * after. */
bool gate_is_armed(void);
/* Asks the keeper about path, which is absolute. Answers the request now or later; takes fd. */
void gate_hold(const struct gate_open *o, const char *path);
/* Returns the inodes that cordon lets the agent change. */
const struct inode_set *gate_changing(void);
/* Answers the request with the keeper's result: 0 hands the object over. In gate_fuse.c. */
void gate_finish(const struct gate_open *o, const char *path, int result);
