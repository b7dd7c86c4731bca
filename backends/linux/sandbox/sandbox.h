/* sandbox - one running sandbox of the Linux backends, whoever made its namespaces. */
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
 * One thread of the keeper (console only) is made before D0. It performs what a human granted
 * outside the folders.
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
 * Bubblewrap (backends/bwrap) replaces the builder and nothing else. bwrap makes the namespaces and
 * mounts what comes from the host, then runs this program by a descriptor as pid 1 without a
 * capability. A process of the keeper's joins the namespaces and does what bwrap has no option for
 * (owners, one recursive seal a tree, /proc options, ptys, overlays). The id maps are ours to
 * write, so root keeps every id.
 */

/*
 * Where the agent will live: namespaces with a file tree, kept by their pid 1. The two backends
 * differ in how they come by one, and in nothing else: the keeper's domain, the launcher, the door,
 * the self-check and the limits are sandbox.c's.
 */
struct cell {
	bool fenced; /* no namespaces: child is a fence, which nothing but sock may end */
	pid_t child; /* to be waited for: pid 1, or the program that made it and ends with it */
	pid_t first; /* pid 1, as the host sees it */
	int pidfd;   /* of pid 1 */
	int sock;    /* pid 1 ends when it closes */
	int words;   /* what that program says when it fails; -1: none */
	int root;    /* O_PATH, "/" inside */
	int user;    /* its user namespace, where the plan has gates; -1 */
	int ns[NS_COUNT]; /* none without namespaces */
	bool private_net; /* ns[NS_NET] is its own, else -1 */
};

/*
 * All in the keeper, before its domain. On failure err says what failed; what is in the cell by
 * then is ended and closed by the caller.
 */
struct builder {
	bool gates; /* it takes NOTE_GATES, and sets cell.user */
	/* Where the plan is not plan_make()'s; may be NULL. plan->read is set already. */
	int (*plan)(struct plan *plan, const struct spawn_spec *spec, struct err *err);
	/*
	 * Without namespaces: in the launcher, once the keeper is confined. Leaves a process for
	 * l->fence that ends everything inside when the other end of l->fence_sock closes, and so
	 * takes the place of pid 1. NULL: the launcher joins the cell's namespaces.
	 */
	int (*fence)(struct launch *l, struct err *err);
	/* Sets child, first, pidfd and sock; the work goes on beside the keeper's own. */
	int (*start)(struct cell *c, const struct plan *plan, const struct spawn_spec *spec,
		     struct err *err);
	/* Waits for the end of that work: the tree is as planned; root and ns are set. */
	int (*finish)(struct cell *c, const struct plan *plan, int *ret_status, struct err *err);
};

void cell_init(struct cell *c);
/* Ends everything inside, without waiting for it. */
void cell_kill(const struct cell *c);
/* Closes root and ns. Before a wait: the last reference to the mounts goes with pid 1, not with us.
 */
void cell_leave(struct cell *c);
/* Kills, waits, closes. To be called once the agent, if any, has been waited for. */
void cell_done(struct cell *c);

/*
 * How many processes there are in Landlock domains below the caller's own, or in that; the caller,
 * who must be in one, does not count. end: each is killed.
 */
int cell_count_inside(bool end);

/* uid_map and gid_map of a new namespace: all ids for root, for others their own. */
int cell_write_maps(pid_t pid, struct err *err) MUST_USE;
/*
 * A note that must come now, with n descriptors. A failure that the other side reports becomes
 * ours, with its status.
 */
int cell_expect(int sock, enum note_kind kind, int *fds, size_t n, int *ret_status, struct err *err)
	MUST_USE;

/* The root and the namespaces, as pid 1 hands them over. */
int cell_take(struct cell *c, int *ret_status, struct err *err) MUST_USE;

/* struct backend's launch(), signal() and stop(). */
int sandbox_launch(const struct builder *builder, struct sandbox **ret, struct door **ret_door,
		   const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		   struct err *err) MUST_USE;
void sandbox_signal(struct sandbox *sb, int sig);
void sandbox_stop(struct sandbox *sb);
