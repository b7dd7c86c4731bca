/* acp_priv - functions shared by the files of the Agent Client Protocol. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <cjson/cJSON.h>

#include "core/api/acp/acp.h"

/* acp_line.c: judges a line of the agent. */

bool acp_is_tool(const char *method); /* method may be NULL */
/* Returns whether an editor may take the message for a request that does more than show something.
 */
bool acp_asks_for_more(const cJSON *message);
/* Returns whether an editor may read the name of a member as another name. strict: no name may be
 * beyond ASCII; else, as in the arguments of a tool call, only letters that fold count. */
bool acp_has_odd_name(const cJSON *o, bool strict);
/* Returns whether a line that our parser refuses cannot hold a request for a tool or a login. An
 * editor may have a parser that nests deeper or has a looser grammar. */
bool acp_is_harmless(const char *line, size_t len);
/* Returns the number of bytes before the first character of JSON, a byte order mark included. */
size_t acp_blanks(const char *s, size_t len);
/* Returns whether the line has a control character, which JSON does not allow. */
bool acp_has_controls(const char *line, size_t len);

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
