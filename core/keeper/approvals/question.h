/* question - one question for the human, and the requests that wait for its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/keeper/door.h"

#define ASKS_MAX 1024 /* questions, and requests that wait for them; beyond: denied */

struct command;
struct hold_ops; /* asks.h */

struct waiting {
	struct door *door;
	uint64_t request; /* the door's */
	int pid, tid;
	bool shown;  /* its wish is the one on the screen */
	bool beside; /* it does something else, and is judged anew */
};

struct question {
	uint64_t id;
	char *key; /* question_key(); a safeguard's: "step N" */
	enum rule_kind kind;
	const char *path;	      /* the end of key */
	bool is_dir;		      /* path is a directory */
	char *bundle;		      /* that the path is of, or NULL */
	struct command *held;	      /* a safeguard's: all of this command's changes wait */
	const struct hold_ops *holds; /* whose it is then */
	struct command
		*command; /* of the first who asked, where an answer can count for its step */
	int pid;	  /* of the first who asked: what is on the screen */
	char *wish;	  /* of that, asks.c; a safeguard's: NULL */
	struct waiting *waiting;
	size_t n_waiting;
	bool answered, allow; /* nobody waited: kept for whoever asks again until gone_at */
	int64_t gone_at;      /* 0: somebody waits */
	int left;	      /* the process that did so last */
	bool stopped;	      /* that one, when it was last looked at */
	int64_t deny_at;      /* approval.timeout; 0: never */
	UT_hash_handle hh;
};

char *question_key(enum rule_kind kind, const char *path) MUST_USE; /* heap; path is its end */
