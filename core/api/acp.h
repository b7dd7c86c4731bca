/* acp - the Agent Client Protocol between an editor and its agent, looked at as it passes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * What passes stays as it is, with two exceptions, unless `tools` is on: the editor's `initialize`
 * no longer offers to read, write or run for the agent, and such requests of the agent's are
 * answered with an error. They would be performed by the editor, outside the sandbox. To be sure of
 * that, a line that could be JSON (its first character is { or [) is held until it is whole.
 * A stream that is something else is just bytes.
 *
 * A prompt begins a turn, its response ends it.
 *
 * Bounds: a line of more than ACP_LINE bytes from the agent that could be JSON is dropped; one from
 * the editor passes without being looked at. ACP_TURNS turns at a time.
 * What comes from the agent is hostile: see may_pass() in acp.c.
 */
#define ACP_LINE  (64u << 20)
#define ACP_TURNS 64

struct acp;

struct acp_listener {
	void (*turn)(void *data, const char *prompt);	/* begins; NULL: the last one has ended */
	void (*refused)(void *data, const char *words); /* something was not passed on */
};

struct acp *acp_new(bool tools, const struct acp_listener *on, void *data) MUST_USE;
void acp_free(struct acp *a); /* NULL is a no-op */
/* What came, and what is to be passed on of it. over: nothing follows. */
void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent);
void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent);
