/* fs_server - serves host folders to the guest: starts, stops and watches the serving process. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "core/base/err.h"

/*
 * Theory of operation.
 *
 *   guest -- virtio queues in shared memory --> fs server --- questions ---> keeper
 *     (FUSE messages)                           reads by itself  <- answers, descriptors
 *
 * The fs server is a child of the keeper, confined by Landlock (no writes) and by a list of system
 * calls. It parses the guest's requests, and serves names, attributes and content by itself. Each
 * change, and each open for writing, goes to the keeper as one message with a directory, a name in
 * it and their inodes. The keeper resolves the directory again beneath its own descriptor of the
 * folder, compares the inodes, and calls folder_*(): policy, approvals, undo, safeguards and audit
 * are those of every other backend. It answers with a result and, for an open, a descriptor,
 * through which the server reads and writes natively.
 *
 * A request that the keeper holds for the user's answer is only an entry in two tables: others go
 * on. When QEMU stops a queue, waiting requests stay; their replies go out when the same queue
 * runs again, and are dropped after a reset.
 *
 * Death: the server ends with the keeper (parent-death signal), and when QEMU closes a socket.
 * QEMU cannot reconnect: the backend ends the guest when the server has ended.
 */
struct door;
struct fs_server;
struct keeper;
struct spawn_spec;

enum fs_kind {
	FS_ROOT,      /* the host's tree, read-only, as far as the policy allows reads */
	FS_FOLDER,    /* a working folder: changes go through the keeper */
	FS_READ_ONLY, /* a tree that is never written */
};

#define FS_SHARES_MAX 16

struct fs_share {
	const char *tag;  /* the guest mounts it by this name */
	const char *path; /* absolute, resolved */
	enum fs_kind kind;
};

/*
 * Forks the server. shares and spec are borrowed until this returns; the keeper's policy and
 * folders exist already. ret_socks gets n sockets for the front end; the caller closes them once
 * QEMU has them. The keeper closes *ret_door. Called before the keeper confines itself.
 */
int fs_server_start(struct fs_server **ret, struct door **ret_door, struct keeper *k,
		    const struct spawn_spec *spec, const struct fs_share *shares, size_t n,
		    int *ret_socks, struct err *err) MUST_USE;
/* Sets the host process that represents all processes of the guest: changes are of its steps. */
void fs_server_set_caller(struct fs_server *s, pid_t caller);
/* Sets functions that find the process of each guest thread; without them all changes are the
 * caller's. Both outlive the server. */
struct fs_callers;
void fs_server_set_callers(struct fs_server *s, const struct fs_callers *callers, void *data);
/* Continues the requests of this guest thread, whose process is known now. */
void fs_server_known(struct fs_server *s, int tid);
/* Ends and reaps the process, frees s. Before or after the door is closed. NULL is a no-op. */
void fs_server_stop(struct fs_server *s);
int fs_server_pidfd(const struct fs_server *s); /* borrowed; readable once the process has ended */
