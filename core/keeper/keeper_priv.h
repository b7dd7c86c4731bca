/* keeper_priv - what the files of core/keeper share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <utlist.h>

#include "core/base/buf.h"
#include "core/base/hash.h"
#include "core/journal/journal.h"
#include "core/keeper/keeper.h"
#include "core/keeper/wire.h"
#include "core/policy/policy.h"

#define DOORS_MAX  4
#define ASKS_MAX   1024	       /* questions, and requests that wait for them; beyond: denied */
#define LABEL_MAX  4096	       /* bytes of a step's command */
#define OUT_URGENT (64u << 10) /* bytes that are not worth waiting with */
#define OUT_MAX	   (16u << 20) /* cordon does not read: the agent waits from here on */

/* ---- event sources (loop.c) ------------------------------------------------------------------ */

/* Exits are seen before requests of the same turn: a request may come from a reused pid. */
enum source_rank {
	RANK_EXIT,
	RANK_OTHER,
	RANK_COUNT
};

struct source {
	int fd; /* -1: dead, freed at the end of the turn */
	enum source_rank rank;
	void (*fn)(void *data);
	void *data;
	struct source *next;
};

struct doorway { /* of a door that is in the epoll set */
	struct keeper *keeper;
	struct source *source;
};

void doors_unwatch(struct keeper *k); /* they are about to be closed */

/* ---- processes (callers.c) ------------------------------------------------------------------- */

/* A thread that was seen; the leader's is part of its struct proc. */
struct thread {
	int tid;
	int pidfd; /* of a thread that is no leader, once it was asked for; -1 */
	struct proc *proc;
	struct thread *next; /* further threads of the process, leader excluded */
	UT_hash_handle hh;
};

struct proc {
	struct keeper *keeper;
	struct thread self; /* tid is the pid */
	struct thread *threads;
	int parent, group; /* when it was first seen */
	int pidfd;
	struct source *source;
	mode_t umask;
	bool execed;		 /* since it was first seen */
	bool direct;		 /* a child of the agent: a command's own process */
	bool wraps;		 /* only runs another program: sh -c, env, timeout */
	uint64_t group_serial;	 /* of the group that it, or a child of its, changed something in */
	struct command *command; /* counted in command->refs; NULL: none, its changes are ambient */
	struct command *ends;	 /* whose rollback waits for the end of this process */
	bool answered;		 /* an answer to it is still good (grants.c) */
};

/* ---- steps (steps.c, ancestry.c)
 * ------------------------------------------------------------------------- */

struct word { /* of a pipeline */
	struct word *next;
	int pid;
	struct buf text;
};

#define GUARD_FREE_STEP 1 /* for that step; else GRANT_OF_LINE is set */

/* What a command's step has taken away (safeguard.c). */
struct guard {
	size_t count[LOSS_KINDS];
	uint64_t free[LOSS_KINDS]; /* by which answer all of them are allowed; 0: by none */
	char *was[LOSS_KINDS][GUARD_SAMPLES]; /* but of LOSS_DELETE: */
	struct guard_path *gone;	      /* deleted, and not made anew: a hash */
	/* While it is held: */
	struct question *asked;
	enum loss what; /* that reached its limit */
	int pid;
	char *line;		    /* what "this command line" means; NULL: cannot be remembered */
	char *would[GUARD_SAMPLES]; /* paths of the first calls that wait */
	char *ops[GUARD_SAMPLES];
	size_t n_would;
	int64_t tell_at, deny_at; /* monotonic, 0: never */
	/* Once it is refused: */
	bool doomed;
	enum guard_why why;
	size_t dying; /* processes that must be gone before it is rolled back */
};

/* What a human calls a command, and its step once something changed. */
struct command {
	struct command *prev, *next;
	enum step_kind kind;
	size_t refs;   /* processes that belong to it */
	size_t direct; /* those of them that end it */
	int pid;       /* the newest of those: its exit status is the command's */
	int group;     /* process group that may still join (a pipeline), or 0 */
	bool named;    /* label comes from an exec */
	bool forked;   /* its own processes have made others */
	bool whole;    /* the one step of the whole run, or a group: no process ends it */
	bool driven;   /* a group that only the agent itself ends: see group.c */
	bool lingers;  /* files of a step that was rolled back are still written: it waits for that
			*/
	bool folds;    /* the rest of the session, since the history is full */
	bool grouped;  /* while a group is open, what it changes belongs to that */
	struct buf label;
	struct word *words;	   /* what the label is made of, by pid */
	int64_t began_us;	   /* wall clock */
	int64_t boot_us;	   /* the same of CLOCK_BOOTTIME */
	int exit_status;	   /* -1: not known */
	int64_t quiet_at, last_at; /* monotonic; quiet_at 0: runs */
	struct step *step;	   /* its first part; NULL: nothing changed yet, or over */
	bool announced;		   /* WIRE_STEP_BEGIN was sent */
	int64_t announce_at;   /* changed something before its exec: wait for its name till then */
	bool over;	       /* committed: what its processes still do is its heir's */
	struct command *heir;  /* ambient; NULL: none now */
	struct command **slot; /* of an ambient one: what points to it until it is over */
	struct guard guard;
	struct grant *grants; /* of this step alone */
};

/* ---- questions (asks.c) ---------------------------------------------------------------------- */

struct waiting {
	struct door *door;
	uint64_t request; /* the door's */
	int pid, tid;
	const char *op; /* static */
};

struct question {
	uint64_t id;
	char *key; /* asks_key(); a safeguard's: "step N" */
	enum rule_kind kind;
	const char *path;     /* the end of key */
	bool is_dir;	      /* path is a directory */
	char *bundle;	      /* that the path is of, or NULL */
	struct command *held; /* a safeguard's: all of this command's changes wait */
	struct command
		*command; /* of the first who asked, where an answer can count for its step */
	int pid;	  /* of the first who asked: what is on the screen */
	const char *op;	  /* of that; static */
	struct waiting *waiting;
	size_t n_waiting;
	bool answered, allow; /* nobody waited: kept for whoever asks again until gone_at */
	int64_t gone_at;      /* 0: somebody waits */
	int left;	      /* the process that did so last */
	int64_t deny_at;      /* approval.timeout; 0: never */
	UT_hash_handle hh;
};

/* What is asked, for asks_park(). */
struct wished {
	enum rule_kind kind;
	const char *path, *via; /* via: as the caller wrote it, NULL: the same */
	bool is_dir;
	bool secret; /* it gives much away: ASK_SECRET */
	const char *reason;
};

/* ---- answers that count for a while (grants.c) ----------------------------------------------- */

/* In command.grants for one step, else in keeper.grants and known to the policy. */
struct grant {
	struct grant *next;
	uint64_t id; /* GRANT_OF_STEP is set in it, or it is policy_answer()'s */
	enum rule_kind kind;
	char *path; /* a directory's ends with '/' */
	struct answer answer;
};

/* Good for the same call made again, until it is too old. */
struct recent {
	char *key; /* pid, then asks_key() */
	int pid;
	bool allow;
	int64_t until; /* monotonic */
	UT_hash_handle hh;
};

#define GRANT_OF_STEP (UINT64_C(1) << 63)
#define GRANT_OF_LINE (UINT64_C(1) << 62) /* a command line that no safeguard holds */
#define RECENT_MAX    4096		  /* answers that are good for the same call made again */

/* How reads were decided, for metrics. */
struct tallies {
	uint64_t checks, by_rule, by_answer, asked, crowded;
	uint64_t told; /* checks and crowded together, when cordon heard of them last */
	int64_t told_at;
};

/* ---- folders --------------------------------------------------------------------------------- */

struct folder {
	struct keeper *keeper;
	char *path;
	size_t path_len;
	int fd;
	struct journal *journal; /* its own; granted: the first folder's, as a further root of it */
	int root;
	bool granted; /* outside; operations run in the unconfined thread */
};

/* A protected file that had several names when the session began. */
struct alias {
	dev_t dev;
	ino_t ino;
	char *path;
};

struct draft;
struct outside; /* the unconfined thread (outside.c) */

struct keeper {
	struct keeper_spec *spec; /* limits may change: WIRE_LIMITS */
	int sock, epoll;
	struct buf in, out;
	size_t out_sent;
	bool urgent, out_watched;
	bool door_off;	     /* nothing is served for a while */
	unsigned doors_shut; /* closed for good: a bit for each */
	int64_t now;	     /* monotonic, of this turn of the loop */
	int64_t flush_at;
	struct source *graves, *watches;

	struct journal *journal; /* the first folder's; the others' are its kin */
	struct policy *policy;
	struct draft *drafts; /* files that have no name yet (draft.c) */
	size_t n_drafts;
	bool settling;
	bool learned; /* policy_learn_more() has no more */
	bool relearn; /* git's settings have changed by a human's leave: policy_learn() */
	struct folder **folders;
	size_t n_folders;
	struct alias *aliases;
	size_t n_aliases;
	struct outside *outside;
	const char *const *private; /* see keeper_set_private(); NULL: the default */
	struct lock *lock;	    /* undo.external = lock */
	struct buf path, path2;	    /* scratch of folder.c */
	mode_t umask;		    /* of this process now */

	struct reload *reload; /* rule files that change (reload.c); NULL: nobody looks */
	struct watch *watch;   /* edits from outside (watch.c); NULL: nobody looks */
	struct sandbox *sandbox;
	struct door *doors[DOORS_MAX];	    /* the first is the system calls' */
	struct doorway doorways[DOORS_MAX]; /* of the others */
	size_t n_doors;
	int64_t door_wake; /* 0: none */

	int slow[2];		/* inotify instances, closed by the end of the process; 0: none */
	struct thread *threads; /* by tid */
	size_t n_threads;	/* leaders excluded */
	unsigned thread_fds;	/* opened since all were closed */
	int root_pid, agent_pid;
	int orphans;	  /* who has them: pid 1 inside, or ORPHANS_* */
	bool agent_wraps; /* it only starts the real one */
	bool agent_again; /* it was started by a script of its name: `node codex` -> codex */
	struct buf agent_name;

	struct command *commands, *ambient, *strays, *whole;
	struct command *fold;  /* NULL: the history is not full */
	struct command *group; /* `cordon step begin` (group.c); NULL: none is open */
	struct proc *group_owner;
	uint64_t group_serial;
	int begin_error;   /* the last journal_begin()'s */
	struct seen *seen; /* refusals that were reported (events.c) */
	size_t n_seen;
	struct question *questions;
	size_t n_waiting, n_held;
	uint64_t last_question, last_grant;
	struct grant *grants;
	struct recent *recent; /* oldest use first */
	struct tallies tallies;
	struct guard_line *guard_lines;

	bool launched;	     /* launch() returned */
	bool exited, failed; /* the agent ended; it never ran */
	bool frozen;	     /* every change is -EIO */
	bool quit, gone;     /* leave the loop; because cordon is not there any more */
	int wait_status;
};

/* loop.c */
/* Of two times at which something is to be done; 0 is never. */
static inline int64_t sooner(int64_t a, int64_t b)
{
	if (!a || !b)
		return a ? a : b;
	return MIN(a, b);
}
int source_add(struct keeper *k, int fd, uint32_t events, enum source_rank rank,
	       void (*fn)(void *data), void *data, struct source **ret);
void source_again(struct keeper *k, struct source *s, uint32_t events); /* after EPOLLONESHOT */
void source_remove(struct keeper *k, struct source *s);			/* NULL is a no-op */
void sources_bury(struct keeper *k);
void keeper_loop(struct keeper *k);
void keeper_flush(struct keeper *k); /* what the socket takes now */
void keeper_drain(struct keeper *k); /* all of it, waiting for cordon */
void keeper_urgent(struct keeper *k);
int keeper_recv(struct keeper *k);  /* into k->in; -EPIPE: cordon is gone */
void keeper_tidy(struct keeper *k); /* the stores, while nobody waits */
void keeper_news(struct keeper *k); /* what the journal has to say */

/* keeper.c */
/* Everything but the sandbox: journal, folders, epoll. k is zeroed memory. */
int keeper_init(struct keeper *k, struct keeper_spec *spec, struct err *err) MUST_USE;
void keeper_done(struct keeper *k);
void keeper_umask(struct keeper *k, mode_t mask);
void keeper_end_sandbox(struct keeper *k);

/* requests.c */
void requests_serve(struct keeper *k); /* what lies in k->in */

/* callers.c */
int proc_parent(int pid); /* negative errno: gone */
/* Where /proc/PID/<name> leads. False, and empty: there is no such link, or it is not ours to read.
 */
bool proc_link(int pid, const char *name, char ret[PATH_MAX]);
mode_t caller_umask(const struct caller *c);
/* How it ended, wait(2)-decoded; -1 where nobody can tell (Linux < 6.15 and already reaped). */
int proc_exit_status(const struct proc *p);
/* Of CLOCK_BOOTTIME, at most a clock tick too late; 0: it is gone. */
int64_t proc_started_us(const struct proc *p);
bool proc_has_ended(const struct proc *p);
bool proc_is_stopped(int pid); /* by a signal (Ctrl-Z), not by a debugger */
void proc_name(const struct proc *p, char *out, size_t size);
int proc_inner_pid(const struct proc *p); /* as the sandbox sees it */
/* Is it one that has the orphans of those inside? */
bool proc_adopts(const struct keeper *k, int pid);
struct proc *proc_get(struct keeper *k, int tid); /* NULL: it is gone */
/* A process inside that was not seen yet, as long as it is a child of this one; else NULL. */
struct proc *proc_get_child(struct keeper *k, int pid, int parent);
struct proc *proc_known(struct keeper *k, int pid);
void procs_done(struct keeper *k);

/* steps.c */
void steps_init(struct keeper *k);
void steps_done(struct keeper *k);
/* The step that a change by p in f belongs to, begun if need be: the part of it that is in f's
 * journal. hint: what is about to be changed. */
int steps_get(const struct folder *f, struct proc *p, const char *hint, struct step **ret);
/* The one that is open already, any part of it, or NULL. */
struct step *steps_open(struct keeper *k, const struct proc *p);
void steps_touched(struct keeper *k, const struct proc *p);
int64_t steps_id(struct keeper *k, const struct proc *p);
int64_t steps_next(const struct keeper *k); /* when steps_tick() is wanted, 0: never */
void steps_tick(struct keeper *k);
/* Commit what nobody works on any more; -EBUSY and words if a command holds a step open. */
int steps_settle(struct keeper *k, struct err *err) MUST_USE;
struct command *command_new(struct keeper *k, enum step_kind kind);
/* Processes may still point to it: then it stays, over, until the last of them has gone. */
void command_retire(struct keeper *k, struct command *c);
void steps_named(struct keeper *k, struct command *c);		  /* its label has come */
int steps_commit_all(struct keeper *k, struct err *err) MUST_USE; /* at the end */
/* For safeguard.c: the command that a change by p belongs to, once steps_get() has been asked. */
struct command *steps_command(struct keeper *k, const struct proc *p);
void steps_announce(struct keeper *k, struct command *c); /* cordon shall know the step now */
int steps_roll_back(struct keeper *k, struct command *c, struct err *err) MUST_USE;
void steps_finish(struct keeper *k, struct command *c); /* commit and retire */
int exit_code(int wait_status);
/* For groups: commit what c (may be NULL) and nobody's command have changed; both may go on. */
int steps_split(struct keeper *k, struct command *c) MUST_USE;
struct command *steps_group(struct keeper *k, const char *name);
/* 1: kept, 0: it had changed nothing, negative: it stays open. c is gone unless negative. */
int steps_close(struct keeper *k, struct command *c) MUST_USE;
void steps_ends(struct keeper *k, struct command *c); /* after its quiet time */

/* ancestry.c */
bool steps_is_agent(const struct keeper *k, const struct proc *p);
void steps_join(struct keeper *k, struct proc *p); /* a process was first seen */
void steps_leave(struct keeper *k, struct proc *p);
int64_t steps_exec(struct keeper *k, struct proc *p, const char *argv, size_t len);

/* group.c */
void group_mark(struct keeper *k, struct proc *p);
/* Begins one, or ends it ("" as name). One that is open ends first. */
int group_from_cordon(struct keeper *k, const char *name, struct err *err) MUST_USE;
void group_leave(struct keeper *k, const struct proc *p);

/* events.c */
void events_tallies(struct keeper *k, bool now); /* tell cordon, once a second or now */
void event_touch(struct keeper *k, const struct caller *c, const char *path, const char *path2);
void events_done(struct keeper *k);

/* label.c */
void label_command(struct buf *out, const char *argv, size_t len);
/* Only starts another program (npx claude, sh -c claude): that one is the agent. */
bool label_wraps(const char *argv, size_t len);
/* The same, but for a shell that runs any text. */
bool label_is_wrapper(const char *argv, size_t len);
const char *label_program(const char *argv, size_t len); /* last component of argv[0], borrowed */
/* What to call an agent: as label_program(), or the script that an interpreter runs. Borrowed. */
const char *label_agent(const char *argv, size_t len);
/* Is a program of this name one that runs scripts? Shells are not meant. */
bool label_is_interpreter(const char *name);

/* asks.c */
/* -FOLDER_HELD, -EACCES, or 0: it was allowed already, for this step or a moment ago. */
int asks_park(struct keeper *k, const struct caller *c, const struct wished *w);
void asks_answer(struct keeper *k, uint64_t id, const struct answer *a);
void asks_forget(struct keeper *k, const struct command *c); /* c is about to be freed */
bool asks_possible(const struct keeper *k); /* somebody answers, and something can wait */
char *asks_key(enum rule_kind kind, const char *path) MUST_USE; /* heap; path is its end */
/* The command is held: this call of it waits too. -FOLDER_HELD or -ENOSPC. */
int asks_hold(struct keeper *k, const struct caller *c, struct command *command, const char *path);
/* The question is over (and freed), and those who waited hear this. */
void asks_release(struct keeper *k, struct question *q, enum door_verdict verdict);
void asks_withdraw(struct keeper *k, struct question *q); /* cordon is told that it is gone */
void asks_tell_over(struct keeper *k, const struct question *q); /* denied by nobody */
void asks_leave(struct keeper *k, int pid);			 /* the process ended */
void asks_drop_all(struct keeper *k);
int64_t asks_next(const struct keeper *k);
void asks_tick(struct keeper *k);
void asks_done(struct keeper *k);

/* grants.c */
/* 0: no answer covers it; 1: allowed; -EACCES: denied. */
int grants_find(struct keeper *k, const struct caller *c, enum rule_kind kind, const char *path);
/* Does an answer about `object` (a directory's ends with '/') speak of path? */
bool grants_cover(enum rule_kind kind, const char *object, enum answer_extent extent,
		  const char *path);
/* The answer to q: remembered as far as it says, and cordon is told of the rule. Its scope may
 * shrink to what is possible. */
void grants_add(struct keeper *k, const struct question *q, const struct answer *a);
/* Doors that can do more for a whole directory hear of it, when those who waited have. */
void grants_tell_doors(struct keeper *k, enum rule_kind kind, const char *object,
		       const struct answer *a);
void grants_revoke(struct keeper *k, uint64_t id);
/* WIRE_GIVEN, WIRE_GIVEN_OVER (ask is of no use then). */
void grants_tell(struct keeper *k, enum wire_type type, uint64_t rule, uint64_t ask);
void grants_forget(struct keeper *k, struct command *c);   /* its step is over */
void grants_leave(struct keeper *k, const struct proc *p); /* the process ended */
void grants_done(struct keeper *k);

/* safeguard.c */
struct guarded { /* one operation; k, c and path are given */
	struct keeper *k;
	const struct caller *c;
	const char *path; /* absolute, of what it may take away */
	bool makes;	  /* if it is performed, something is there */
	struct command *command;
	enum loss what;
	bool counts; /* if it is performed */
	bool stops;  /* it reached the limit and was not performed */
};
/* Around each operation. enter: 0, or what the caller gets; leave: the operation's result, or what
 * the caller gets instead. The step may be gone then. */
int safeguard_enter(struct guarded *g, struct step *s);
int safeguard_leave(struct guarded *g, struct step *s, int result);
void safeguard_answer(struct keeper *k, struct command *c, const struct answer *a);
/* End the command's processes, refuse what waits, roll back when they are gone. */
void safeguard_deny(struct keeper *k, struct command *c, enum guard_why why);
void safeguard_roll_back(struct keeper *k, struct command *c); /* frees or retires c */
int64_t safeguard_next(const struct keeper *k);
void safeguard_tick(struct keeper *k);
void safeguard_forget(struct keeper *k, struct command *c); /* c is about to be freed */
void safeguard_revoke(struct keeper *k, uint64_t id);	    /* of GRANT_OF_LINE */
void safeguard_done(struct keeper *k);
/* From asks.c: a question was made, a call waits, the question is over. */
void safeguard_asked(struct keeper *k, struct command *c);
void safeguard_held(struct keeper *k, struct command *c, const char *op, const char *path);
void safeguard_released(struct command *c);

/* remains.c */
enum hold {
	HOLD_DIR, /* its working directory, too */
	HOLD_FILE,
	HOLD_WRITTEN, /* open for writing */
	HOLD_MAP,
	HOLD_PROGRAM,
	HOLD_KINDS,
};
struct remains {
	struct remain {
		int pid;
		size_t n[HOLD_KINDS];
	} list[6];
	size_t n, more; /* processes in the list, and besides */
	size_t unseen;	/* that could not be looked into */
	bool cut;	/* not all was looked at */
	int last;	/* pid that was counted last */
};
/* Is it about this? path: what /proc says of an open file, absolute. */
typedef bool (*remains_is)(void *data, int pid, enum hold what, const char *path);
void remains_look(struct keeper *k, remains_is is, void *data, struct remains *ret);
/* WIRE_LEFT_OPEN. rule: what was taken back, or 0. */
void remains_tell(struct keeper *k, uint64_t rule, const struct remains *r);

/* reload.c */
void reload_start(struct keeper *k);
void reload_stop(struct keeper *k);
int64_t reload_next(const struct keeper *k);
void reload_tick(struct keeper *k);

/* ending.c */
void ending_begin(struct keeper *k, struct command *c);
void ending_add(struct keeper *k, struct command *c, struct proc *p);
void ending_stop(struct keeper *k);		     /* the commands whose steps are open */
void ending_leave(struct keeper *k, struct proc *p); /* the process has ended */

/* folders.c */
int folders_init(struct keeper *k, struct err *err) MUST_USE;
void folders_done(struct keeper *k);
const char *alias_of(const struct keeper *k, const struct stat *st); /* protected path or NULL */

/* outside.c */
/* Below a --ro folder? f: the folder that the path was found in, or NULL. */
bool outside_read_only(const struct keeper *k, const struct folder *f, const char *path);
int outside_start(struct keeper *k, struct err *err) MUST_USE;
void outside_stop(struct keeper *k);
