/* acp - the Agent Client Protocol between an editor and its agent, looked at as it passes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * The editor speaks first. If its first line is no JSON-RPC the stream is something else, and just
 * bytes: everything passes as it comes. Of ACP, too, what passes stays as it is, with two
 * exceptions, unless `tools` is on: the editor's `initialize` no longer offers to read, write or
 * run for the agent, and such requests of the agent's are answered with an error. They would be
 * performed by the editor, outside the sandbox. To be sure of that each line of the agent's is
 * looked at once it is whole, and one that is no JSON is dropped. Before the editor has spoken what
 * the agent says passes, but for what an editor might obey: that waits.
 *
 * A prompt begins a turn, its response ends it.
 *
 * Bounds: a line of more than ACP_LINE bytes from the agent that could be JSON is dropped; one from
 * the editor passes without being looked at. ACP_TURNS turns at a time.
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
void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent,
		     struct buf *to_editor);
void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent);
