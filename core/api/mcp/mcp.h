/* mcp - a Model Context Protocol server: the session's tools for a language model. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/stdio/serve.h"

/*
 * Newline-delimited JSON-RPC 2.0 over standard input and output, or over a Unix socket. Each
 * connection serves both kinds of revisions: a request whose _meta names a protocol version is of
 * the stateless revisions, `initialize` begins the older ones. core/api/mcp.json lists the tools
 * and resources. Each tool is an operation of protocol.json, with its payload as arguments and its
 * result as structured content.
 *
 * A session is started by the first request that needs one, so that a client may start the program
 * to ask for its versions alone. The socket is for its owner: mode 0600, SO_PEERCRED, and the first
 * line must carry a token, which is in a file beside it: {"token":"..."}.
 */
#define MCP_LINE    (16u << 20)
#define MCP_CLIENTS 16

/* Opens a socket for the session of cordon serve. */
int mcp_listen(struct mcp_server **ret, struct serve *s, const char *path, struct err *err)
	MUST_USE;
void mcp_close(struct mcp_server *m); /* NULL is a no-op */
/* Runs cordon mcp until its client disconnects; path NULL: on standard input and output. Returns
 * the exit status. */
int mcp_run(const struct serve_maker *maker, const char *path, struct err *err) MUST_USE;
