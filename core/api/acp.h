/* acp - the Agent Client Protocol between an editor and its agent, looked at as it passes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * The editor speaks first. If its first line is no JSON-RPC the stream is something else, and just
 * bytes: everything passes as it comes. Of ACP, too, what passes stays as it is, unless the agent
 * asks its editor to read, write or run something (fs/..., terminal/...): the editor would do that
 * outside the sandbox.
 *   off  the editor's `initialize` no longer offers it, and such a request is answered with an
 *        error. So it is with a login that the editor would run as a command (authMethods).
 *   ask  it is offered, but for the login; such a request is held until acp_answer(), which passes
 *        it on or answers it with an error
 *   on   everything passes
 * To be sure of that each line of the agent's is looked at once it is whole, and one that is no
 * JSON, or has control characters or more values than REQUEST_VALUES, is dropped. Before the editor
 * has spoken what the agent says passes, but for what an editor might obey: that waits. A request
 * that is passed on after it was asked about is written anew, so that the editor reads exactly what
 * was shown; one that can be read in two ways is not asked about.
 *
 * A prompt begins a turn, its response ends it.
 *
 * Bounds: a line of more than ACP_LINE bytes from the agent that could be JSON is dropped; one from
 * the editor passes without being looked at. ACP_TURNS turns at a time, ACP_HELD requests that wait
 * (ACP_LINE bytes in all), ACP_TERMINALS terminals.
 */
#define ACP_LINE      (64u << 20)
#define ACP_TURNS     64
#define ACP_HELD      64
#define ACP_TERMINALS 64
#define ACP_WORDS     4096 /* of a path or command line that can be asked about */

enum acp_tools {
	ACP_TOOLS_OFF,
	ACP_TOOLS_ASK,
	ACP_TOOLS_ON,
};

struct acp;

enum acp_act {
	ACP_READ,
	ACP_WRITE,
	ACP_RUN,
};

enum acp_verdict {
	ACP_ALLOW,
	ACP_DENY,
	ACP_HOLD, /* acp_answer() follows */
};

struct acp_listener {
	void (*turn)(void *data, const char *prompt);	/* begins; NULL: the last one has ended */
	void (*refused)(void *data, const char *words); /* something was not passed on */
	/* ACP_TOOLS_ASK. what: an absolute path without "..", or a command line for a shell that
	 * does the same, with the directory it runs in. */
	enum acp_verdict (*asks)(void *data, uint64_t id, enum acp_act act, const char *what);
	void (*withdrawn)(void *data, uint64_t id); /* the agent waits for it no more */
};

struct acp *acp_new(enum acp_tools tools, const struct acp_listener *on, void *data) MUST_USE;
void acp_free(struct acp *a); /* NULL is a no-op */
/* What came, and what is to be passed on of it. over: nothing follows. */
void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent,
		     struct buf *to_editor);
void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent);
/* The answer to what asks() held; why: words for the agent where it is no. An unknown id is a
 * no-op. */
void acp_answer(struct acp *a, uint64_t id, bool allow, const char *why, struct buf *to_editor,
		struct buf *to_agent);
