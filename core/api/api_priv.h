/* api_priv - what the files of core/api share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/api.h"
#include "core/base/buf.h"

/* ---- message.c: one object of the protocol, to and from a line --------------------------------
 */

void message_hello(struct buf *out, const struct model *m);
void message_request(struct buf *out, const struct ask *a);
void message_gone(struct buf *out, uint64_t id);
void message_step(struct buf *out, const struct step_row *s);
void message_step_gone(struct buf *out, int64_t step); /* nothing of it was kept */
void message_rule(struct buf *out, const struct given *g);
void message_row(struct buf *out, const struct row *row);
void message_reply(struct buf *out, uint64_t id, const char *error); /* NULL: it was done */

struct command_in {
	uint64_t id;  /* of a request, or the rule to revoke */
	bool history; /* wants to be told what happened before it came */
	bool revokes; /* else it answers */
	struct answer answer;
};

/* 0, or -EINVAL and words for the reply. id is set where it could be read. */
int message_parse(const char *line, size_t len, struct command_in *ret, struct err *err) MUST_USE;
