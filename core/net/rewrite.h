/* rewrite - replaces placeholders in headers of HTTP/1.1 requests to one host by secrets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Takes the bytes of a connection, split anywhere, and returns those for the server. Heads are
 * parsed; bodies (Content-Length, chunked) and trailers pass as they are, and so do
 * requests that follow on the same connection. A placeholder is replaced where it is the value
 * of the header that its rule names, alone or behind one word ("Bearer X"), once in a request, and
 * nowhere else. Accept-Encoding is left out, so that core/net/mask.h can read the answer.
 *
 * Every byte is the agent's. Ambiguous requests are refused: bare CR or
 * LF, NUL, folded lines, two lengths, a length beside a transfer coding, another coding than
 * chunked. So are a Host other than the connection's, a target with a host in it, and requests that
 * change the protocol (CONNECT, Upgrade) or return their headers (TRACE).
 *
 * Life:   rewriter_init() -> rewriter_feed()... -> rewriter_done(). After an error it takes no
 *         more. Host and rules are borrowed.
 * Bounds: REWRITE_HEAD_MAX bytes of a head or of trailers.
 */
#define REWRITE_HEAD_MAX 65536

struct rewrite_rule {
	const char *header, *placeholder;
	const char *value; /* NULL: not known yet */
};

enum rewrite_state {
	REWRITE_HEAD,
	REWRITE_BODY,
	REWRITE_CHUNK_SIZE,
	REWRITE_CHUNK,
	REWRITE_CHUNK_END,
	REWRITE_TRAILERS,
};

struct rewriter {
	const char *host; /* folded */
	const struct rewrite_rule *rules;
	size_t n_rules;
	struct buf in; /* not passed on yet */
	enum rewrite_state state;
	size_t scanned, line; /* offsets in `in`: end of the scanned bytes; start of the line */
	bool whole;	      /* the head is complete, and waits for a value */
	uint64_t left;	      /* bytes of the body or chunk to come */
	size_t needs;	      /* index of the rule whose value is missing */
	int failed;
};

void rewriter_init(struct rewriter *w, const char *host, const struct rewrite_rule *rules,
		   size_t n_rules);
void rewriter_done(struct rewriter *w);
/*
 * Appends the bytes for the server to `out`. Returns 0; 1: it waits for the value of
 * rules[w->needs]: call it again, without data, when the value is known; -EBADMSG, -E2BIG: the
 * request is refused, *why says why. No byte of a refused head is passed on.
 */
int rewriter_feed(struct rewriter *w, const char *data, size_t len, struct buf *out,
		  const char **why) MUST_USE;
