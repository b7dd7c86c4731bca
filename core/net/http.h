/* http - request heads that come to a proxy: read, and rewritten for the server. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

/*
 * Two kinds: "CONNECT HOST:PORT HTTP/1.1", after which bytes pass as they are, and a request with
 * the whole URL, "GET http://HOST/PATH HTTP/1.1". Every function takes bytes of a stranger; what
 * two readers could understand differently is refused: bare CR or LF, folded lines, NUL, two
 * lengths, a length beside a transfer coding.
 */
#define HTTP_HEAD_MAX	 32768
#define HTTP_HEADERS_MAX 128

struct http_request {
	bool tunnel; /* CONNECT */
	struct net_target target;
	struct span method, path; /* of the request that is no tunnel; in the given bytes */
	struct span credentials;  /* of Proxy-Authorization: Basic; empty: none */
	struct span headers;	  /* all lines of them */
	bool chunked;		  /* the end of its body is in the body */
	uint64_t body;		  /* else: bytes of it */
};

/*
 * Returns the length of the head, 0 when its end has not come yet, -EBADMSG when it is none or not
 * for a proxy, -E2BIG. *why: words that say what is wrong.
 */
int http_read(struct http_request *ret, const char *data, size_t len, const char **why);
/*
 * The head for the server: the path, a Host of the target, no headers that are between client and
 * proxy, and "Connection: close", since the next request may be for another host.
 */
void http_forward(const struct http_request *r, struct buf *out);
/* An answer of the proxy itself, as a whole. reason: goes into X-Cordon-Reason, may be NULL. */
void http_answer(struct buf *out, int status, const char *reason);
