/* client - cordon's side of the keeper's socket: requests out, decoded events in. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/client_event.h"
#include "core/keeper/wire.h"
#include "core/policy/answer.h"

/*
 * Life:    client_new(fd) -> client_read() whenever fd is readable -> client_free() closes fd.
 * Threads: main loop. Never blocks: what cannot be written yet waits (client_wants_write()).
 * Strings in events are raw agent bytes, NUL-terminated, valid during the callback.
 */
struct client;

struct client *client_new(int fd, client_on_event on, void *data);
void client_free(struct client *c); /* NULL is a no-op */
int client_fd(const struct client *c);
/* Read and dispatch what is there. 0: more may come; -EPIPE: the keeper is gone; -EBADMSG. */
int client_read(struct client *c);
bool client_wants_write(const struct client *c);
void client_write(struct client *c); /* a keeper that is gone shows in client_read() */

void client_answer(struct client *c, uint64_t ask, const struct answer *a);
void client_revoke(struct client *c, uint64_t rule);
void client_end_flow(struct client *c, uint64_t flow);
void client_forbid(struct client *c, uint64_t ask, const char *target);
void client_secret_kept(struct client *c, uint64_t id);
void client_publish(struct client *c, uint16_t port, uint16_t host_port);
/* Returns the request id, as those below do. */
uint64_t client_plan(struct client *c, enum undo_kind kind, size_t n, unsigned flags);
/* newest: the first step of the plan that was shown (0: any); -ESTALE if the history has grown
 * since. seal: its own (0: any); -ESTALE if something else would be merged now. */
uint64_t client_undo(struct client *c, enum undo_kind kind, size_t n, unsigned flags,
		     int64_t newest, uint64_t seal);
/* 0 when the paths do not fit one frame (1 MiB). _plan: only what it would change (WIRE_PLAN). */
uint64_t client_restore(struct client *c, int64_t step, const char *const *paths, unsigned flags);
uint64_t client_restore_hunk(struct client *c, int64_t step, const char *path, unsigned hunk);
uint64_t client_restore_plan(struct client *c, int64_t step, const char *const *paths,
			     unsigned flags);
void client_cancel(struct client *c, uint64_t request);
void client_limits(struct client *c, const struct limits *l); /* from the next change on */
void client_group(struct client *c, const char *name);	      /* NULL: it ends */
void client_stop(struct client *c);
void client_turn(struct client *c);
void client_signal(struct client *c, int sig);
void client_freeze(struct client *c);
void client_shutdown(struct client *c);
