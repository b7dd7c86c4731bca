/* shell - a program beside the agent for a client of the socket: bytes both ways. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

typedef struct uv_loop_s uv_loop_t;

/*
 * cmd.exec makes a connection such a line (frames.h). The terminal or the pipes of the program are
 * made here, in the host's own /dev/pts: they have no name inside.
 *
 * Life:   shells_take() for each -> shells_close(), which takes effect when the loop has run.
 * Death:  of the client: the program gets SIGHUP, the session goes on. Of the program, or of the
 *         session: the client gets its status after all of its output.
 * Bounds: SHELLS_MAX at a time; a client that does not read stops the program's output, a program
 *         that does not read stops the client's input.
 */
#define SHELLS_MAX 8

struct shells;

struct shells *shells_new(uv_loop_t *loop, struct session *s);
/* Takes fd over. by: the user, for the audit log. */
void shells_take(struct shells *all, int fd, const char *by);
void shells_close(struct shells *all); /* NULL is a no-op */
