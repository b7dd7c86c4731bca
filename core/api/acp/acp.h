/* acp - relays the Agent Client Protocol between an editor and its agent, and checks it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * The editor speaks first. If its first line is not JSON-RPC, the stream is another protocol: all
 * bytes pass unchanged. Messages of ACP pass unchanged, too, unless the agent asks its editor to
 * read, write or run something (fs/..., terminal/...), which the editor would do outside the
 * sandbox. The same holds for a login that the editor would run as a command (authMethods):
 *
 * - off: the editor's `initialize` does not offer them; such a request is answered with an error.
 * - ask: they are offered, but for the login; such a request is held until acp_answer(), which
 *   passes it on or answers it with an error.
 * - on: everything passes.
 *
 * To enforce that, each line of the agent is checked once it is complete, and dropped if it is not
 * JSON, or has control characters or more values than REQUEST_VALUES. Before the first line of the
 * editor, requests that an editor might obey wait; other lines of the agent pass. After a question,
 * a request that passes is printed anew, so that the editor reads exactly the text that was shown;
 * an ambiguous request is refused without a question.
 *
 * A prompt begins a turn, its response ends it. Notices about actions of the user are added to the
 * prompt, as the last block of its text.
 *
 * Bounds: a line of more than ACP_LINE bytes from the agent that could be JSON is dropped; one from
 * the editor passes without being looked at. ACP_TURNS turns at a time, ACP_HELD requests that wait
 * (ACP_LINE bytes in all), ACP_TERMINALS terminals.
 */
#define ACP_LINE      (64u << 20)
#define ACP_TURNS     64
#define ACP_HELD      64
#define ACP_TERMINALS 64
#define ACP_WORDS     4096 /* longest path or command line that can be asked about */

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
	/* A turn begins; NULL: the last turn has ended. */
	void (*turn)(void *data, const char *prompt);
	/* Returns text to add to a passing prompt as a further block; heap, NULL: none. May be
	 * NULL. */
	char *(*notices)(void *data);
	/* The agent asks the user of the editor, or has the answer. */
	void (*permission)(void *data, bool asks);
	void (*refused)(void *data, const char *words); /* a message was not passed on */
	/* ACP_TOOLS_ASK. what: an absolute path without "..", or a shell command line that does the
	 * same as the request, with its directory. */
	enum acp_verdict (*asks)(void *data, uint64_t id, enum acp_act act, const char *what);
	void (*withdrawn)(void *data, uint64_t id); /* the agent no longer waits for this request */
};

struct acp *acp_new(enum acp_tools tools, const struct acp_listener *on, void *data) MUST_USE;
void acp_free(struct acp *a); /* NULL is a no-op */
/* Takes received bytes, and appends the bytes to pass on. over: this is the end of the input. */
void acp_from_editor(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_agent,
		     struct buf *to_editor);
void acp_from_agent(struct acp *a, const char *bytes, size_t len, bool over, struct buf *to_editor,
		    struct buf *to_agent);
/* Answers a request that asks() held. why: tells the agent the reason of a denial. An unknown id is
 * a no-op. */
void acp_answer(struct acp *a, uint64_t id, bool allow, const char *why, struct buf *to_editor,
		struct buf *to_agent);
