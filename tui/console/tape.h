/* tape - what the console shows goes into the session's recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/session/model.h"
#include "tui/term/term.h"

/*
 * Life:    tape_prepare() before the session starts -> tape_open() when there are a session and a
 *          terminal -> tape_close(), when nothing runs inside any more.
 * Threads: main loop.
 * NULL is a tape that records nothing.
 */
struct tape;

/* file: --record, or NULL. Its directory is opened here: the agent cannot put another in its place.
 */
int tape_prepare(struct tape **ret, const struct config *c, const char *file, struct err *err)
	MUST_USE;
int tape_open(struct tape *t, const char *state_dir, const struct model *m, struct term *term,
	      struct err *err) MUST_USE;
/* The recording is whole; the file of --record is written. */
int tape_close(struct tape *t, struct err *err) MUST_USE;

/* What the term was fed with just now. data is the tape. */
void tape_output(void *data, const char *bytes, size_t len);
/* What goes to the agent. master: of its terminal. */
void tape_input(struct tape *t, int master, const char *bytes, size_t len);
void tape_resize(struct tape *t, int cols, int rows);
/* Whatever shows this text from now on, it is starred out. False: it cannot be. */
bool tape_secret(struct tape *t, const char *text);
void tape_news(struct tape *t, const struct model *m);
/* Words of the failure that ended the recording, once; NULL: none. Heap. */
char *tape_failure(struct tape *t) MUST_USE;
/* True once: from now on the recording has the screen once a second. */
bool tape_is_thinned(struct tape *t);
