/* compressed - a file of the store in compressed form: NAME.z instead of NAME. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdatomic.h>

#include "core/base/buf.h"

/*
 * A file has either form; if both exist (SIGKILL between rename and unlink), the plain one is
 * valid. A caller that changes the plain file first calls compressed_restore(), so that no stale
 * NAME.z remains. Holes stay holes. The content has a checksum. Threads: compressed_make() runs
 * beside everything else; it replaces the plain file under `gate`, where it checks `stop` again.
 */
struct compressed_gate {
	void (*lock)(void *data);
	void (*unlock)(void *data);
	void *data;
	const atomic_bool *stop; /* checked for each block */
};

/* Compresses a file. Returns 1, or 0 if it is not worth it or was stopped. */
int compressed_make(int dirfd, const char *name, const struct compressed_gate *gate) MUST_USE;
/* Returns a readable descriptor of the plain content, whichever form exists. */
int compressed_open(int dirfd, const char *name) MUST_USE;
/* Returns the size of the plain content of a compressed file. -ENOENT: there is none. */
int compressed_size(int dirfd, const char *name, uint64_t *ret) MUST_USE;
/* Makes the plain form the only one. Returns 0 also if it already is, or if neither exists. */
int compressed_restore(int dirfd, const char *name) MUST_USE;
/* Checks the compressed form. -EBADMSG: it is damaged; -ENOENT: there is none. */
int compressed_check(int dirfd, const char *name) MUST_USE;
