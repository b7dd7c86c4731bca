/* call - the description of one trapped system call: its path arguments and its handlers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <sys/syscall.h>

#ifndef SYS_fchmodat2 /* Linux 6.6 */
#define SYS_fchmodat2 452
#endif

struct ldoor;
struct request;

/* What a handler returns besides 0, a value or a descriptor, and a negative errno of the caller's.
 */
#define DOOR_CONTINUE (-8000) /* the kernel goes on with the call: the floor answers it */
#define DOOR_NOTHING  (-8004) /* success, nothing to do */
#define DOOR_LATER    (-8001) /* the handler keeps the request and answers it itself */
#define DOOR_AGAIN    (-8002) /* the place changed under us: resolve once more */
#define DOOR_DEAD     (-8003) /* the caller is gone */

/* How a path argument is turned into a place. */
enum how {
	HOW_NONE,
	HOW_NAME, /* a name in a directory, made, removed or moved: the last link is not followed */
	HOW_LINK, /* an object; the last symbolic link is not followed */
	HOW_OBJECT, /* an object; the last symbolic link is followed */
	HOW_FD,	    /* the object behind a descriptor number */
};

struct path_arg {
	enum how how;
	int dirfd; /* index of the argument, -1: the current directory */
	int path;  /* index of the argument */
};

/* Which calls are trapped at all: the filter is made from this column. */
enum when {
	WHEN_ALWAYS,
	WHEN_WRITES, /* the open flags in argument when_arg can write, create or truncate; all opens
		      * where reading is trapped */
	WHEN_W_OK,   /* the access mode in argument when_arg asks for W_OK */
	WHEN_DATAGRAM, /* the arguments ask for a datagram socket of AF_UNIX */
	WHEN_LISTEN,   /* where filter_spec.windowed, and in a network of the sandbox's own */
};

#define OPEN_WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* A row of the table (table.h). */
struct door_call {
	int nr;
	const char *name;
	struct path_arg path[2];
	/* Copy the other arguments, check flags, change how[] or answer at once; may be NULL. */
	int (*prepare)(struct ldoor *d, struct request *r);
	int (*perform)(struct ldoor *d, struct request *r);
	enum when when;
	int when_arg;
	bool anywhere; /* perform() also answers for places outside every folder */
};

/* Declares prepare_X() or perform_X() of a calls_*.c. */
#define HANDLER(name) int name(struct ldoor *d, struct request *r)
