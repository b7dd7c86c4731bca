/* ending - ends all that is inside a session, to the last. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"

/*
 * There are no process namespaces: who is inside is looked for and killed, in rounds, until a look
 * finds nobody. A round that finds somebody new is followed by the next at once, so who forks and
 * ends as fast as it can (and is never there any more when its number is known) has no time to
 * spare; with a client of Endpoint Security such a one is killed by the message of its fork
 * (es_queue.h), and asks for nothing that it gets.
 *
 * Who has had SIGKILL and is there all the same waits in the kernel, for a disk or a server that is
 * gone: not one instruction of its program is run any more. It is waited for for a while. Where a
 * human waits for the end of this a limit is set, and the warden goes on (warden.h).
 */
struct ending {
	const struct mac_os *os;
	const char *session;
	void *data; /* handed to the functions */
	/* The agent while its number is its own, else 0. NULL: not known. */
	pid_t (*root)(void *data);
	/* Kills whom Endpoint Security has told of as well; how many those are. NULL: nobody. */
	size_t (*known)(void *data);
	int (*kill)(pid_t pid, int sig); /* kill(2), but in tests */
	unsigned round_us;		 /* between rounds in which nobody new was found */
	unsigned patience;		 /* so many such rounds are made for who does not go */
	unsigned quiet;	  /* so many without anybody say that all are gone, at least 1 */
	int64_t limit_us; /* of all rounds together; 0: as long as somebody new is found */
};

/* How many were there to the end. */
size_t end_inside(const struct ending *e);
