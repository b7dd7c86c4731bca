/* es_message - converts messages of libEndpointSecurity to struct es_message. */
/* SPDX-License-Identifier: MIT */
#pragma once

#ifdef __APPLE__
#include <EndpointSecurity/EndpointSecurity.h>

#include "backends/macos/endpoint/es_seam.h"
#include "core/base/buf.h"

/*
 * In two parts: most messages are of processes outside, and need no copy of their strings.
 *
 * Life: head() -> body() -> es_reading_done(). Threads: any. macOS alone.
 */
struct es_reading {
	struct es_message m;
	char *path, *path2; /* heap; m's strings are these */
	struct buf argv;
};

/* Fills everything but strings. Returns false for an event that was not subscribed to. */
bool es_message_head(const es_message_t *from, struct es_message *ret);
/* Fills the rest. r->m: of es_message_head(). */
void es_message_body(const es_message_t *from, struct es_reading *r);
void es_reading_done(struct es_reading *r);

/* Returns pid and version; the start is 0. */
struct es_id es_id_of_token(audit_token_t token);
int64_t es_us_of(uint64_t mach);
static inline int64_t es_start_of(uint64_t sec, uint64_t us)
{
	return (int64_t)(sec * 1000000 + us);
}
#endif
