/* eval - reads a profile as far as this program writes them, and says what it allows. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * The oracle of the tests: it answers by the documented rules of Seatbelt. Of all rules for an
 * operation whose filter matches, the last one decides; without one, that of `default`. No Mac has
 * confirmed it. An unknown form is an error and never left out.
 *
 * Life:    eval_new() -> eval_free(); NULL is a no-op. Text and params are copied.
 * Threads: one: looking uses scratch memory.
 * Errors:  -EINVAL, "LINE: what is wrong".
 */
struct eval;

int eval_new(struct eval **ret, const char *text, size_t len, const char *const *params,
	     struct err *err) MUST_USE;
void eval_free(struct eval *e);
size_t eval_rules(const struct eval *e); /* how many */
/* The first mach service in the rules that no Mac has, as far as public profiles and sources name
 * them (services.c); a prefix must begin one. NULL: none. Cordon's own marks are left out. */
const char *eval_unknown_service(const struct eval *e);

/* What somebody is about to do. What an operation has nothing to do with stays NULL or 0. */
struct eval_query {
	const char *operation; /* "file-read-data", "mach-lookup" ... without an asterisk */
	const char *path;      /* of a file, or of a unix socket */
	const char *vnode;     /* "REGULAR-FILE", "DIRECTORY", "SYMLINK"; NULL: not known */
	const char *extension; /* that the process has for it */
	const char *service;   /* mach-lookup */
	bool local_service;
	const char *ipc_name;
	const char *target; /* "self", "same-sandbox", "others" */
	/* Of a network operation: the end that the filter is about. */
	const char *end;      /* "remote", "local" */
	const char *protocol; /* "tcp", "udp", "unix-socket" */
	bool loopback;
	unsigned port;
};
bool eval_allows(struct eval *e, const struct eval_query *q);
