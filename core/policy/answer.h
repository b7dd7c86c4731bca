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
	EXTENT_EXACT,
	EXTENT_DIR,  /* what lies in its directory, not deeper */
	EXTENT_TREE, /* its directory and all below */
};

struct answer {
	bool allow;
	enum answer_scope scope;
	enum answer_extent extent;
	int64_t until; /* unix seconds, 0: none */
};
