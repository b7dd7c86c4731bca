/* question - one question for the user, and the requests that wait for its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/hash.h"
#include "core/keeper/caller.h"
#include "core/keeper/door.h"
#include "core/keeper/wire.h"

#define ASKS_MAX 1024 /* questions, and requests that wait for them; further ones are denied */

struct command;
struct keeper;
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
	/* For a safeguard: the command; all its changes wait. Else NULL. */
	struct command *held;
	const struct hold_ops *holds; /* callbacks of the safeguard */
	/* Command of the first caller, if an answer can apply to its step; else NULL. */
	struct command *command;
	int pid;    /* the first caller, which is shown */
	char *wish; /* the first caller's request (asks.c); of a safeguard: NULL */
	struct waiting *waiting;
	size_t n_waiting;
	bool answered, allow; /* answered while no call waited: kept until gone_at */
	bool reruled;	      /* changed rules decide it (asks_note_reruled()) */
	int64_t gone_at;      /* 0: a call waits */
	int left;	      /* the last process that stopped waiting */
	bool stopped;	      /* `left` was stopped (Ctrl-Z) at the last check */
	int64_t deny_at;      /* approval.timeout; 0: never */
	UT_hash_handle hh;
};

char *question_key(enum rule_kind kind, const char *path) MUST_USE; /* heap; path is its end */
/* Finds a question by its number; NULL: unknown. */
struct question *question_by_id(struct keeper *k, uint64_t id);
/* Returns whether the user may give this answer. */
bool question_offered(const struct keeper *k, const struct question *q, const struct answer *a);

/* A question, as the caller asks it. */
struct wished {
	enum rule_kind kind;
	const char *path, *via; /* via: as the caller wrote it, NULL: the same */
	bool is_dir;
	bool secret; /* the object holds secrets, or a server gives much away: ASK_SECRET */
	const char *reason;
	/* Fingerprint of the object that is to take the name (brought.h); NULL: none. */
	const char *object;
	bool unsettled; /* some process can still write to the object */
	/* The question is about another change than the waiting call, which is judged again after
	 * the answer. */
	bool beside;
};

/* Returns a text that identifies the wish of the caller. A change by another thread, or a repeated
 * call after a signal, may be another change; reading is the same in every thread. Heap. */
char *question_wish(const struct caller *c, const struct wished *w) MUST_USE;
/* Tell cordon to ask the user, and that the question is over. */
void question_send(struct keeper *k, const struct caller *c, const struct question *q,
		   const struct wished *w);
void question_send_gone(struct keeper *k, uint64_t id, enum ask_end why);
