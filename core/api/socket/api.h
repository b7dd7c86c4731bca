/* api - a session's socket: another terminal lists and answers its questions. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

typedef struct uv_loop_s uv_loop_t;

/*
 * Protocol, version 1: newline-delimited JSON, one object a line, at most API_LINE bytes. The
 * schema is core/api/protocol.json.
 *
 *   session -> client   hello {version, session, pid, folder, command, pending}, then the pending
 *                       requests, then event.fs_request {id, ...}, event.net_request {id,
 *                       addr, port, ...} beside it for one about a connection, event.fs_gone {id},
 *                       event.rule {...}, event.audit {...}
 *   client -> session   cmd.approve {id, scope, extent}, cmd.deny {id, scope}, cmd.own_settings,
 *                       cmd.revoke {rule}, cmd.console, cmd.exec,
 *                       cmd.end
 *   session -> client   reply {id, ok, error}, one for each command, in their order
 *
 * Access: the same user, and root. The socket is in a directory of mode 0700 that does not exist
 * inside the sandbox, has mode 0600, and the peer's credentials are checked (SO_PEERCRED).
 * Life:    api_open() on the session's loop -> api_changed() whenever the model has changed ->
 *          api_close(), which takes effect when the loop runs once more.
 * Bounds:  API_CLIENTS clients, further ones get a refusal; a client with API_BACKLOG unread
 *          bytes is disconnected.
 */
#define API_VERSION 1
#define API_LINE    (64u << 10)
#define API_BACKLOG (1u << 20)
#define API_CLIENTS 16

struct api;

int api_open(struct api **ret, uv_loop_t *loop, struct session *s, const char *dir, struct err *err)
	MUST_USE;
void api_changed(struct api *a); /* NULL is a no-op, below too */
/* Sets fn for cmd.console, which turns a connection into one of a console (frames.h): fn takes over
 * the descriptor. Without fn the command is refused. */
void api_consoles(struct api *a, void (*fn)(void *data, int fd), void *data);
/* Sets fn for cmd.end, which ends the session after this turn of the loop. Without fn the command
 * is refused. */
void api_ends(struct api *a, void (*fn)(void *data, const char *by), void *data);
size_t api_clients(const struct api *a); /* connected clients */
void api_close(struct api *a);

/* Returns the directory of the sockets of this user's sessions: $XDG_RUNTIME_DIR/cordon, or one in
 * state_dir. Heap string. */
char *api_dir(const char *state_dir) MUST_USE;
