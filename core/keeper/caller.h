/* caller - who asks for a change: one request of one process. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct asked; /* folders/brought.h */
struct door;
struct proc; /* callers.h */

/*
 * Who asks. keeper_caller() fills pid, tid and proc; the door adds the rest. Valid for one
 * call: never kept over a turn of the loop (a parked request asks keeper_caller() again).
 */
struct caller {
	int pid, tid;	   /* host ids */
	mode_t umask;	   /* for doors that perform by themselves; folder_*() know it better */
	struct door *door; /* whose request it is; NULL: the first one's */
	uint64_t request;  /* the door's name for this request, comes back through door_ops.answered
			    */
	bool granted;	   /* the human has just allowed this very request */
	bool stale; /* they had, but it is not what they were shown: a rule has to allow it */
	struct asked *asked; /* the door's, kept with the request: what a call that was parked
			      * brings to a name; NULL: whatever it brings is allowed */
	bool may_wait;	     /* -FOLDER_WAITS will do */
	const char *op;	     /* system call name, for events: "unlink" */
	struct proc *proc;   /* opaque */
	bool known; /* tid is a process that was seen before: not to be taken for another */
};

/*
 * 0, a descriptor, or negative errno for the caller; -FOLDER_HELD: parked, the door keeps the
 * request open until answered().
 */
#define FOLDER_HELD 4096
/*
 * Nothing was done: the door keeps the request, and serves it again from the beginning, not allowed
 * to wait, once keeper_gather_sync() has brought what several of them will record to the disk.
 */
#define FOLDER_WAITS 4097
