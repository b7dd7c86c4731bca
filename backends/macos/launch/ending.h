/* ending - kills every process of a session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * macOS has no process namespaces: cordon looks for the processes inside and kills them, in rounds,
 * until a round finds none. After a round that finds a new process the next follows at once. So a
 * program that forks and exits as fast as it can, to be gone before its number is known, gets no
 * pause. With a client of Endpoint Security the message of its fork kills such a process
 * (es_queue.h), and its calls are denied.
 *
 * A process that stays after SIGKILL waits in the kernel, for a disk or a server that does not
 * answer; it runs no instruction of its program. The function waits for it for `patience`
 * rounds. If a user waits for the result, limit_us is set, and the warden goes on (warden.h).
 */
struct ending {
	const struct mac_os *os;
	const char *session;
	void *data; /* handed to the functions */
	/* Returns the agent's number until it may be reused, then 0. NULL: not known. */
	pid_t (*root)(void *data);
	/* Kills processes that Endpoint Security has reported. Returns how many. NULL: none. */
	size_t (*known)(void *data);
	int (*kill)(pid_t pid, int sig); /* kill(2), but in tests */
	unsigned round_us;		 /* pause after a round without a new process */
	unsigned patience;		 /* rounds in a row with processes left, but none new */
	unsigned quiet;	  /* empty rounds in a row after which all have ended; at least 1 */
	int64_t limit_us; /* of all rounds together; 0: none */
};

/* Kills. Returns the number of processes that are left. */
size_t end_inside(const struct ending *e);
