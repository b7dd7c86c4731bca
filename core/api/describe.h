/* describe - sessions, steps, plans and requests as JSON, the same for all front ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

#include "core/api/engine.h"
#include "core/api/dirs.h"

struct ask;
struct row;
struct step_info;
struct undo_plan;

static inline cJSON *json_first(const cJSON *o)
{
	return o ? o->child : NULL;
}

/* Returns raw bytes of the agent as JSON (protocol.json; json_quote()); null for NULL. */
cJSON *describe_text(const char *s);
void describe_add(cJSON *object, const char *name, const char *s);
/* Adds UTF-8 unchanged, else base64: "data" and "encoding" (name may be "content"). */
void describe_bytes(cJSON *object, const char *name, const char *bytes, size_t len);
bool describe_is_utf8(const char *bytes, size_t len);

/* Returns "response" of protocol.json; takes result over (NULL: {}). f NULL: the request
 * succeeded. */
cJSON *describe_response(const cJSON *id, cJSON *result, const struct fault *f);

/* dirs and e may have no session. words: why the session failed. */
cJSON *describe_status(struct engine *e, const struct dirs *dirs, const char *command,
		       const char *words);
cJSON *describe_ask(const struct ask *a);
/* Returns the question as a connection: address, port and, if the host has a name, host. NULL: the
 * question is not about a connection. */
cJSON *describe_connection(const struct ask *a);
cJSON *describe_row(const struct row *row);
/* j NULL: the result is without the paths. */
cJSON *describe_step(struct journal *j, const struct step_info *s);
/* Returns at most `most` paths that the step changed; *ret_n: their number. */
cJSON *describe_paths(struct journal *j, int64_t step, size_t most, size_t *ret_n);
cJSON *describe_plan(const struct undo_plan *p, bool dry_run);
/* Returns the result of undo.history; on -1 f is set. */
int describe_history(struct engine *e, size_t limit, cJSON **ret, struct fault *f);
struct diff_request {
	int64_t from, to;	  /* steps; both 0: the newest */
	const char *const *paths; /* relative or absolute, clean; NULL: all */
	size_t most;
};
int describe_diff(struct engine *e, const struct diff_request *d, cJSON **ret, struct fault *f);
/* Sets the fault of a refused undo, with its obstacles. */
int describe_undo_fault(struct fault *f, int result, const char *words, const struct undo_plan *p);
