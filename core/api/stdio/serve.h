/* serve - `cordon serve`: operations and events of protocol.json on standard input and output. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/dirs.h"
#include "core/session/session.h"

#define SERVE_LINE (16u << 20) /* most bytes of a line */

struct mcp_server;
struct serve;

/* Makes a session from session.start. The command implements it, as it knows cordon run's
 * options. */
struct serve_maker {
	/* Makes a session; *ret is borrowed until forget(). Returns -1, with the reason in f, if it
	 * cannot. Changes the current directory to the first writable one. */
	int (*make)(void *data, const struct cJSON *payload, const struct dirs *dirs,
		    struct session_spec **ret, struct fault *f);
	void (*forget)(void *data);
	/* undo.discard: removes the history of this folder. */
	int (*discard)(void *data, const char *path, struct fault *f);
	void *data;
	bool by_options;	/* the command line has all options: make() needs no payload */
	const char *mcp_socket; /* NULL: none; else both functions of mcp.h are here */
	int (*mcp_listen)(struct mcp_server **ret, struct serve *s, const char *path,
			  struct err *err);
	void (*mcp_close)(struct mcp_server *m);
};

/* Serves until the client disconnects or a signal arrives. Returns the exit status. */
int serve_run(const struct serve_maker *maker, struct err *err);
