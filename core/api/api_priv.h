/* api_priv - what the files of core/api share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/api.h"
#include "core/base/buf.h"

/* ---- message.c: one object of the protocol, to and from a line --------------------------------
 */

void message_hello(struct buf *out, const struct model *m);
void message_request(struct buf *out, const struct ask *a);
/* What the line has between type and end: "id":7,... Of a row below, too. */
void message_request_members(struct buf *out, const struct ask *a);
void message_row_members(struct buf *out, const struct row *row);
void message_gone(struct buf *out, uint64_t id);
void message_step(struct buf *out, const struct step_row *s);
void message_step_gone(struct buf *out, int64_t step); /* nothing of it was kept */
void message_rule(struct buf *out, const struct given *g);
void message_turn(struct buf *out, const struct turn_mark *t);
void message_edits(struct buf *out); /* those told before are void; these follow */
void message_edit(struct buf *out, const struct barrier *b); /* its paths follow */
void message_edit_path(struct buf *out, const char *path);
void message_exited(struct buf *out, int wait_status);
/* port: that it offers for cmd.publish; 0: none. */
void message_row(struct buf *out, const struct row *row, uint16_t port);
void message_connection(struct buf *out, const struct connection *c);
void message_connection_gone(struct buf *out, uint64_t id);
void message_reply(struct buf *out, uint64_t id, const char *error); /* NULL: it was done */

enum command {
	COMMAND_ANSWER,
	COMMAND_HISTORY, /* wants to be told what happened before it came */
	COMMAND_REVOKE,
	COMMAND_DISCONNECT,
	COMMAND_FORBID,
	COMMAND_PUBLISH,
	COMMAND_OWN_SETTINGS, /* an answer, too */
};

struct command_in {
	enum command does;
	uint64_t id; /* of a request, a rule, a connection; or a port */
	struct answer answer;
};

/* ---- operation.c: approval.list and approval.answer, as cordon serve takes them ---------------
 */

/* false: the line is no request of that form (it has no request_id). Else out is the response. */
bool operation_serve(struct session *s, const char *by, const char *line, size_t len,
		     struct buf *out);
/* What both do. -1: f says why not. */
struct cJSON;
struct fault;
struct cJSON *operation_approvals(const struct model *m);
int operation_answer(struct session *s, const char *by, const struct cJSON *payload,
		     struct fault *f);

/* 0, or -EINVAL and words for the reply. id is set where it could be read. */
int message_parse(const char *line, size_t len, struct command_in *ret, struct err *err) MUST_USE;
