/* homes - gives tools writable layers of their cache and settings directories. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

struct config;
struct policy;
struct session_spec;

/*
 * A build writes to ~/.cargo, ~/.m2 or ~/.cache. Nothing of the host changes: each folder has its
 * own layer of such a directory, kept between sessions.
 *
 *   on the host            inside
 *   ~/.cargo               an overlay: lower layer the host's, read-only; upper layer the folder's
 *   ~/.cache/              an empty directory, also if it is absent on the host, with overlays of
 *                          the directories in the table
 *   ~/.gradle is absent    the agent's mkdir makes an empty one (core/keeper/folders/tool_dirs.h);
 *                          the same for a directory on the way there, like ~/.local
 *
 * Where the backend has no overlays or no gate, the tool's variable leads to the cache instead. A
 * directory that a rule lets the agent write gets no layer. If the agent may not read the directory
 * of the host, the layer begins empty.
 *
 * Life: homes_prepare() -> homes_done() -> homes_settle(). No error is reported: where a tool's
 * directory cannot be served, the tool gets its variable; without a variable, the directory is
 * asked about like any other place.
 */
struct homes {
	char *dir;		      /* state_dir/homes/LABEL */
	char *points;		      /* the directory that the gate shows; NULL: no gate */
	char **paths;		      /* overlays; NULL-terminated */
	struct overlay_place *places; /* one for each */
	size_t n;
	struct absent_home *absent; /* ends with a NULL path */
	size_t n_absent;
	char **env; /* NAME=VALUE; NULL-terminated */
	size_t n_env;
	int lock; /* of dir, shared; 0: none */
};

/* Prepares the layers. cache: the folder's cache on the host; NULL: the tools get no layers. */
void homes_prepare(struct homes *h, const struct session_spec *spec, const struct policy *policy,
		   const char *cache);
void homes_done(struct homes *h);
/*
 * After a session: removes layers without changes and, if it ran nothing and no session has written
 * to the directory, all of it. lock: the session's, 0: none. Removes nothing while another session
 * uses the directory.
 */
void homes_settle(const char *state_dir, const char *folder, int lock, bool ran);
