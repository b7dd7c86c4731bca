/* worker - the process that owns the journal: performs acts, and may be killed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "tests/model/model.h"

struct reply {
	int r;
	int64_t id;   /* BEGIN: the step; RESTORE: which one */
	int64_t born; /* POKE: the step that opened it, 0: not open */
	/* FDMETA: the held file has no name in the folder; EXTERNAL: it is held; POKE: it was moved
	 * externally, or is out of reach. */
	bool stray;
	char words[200];
	int64_t kept[LIST_MAX], undone[LIST_MAX]; /* newest first; for acts of the journal */
	size_t n_kept, n_undone, pruned;
};

/* A page that survives the worker's death. */
struct shared {
	struct act act;
	struct reply reply;
	volatile bool busy; /* from the command's arrival to its reply */
	unsigned workers;   /* so far */
};

/* The parent's side. */
struct worker {
	const struct setting *set;
	char *top, *folder, *state;
	char *second; /* another folder of the session, or NULL */
	uid_t uid;    /* what the worker runs as */
	struct shared *sh;
	pid_t pid;
	int sock;
	bool traced;
	unsigned calls, steps; /* before its death */
};

void worker_init(struct worker *w, const struct setting *set, uid_t uid, bool pair);
void worker_done(struct worker *w); /* removes everything */
/* Forks it and opens the journal. Returns 0, -EPIPE if it was killed meanwhile, or journal_open()'s
 * error (the reply has the message and the lists). */
int worker_start(struct worker *w);
void worker_stop(struct worker *w);
/* Returns 0 (sh->reply has the result), or -EPIPE: it was killed. */
int worker_act(struct worker *w, const struct act *a);
/* Lets it die after so many system calls (1: the next) and then instructions. */
void worker_doom(struct worker *w, unsigned calls, unsigned steps);

/* trace.c: runs the traced worker until it has replied (0) or is dead (-EPIPE). */
int trace_run(struct worker *w);
void trace_begin(struct worker *w);
void trace_end(struct worker *w);

/* Inside the worker. */
struct held {
	int fd;	   /* open for writing, or -1 */
	int place; /* O_PATH */
	char *map; /* of a mapping whose descriptor is closed */
	int64_t born;
	bool moved;  /* by an external edit */
	bool second; /* opened in the second folder */
};

struct inside {
	struct shared *sh;
	const char *folder, *second;
	struct journal *j, *k; /* k: the second folder's, or NULL */
	struct step *steps[WHO_MAX];
	bool guarded[WHO_MAX]; /* its losses are put to a question */
	unsigned losses;
	struct held held[HELD_MAX];
	unsigned turn; /* external.c: outside it */
};

void act_file(struct inside *in, const struct act *a);	   /* acts.c: through the journal */
void act_external(struct inside *in, const struct act *a); /* external.c: behind its back */
void act_poke(struct inside *in, const struct act *a);
void held_drop(struct held *h);
void held_path(const struct held *h, char path[PATH_MAX]); /* its current path; "": none */
/* held.c: performs acts on held files. */
void act_held(struct inside *in, const struct act *a);
void held_take(struct inside *in, const struct act *a, int fd, bool map);

/* With two folders d and its content are in the second. */
static inline bool in_second(const struct inside *in, const char *path)
{
	return in->k && path[0] == 'd';
}
static inline struct journal *journal_of(const struct inside *in, bool second)
{
	return second ? in->k : in->j;
}
struct step *part_of(struct inside *in, unsigned who, bool second); /* begins it there */

struct at;
/* Returns the directory of path, and its name; false: there is no such directory. Closed by the
 * caller. */
bool place_of(struct inside *in, const char *path, struct at *at, char dir[16]);
unsigned fill_data(struct inside *in, int fd, unsigned how);
int meta_of(struct inside *in, struct step *s, const struct at *at, const struct act *a);
