/* stdio_tools - decides on actions that an agent asks its editor for: by rules, then a question. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/acp/acp.h"
#include "core/session/session.h"

/*
 * acp.editor-tools = ask. Paths that rules deny or hide are denied. All others are asked about,
 * once or for the session: an allowing rule is about the sandbox, where changes can be undone.
 * Life: stdio_tools_new() -> stdio_tools_free(). The spec is borrowed.
 */
struct stdio_tools;

int stdio_tools_new(struct stdio_tools **ret, const struct session_spec *spec, struct err *err)
	MUST_USE;
void stdio_tools_free(struct stdio_tools *t); /* NULL is a no-op */
/* acp_listener's asks() and withdrawn(). */
enum acp_verdict stdio_tools_ask(struct stdio_tools *t, struct session *s, uint64_t id,
				 enum acp_act act, const char *what);
void stdio_tools_withdraw(struct stdio_tools *t, struct session *s, uint64_t id);
/* Takes an answer of the session's. Returns the id for acp_answer(), or 0 if the question is not
 * one of these. If the path leads to another file than the one shown, *allow becomes false and
 * *ret_why has the reason. */
uint64_t stdio_tools_answered(struct stdio_tools *t, uint64_t ask, bool *allow,
			      const char **ret_why);
