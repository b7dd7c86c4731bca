/* service - what doors and backends ask of the keeper, inside its process. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/door.h"

struct config;
struct keeper;

const struct policy *keeper_policy(const struct keeper *k); /* borrowed */
const struct config *keeper_config(const struct keeper *k); /* borrowed; NULL: there is none */
/* A process was seen: its tgid and step are looked up once and cached until it exits. */
int keeper_caller(struct keeper *k, int tid, struct caller *ret); /* -ESRCH: it is gone */
/* A duplicate of the caller's descriptor, from the calling thread's own table. Before Linux 6.9
 * that of a thread which does not share its process's is closed to us: -EACCES. -ESRCH, -EBADF. */
int keeper_getfd(struct keeper *k, const struct caller *c, int fd);
void keeper_set_umask(const struct caller *c, mode_t mask); /* umask(2) */
/* It is about to exec: audit, and find out whether a new command begins. argv NUL-separated. */
void keeper_exec(struct keeper *k, const struct caller *c, const char *path, const char *argv,
		 size_t argv_len);
/*
 * `cordon step`: a process opened STEP_PATH + request for writing; "begin/NAME", "end", "end/NAME"
 * or "abort". The agent itself may also say "run/NAME" or "api/NAME" (a step of kind STEP_API), and
 * "ran/STATUS" at its end; an agent's hook "turn/PROMPT", "edit" before and "edited/NAME" after
 * something that the agent writes itself. Returns what it is given for it: a descriptor to read the
 * answer from, one line, that begins with STEP_REFUSED if nothing was done; or negative errno.
 */
#define STEP_PATH    "/run/cordon/step/"
#define STEP_SOCKET  "/run/cordon/step.socket" /* in a guest, for the same (step_ask.h) */
#define STEP_REFUSED "refused: "
int keeper_step(struct keeper *k, const struct caller *c, const char *request) MUST_USE;
/* A call that changes things was refused by the floor or by policy: report it. */
void keeper_deny(struct keeper *k, const struct caller *c, const char *path, int result,
		 const char *reason);
/* The same where a human would have been asked, but there is none. */
void keeper_deny_unasked(struct keeper *k, const struct caller *c, const char *path, int result,
			 const char *reason);
/* A look at a name that is hidden, which got ENOENT: a quiet row. c->op is LOOKED_FOR. */
#define LOOKED_FOR "look for"
void keeper_looked(struct keeper *k, const struct caller *c, const char *path);
/* macOS: a process of the session (its name is in comm) has looked up a mach service (operation
 * "mach-lookup" or another one that begins so), and the profile denied it, or let it and told. */
#define SERVICE_OPERATIONS "mach-"
#define SERVICE_ASKED_BY   "asked by " /* and comm: the reason of a denial */
void keeper_service(struct keeper *k, int pid, const char *comm, const char *operation,
		    const char *service, bool allowed);
/* A door with a policy of its own has let n reads through that the rules allow: for the metrics. */
void keeper_count_reads(struct keeper *k, uint64_t n);
/* Durable: calls that wait at the same time share a sync, see FOLDER_WAITS. */
bool keeper_gathers(const struct keeper *k);
void keeper_gather_sync(struct keeper *k);
void keeper_gather_end(struct keeper *k); /* after the last of them was served again */
void keeper_wake_at(struct keeper *k, int64_t mono_us); /* door_ops.tick() then, once */
/* A parked request died (signal, timeout): its question goes away unless it is asked again soon. */
void keeper_request_gone(struct keeper *k, struct door *d, uint64_t request);
/* A further way in, after launch() gave the first: polled, ticked and closed with it. -ENOSPC. */
int keeper_add_door(struct keeper *k, struct door *d) MUST_USE;
/*
 * The agent's process (host pid), known to the backend only, and who has the orphans of those
 * inside: pid 1 there, or one of these. WIRE_STARTED follows launch() and this.
 */
#define ORPHANS_UNKNOWN 0
#define ORPHANS_OUTSIDE (-1) /* somebody whom Landlock lets nobody here look into */
void keeper_set_agent(struct keeper *k, int pid, int orphans);
/* It ended. At the end of this turn of the loop: stop(), close the door, commit, WIRE_EXIT. */
void keeper_agent_exited(struct keeper *k, int wait_status);
/* It never ran: exec failed after launch() had returned. status 126 or 127. */
void keeper_agent_failed(struct keeper *k, int status, const char *words);
/* Words for the human, once: WIRE_NOTE. */
void keeper_note(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
void keeper_tell_turn(struct keeper *k, const char *words); /* WIRE_TURN_BEGAN */
/* The same, and said aloud where there is no console: the human did something that does not count,
 * or files are not as they were a moment ago. */
void keeper_warn(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* The same: a step that was interrupted has been rolled back. */
void keeper_recovered(struct keeper *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Directories that are the sandbox's own, so that what changes there is nobody's business; the
 * default is what mounts make private: /tmp, /dev and the like. Borrowed; ends with NULL. */
void keeper_set_private(struct keeper *k, const char *const *dirs);
/* A descriptor that the backend wants polled: fn(data) when readable. */
int keeper_watch(struct keeper *k, int fd, void (*fn)(void *data), void *data);
/* The same for writable (a connect under way). One watch a descriptor; unwatch before close. */
int keeper_watch_write(struct keeper *k, int fd, void (*fn)(void *data), void *data);
void keeper_unwatch(struct keeper *k, int fd);
/* A descriptor whose close takes ten milliseconds and that holds nothing that anybody waits for,
 * like an inotify instance or a packet socket: it ends with the process. The caller closes it no
 * more. */
void keeper_close_late(struct keeper *k, int fd);
