/* headless - a run without a console: the caller's own stdio, no user to ask. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

struct learned;

/* Returns the exit status for the shell: the command's, 128+N after a signal, 125..127 with a
 * message on stderr; negative with err set if cordon failed before the command ran. learned (or
 * NULL): answers all questions and records them; approval.command is not used. */
int headless_run(struct session_spec *spec, struct learned *learned, struct err *err) MUST_USE;

/* session_listener.stopped for runs without a screen: prints words, escaped, on stderr. */
void headless_stopped(void *data, const char *words);
