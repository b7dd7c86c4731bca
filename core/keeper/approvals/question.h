/* question - one question for the user, and the requests that wait for its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/keeper/door.h"

#define ASKS_MAX 1024 /* questions, and requests that wait for them; further ones are denied */

struct command;
struct hold_ops; /* asks.h */

struct waiting {
	struct door *door;
	uint64_t request; /* the door's number */
	int pid, tid;
	bool shown;  /* its wish is the question on the screen */
	bool beside; /* its own change is another one, and is judged again */
};

struct question {
	uint64_t id;
	char *key; /* question_key(); of a safeguard: "step N" */
	enum rule_kind kind;
	const char *path; /* the end of key */
	bool is_dir;	  /* path is a directory */
	char *bundle;	  /* section of the profile that the path belongs to, or NULL */
	/* For a safeguard: the command whose changes all wait; else NULL. */
	struct command *held;
	const struct hold_ops *holds; /* callbacks of the safeguard */
	/* Command of the first caller, if an answer can apply to its step; else NULL. */
	struct command *command;
	int pid;    /* the first caller, which is shown */
	char *wish; /* the first caller's request (asks.c); of a safeguard: NULL */
	struct waiting *waiting;
	size_t n_waiting;
	bool answered, allow; /* answered while no call waited: kept until gone_at */
	int64_t gone_at;      /* 0: a call waits */
	int left;	      /* the last process that stopped waiting */
	bool stopped;	      /* `left` was stopped (Ctrl-Z) at the last check */
	int64_t deny_at;      /* approval.timeout; 0: never */
	UT_hash_handle hh;
};

char *question_key(enum rule_kind kind, const char *path) MUST_USE; /* heap; path is its end */
