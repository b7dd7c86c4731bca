/* agent_message - messages to and from an ssh-agent (draft-miller-ssh-agent, PROTOCOL.agent). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* All spans point into the parsed message. No function allocates, except to fill a buf. */

#define AGENT_MESSAGE_MAX (256u << 10) /* bytes after the length, as in OpenSSH */
#define AGENT_FINGERPRINT 64	       /* "SHA256:..." */

enum agent_type {
	AGENT_FAILURE = 5,
	AGENT_SUCCESS = 6,
	AGENT_REQUEST_IDENTITIES = 11,
	AGENT_IDENTITIES_ANSWER = 12,
	AGENT_SIGN_REQUEST = 13,
	AGENT_SIGN_RESPONSE = 14,
	AGENT_EXTENSION = 27,
	AGENT_EXTENSION_FAILURE = 28,
};

/* Requests of a client. */
enum agent_wish {
	AGENT_OTHER, /* answered with AGENT_FAILURE */
	AGENT_LIST,
	AGENT_SIGN,
	AGENT_BIND, /* session-bind@openssh.com */
};

struct agent_request {
	enum agent_wish wish;
	struct span key, data;	       /* AGENT_SIGN */
	struct span host_key, session; /* AGENT_BIND */
	bool forwards;		       /* AGENT_BIND: for another client of the agent */
};

/* The data to sign, if it is for a login to a server. */
struct agent_login {
	struct span session, user, key;
	struct span host_key; /* empty: unknown (before OpenSSH 8.9) */
};

/* Finds the message at the start of data. Returns 1: *ret is the message, without its length; 0: it
 * is not complete yet; -EMSGSIZE. */
int agent_frame(const char *data, size_t len, struct span *ret) MUST_USE;
/* Parses a request. Returns 0, or -EBADMSG: it is not a message. */
int agent_read_request(struct span message, struct agent_request *ret) MUST_USE;
bool agent_read_login(struct span data, struct agent_login *ret);
/* Sets rest to the first key of an AGENT_IDENTITIES_ANSWER. agent_next_identity() returns 1 with
 * the next key, 0 at the end, or -EBADMSG. */
int agent_identities(struct span message, struct span *rest) MUST_USE;
int agent_next_identity(struct span *rest, struct span *key, struct span *comment) MUST_USE;
void agent_fingerprint(struct span key, char out[AGENT_FINGERPRINT]);

/* Appends a message with its length. */
void agent_put(struct buf *out, struct span message);
void agent_put_u32(struct buf *out, uint32_t v);
