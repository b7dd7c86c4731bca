/* client - cordon's side of the keeper's socket: requests out, decoded events in. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/client_event.h"
#include "core/keeper/wire.h"
#include "core/policy/answer.h"

/*
 * Life:    client_new(fd) -> client_read() whenever fd is readable -> client_free() closes fd.
 * Threads: main loop. Never blocks: frames that cannot be written yet wait (client_wants_write()).
 * Strings in events are raw agent bytes, NUL-terminated, valid during the callback.
 */
struct client;

struct client *client_new(int fd, client_on_event on, void *data);
void client_free(struct client *c); /* NULL is a no-op */
int client_fd(const struct client *c);
/* Reads and dispatches the pending frames. Returns 0, -EPIPE if the keeper is gone, or -EBADMSG. */
int client_read(struct client *c);
bool client_wants_write(const struct client *c);
void client_write(struct client *c); /* client_read() reports a keeper that is gone */

void client_answer(struct client *c, uint64_t ask, const struct answer *a);
void client_revoke(struct client *c, uint64_t rule);
void client_end_flow(struct client *c, uint64_t flow);
void client_forbid(struct client *c, uint64_t ask, const char *target);
void client_secret_kept(struct client *c, uint64_t id);
void client_publish(struct client *c, uint16_t port, uint16_t host_port, const char *by);
/* Returns the id of the request, as the functions below do. */
uint64_t client_plan(struct client *c, enum undo_kind kind, size_t n, unsigned flags);
/* newest: the first step of the plan that was shown (0: any); fails with -ESTALE if the history has
 * grown. seal: that of the plan (0: any); fails with -ESTALE if the merges would differ now. */
uint64_t client_undo(struct client *c, enum undo_kind kind, size_t n, unsigned flags,
		     int64_t newest, uint64_t seal);
/* Return 0 if the paths do not fit one frame (1 MiB). client_restore_plan() changes nothing:
 * WIRE_PLAN lists the changes. */
uint64_t client_restore(struct client *c, int64_t step, const char *const *paths, unsigned flags);
uint64_t client_restore_hunk(struct client *c, int64_t step, const char *path, unsigned hunk);
uint64_t client_restore_plan(struct client *c, int64_t step, const char *const *paths,
			     unsigned flags);
void client_cancel(struct client *c, uint64_t request);
/* Starts a program beside the agent; WIRE_SHELL_ENDED follows. Takes the descriptors. Returns
 * -EBUSY while those of an earlier program wait to be sent, or -E2BIG. */
struct shell_wish {
	const char *const *argv, *const *env; /* NULL-terminated */
	const char *cwd;
	bool tty;
	int stdio[3];
};
int client_shell(struct client *c, uint64_t id, struct shell_wish *w) MUST_USE;
void client_shell_signal(struct client *c, uint64_t id, int sig);
void client_limits(struct client *c, const struct limits *l); /* from the next change on */
void client_group(struct client *c, const char *name);	      /* NULL: ends the group */
void client_stop(struct client *c);
void client_turn(struct client *c);
void client_notice(struct client *c, const char *line); /* "": drops all waiting ones */
void client_signal(struct client *c, int sig);
void client_freeze(struct client *c);
void client_shutdown(struct client *c);
