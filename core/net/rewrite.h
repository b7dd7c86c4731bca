/* rewrite - HTTP/1.1 requests on their way to one host: placeholders in headers become secrets. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * Takes the bytes of a connection as they come, split anywhere, and gives those for the server.
 * Heads are looked at; bodies (Content-Length, chunked) and trailers pass as they are, and so do
 * requests that follow on the same connection. A placeholder is replaced where it stands in the
 * value of the header that its rule names, and nowhere else.
 *
 * Every byte is the agent's. What two readers could understand differently is refused: bare CR or
 * LF, NUL, folded lines, two lengths, a length beside a transfer coding, another coding than
 * chunked. So is a Host that is not the connection's, a target with a host in it, and what would
 * turn the connection into something else (CONNECT, Upgrade) or come back (TRACE).
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
	size_t scanned, line; /* of `in`: looked at; where the line begins */
	bool whole;	      /* the head is, and waits for a value */
	uint64_t left;	      /* bytes of the body or chunk */
	size_t needs;	      /* the rule whose value is wanted */
	uint64_t replaced;    /* placeholders so far */
	int failed;
};

void rewriter_init(struct rewriter *w, const char *host, const struct rewrite_rule *rules,
		   size_t n_rules);
void rewriter_done(struct rewriter *w);
/*
 * Adds to `out` what goes to the server. Returns 0; 1: it waits for the value of rules[w->needs]:
 * call it again, with nothing, when that is known; -EBADMSG, -E2BIG: refused, *why says why. A head
 * that is refused has put nothing out.
 */
int rewriter_feed(struct rewriter *w, const char *data, size_t len, struct buf *out,
		  const char **why) MUST_USE;
