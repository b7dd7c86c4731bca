/* api_priv - types and functions shared by the files of core/api. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/socket/api.h"
#include "core/base/buf.h"

/* ---- message.c: formats and parses objects of the protocol ----------------------------------- */

void message_hello(struct buf *out, const struct model *m);
void message_request(struct buf *out, const struct ask *a);
/* Appends the members between type and end: "id":7,... The next function does so for a row. */
void message_request_members(struct buf *out, const struct ask *a);
void message_row_members(struct buf *out, const struct row *row);
/* Appends the members of a question about a connection: address, port, host. Returns false, and
 * appends nothing, for any other question. */
void message_connection(struct buf *out, const struct ask *a);
bool message_connection_members(struct buf *out, const struct ask *a);
void message_gone(struct buf *out, uint64_t id);
void message_rule(struct buf *out, const struct given *g);
void message_row(struct buf *out, const struct row *row);
void message_reply(struct buf *out, uint64_t id, const char *error); /* NULL: it was done */

enum command {
	COMMAND_ANSWER,
	COMMAND_REVOKE,
	COMMAND_OWN_SETTINGS, /* is an answer, too */
	COMMAND_CONSOLE,      /* the connection becomes that of a console */
	COMMAND_EXEC,	      /* the connection becomes that of a program beside the agent */
	COMMAND_END,	      /* the session ends */
};

struct command_in {
	enum command does;
	uint64_t id; /* number of a request or a rule */
	struct answer answer;
};

/* ---- operation.c: approval.list and approval.answer, as cordon serve takes them -------------- */

/* Serves a request line. Returns false if the line has no request_id; else out is the response. */
bool operation_serve(struct session *s, const char *by, const char *line, size_t len,
		     struct buf *out);
/* Used by both protocols. On -1 f has the error. */
struct cJSON;
struct fault;
struct cJSON *operation_approvals(const struct model *m);
int operation_answer(struct session *s, const char *by, const struct cJSON *payload,
		     struct fault *f);

/* Returns 0, or -EINVAL and words for the reply. id is set if it could be read. */
int message_parse(const char *line, size_t len, struct command_in *ret, struct err *err) MUST_USE;
