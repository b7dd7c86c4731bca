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

/* Results of a handler, besides 0, a value, a descriptor, or a negative errno for the caller. */
#define DOOR_CONTINUE (-8000) /* the kernel performs the call: the floor answers it */
#define DOOR_NOTHING  (-8004) /* success, nothing to do */
#define DOOR_LATER    (-8001) /* the handler keeps the request and answers it itself */
#define DOOR_AGAIN    (-8002) /* the place has changed: resolve it again */
#define DOOR_DEAD     (-8003) /* the caller has ended */

/* How a path argument is resolved to a place. */
enum how {
	HOW_NONE,
	HOW_NAME,   /* a name to make, remove or move: the last link is not followed */
	HOW_LINK,   /* an object; the last symbolic link is not followed */
	HOW_OBJECT, /* an object; the last symbolic link is followed */
	HOW_FD,	    /* the object behind a descriptor number */
};

struct path_arg {
	enum how how;
	int dirfd; /* index of the argument, -1: the current directory */
	int path;  /* index of the argument */
};

/* When a call is trapped. The filter is made from this column. */
enum when {
	WHEN_ALWAYS,
	WHEN_WRITES, /* open flags in argument when_arg that write; with trapped reads all opens */
	WHEN_W_OK,   /* the access mode in argument when_arg asks for W_OK */
	WHEN_DATAGRAM, /* the arguments ask for a datagram socket of AF_UNIX */
	WHEN_LISTEN,   /* if filter_spec.windowed, and in a network of the sandbox's own */
};

#define OPEN_WRITES (O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | (O_TMPFILE & ~O_DIRECTORY))

/* A row of the table (table.h). */
struct door_call {
	int nr;
	const char *name;
	struct path_arg path[2];
	/* Copies the other arguments, checks flags, changes how[] or answers at once; may be
	 * NULL. */
	int (*prepare)(struct ldoor *d, struct request *r);
	int (*perform)(struct ldoor *d, struct request *r);
	enum when when;
	int when_arg;
	bool anywhere; /* perform() also handles places outside every folder */
};

/* Declares prepare_X() or perform_X() of a calls_*.c. */
#define HANDLER(name) int name(struct ldoor *d, struct request *r)
