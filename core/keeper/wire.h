/* wire - frames between cordon and its keeper: length, type, fields; bounds-checked both ways. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * A frame on the stream socket is u32 length of what follows, u16 type, then the fields in the
 * order that the message lists below: u8 u32 u64 i64 little-endian; str is u32 length + bytes (no
 * NUL). At most WIRE_MAX bytes; anything else on the wire ends the session.
 */
#define WIRE_MAX     (1u << 20)
#define WIRE_STR_MAX (1u << 16) /* longer strings are cut when they are written */

/* With flags UNDO_*: it is the agent who wants it (agent_undo.h). An entry of its plan that a human
 * has to be asked about says in `why` for what reason, and is no conflict. */
#define WIRE_UNDO_OF_AGENT 0x10000u

enum wire_refusal {
	WIRE_UNASKED = 1, /* a human would have been asked */
	WIRE_EXPECTED,	  /* a profile refuses it on purpose: its program goes on without */
	WIRE_CROWDED,	  /* too many requests wait already */
};

enum wire_type {
	/* keeper -> cordon */
	WIRE_STARTED = 1,  /* i64 host pid of the agent */
	WIRE_START_FAILED, /* u32 exit status 125..127, str words */
	/* i64 step, i64 pid, u32 -errno or 0, str op, str path, str path2, str the words of the
	 * rule that let it, or "". */
	WIRE_TOUCH,
	WIRE_DENY,	 /* the same fields, the words of the refusal, u8 enum wire_refusal or 0 */
	WIRE_EXEC,	 /* i64 step, i64 pid, i64 parent, str path, str argv NUL-separated */
	WIRE_STEP_BEGIN, /* i64 step, u8 kind, i64 wall us, str command */
	/* i64 step, u8 kept, u32 exit status (as int; -1: unknown), i64 wall us, u64 paths, str why
	 * incomplete, u8 elsewhere, str command. */
	WIRE_STEP_END,
	/* u64 ask, i64 step, i64 pid, u8 enum rule_kind, u8 flags ASK_*, u32 timeout in seconds or
	 * 0, str op, str path, str via, str program, str command, str reason, str its step's
	 * command line, u8 directories that a tree may go up to, str its bundle, str the paths of
	 * that. */
	WIRE_ASK,
	WIRE_ASK_GONE, /* u64 ask, u8 enum ask_end */
	WIRE_RAN,      /* u32 exit status, str command: it has ended and changed nothing */
	WIRE_EXIT,     /* u32 wait status of the agent */
	/* u64 request, u8 kind, u64 n, u32 flags, u64 conflicts, u64 stops, u64 paths, u64 seal,
	 * u32 n: ids i64..., u32 n: barriers i64 first i64 last u64 count i64 after u8 own u32 n:
	 * str path..., u32 n: u8 what u8 enum wire_conflict u8 fate u32 root str path str other str
	 * why str base (conflicts first, cut to fit). */
	WIRE_PLAN,
	WIRE_PROGRESS, /* u64 request, u64 done, u64 total */
	WIRE_DONE,     /* u64 request, u32 -errno or 0, str words */
	/* u8 enum note_how, str words for the human (recovered a step, a step is incomplete). */
	WIRE_NOTE,
	WIRE_EXTERNAL,	  /* u64 others that are not told, str path: edited from outside */
	WIRE_STEP_UNDONE, /* i64 step, str command: those inside rolled it back */
	WIRE_HELD,	  /* struct guard_report: a safeguard holds a step; again with news of it */
	/* i64 step, u8 enum loss, u8 enum guard_why, u64 limit, u32 -errno or 0 of its rollback,
	 * str command, str words (why the rollback failed or is incomplete) */
	WIRE_TAKEN_BACK,
	WIRE_GIVEN,	 /* u64 rule, u64 ask: the answer to it counts from now on */
	WIRE_GIVEN_OVER, /* u64 rule: revoked, or its step is over */
	/* u64 rule, or 0: of settings files; u64 processes that hold some of it still, str words:
	 * which, and what. */
	WIRE_LEFT_OPEN,
	/* u64 reads judged, u64 by a rule, u64 by an answer kept, u64 asked, u64 denied because too
	 * many wait. */
	WIRE_TALLIES,
	/* u64 flow, u8 enum flow_state, i64 step, i64 pid, u64 bytes sent, u64 received, str
	 * HOST:PORT, str the address that was dialled, str which rule let it, str program. */
	WIRE_FLOW,
	/* u8 enum port_state, u32 port inside, u32 port of the host, i64 pid, u32 -errno or 0, str
	 * program, str who wanted it published, or "". */
	WIRE_PORT,
	/* i64 step, i64 pid, str call, str requested address, str actual address. */
	WIRE_REWRITE,
	WIRE_SECRET,	 /* u64 id, str: it goes inside; no recording may show it */
	WIRE_TURN_BEGAN, /* u8 begins, or it is known and is named now; str prompt, or "" */
	/* u8: the agent's own question waits for the human, or does not any more. */
	WIRE_AGENT_ASKS,
	WIRE_AGENT_RESTS, /* u8: the agent's turn is over, or it goes on */
	WIRE_NOTICED,	  /* u64 how many notices, oldest first, the agent's hook has fetched */
	WIRE_POINT_DONE,  /* str "3.2": the agent says that this point of the review is handled */
	/* u64 shell, u32 status for the shell that waits, str why it never ran, or "". */
	WIRE_SHELL_ENDED,
	/* cordon -> keeper */
	WIRE_ANSWER = 64, /* u64 ask, u8 allow, u8 scope, u8 extent, u8 up, i64 until */
	WIRE_REVOKE,	  /* u64 rule: of WIRE_GIVEN */
	WIRE_END_FLOW,	  /* u64 flow: close that connection */
	WIRE_FORBID,	  /* u64 ask of WIRE_GIVEN, str HOST:PORT: deny that for the session */
	/* u32 port inside, u32 port of the host, str who wants it: show it on its loopback. */
	WIRE_PUBLISH,
	WIRE_PLAN_REQ, /* u64 request, u8 kind, u64 n, u32 flags UNDO_* */
	/* u64 request, u8 kind, u64 n, u32 flags; of the plan that was shown: i64 newest step, u64
	 * seal, or 0. */
	WIRE_UNDO_REQ,
	/* u64 request, u8 enum wire_restore, i64 step, u32 flags or the hunk's number, u32 n: str
	 * path... */
	WIRE_RESTORE_REQ,
	WIRE_CANCEL, /* u64 request */
	WIRE_SIGNAL, /* u32 signal for the agent's process group; SIGKILL ends the sandbox */
	WIRE_FREEZE, /* audit cannot be written: deny every change from now on */
	WIRE_STOP,   /* end the commands whose steps are open */
	/* u64 size, u64 step size, u64 steps, u64 deletes, u64 overwrites, u64 renames, u64
	 * overwrite bytes, u64 timeout in seconds: as struct limits. */
	WIRE_LIMITS,
	WIRE_GROUP,	  /* str name: begins a step of all changes until it ends; "" ends it */
	WIRE_TURN,	  /* the human sent a line to the agent */
	WIRE_NOTICE,	  /* str a line for the agent, which its hook fetches; "": drop all */
	WIRE_SECRET_KEPT, /* u64 id of WIRE_SECRET: it may go now */
	/* u64 shell, u8 is its stdio a terminal, str directory, u32 n: str variable..., u32 n: str
	 * argument...; three descriptors come along: its stdio. */
	WIRE_SHELL,
	WIRE_SHELL_SIGNAL, /* u64 shell, u32 signal for its process group */
	WIRE_SHUTDOWN,	   /* end the sandbox, close the open steps, exit */
};

enum wire_restore {
	WIRE_RESTORE_PATHS,
	WIRE_RESTORE_PLAN, /* what that would change */
	WIRE_RESTORE_HUNK, /* of one path */
};

/* Flags of WIRE_ASK. */
enum {
	ASK_DIR = 1,  /* the object is a directory */
	ASK_STEP = 2, /* an answer can count for its step */
	ASK_SECRET =
		4, /* its name says that it holds secrets, or that its server gives much away */
	ASK_NO_DIR = 8,	    /* too much for an answer that allows: its directory */
	ASK_NO_TREE = 16,   /* and everything below */
	ASK_CALL_ONLY = 32, /* the time is the call's: after it the question stays */
};

/* WIRE_LIMITS, in its order; LIMIT_SAME leaves one as it is. */
#define LIMIT_SAME UINT64_MAX
struct limits {
	uint64_t size, step_size, steps; /* of each store, as struct journal_options */
	uint64_t deletes, overwrites, renames, overwrite_bytes, timeout_s; /* safeguards; 0: off */
};

#define TALLIES 5 /* numbers in WIRE_TALLIES */

/* How a note is shown, and its subject. */
enum note_how {
	HEARD_QUIETLY,
	HEARD_ALOUD,	 /* who has no console, too */
	HEARD_RECOVERED, /* the same: an interrupted step was rolled back */
};

/* State of an entry of a plan; see struct undo_entry. */
enum wire_conflict {
	CONFLICT_NONE,
	CONFLICT_SINCE,
	CONFLICT_LOST,
	CONFLICT_BESIDE,
	CONFLICT_LINKED,
	CONFLICT_LATER, /* none, either */
};

/* Why a question has ended without an answer to it. */
enum ask_end {
	ASK_LEFT,      /* no call waits for it */
	ASK_COVERED,   /* another answer decides it too */
	ASK_TIMED_OUT, /* denied */
};

/* Building: wire_begin(), the fields, wire_end(). out may hold several frames. */
size_t wire_begin(struct buf *out, enum wire_type type); /* returns the mark for wire_end() */
void wire_u8(struct buf *out, uint8_t v);
void wire_u32(struct buf *out, uint32_t v);
void wire_u64(struct buf *out, uint64_t v);
void wire_i64(struct buf *out, int64_t v);
void wire_str(struct buf *out, const char *s, size_t len); /* at most WIRE_STR_MAX */
void wire_cstr(struct buf *out, const char *s);		   /* NULL is "" */
void wire_end(struct buf *out, size_t mark);

/* Reading: a cursor over one frame's fields. After an overrun every get gives 0 / "" and bad is
 * set. */
struct wire_in {
	enum wire_type type;
	const char *p, *end;
	bool bad;
};

/* 1: a frame at the head of b, *used bytes long; 0: not whole yet; -EBADMSG. */
int wire_next(const struct buf *b, struct wire_in *in, size_t *used);
uint8_t wire_get_u8(struct wire_in *in);
uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
int64_t wire_get_i64(struct wire_in *in);
struct span wire_get_str(struct wire_in *in);	  /* points into the frame */
char *wire_get_cstr(struct wire_in *in) MUST_USE; /* heap, NUL-terminated */
