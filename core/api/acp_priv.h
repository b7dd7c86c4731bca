/* acp_priv - what the files of the Agent Client Protocol share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

#include "core/api/acp.h"

/* acp_tools.c: requests of the agent's that its editor would perform, where they are asked about.
 */
struct acp_tools_held;

struct acp_tools_held *acp_tools_new(const struct acp_listener *on, void *data) MUST_USE;
void acp_tools_free(struct acp_tools_held *t); /* NULL is a no-op */
/* A request of the agent's for a tool: asked about, passed on or refused. line is what message was
 * parsed from. */
void acp_tools_request(struct acp_tools_held *t, const cJSON *message, const char *line, size_t len,
		       struct buf *to_editor, struct buf *to_agent);
/* Any other message of the agent's: it may take a request back. */
void acp_tools_from_agent(struct acp_tools_held *t, const cJSON *message, struct buf *to_agent);
/* A message of the editor's: it may name a terminal that was allowed. */
void acp_tools_from_editor(struct acp_tools_held *t, const cJSON *message);
void acp_tools_answer(struct acp_tools_held *t, uint64_t id, bool allow, const char *why,
		      struct buf *to_editor, struct buf *to_agent);
/* acp_login.c: does a message of the agent's offer a login that the editor would run as a command?
 * remove: it no longer does. */
bool acp_login(cJSON *message, bool remove);
/* The editor can do no such thing, as the agent is told. */
void acp_login_unoffered(cJSON *capabilities);
/* An error in answer to a request, or nothing if it has no id. */
void acp_refuse(const cJSON *message, int code, const char *words, struct buf *to_agent);
