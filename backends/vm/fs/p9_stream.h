/* p9_stream - 9P over a stream socket: whole messages in, answers out. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>

#include "backends/vm/fs/p9.h"

struct p9_stream;

struct p9_stream *p9_stream_new(int sock, struct fs_tree *tree); /* takes sock; tree borrowed */
void p9_stream_free(struct p9_stream *c);			 /* NULL is a no-op */
void p9_stream_poll(const struct p9_stream *c, struct pollfd *p);
/* False: the socket was closed, or the client does not keep to the protocol. */
bool p9_stream_serve(struct p9_stream *c, short revents);
