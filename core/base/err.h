/* err - an error in words, beside the negative errno for the code. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/*
 * Life:      on the caller's stack, zero-initialised (`struct err err = {0};`); nothing to free.
 * Contract:  functions return 0 or a count, or a negative errno, and then have set *err; on success
 *            *err is untouched. Every function here accepts err == NULL.
 * Style:     "what failed: why: what to do", no newline; agent-controlled parts are escaped here.
 */
struct err {
	int code; /* negative errno; 0: no error */
	char text[1024];
};

/* Sets "<formatted>: <strerror(-code)>" and returns code. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Sets the formatted text, which contains the reason, and returns code. */
int err_say(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Puts "<formatted>: " in front of the text and returns code. */
int err_wrap(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);
