/* front - the session that a program drives, for `cordon serve` and `cordon mcp`. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/fault.h"
#include "tui/commands/run.h"

/* Must be zeroed at first. */
struct front_run {
	struct run run;
	bool made;
};

/* Prepares a session with these options of cordon run; *ret is valid until front_forget(). */
int front_make(struct front_run *m, const struct strings *argv, const char *title,
	       struct session_spec **ret, struct fault *f) MUST_USE;
void front_forget(struct front_run *m);
/* --log-level: copies diagnostics to standard error, as JSON lines. NULL: info. */
int front_log_level(const char *name, struct err *err) MUST_USE;
