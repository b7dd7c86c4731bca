/* acp_priv - functions shared by the files of the Agent Client Protocol. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

#include "core/api/acp/acp.h"

/* acp_tools.c: holds requests of the agent to its editor until the user has answered. */
struct acp_tools_held;

struct acp_tools_held *acp_tools_new(const struct acp_listener *on, void *data) MUST_USE;
void acp_tools_free(struct acp_tools_held *t); /* NULL is a no-op */
/* Takes a request of the agent for a tool: asks about it, passes it on or refuses it. line is the
 * text of message. */
void acp_tools_request(struct acp_tools_held *t, const cJSON *message, const char *line, size_t len,
		       struct buf *to_editor, struct buf *to_agent);
/* Takes any other message of the agent, which may withdraw a request. */
void acp_tools_from_agent(struct acp_tools_held *t, const cJSON *message, struct buf *to_agent);
/* Takes a message of the editor, which may name a terminal that was allowed. */
void acp_tools_from_editor(struct acp_tools_held *t, const cJSON *message);
void acp_tools_answer(struct acp_tools_held *t, uint64_t id, bool allow, const char *why,
		      struct buf *to_editor, struct buf *to_agent);
/* acp_login.c: returns whether a message of the agent offers a login that the editor would run as a
 * command. remove: also removes the offer. */
bool acp_login(cJSON *message, bool remove);
/* Removes such logins from the editor's capabilities that the agent sees. */
void acp_login_unoffered(cJSON *capabilities);
/* Appends an error in answer to a request, or nothing if it has no id. */
void acp_refuse(const cJSON *message, int code, const char *words, struct buf *to_agent);
