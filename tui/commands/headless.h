/* headless - a run without a console: the caller's own stdio, nobody to ask. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

struct learned;

/*
 * The exit status for the shell: the command's, 128+N after a signal, 125..127 with words on
 * stderr; negative with err set when cordon failed before anything ran. With `learned` (may be
 * NULL) what is asked for is answered by it, noted there, and no approval.command is asked.
 */
int headless_run(struct session_spec *spec, struct learned *learned, struct err *err) MUST_USE;

/* session_listener.stopped of who has no screen: the words, escaped, on stderr. */
void headless_stopped(void *data, const char *words);

/* 0..255 as a shell shows it, from wait(2)'s status. */
int exit_status_of(int wait_status);
