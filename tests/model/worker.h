/* worker - the process that owns the journal: performs acts, may be killed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "tests/model/model.h"

struct reply {
	int r;
	int64_t id;   /* BEGIN: the step; RESTORE: which one */
	int64_t born; /* POKE: the step that opened it, 0: it is not open */
	/* FDMETA: what is held has no name in the folder; EXTERNAL: it is held; POKE: it was moved
	 * by somebody, or is out of reach. */
	bool stray;
	char words[200];
	int64_t kept[LIST_MAX], undone[LIST_MAX]; /* newest first; for acts of the journal */
	size_t n_kept, n_undone, pruned;
};

/* One page that survives the worker's death. */
struct shared {
	struct act act;
	struct reply reply;
	volatile bool busy; /* between the command's arrival and its reply */
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
	unsigned calls, steps; /* until it dies */
};

void worker_init(struct worker *w, const struct setting *set, uid_t uid, bool pair);
void worker_done(struct worker *w); /* removes everything */
/* Fork it and open the journal: 0, -EPIPE when it was killed meanwhile, or what journal_open()
 * says (the reply has the words and the lists). */
int worker_start(struct worker *w);
void worker_stop(struct worker *w);
/* 0: sh->reply tells; -EPIPE: it was killed. */
int worker_act(struct worker *w, const struct act *a);
/* Let it die after so many system calls (1: the next) and then instructions. */
void worker_doom(struct worker *w, unsigned calls, unsigned steps);

/* trace.c: the traced worker goes on until it has replied (0) or is dead (-EPIPE). */
int trace_run(struct worker *w);
void trace_begin(struct worker *w);
void trace_end(struct worker *w);

/* Inside. */
struct held {
	int fd;	   /* open for writing, or -1 */
	int place; /* O_PATH of it */
	char *map; /* the descriptor is closed, the mapping is not */
	int64_t born;
	bool moved;  /* by somebody else */
	bool second; /* opened in the second folder */
};

struct inside {
	struct shared *sh;
	const char *folder, *second;
	struct journal *j, *k; /* k: of the second folder, or NULL */
	struct step *steps[WHO_MAX];
	bool guarded[WHO_MAX]; /* somebody is asked before it takes anything away */
	unsigned losses;
	struct held held[HELD_MAX];
	unsigned turn; /* makes content differ */
};

void act_file(struct inside *in, const struct act *a);	   /* acts.c: through the journal */
void act_external(struct inside *in, const struct act *a); /* external.c: behind its back */
void act_poke(struct inside *in, const struct act *a);
void held_drop(struct held *h);
void held_path(const struct held *h, char path[PATH_MAX]); /* where it is now; "": nowhere */
/* held.c: what is kept open. */
void act_held(struct inside *in, const struct act *a);
void held_take(struct inside *in, const struct act *a, int fd, bool map);

/* With two folders all that is called d, and what is in it, lies in the second. */
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
/* The directory of path, and its name; false: there is no such directory. Closed by the caller. */
bool place_of(struct inside *in, const char *path, struct at *at, char dir[16]);
unsigned fill_data(struct inside *in, int fd, unsigned how);
int meta_of(struct inside *in, struct step *s, const struct at *at, const struct act *a);
