/* answer - what a human says to a question: a verdict, for how long, and for how much. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum rule_kind {
	RULE_READ,
	RULE_WRITE,
	RULE_EXEC,
	RULE_UNIX,
	RULE_PLACES, /* the kinds before it are about paths, those from here on about hosts */
	RULE_CONNECT = RULE_PLACES,
	RULE_BIND,
	RULE_KEYS, /* from here on about the host that the human's keys are used at */
	RULE_CREDENTIALS = RULE_KEYS, /* of git: a password or token goes inside */
	RULE_SIGN,		      /* a key of the ssh-agent signs; the key stays outside */
	RULE_KINDS
};

enum answer_scope {
	SCOPE_ONCE,
	SCOPE_STEP,
	SCOPE_SESSION,
	SCOPE_PROJECT,
	SCOPE_USER,
	SCOPE_ORG
};

enum answer_extent {
	EXTENT_EXACT,  /* of a host: at this port */
	EXTENT_DIR,    /* what lies in its directory, not deeper; this host at any port */
	EXTENT_TREE,   /* its directory and all below; all hosts of its domain at this port */
	EXTENT_BUNDLE, /* what a profile's section asks about (policy_bundle()) */
};

struct answer {
	bool allow;
	enum answer_scope scope;
	enum answer_extent extent;
	unsigned up;   /* EXTENT_TREE: so many directories further up */
	int64_t until; /* unix seconds, 0: none */
};

#define ANSWER_UP_MAX 16

/* What an answer to a question about path is about: itself, or the directory that it goes up to; a
 * directory's has a `/` at its end. Heap. */
char *answer_object(const char *path, bool is_dir, const struct answer *a);

/* What an answer is about, as one or two absolute patterns (ret[1] may be NULL); path has a `/` at
 * its end when it is a directory. Heap strings. */
void answer_patterns(const char *path, enum answer_extent extent, char *ret[2]);
/* The same about a host, "HOST:PORT" (flows.c). Both NULL: there is no such domain. */
void answer_host_patterns(const char *target, enum answer_extent extent, char *ret[2]);
