/* service - the functions of the keeper that doors and backends call, in its process. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/door.h"

struct config;
struct keeper;

const struct policy *keeper_policy(const struct keeper *k); /* borrowed */
const struct config *keeper_config(const struct keeper *k); /* borrowed; may be NULL */
/* Fills in the process and step of a thread, which are cached until the process exits. Returns 0,
 * or -ESRCH if it has ended. */
int keeper_caller(struct keeper *k, int tid, struct caller *ret);
/* Returns whether a process, or an ancestor of it, has made a call that the door has seen. */
bool keeper_has_process(const struct keeper *k, int pid);
/* Duplicates a descriptor of the calling thread. Returns -ESRCH, -EBADF, or before Linux 6.9
 * -EACCES for a thread that does not share the table of its process. */
int keeper_getfd(struct keeper *k, const struct caller *c, int fd);
void keeper_set_umask(const struct caller *c, mode_t mask); /* umask(2) */
/* Called before the kernel performs an execve(2). If a thread other than the first calls execve(2),
 * the first thread ends, even if a call of it waits, and the new program gets its number: c->known
 * is not set for that number. */
void keeper_exec_begins(const struct caller *c);
/* Audits an exec that is about to happen, and begins a step if it is a new command. argv: separated
 * by NULs. */
void keeper_exec(struct keeper *k, const struct caller *c, const char *path, const char *argv,
		 size_t argv_len);
/*
 * Performs a request about steps: a process inside opened STEP_PATH + request for writing.
 *   cordon step        "begin/NAME", "end", "end/NAME", "abort"
 *   the agent itself   "run/NAME", "api/NAME" (a step of kind STEP_API), at its end "ran/STATUS"
 *   an agent's hook    "turn/PROMPT"; "edit" and "edited/NAME" around a write of the agent itself;
 *                      "asks" while it waits for its user; "rests" at the end of its turn;
 *                      "notices", answered by the new notices, a line each
 *   cordon review      "reviewed/3.2": the agent has handled that point of the user's review
 * Returns a descriptor with the answer, one line, which begins with STEP_REFUSED if nothing was
 * done; or negative errno.
 */
#define STEP_PATH    "/run/cordon/step/"
#define STEP_SOCKET  "/run/cordon/step.socket" /* in a guest, for the same (step_ask.h) */
#define STEP_REFUSED "refused: "
int keeper_step(struct keeper *k, const struct caller *c, const char *request) MUST_USE;
/* Reports a change that the floor or the policy refused. */
void keeper_deny(struct keeper *k, const struct caller *c, const char *path, int result,
		 const char *reason);
/* Reports a call that was refused because too many questions wait. */
void keeper_deny_crowded(struct keeper *k, const struct caller *c, const char *path);
/* Reports a call that was refused because no user can be asked. */
void keeper_deny_unasked(struct keeper *k, const struct caller *c, const char *path, int result,
			 const char *reason);
/* Reports a look at a hidden name, which got ENOENT, as a quiet row. c->op is LOOKED_FOR. */
#define LOOKED_FOR "look for"
void keeper_looked(struct keeper *k, const struct caller *c, const char *path);
/* macOS: reports that the process `comm` of the session looked up a mach service ("mach-lookup" or
 * another operation that begins with "mach-"), which the profile denied or allowed. */
#define SERVICE_OPERATIONS "mach-"
#define SERVICE_ASKED_BY   "asked by " /* and comm: the reason of a denial */
void keeper_service(struct keeper *k, int pid, const char *comm, const char *operation,
		    const char *service, bool allowed);
/* Counts n reads that a door allowed by its copy of the policy, for the metrics. */
void keeper_count_reads(struct keeper *k, uint64_t n);
/* Calls door_ops.tick() once at that time. */
void keeper_wake_at(struct keeper *k, int64_t mono_us);
/* Withdraws the question of a parked request after its call has ended (signal, timeout), unless the
 * call is repeated soon. */
void keeper_request_gone(struct keeper *k, struct door *d, uint64_t request);
/* Adds a door to the one of launch(): it is polled, ticked and closed with that. Returns -ENOSPC if
 * there are too many. */
int keeper_add_door(struct keeper *k, struct door *d) MUST_USE;
/*
 * Sets the agent's process (host pid), and the new parent of orphans inside: pid 1 of the sandbox,
 * or one of these. WIRE_STARTED follows launch() and this call.
 */
#define ORPHANS_UNKNOWN 0
#define ORPHANS_OUTSIDE (-1) /* a process that Landlock hides from the keeper */
void keeper_set_agent(struct keeper *k, int pid, int orphans);
/* The agent has ended. At the end of this turn of the loop: stop(), close the door, commit,
 * WIRE_EXIT. */
void keeper_agent_exited(struct keeper *k, int wait_status);
/* Reports that the agent did not run: its exec failed after launch() had returned. status: 126 or
 * 127. */
void keeper_agent_failed(struct keeper *k, int status, const char *words);
void keeper_tell_turn(struct keeper *k, bool begins, const char *words); /* WIRE_TURN_BEGAN */
void keeper_tell_asks(struct keeper *k, bool asks);			 /* WIRE_AGENT_ASKS */
void keeper_tell_rests(struct keeper *k, bool rests);			 /* WIRE_AGENT_RESTS */
void keeper_tell_noticed(struct keeper *k, uint64_t n);			 /* WIRE_NOTICED */
void keeper_tell_point(struct keeper *k, const char *name);		 /* WIRE_POINT_DONE */
/* Sends a message for the user: WIRE_NOTE. */
void keeper_note(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sends a message that a run without a console prints, too: an action of the user has no effect, or
 * files have changed. */
void keeper_warn(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sends a message about an interrupted step that was rolled back; printed like a warning. */
void keeper_recovered(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sets the directories that belong to the sandbox: changes there are not reported. Default:
 * directories that mounts make private, such as /tmp and /dev. Borrowed; ends with NULL. */
void keeper_set_private(struct keeper *k, const char *const *dirs);
/* Polls a descriptor of the backend: fn(data) when it is readable. */
int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data);
/* Polls a descriptor until it is writable (a connect in progress). One watch per descriptor;
 * unwatch before close. */
int keeper_watch_write(struct keeper *k, int fd, void (*fn)(void *data), void *data);
void keeper_unwatch(struct keeper *k, int fd);
/* Takes a descriptor that needs ten milliseconds to close, such as an inotify instance or a packet
 * socket. It is closed when the process ends. */
void keeper_close_late(struct keeper *k, int fd);
