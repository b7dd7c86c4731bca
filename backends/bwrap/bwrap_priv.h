/* bwrap_priv - descriptors and functions that the files of the bubblewrap backend share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/sandbox.h"
#include "core/base/buf.h"

/*
 * Theory of operation.
 *
 *   keeper  plan -> arguments -> bwrap -> id maps -> ... -> finisher -> D0 -> launcher -> ...
 *     +- bwrap      waits for its child, and ends with it
 *     |   +- holder    pid 1: this program once more; hands over the root and namespaces, reaps
 *     +- finisher   joins the namespaces, performs the operations that bwrap cannot, and ends
 *
 * bwrap makes the namespaces and mounts the host's trees, while they are still reachable: read-only
 * binds, devices, tmpfs, directories, links. The finisher performs the rest, for which bwrap has no
 * options, with the code of the native backend: owners, one recursive seal for each tree, no
 * propagation of mounts, /proc without other users' processes, ptys, overlays, covers. cordon does
 * not rely on bwrap's own read-only flags. A system may confine bwrap's child (Ubuntu's AppArmor
 * profile drops all capabilities): the holder needs none, and the finisher gets capabilities by
 * joining a user namespace that belongs to this user.
 *
 * bwrap's child waits for bwrap without a time-out, so bwrap must not be killed before it has let
 * the child continue: it runs without --die-with-parent. When the keeper dies, the pipes of
 * BWRAP_INFO and BWRAP_GO end, so bwrap stops waiting; the holder ends when its socket does, and
 * bwrap ends with the holder. The keeper ends both as a process group.
 *
 * bwrap is looked for at fixed paths that only root can write: PATH may lead into a working folder.
 */

/* Descriptors of bwrap's process. */
enum {
	BWRAP_ARGS = 3, /* --args: all options */
	BWRAP_INFO,	/* --info-fd: bwrap writes its child's pid */
	BWRAP_GO,	/* --userns-block-fd: the keeper has written the id maps */
	BWRAP_EXE,	/* this program, for the holder */
	BWRAP_SOCK,	/* the holder's end of its socket */
	BWRAP_READ,	/* the other end of BWRAP_INFO, so that bwrap's write never fails */
	BWRAP_FDS,
};

#define HOLDER_WORD "cordon-holder"

/* ---- args.c ---- */
/* Appends bwrap's options, each word with its NUL. */
int args_make(struct buf *b, const struct plan *plan, bool private_net, struct err *err) MUST_USE;
/* Returns whether an option performs this operation, except for setting the owner. */
bool args_tell(const struct plan_op *op);

/* ---- finish.c ---- */
/* Performs the rest of the plan in the namespaces of `c`, in a process of its own. */
int finish_tree(const struct namespaces *c, const struct plan *plan, int *ret_status,
		struct err *err) MUST_USE;

/* ---- bwrap.c ---- */
extern const struct builder bwrap_builder;

/* ---- probe.c ---- */
/* Returns the path of bwrap, or NULL if none can be trusted; err says why. */
const char *bwrap_find(struct err *err);
uint32_t bwrap_probe(struct probe_report *report, struct err *err);
