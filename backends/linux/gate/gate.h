/* gate - the read gate: a FUSE file system before the trees whose reads are asked for. */
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
 * server looks them up beneath a descriptor of the tree, by a path without links. What would give
 * content - open, opendir, the open of an exec - the server opens first. What the rules allow it
 * hands over: it has the keeper's rules, and hears of each change (struct gate_page). Else it asks
 * the keeper with the path, and answers the kernel when the keeper has decided: what is handed over
 * is what was there when the question was put. Held requests hold nothing else up. What is hidden
 * is not found. One thread: an open costs two switches and a walk, more threads would share a lock.
 *
 * The kernel believes names for a second, and attributes but those of what the agent was let change
 * (gate_nodes.h): stat(2) tells what the call before has done. An open that finds a file changed
 * since has it ask anew, so that nothing is read by an old size; pages of an earlier open are not
 * used.
 *
 * A named pipe or device shows as a plain file without content: the kernel would open it by itself,
 * and wait. Its open is refused. A socket stays one, of which the kernel opens none.
 *
 * The mounter makes the mounts, because of whom the kernel asks for process ids: they are told as
 * of the pid namespace of the process that mounts, and inside pid 1 they would be useless to the
 * keeper. Later it binds what a human grants as a tree over the gate, where it is native from then
 * on. A tree is bound only if nothing beneath it is hidden, mounted or ruled otherwise: else the
 * gate goes on asking the policy for each open in it, which then says yes.
 *
 * A hidden file or directory of a working folder, which must stay the live directory, is covered by
 * an empty, unreadable one; and that by one of the gate's (stand_ins.c), which looks the same and
 * refuses each open, but after the keeper has heard of it. Without FUSE nobody hears.
 *
 * Whom it serves: mounts without allow_other answer to processes of one uid and gid, the agent's,
 * and the keeper's, which walks in the agent's view. The keeper never opens there.
 *
 * Death: both processes end with the keeper (parent-death signal, and the end of their sockets). An
 * ended server leaves mounts that answer ENOTCONN, and releases whoever waits.
 */
struct gate;
struct policy;

/* Forks the mounter into the namespace, which is borrowed. The plan must outlive the gate, and so
 * the policy, of which the server has a copy. */
int gate_new(struct gate **ret, const struct plan *plan, const struct policy *policy, int user_ns,
	     struct err *err) MUST_USE;
/* Waits for the mounts, forks the server, hands the mounts to pid 1 through its socket. */
int gate_serve(struct gate *g, int build_sock, struct err *err) MUST_USE;
/* The tree is built: requests are let in through a door of their own; mnt_ns is borrowed. */
int gate_open(struct gate *g, struct keeper *k, int mnt_ns, struct door **ret, struct err *err)
	MUST_USE;
/* Ends both processes, which fails what they hold. NULL is a no-op; so below. */
void gate_kill(const struct gate *g);
/* The same, and waits for them. */
void gate_free(struct gate *g);

/* 0, or why no FUSE file system can be served here. */
int gate_probe(void);
