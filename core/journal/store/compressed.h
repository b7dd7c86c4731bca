/* compressed - a file of the store in compressed form: NAME.z instead of NAME. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/base/buf.h"

/*
 * Either form is the file; where both exist (SIGKILL between rename and unlink) the plain one is.
 * Who changes the plain file calls pack_restore() first, so that no stale NAME.z is left beside it.
 * Holes stay holes. The content has a checksum.
 * Threads: pack_make() runs beside everything else; its last act is done under `gate`, in which
 * it asks `stop` again.
 */
struct pack_gate {
	void (*lock)(void *data);
	void (*unlock)(void *data);
	void *data;
	const atomic_bool *stop; /* asked for each block */
	bool sync;		 /* onto the disk before the plain form goes */
};

/* 1: packed; 0: not worth it, or stopped. */
int pack_make(int dirfd, const char *name, const struct pack_gate *gate) MUST_USE;
/* A readable descriptor of the plain content, whichever form there is. */
int pack_open(int dirfd, const char *name) MUST_USE;
/* Make the plain form the only one. 0 also when it is, or when there is neither. */
int pack_restore(int dirfd, const char *name, bool sync) MUST_USE;
/* -EBADMSG: it is packed and cannot be unpacked; -ENOENT. */
int pack_check(int dirfd, const char *name) MUST_USE;
