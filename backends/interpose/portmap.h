/* portmap - the file that maps each port that a program names to a port of the session's window. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * One file for each session, written by its runtime and read by the preload library of every
 * process inside at each bind() and connect(), with pread(2): a file that is cut short or replaced
 * causes an error and no signal. Native byte order: the file never leaves the machine.
 *
 * A sequence lock: `seq` is odd while an entry is written. A reader reads it before and after the
 * entry, and tries again if it has changed. If `seq` stays odd, the writer has died: the map is
 * damaged until the next session makes another.
 *
 * Used by the preload library: this header and portmap_read.c need nothing but libc.
 */
#define PORTMAP_MAGIC	0x4350524du /* "CPRM" */
#define PORTMAP_VERSION 1u
#define PORTMAP_PORTS	65536

struct portmap {
	uint32_t magic, version, size; /* size: of the whole file */
	uint32_t seq;
	uint16_t base, count; /* the session's window */
	uint32_t reserved;
	uint16_t to[PORTMAP_PORTS];   /* by the port that a program names; 0: none */
	uint16_t from[PORTMAP_PORTS]; /* by the port of the window; 0: none */
};

/* ---- portmap_read.c -------------------------------------------------------------------------- */

struct portmap_view {
	uint16_t base, count;
	uint16_t to, from; /* of the port that was asked about */
};

/* Reads the entries of this port. Returns 0, or -EACCES if the file is missing, damaged or of
 * another version. */
int portmap_look(const char *path, uint16_t port, struct portmap_view *ret);

/* ---- portmap.c ------------------------------------------------------------------------------- */

struct err;

/* Makes the file anew, complete before it gets its name. *ret_fd is for portmap_set(). */
int portmap_create(const char *path, uint16_t base, uint16_t count, int *ret_fd, struct err *err);
/* Maps the port that programs name to one of the window. One writer. Returns 0 or negative errno.
 */
int portmap_set(int fd, uint16_t named, uint16_t mapped);
