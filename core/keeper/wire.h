/* wire - frames between cordon and its keeper: length, type, fields; bounds-checked both ways. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * A frame on the stream socket is u32 length of the rest, u16 type, then the fields in the
 * order that the message lists below: u8 u32 u64 i64 little-endian; str is u32 length + bytes (no
 * NUL). At most WIRE_MAX bytes; anything else on the wire ends the session.
 */
#define WIRE_MAX     (1u << 20)
#define WIRE_STR_MAX (1u << 16) /* longer strings are cut when they are written */

/* Set with flags UNDO_*: the agent requests it (agent_undo.h). If an entry of its plan needs a
 * question to the user, `why` is the reason, and the entry is no conflict. */
#define WIRE_UNDO_OF_AGENT 0x10000u

enum wire_refusal {
	WIRE_UNASKED = 1, /* a user would have been asked */
	WIRE_EXPECTED,	  /* a profile refuses it on purpose: the program continues */
	WIRE_CROWDED,	  /* too many requests wait already */
};

enum wire_type {
	/* keeper -> cordon */
	WIRE_STARTED = 1,  /* i64 host pid of the agent */
	WIRE_START_FAILED, /* u32 exit status 125..127, str words */
	/* i64 step, i64 pid, u32 -errno or 0, str op, str path, str path2, str the rule that
	 * allowed it, or "". */
	WIRE_TOUCH,
	WIRE_DENY,	 /* the same fields, str the reason, u8 enum wire_refusal or 0 */
	WIRE_EXEC,	 /* i64 step, i64 pid, i64 parent, str path, str argv NUL-separated */
	WIRE_STEP_BEGIN, /* i64 step, u8 kind, i64 wall us, str command */
	/* i64 step, u8 kept, u32 exit status (as int; -1: unknown), i64 wall us, u64 paths, str why
	 * incomplete, u8 1: elsewhere, 2: granted, str command. */
	WIRE_STEP_END,
	/* u64 ask, i64 step, i64 pid, u8 enum rule_kind, u8 flags ASK_*, u32 timeout in seconds or
	 * 0, str op, str path, str via, str program, str command, str reason, str its step's
	 * command line, u8 directories that a tree may go up to, str its bundle, str the paths of
	 * that. */
	WIRE_ASK,
	WIRE_ASK_GONE, /* u64 ask, u8 enum ask_end */
	WIRE_RAN,      /* u32 exit status, str command: it ended without a change */
	WIRE_EXIT,     /* u32 wait status of the agent */
	/* u64 request, u8 kind, u64 n, u32 flags, u64 conflicts, u64 stops, u64 paths, u64 seal,
	 * u32 n: ids i64..., u32 n: barriers i64 first i64 last u64 count i64 after u8 own u32 n:
	 * str path..., u32 n: u8 what u8 enum wire_conflict u8 fate u32 root str path str other str
	 * why str base (conflicts first, cut to fit). */
	WIRE_PLAN,
	WIRE_PROGRESS, /* u64 request, u64 done, u64 total */
	WIRE_DONE,     /* u64 request, u32 -errno or 0, str message */
	/* u8 enum note_how, str message for the user (recovered a step, a step is incomplete). */
	WIRE_NOTE,
	WIRE_EXTERNAL,	  /* u64 further paths that are not sent, str path: edited from outside */
	WIRE_STEP_UNDONE, /* i64 step, str command: a process inside rolled it back */
	WIRE_HELD,	  /* struct guard_report: a safeguard holds a step, or its news */
	/* i64 step, u8 enum loss, u8 enum guard_why, u64 limit, u32 -errno or 0 of its rollback,
	 * str command, str message (why the rollback failed or is incomplete) */
	WIRE_TAKEN_BACK,
	WIRE_GIVEN,	 /* u64 rule, u64 ask: the answer to it is in force */
	WIRE_GIVEN_OVER, /* u64 rule: revoked, or its step is over */
	/* u64 rule, or 0: of settings files; u64 processes that still have such files open, str
	 * which processes, and which files. */
	WIRE_LEFT_OPEN,
	/* u64 reads judged, u64 by a rule, u64 by an earlier answer, u64 asked, u64 denied because
	 * too many wait. */
	WIRE_TALLIES,
	/* u64 flow, u8 enum flow_state, i64 step, i64 pid, u64 bytes sent, u64 received, str
	 * HOST:PORT, str the address that was dialled, str the rule that allowed it, str
	 * program. */
	WIRE_FLOW,
	/* u8 enum port_state, u32 port inside, u32 port of the host, i64 pid, u32 -errno or 0, str
	 * program, str who published it, or "". */
	WIRE_PORT,
	/* i64 step, i64 pid, str call, str requested address, str actual address. */
	WIRE_REWRITE,
	WIRE_SECRET,	 /* u64 id, str: a secret that goes inside; redact it in recordings */
	WIRE_TURN_BEGAN, /* u8 begins, or it is known and gets its name; str prompt, or "" */
	/* u8: the agent itself asks the user, or no longer does. */
	WIRE_AGENT_ASKS,
	WIRE_AGENT_RESTS, /* u8: the agent's turn is over, or it continues */
	WIRE_NOTICED,	  /* u64 how many notices, oldest first, the agent's hook has fetched */
	WIRE_POINT_DONE,  /* str "3.2": the agent has handled that point of the review */
	/* u64 shell, u32 its exit status as $?, str why it did not run, or "". */
	WIRE_SHELL_ENDED,
	/* cordon -> keeper */
	WIRE_ANSWER = 64, /* u64 ask, u8 allow, u8 scope, u8 extent, u8 up, i64 until */
	WIRE_REVOKE,	  /* u64 rule: of WIRE_GIVEN */
	WIRE_END_FLOW,	  /* u64 flow: close that connection */
	WIRE_FORBID,	  /* u64 ask of WIRE_GIVEN, str HOST:PORT: deny that for the session */
	/* u32 port inside, u32 port of the host, str who requests it: publish the port. */
	WIRE_PUBLISH,
	WIRE_PLAN_REQ, /* u64 request, u8 kind, u64 n, u32 flags UNDO_* */
	/* u64 request, u8 kind, u64 n, u32 flags; from the plan that was shown: i64 newest step,
	 * u64 seal, or 0. */
	WIRE_UNDO_REQ,
	/* u64 request, u8 enum wire_restore, i64 step, u32 flags or the hunk's number, u32 n: str
	 * path... */
	WIRE_RESTORE_REQ,
	WIRE_CANCEL, /* u64 request */
	WIRE_SIGNAL, /* u32 signal for the agent's process group; SIGKILL ends the sandbox */
	WIRE_FREEZE, /* the audit log cannot be written: deny all further changes */
	WIRE_STOP,   /* end the commands with open steps */
	/* u64 size, u64 step size, u64 steps, u64 deletes, u64 overwrites, u64 renames, u64
	 * overwrite bytes, u64 timeout in seconds: as struct limits. */
	WIRE_LIMITS,
	WIRE_GROUP,	  /* str name: begins a step of all changes until it ends; "" ends it */
	WIRE_TURN,	  /* the user sent a line to the agent */
	WIRE_NOTICE,	  /* str a line for the agent, which its hook fetches; "": drop all */
	WIRE_SECRET_KEPT, /* u64 id of WIRE_SECRET: the secret may be used */
	/* u64 shell, u8 its stdio is a terminal, str directory, u32 n: str variable..., u32 n: str
	 * argument...; with three descriptors: its stdio. */
	WIRE_SHELL,
	WIRE_SHELL_SIGNAL, /* u64 shell, u32 signal for its process group */
	WIRE_SHUTDOWN,	   /* end the sandbox, close the open steps, exit */
};

enum wire_restore {
	WIRE_RESTORE_PATHS,
	WIRE_RESTORE_PLAN, /* sends the plan of a restore */
	WIRE_RESTORE_HUNK, /* of one path */
};

/* Flags of WIRE_ASK. */
enum {
	ASK_DIR = 1,	    /* the object is a directory */
	ASK_STEP = 2,	    /* an answer can count for its step */
	ASK_SECRET = 4,	    /* its name or its server suggests secrets */
	ASK_NO_DIR = 8,	    /* too much for an answer that allows: its directory */
	ASK_NO_TREE = 16,   /* and all of that directory's content */
	ASK_CALL_ONLY = 32, /* the timeout is the call's: the question stays after it */
};

/* The limits of WIRE_LIMITS, in its order; LIMIT_SAME keeps one. */
#define LIMIT_SAME UINT64_MAX
struct limits {
	uint64_t size, step_size, steps; /* of each store, as struct journal_options */
	uint64_t deletes, overwrites, renames, overwrite_bytes, timeout_s; /* safeguards; 0: off */
};

#define TALLIES 5 /* numbers in WIRE_TALLIES */

/* How a note is shown, and its subject. */
enum note_how {
	HEARD_QUIETLY,
	HEARD_ALOUD,	 /* also without a console */
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
	ASK_COVERED,   /* another answer decides it */
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

/* A cursor over the fields of one frame. After an overrun every get returns 0 / "" and bad is
 * set. */
struct wire_in {
	enum wire_type type;
	const char *p, *end;
	bool bad;
};

/* Finds the first frame of b, *used bytes long. Returns 1, 0 if it is incomplete, or -EBADMSG. */
int wire_next(const struct buf *b, struct wire_in *in, size_t *used);
uint8_t wire_get_u8(struct wire_in *in);
uint32_t wire_get_u32(struct wire_in *in);
uint64_t wire_get_u64(struct wire_in *in);
int64_t wire_get_i64(struct wire_in *in);
struct span wire_get_str(struct wire_in *in);	  /* points into the frame */
char *wire_get_cstr(struct wire_in *in) MUST_USE; /* heap, NUL-terminated */
