/* landlock - rules that a process puts on itself: where it and its children may still write. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * Two domains are made from this. D0 is the keeper's: it may change the working folders, the store
 * and what stands on the sandbox's own tmpfs, nothing else. A is the agent's, stacked on D0 since
 * the agent descends from the keeper: it may write below its private directories only. Landlock
 * lets a process look into another's memory only when its own domain is an ancestor of the other's,
 * which is why the launcher is forked after the keeper has put D0 on.
 *
 * Everything here runs without heap and is safe between fork and exec.
 */
struct landlock_spec {
	const int *writable; /* directories or files (O_PATH will do); -1 entries are skipped */
	size_t n;
	/* The same by names, which are opened one after the other: the agent may have few
	 * descriptors. */
	struct landlock_places {
		int at; /* the directory of relative names */
		char *const *list;
		size_t n;
	} places[2];
	const int *stdio; /* three that may be opened again as they are open now; NULL: none */
	/* What may be read and run; NULL: everything. Places that do not exist are skipped. */
	const struct landlock_tree *trees;
	size_t n_trees;
	bool agent; /* also: devices' ioctl, signals and abstract sockets stay inside the domain */
	bool truncate; /* also: truncate(2), which meets a read-only mount otherwise */
	bool no_tcp;   /* also: bind and connect of TCP */
};

/* A directory with all below it, or a file. Rights go down the tree and cannot be taken back. */
enum {
	LANDLOCK_READ = 1 << 0,
	LANDLOCK_EXEC = 1 << 1,
};

struct landlock_tree {
	char *path;
	unsigned rights;
	dev_t dev; /* with ino: the rule is about this object, whatever takes its name later */
	ino_t ino; /* 0: not known */
};

#define LANDLOCK_ABI_NEEDED                                                                        \
	2 /* Linux 5.19: without REFER every rename between directories fails                      \
	   */

#define LANDLOCK_ABI_ALONE                                                                         \
	6 /* Linux 6.12: signals and abstract sockets, where there are no namespaces to keep them  \
	   * in                                                                                    \
	   */

/* The ABI of this kernel; 0 when it has none or it is switched off. */
int landlock_abi(void);
/* Restrict the calling thread and all it will start. Sets no_new_privs. */
int landlock_restrict(const struct landlock_spec *spec, struct err *err) MUST_USE;
/*
 * A domain that restricts nothing but signals and abstract sockets, which stay in it and in those
 * that are entered from it.
 */
int landlock_scope(struct err *err) MUST_USE;
