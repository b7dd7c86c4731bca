/* serve - `cordon serve`: operations and events of protocol.json on standard input and output. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/dirs.h"
#include "core/session/session.h"

#define SERVE_LINE (16u << 20) /* bytes of a line, at most */

/* How a session is made of what session.start asks for: the command's business, which knows the
 * options of cordon run. */
struct serve_maker {
	/* *ret is borrowed until forget(). -1: f says why not. Changes the current directory to the
	 * first that is writable. */
	int (*make)(void *data, const struct cJSON *payload, const struct dirs *dirs,
		    struct session_spec **ret, struct fault *f);
	void (*forget)(void *data);
	/* undo.discard: throw the history of this folder away. */
	int (*discard)(void *data, const char *path, struct fault *f);
	void *data;
	bool by_options;	/* make() needs no payload: the command line says it all */
	const char *mcp_socket; /* NULL: none */
};

/* Until the client goes away or a signal comes. The exit status. */
int serve_run(const struct serve_maker *maker, struct err *err);
