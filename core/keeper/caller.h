/* caller - the process that asks for a change, and its request. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct asked; /* folders/brought.h */
struct door;
struct proc; /* procs.h */

/*
 * The process that asks. keeper_caller() fills in pid, tid and proc; the door adds the rest. Valid
 * for one call, never across a turn of the loop (a parked request calls keeper_caller() again).
 */
struct caller {
	int pid, tid;	   /* host ids */
	mode_t umask;	   /* for doors that create files themselves */
	struct door *door; /* the door of the request; NULL: the first one */
	/* Number of the request at the door, passed to door_ops.answered(). */
	uint64_t request;
	bool granted; /* the user has just allowed this request */
	/* The user allowed the request, but its object has changed after that: only a rule can
	 * allow it now. */
	bool stale;
	/* Owned by the door, kept with the request: the objects that a parked call moves to a name;
	 * NULL: any object is allowed. */
	struct asked *asked;
	/* The door cannot hold the request for longer, and denies it then. A later answer applies
	 * to the next attempt of the same call. 0: no limit. */
	uint32_t held_for_s;
	const char *op;	   /* system call name, for events: "unlink" */
	struct proc *proc; /* opaque */
	/* tid is a process that was seen before, and no other process can have its number; in
	 * particular no other thread of it calls exec, which would take over that number. */
	bool known;
};

/*
 * Result of an operation: 0, a descriptor, or negative errno for the caller; -FOLDER_HELD: parked,
 * the door keeps the request open until answered().
 */
#define FOLDER_HELD 4096
