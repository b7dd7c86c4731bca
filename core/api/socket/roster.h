/* roster - lists this user's sessions that run or ended within a day. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct link;

/*
 * Life:    roster_read() -> roster_count() for each row that shows its lines -> roster_done().
 * Blocks:  for ROSTER_WAIT_MS at most, however many sessions are stuck: on a busy machine one that
 *          lives answers late. A stopped one is known at once. roster_count() blocks as long as the
 *          diff takes. Call it in a worker.
 * Trust:   the facts come from the process of the session. The prompt and the question have raw
 *          bytes of the agent: escape them. `session` is the name of its socket, which no agent can
 *          make: answers go there.
 */
#define ROSTER_WAIT_MS 2000
#define ROSTER_DAY_US  ((int64_t)86400 * 1000000)

/* The oldest waiting request. */
struct roster_ask {
	uint64_t id; /* 0: there is none */
	char *op, *kind, *path, *program, *command, *reason;
	bool is_dir, secret;
	int64_t waited_us;
};

struct roster_row {
	char *session;	   /* "20261124-090000-1a2b" */
	const char *tag;   /* "1a2b" */
	const char *state; /* "asks", "working", "idle", "ended", "hung": it does not answer */
	char *folder, *command, *prompt;
	char *why;	  /* hung: why there is no answer; else NULL */
	char *agent;	  /* "claude" of "/opt/bin/claude -c" */
	char branch[64];  /* escaped; "": none */
	int pid;	  /* 0: not running */
	int64_t since_us; /* wall clock: when it began */
	int64_t until_us; /* when it ended; 0: it runs */
	uint64_t pending;
	struct roster_ask ask;
	uint64_t added, deleted; /* lines, of all its steps in effect */
	int64_t first, last;	 /* the oldest and the newest of these steps; 0: none */
	uint64_t steps;		 /* which steps these are */
	bool counted;		 /* the five members above are filled in */
};

struct roster {
	struct roster_row *rows; /* asks, working, idle, hung, ended; the newest of each first */
	size_t n;
};

/* Lists the sessions; leaves out unreadable ones. ended: includes ended sessions. Returns 0. */
int roster_read(struct roster *ret, bool ended, struct err *err) MUST_USE;
void roster_done(struct roster *r);
/* Finds the steps of the session and counts the lines that they changed. Clears `counted` if it
 * cannot. A row that is counted is counted again if it has other steps now. */
void roster_count(struct roster_row *row);
