/* eval - reads profiles in the form that cordon writes, and decides what they allow. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* The oracle of the tests: it decides by the documented rules of Seatbelt. Of all rules for an
 * operation whose filter matches, the last one counts; without one, that of `default`. This was
 * not compared with a Mac. An unknown form is an error, and is never ignored.
 *
 * Life: eval_new() -> eval_free(); NULL is a no-op. Text and params are copied.
 * Threads: one, because matching uses scratch memory.
 * Errors: -EINVAL, "LINE: what is wrong". */
struct eval;

int eval_new(struct eval **ret, const char *text, size_t len, const char *const *params,
	     struct err *err) MUST_USE;
void eval_free(struct eval *e);
size_t eval_rules(const struct eval *e); /* how many */
/* Returns the first mach service in the rules that no Mac has, according to public profiles and
 * sources (services.c), or NULL. A prefix must begin a known one. Cordon's own marks are left
 * out. */
const char *eval_unknown_service(const struct eval *e);

/* An operation to judge. Members that it does not use are NULL or 0. */
struct eval_query {
	const char *operation; /* "file-read-data", "mach-lookup" ... without an asterisk */
	const char *path;      /* of a file, or of a unix socket */
	const char *vnode;     /* NULL: unknown */
	const char *extension; /* that the process has for the path */
	const char *service;   /* mach-lookup */
	bool local_service;
	const char *ipc_name;
	const char *target; /* "self", "same-sandbox", "others" */
	/* For a network operation: the end that the filter is about. */
	const char *end;      /* "remote", "local" */
	const char *protocol; /* "tcp", "udp", "unix-socket" */
	bool loopback;
	unsigned port;
};
bool eval_allows(struct eval *e, const struct eval_query *q);
