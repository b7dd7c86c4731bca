/* bwrap_priv - what the parts of the bubblewrap backend say to each other. */
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
 *     +- finisher   joins the namespaces, carries out what bwrap cannot, and ends
 *
 * bwrap makes the namespaces and mounts what comes from the host, while the host's tree is still
 * there: read-only binds, devices, tmpfs, directories, links. What it has no words for is done by
 * the finisher with the code of the native backend: owners, one recursive seal for each tree, no
 * propagation of mounts, /proc without other users' processes, ptys, overlays, covers. bwrap's own
 * read-only flags are not relied on. Should a system confine what bwrap runs (Ubuntu's AppArmor
 * profile takes all capabilities away), the holder needs none, and the finisher gets its own by
 * joining a user namespace that belongs to this user.
 *
 * bwrap's child waits for bwrap's word without an end, so bwrap must not be killed before it has
 * given it: it is not told to die with the keeper. When the keeper dies, nobody reads the pid and
 * nobody says go, bwrap does not wait any longer, and the holder ends as its socket does; bwrap
 * ends with it. The keeper ends both as a process group.
 *
 * bwrap is found at fixed places that only root can write: PATH may lead into a working folder.
 */

/* Descriptors of bwrap's process. */
enum {
	BWRAP_ARGS = 3, /* --args: all options */
	BWRAP_INFO,	/* --info-fd: it tells its child's pid */
	BWRAP_GO,	/* --userns-block-fd: we have written the id maps */
	BWRAP_EXE,	/* this program, for the holder */
	BWRAP_SOCK,	/* the holder's end of its socket */
	BWRAP_READ,	/* the other end of BWRAP_INFO: telling never fails */
	BWRAP_FDS,
};

#define HOLDER_WORD "cordon-holder"

/* ---- args.c ---- */
/* bwrap's options, each word with its NUL. */
int args_make(struct buf *b, const struct plan *plan, bool private_net, struct err *err) MUST_USE;
/* This operation is among them: all but its owner is done. */
bool args_tell(const struct plan_op *op);

/* ---- finish.c ---- */
/* In a process of its own, with the cell's root and namespaces there: the rest of the plan. */
int finish_tree(const struct cell *c, const struct plan *plan, int *ret_status, struct err *err)
	MUST_USE;

/* ---- bwrap.c ---- */
extern const struct builder bwrap_builder;

/* ---- probe.c ---- */
/* NULL: none that can be trusted; why is told. */
const char *bwrap_find(struct err *err);
uint32_t bwrap_probe(struct probe_report *report, struct err *err);
