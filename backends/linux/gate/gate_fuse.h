/* gate_fuse - what the kernel asks of the read gate, one handler for each request. */
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
	bool broken; /* unmounted, or the device failed */
};

/* 0 or negative errno: opens the tree and takes the device over. No path: the files that stand in
 * for hidden ones (stand_ins.c). */
int gate_fs_init(struct gate_fs *fs, const struct gate_server *server, const char *path, int fuse)
	MUST_USE;
void gate_fs_done(struct gate_fs *fs);
/* Has the kernel ask anew for every attribute that it believes. Takes no lock of a directory in the
 * kernel, as the notice of a name would: a lookup that waits for this thread may hold it. */
void gate_fs_disbelieve(struct gate_fs *fs);

/* ---- for the handlers ------------------------------------------------------------------------ */

#define READ_MAX (1u << 20) /* of one read, or of a page of a directory */

struct gate_fs *gate_fs_of(fuse_req_t req);
struct gate_node *gate_fs_node(const struct gate_fs *fs, fuse_ino_t ino);
fuse_ino_t gate_fs_number(struct gate_node *node);
/* Returns the mode that the kernel is told: pipes and devices are plain files. The kernel would
 * open them itself wherever their names are, and wait for another end that cannot be. As plain
 * files they come here, are refused, and the audit log knows. */
mode_t gate_fs_mode(mode_t mode);
void gate_fs_show(struct stat *st); /* changes attributes in this way */
/* Returns whether the name does not show. A path to a mount on the gate shows in any case. */
bool gate_fs_hides(const struct gate_server *s, const char *path);

struct gate_open;

/* ---- directories (gate_list.c) --------------------------------------------------------------- */

/* Answers the request with a directory that is open; path is absolute. */
void gate_list_open(const struct gate_open *o, const char *path);
void gate_list_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
		    struct fuse_file_info *file);
void gate_list_read_plus(fuse_req_t req, fuse_ino_t ino, size_t size, off_t at,
			 struct fuse_file_info *file);
void gate_list_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *file);

/* ---- opens that wait for the keeper (gate_held.c) -------------------------------------------- */

/* What an open() or opendir() request has opened, to be handed over or dropped. */
struct gate_open {
	struct gate_fs *fs;
	fuse_req_t req;
	fuse_ino_t ino;
	struct fuse_file_info file;
	int fd;
	bool dir, exec;
	bool withheld; /* hidden: nothing was opened, whatever the keeper says */
	bool special;  /* nothing was opened, and is not: the keeper shall say so */
};
extern const struct fuse_lowlevel_ops stand_in_ops;
void gate_fs_on_init(void *data, struct fuse_conn_info *conn);
/* Returns whether the keeper answers, so that the agent runs soon. Earlier looks are cordon's own.
 */
bool gate_is_armed(void);
/* Asks for path, absolute. Answers the request now or later; takes fd. */
void gate_hold(const struct gate_open *o, const char *path);
/* The inodes that cordon lets the agent change. */
const struct inode_set *gate_changing(void);
/* The keeper said so: 0 hands over. Back in gate_fuse.c. */
void gate_finish(const struct gate_open *o, const char *path, int result);
