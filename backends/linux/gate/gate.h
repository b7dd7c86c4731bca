/* gate - the read gate: a FUSE file system over the trees whose reads the user decides on. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/plan.h"
#include "core/keeper/door.h"

/*
 * Theory of operation.
 *
 *   keeper --+-- mounter   in the sandbox's user namespace and a copy of the host's mounts
 *            +-- server    in the host's mounts, Landlock, no capability, a short list of system
 *                        calls (gate_filter.c): reads the host's trees
 *
 * Every gated tree is covered by a read-only FUSE mount. Names and attributes show through it: the
 * server looks them up beneath a descriptor of the tree, by a path without links. For a request
 * that leads to content (open, opendir, the open of an exec) the server opens the object first. If
 * its copy of the keeper's rules (struct gate_page) allows the path, it hands the object over. Else
 * it asks the keeper with the path, and answers the kernel after the keeper's decision: it hands
 * over the object that it opened before the question. The server handles other requests meanwhile.
 * A hidden path is not found. One thread: an open costs two context switches and a walk, and more
 * threads would share a lock.
 *
 * The kernel caches names for a second, and attributes too, except those of files that the agent
 * may change (gate_nodes.h): there stat(2) always shows the last write. If a file has changed
 * before an open, the kernel asks for its attributes anew, so that no read stops at an old size. It
 * uses no cached page of an earlier open.
 *
 * A named pipe or device shows as a plain file without content, because the kernel would open it by
 * itself, and wait. Its open is refused. A socket shows as a socket: the kernel does not open one.
 *
 * The mounter makes the mounts because FUSE requests carry process ids of the mounting process's
 * pid namespace: ids of the sandbox's pid namespace would be useless to the keeper. Later the
 * mounter binds each tree that the user grants over the gate; reads there are native from then on.
 * A tree is bound only if no path beneath it is hidden, a mount or under another rule. Else the
 * gate keeps asking the policy for each open in the tree, and the policy allows it.
 *
 * A hidden file or directory of a working folder is covered by an empty, unreadable one, because
 * the folder must stay the live directory. Over that lies a stand-in of the gate's (stand_ins.c),
 * which looks the same and refuses each open, but tells the keeper first. Without FUSE the keeper
 * is not told.
 *
 * Mounts without allow_other serve processes of one uid and gid: the agent's, and the keeper's,
 * which walks in the agent's view. The keeper never opens there.
 *
 * Death: both processes end with the keeper (parent-death signal, and the end of their sockets). A
 * dead server leaves mounts that answer ENOTCONN, and the kernel releases waiting processes.
 */
struct gate;
struct policy;

/* Forks the mounter into the user namespace user_ns, borrowed. Plan and policy must outlive the
 * gate. The server gets a copy of the policy. */
int gate_new(struct gate **ret, const struct plan *plan, const struct policy *policy, int user_ns,
	     struct err *err) MUST_USE;
/* Waits for the mounts, forks the server, hands the mounts to pid 1 through its socket. */
int gate_serve(struct gate *g, int build_sock, struct err *err) MUST_USE;
/* Makes the door that serves the gate's requests, after pid 1 has built the tree. Borrows
 * mnt_ns. */
int gate_open(struct gate *g, struct keeper *k, int mnt_ns, struct door **ret, struct err *err)
	MUST_USE;
/* Ends both processes; their held requests fail. NULL is a no-op, here and below. */
void gate_kill(const struct gate *g);
/* Does the same as gate_kill(), and waits for the processes. */
void gate_free(struct gate *g);

/* Returns 0, or a negative errno if no FUSE file system can be served here. */
int gate_probe(void);
