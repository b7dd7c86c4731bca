/* answer - the answer of a user to a question: a verdict, its duration and its extent. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The kinds of rules: id, word in a rule, gerund in a sentence, letter in a question's key. Kinds
 * before RULE_PLACES concern paths, later ones hosts; from RULE_KEYS on the host at which the
 * user's keys are used. CREDENTIALS: a password or token of git goes inside. SIGN: a key of the
 * ssh-agent signs, and stays outside.
 */
#define RULE_KINDS_X(X)                                                                            \
	X(READ, "read", "reading", 'r')                                                            \
	X(WRITE, "write", "writing", 'w')                                                          \
	X(EXEC, "exec", "running", 'x')                                                            \
	X(UNIX, "unix", "connecting to", 'u')                                                      \
	X(CONNECT, "connect", "connecting to", 'c')                                                \
	X(BIND, "bind", "listening on", 'b')                                                       \
	X(CREDENTIALS, "credentials", "using your git credentials for", 'g')                       \
	X(SIGN, "sign", "signing in with your SSH key at", 's')

enum rule_kind {
#define X(id, word, gerund, letter) RULE_##id,
	RULE_KINDS_X(X)
#undef X
	RULE_KINDS,
	RULE_PLACES = RULE_CONNECT,
	RULE_KEYS = RULE_CREDENTIALS
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
	EXTENT_EXACT,  /* a host: at this port */
	EXTENT_DIR,    /* entries of its directory, not deeper; a host at any port */
	EXTENT_TREE,   /* its directory and all below; all hosts of its domain at this port */
	EXTENT_BUNDLE, /* all asked paths of a profile's section (policy_bundle()) */
};

struct answer {
	bool allow;
	enum answer_scope scope;
	enum answer_extent extent;
	unsigned up;   /* EXTENT_TREE: directories further up */
	int64_t until; /* unix seconds, 0: none */
};

#define ANSWER_UP_MAX 16

/* Returns the object of an answer to a question about path: the path, or the ancestor that `up`
 * selects, with a `/` at the end if it is a directory. Heap. */
char *answer_object(const char *path, bool is_dir, const struct answer *a);

/* Stores the object of an answer as one or two absolute patterns (ret[1] may be NULL); path has a
 * `/` at its end if it is a directory. Heap strings. */
void answer_patterns(const char *path, enum answer_extent extent, char *ret[2]);
/* Does the same for a host, "HOST:PORT" (flows.c). Both are NULL if there is no such domain. */
void answer_host_patterns(const char *target, enum answer_extent extent, char *ret[2]);
