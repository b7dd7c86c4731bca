/* audit - the log of events and decisions: append-only NDJSON, each line chained to the last
 * one. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <inttypes.h>

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * File:    one per working folder in the state directory, mode 0600, O_APPEND, one writer (flock).
 *          Line: {"seq":N,"time":"...","session":"...","event":"...",...,"prev":"<sha256 hex>",
 *          "hash":"<sha256 hex>"}; hash covers prev and the line's bytes before ,"hash".
 *          Only the beginning of a long text is kept, and "NAME_cut":true follows it.
 *          A small head file beside it keeps seq and hash of the newest line so that a cut tail is
 *          noticed. From 64 MiB on the next session begins a new file; one older is kept as PATH.1.
 *          Processes inside can cause some events without limit: exec, ran, touch, deny, step,
 *          external-edit, and entries marked `inside`. Once a session has written AUDIT_SESSION_MAX
 *          bytes of these, further ones are only counted: a line says so, and later lines have the
 *          numbers.
 * Failure: audit_append() returns a negative errno; from then on operations must be denied.
 * Threads: main loop only.
 */
struct audit;

enum audit_event {
	AUDIT_SESSION_START,
	AUDIT_SESSION_END,
	AUDIT_EXEC,
	AUDIT_RAN,   /* a command without changes has ended; others end with AUDIT_STEP */
	AUDIT_TOUCH, /* a step's first change of a path */
	AUDIT_DENY,  /* refused by a rule or by the sandbox's floor */
	AUDIT_ASK,
	AUDIT_DECISION,
	AUDIT_STEP,
	AUDIT_UNDO,
	AUDIT_REDO,
	AUDIT_RECOVERY,
	AUDIT_EXTERNAL, /* a path was edited outside the sandbox */
	/* The user sent a line to the agent: detail; op "named": the words of that turn. */
	AUDIT_TURN,
	AUDIT_TRAFFIC, /* bytes of one target since the last such line */
	/* More was sent to a host than network.bytes allows; once for each setting. */
	AUDIT_EXCESS,
	AUDIT_SAFEGUARD, /* a step reached a limit and is held, or was stopped */
	AUDIT_COUNTED,	 /* events that were counted instead of written */
	AUDIT_EVENTS,
};

#define AUDIT_SESSION_MAX (256u << 20) /* bytes */
#define AUDIT_CUT	  "_cut"

/* The detail of AUDIT_SESSION_END: reads of gated places; a format for printf and scanf. */
#define AUDIT_READS                                                                                \
	"reads %" PRIu64 ", by rule %" PRIu64 ", by answer %" PRIu64 ", asked %" PRIu64            \
	", crowded %" PRIu64

/* The detail of AUDIT_TRAFFIC; a format for printf and scanf. */
#define AUDIT_BYTES "sent %" PRIu64 ", received %" PRIu64

struct audit_entry {
	enum audit_event event;
	int64_t step;	    /* 0: none */
	int pid;	    /* host pid, 0: none */
	int result;	    /* 0, negative errno, or an exit status */
	int64_t latency_us; /* of a decision; else -1 */
	/* A process inside caused an event that usually the user causes. */
	bool inside;
	const char *op;	   /* "unlink", "open", "exec", ... NULL: left out, like the next ones */
	const char *path;  /* raw bytes */
	const char *path2; /* rename target, link source */
	const char *program;
	const char *command;
	const char *by;	    /* the decider: "console", "approval.command", "rule ..." */
	const char *detail; /* reason, answer, words */
};

#define AUDIT_WAIT_MS 100
/* Opens the log, and makes its directory (0700) if needed. Returns -EBUSY if another process writes
 * it, and still does after AUDIT_WAIT_MS. */
int audit_open(struct audit **ret, const char *path, const char *session, struct err *err) MUST_USE;
int audit_append(struct audit *a, const struct audit_entry *e) MUST_USE; /* buffered */
int audit_flush(struct audit *a) MUST_USE; /* call once per loop turn and before exit */
/* Sets a limit other than AUDIT_SESSION_MAX. */
void audit_set_session_max(struct audit *a, uint64_t bytes);
bool audit_is_counting(const struct audit *a); /* the limit was reached */
/* Sets the redaction of commands and details before they are written; the caller owns it. NULL:
 * none. */
struct redact;
void audit_set_redact(struct audit *a, const struct redact *redact);
void audit_close(struct audit *a); /* flushes; NULL is a no-op */

/* Checks every line and the head; *ret_lines: the number of good lines. Returns -EBADMSG, and names
 * the first bad line. */
int audit_verify(const char *path, uint64_t *ret_lines, struct err *err) MUST_USE;
/* Returns how many lines before the oldest one were dropped, according to the head file. */
uint64_t audit_dropped(const char *path);
