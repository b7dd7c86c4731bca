/* sandbox - one running sandbox of the Linux backends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/native_priv.h"

/*
 * Theory of operation.
 *
 * Two processes make the sandbox, because of Landlock. The keeper confines itself (domain D0: it
 * writes beneath the working folders, the store and the sandbox's own tmpfs, nowhere else). It must
 * also read the agent's memory and descriptors (process_vm_readv(2), pidfd_getfd(2)); Landlock
 * allows both only if the reader's domain is the target's or an ancestor of it. So the agent must
 * descend from the keeper after D0 was applied. But a process in a Landlock domain may not mount.
 *
 *   builder    forked before D0: makes the namespaces and mounts, stays as pid 1
 *   keeper     applies D0
 *   launcher   made after D0, shares the keeper's memory like vfork(2): joins the builder's
 *              namespaces with setns(2), starts the agent
 *   agent      adds its own, stricter domain A and the seccomp filter; D0 is an ancestor of A
 *
 * One thread of the keeper (console only) is made before D0. It performs changes that the user
 * granted outside the folders.
 *
 * The keeper stays in the host's mount namespace: a rename between folder and store must stay on
 * one mount (EXDEV even between two bind mounts of one file system). That is why the keeper is
 * confined by Landlock and not by mounts.
 *
 * Neither domain handles LANDLOCK_ACCESS_FS_TRUNCATE: a domain that does makes every open walk its
 * path once more (open and close 2.1 -> 3.7 us). Opening for writing is handled. truncate(2) meets
 * the read-only mounts and is never let continue, nor is an open that truncates without writing: a
 * path of /proc/N/fd leads to the writable mount of a descriptor that was handed out.
 *
 * Bubblewrap (backends/bwrap) replaces only the builder. bwrap makes the namespaces and mounts the
 * host's trees, then runs this program by a descriptor as pid 1 without a capability. A process of
 * the keeper's joins the namespaces and does the work that bwrap has no option for (owners, one
 * recursive seal a tree, /proc options, ptys, overlays). The keeper writes the id maps, so root
 * keeps every id.
 */

/*
 * The namespaces and the file tree for the agent, kept by their pid 1. The backends differ only in
 * how they make these; the keeper's domain, the launcher, the door, the self-check and the limits
 * are in sandbox*.c for all.
 */
struct namespaces {
	bool fenced;	  /* no namespaces: child is a fence, which ends only when sock closes */
	pid_t child;	  /* to be reaped: pid 1, or the program that made it and ends with it */
	pid_t first;	  /* pid 1, as the host sees it */
	int pidfd;	  /* of pid 1 */
	int sock;	  /* pid 1 ends when it closes */
	int words;	  /* stderr of the program that made pid 1; -1: none */
	int root;	  /* O_PATH, "/" inside */
	int user;	  /* its user namespace, if the plan has gates; -1 */
	int ns[NS_COUNT]; /* none without namespaces */
	bool private_net; /* ns[NS_NET] is its own; else that is -1 */
};

/*
 * How a backend makes its namespaces. Functions run in the keeper, before its domain. On failure
 * err says what failed; the caller ends and closes the processes and descriptors that are in `c`.
 */
struct builder {
	bool gates; /* takes NOTE_GATES, and sets namespaces.user */
	/* Replaces plan_make(), or NULL. plan->read is set. */
	int (*plan)(struct plan *plan, const struct spawn_spec *spec, struct err *err);
	/*
	 * Without namespaces: runs in the launcher, after the keeper is confined. Leaves a process,
	 * l->fence_pid, that ends every process inside when the other end of l->fence_sock closes,
	 * and so takes the place of pid 1. NULL: the launcher joins the namespaces.
	 */
	int (*fence)(struct launch *l, struct err *err);
	/* Starts the work that runs beside the keeper's own. Sets child, first, pidfd and sock. */
	int (*start)(struct namespaces *c, const struct plan *plan, const struct spawn_spec *spec,
		     struct err *err);
	/* Waits until the tree is as planned. Sets root and ns. */
	int (*finish)(struct namespaces *c, const struct plan *plan, int *ret_status,
		      struct err *err);
};

void namespaces_init(struct namespaces *c);
/* Ends all processes inside, without waiting for them. */
void namespaces_kill(const struct namespaces *c);
/* Closes root and ns. Called before a wait, so that pid 1 and not the keeper drops the last
 * reference to the mounts. */
void namespaces_leave(struct namespaces *c);
/* Kills, waits, closes. Call it after the agent, if any, has been reaped. */
void namespaces_done(struct namespaces *c);

/*
 * Returns the number of other processes in the caller's Landlock domain and in domains below it.
 * The caller must be in a domain. end: also kills each.
 */
int namespaces_count_inside(bool end);

/* Writes uid_map and gid_map of a new namespace: all ids for root, the own id for other users. */
int namespaces_write_maps(pid_t pid, struct err *err) MUST_USE;
/*
 * Receives a note of this kind with n descriptors. If the other side sends NOTE_FAILED instead,
 * returns its error and sets *ret_status.
 */
int namespaces_expect(int sock, enum note_kind kind, int *fds, size_t n, int *ret_status,
		      struct err *err) MUST_USE;

/* Receives root and namespaces from pid 1. */
int namespaces_take(struct namespaces *c, int *ret_status, struct err *err) MUST_USE;

/* struct backend's check(), for the settings that all builders serve. */
int sandbox_check(const struct builder *builder, const struct spawn_spec *wanted, struct err *err)
	MUST_USE;
/* struct backend's launch(), enter(), signal() and stop(). */
int sandbox_launch(const struct builder *builder, struct sandbox **ret, struct door **ret_door,
		   const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		   struct err *err) MUST_USE;
int sandbox_enter(struct sandbox *sb, const struct beside_spec *spec, struct err *err);
void sandbox_signal(struct sandbox *sb, int sig);
void sandbox_stop(struct sandbox *sb);
