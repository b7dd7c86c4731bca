/* stdio_tools - what an agent would have its editor do: rules, then a question of the session. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/acp.h"
#include "core/session/session.h"

/*
 * acp.editor-tools = ask. What rules deny or hide is denied; the rest is asked, once or for the
 * session: a rule that allows is about the sandbox, where changes can be undone.
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
/* An answer of the session's: 0, or the id that acp_answer() knows it by. *allow becomes false, and
 * *ret_why says why, where the path leads elsewhere than it did when it was shown. */
uint64_t stdio_tools_answered(struct stdio_tools *t, uint64_t ask, bool *allow,
			      const char **ret_why);
