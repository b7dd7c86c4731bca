/* landlock - Landlock rules that a process applies to itself and its children. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * Two domains are made from this. D0 is the keeper's: it may change the working folders, the store
 * and the sandbox's own tmpfs. A is the agent's, stacked on D0 because the agent descends from the
 * keeper: it may write below its private directories only. Landlock lets a process inspect
 * another's memory only if its own domain is an ancestor of the other's. So the launcher is forked
 * after the keeper has entered D0.
 *
 * No function uses the heap; all are safe between fork and exec.
 */
struct landlock_spec {
	const int *writable; /* directories or files (O_PATH suffices); -1 entries are skipped */
	size_t n;
	/* The same by name. Opened one after the other, because the agent may have few
	 * descriptors. */
	struct landlock_places {
		int at; /* base directory of relative names */
		char *const *list;
		size_t n;
	} places[2];
	const int *stdio; /* three that may be reopened with their present access; NULL: none */
	/* Trees that may be read and run; NULL: everything. Missing paths are skipped. */
	const struct landlock_tree *trees;
	size_t n_trees;
	bool agent; /* also keeps devices' ioctl, signals and abstract sockets inside the domain */
	bool truncate; /* also handles truncate(2), for a tree without read-only mounts */
	bool no_tcp;   /* also refuses bind and connect of TCP */
};

/* A directory with all its content, or a file. A rule below cannot take rights back. */
enum {
	LANDLOCK_READ = 1 << 0,
	LANDLOCK_EXEC = 1 << 1,
};

struct landlock_tree {
	char *path;
	unsigned rights;
	dev_t dev; /* with ino: identifies the rule's object, whatever its name leads to later */
	ino_t ino; /* 0: unknown */
};

#define LANDLOCK_ABI_NEEDED                                                                        \
	2 /* Linux 5.19: without REFER every rename between directories fails                      \
	   */

#define LANDLOCK_ABI_ALONE                                                                         \
	6 /* Linux 6.12: signals and abstract sockets, where there are no namespaces to keep them  \
	   * in                                                                                    \
	   */

/* Returns the kernel's Landlock ABI; 0 if it has none or it is disabled. */
int landlock_abi(void);
/* Restricts the calling thread and its later children. Sets no_new_privs. */
int landlock_restrict(const struct landlock_spec *spec, struct err *err) MUST_USE;
/*
 * Enters a domain that only keeps signals and abstract sockets inside it and inside domains below
 * it.
 */
int landlock_scope(struct err *err) MUST_USE;
