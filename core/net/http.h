/* http - reads request heads at a proxy, and rewrites them for the server. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/net/host.h"

/*
 * Two kinds: "CONNECT HOST:PORT HTTP/1.1", after which bytes pass as they are, and a request with
 * the whole URL, "GET http://HOST/PATH HTTP/1.1". All input is untrusted, and ambiguous requests
 * are refused: bare CR or LF, folded lines, NUL, two
 * lengths, a length beside a transfer coding.
 */
#define HTTP_HEAD_MAX	 32768
#define HTTP_HEADERS_MAX 128

struct http_request {
	bool tunnel; /* CONNECT */
	struct net_target target;
	struct span method, path; /* of a request that is not a tunnel; in the given bytes */
	struct span credentials;  /* of Proxy-Authorization: Basic; empty: none */
	struct span headers;	  /* all header lines */
	bool chunked;		  /* the body contains its own end */
	uint64_t body;		  /* else its length in bytes */
};

/*
 * Reads a request head. Returns its length; 0: it is not complete yet; -EBADMSG: it is not a head,
 * or not one for a proxy; -E2BIG. *why: the error, in words.
 */
int http_read(struct http_request *ret, const char *data, size_t len, const char **why);
/*
 * Appends the head for the server: the path, a Host for the target, no headers for the proxy, and
 * "Connection: close", as the next request may be for another host.
 */
void http_forward(const struct http_request *r, struct buf *out);
/* Appends a complete answer of the proxy itself. reason: for X-Cordon-Reason; may be NULL. */
void http_answer(struct buf *out, int status, const char *reason);
