/* sandbox - one running sandbox of the Linux backends, whoever made its namespaces. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/native_priv.h"

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
