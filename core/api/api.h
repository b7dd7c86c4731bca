/* api - a session's socket: what it asks is seen and answered from another terminal. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

typedef struct uv_loop_s uv_loop_t;

/*
 * Protocol, version 1: newline-delimited JSON, one object a line, at most API_LINE bytes. The
 * schema is core/api/protocol.json.
 *
 *   session -> client   hello {version, session, pid, folder, command, pending}, then the pending
 *                       requests, then what happens: event.fs_request {id, ...}, event.fs_gone
 * {id}, event.audit {...} client -> session   cmd.approve {id, scope, extent}, cmd.deny {id, scope}
 *   session -> client   reply {id, ok, error}, one for each command, in their order
 *
 * Who may: the same user, and root. The socket lies in a directory of mode 0700 that does not exist
 * inside the sandbox, has mode 0600, and the peer's credentials are checked (SO_PEERCRED).
 * Life:    api_open() on the session's loop -> api_changed() whenever the model has changed ->
 *          api_close(), which takes effect when the loop runs once more.
 * Bounds:  API_CLIENTS clients, the next hear a reply that says so; one that does not read
 *          API_BACKLOG bytes is cut off.
 */
#define API_VERSION 1
#define API_LINE    (64u << 10)
#define API_BACKLOG (1u << 20)
#define API_CLIENTS 16

struct api;

int api_open(struct api **ret, uv_loop_t *loop, struct session *s, const char *dir, struct err *err)
	MUST_USE;
void api_changed(struct api *a);	 /* NULL is a no-op, below too */
size_t api_clients(const struct api *a); /* that are connected */
void api_close(struct api *a);

/* Where the sockets of this user's sessions are: $XDG_RUNTIME_DIR/cordon, else below state_dir.
 * Heap string. */
char *api_dir(const char *state_dir) MUST_USE;
