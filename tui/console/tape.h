/* tape - writes the console's terminal and events to the session's recording. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/config/config.h"
#include "core/session/model.h"
#include "tui/term/term.h"

/*
 * Life:    tape_prepare() before the session starts -> tape_open() once session and terminal exist
 *          -> tape_close(), after the last process inside has ended.
 * Threads: main loop. NULL is a valid tape that records nothing.
 */
struct tape;

/* file: --record, or NULL. Opens its directory, so that the agent cannot replace it later. */
int tape_prepare(struct tape **ret, const struct config *c, const char *file, struct err *err)
	MUST_USE;
int tape_open(struct tape *t, const char *state_dir, const struct model *m, struct term *term,
	      struct err *err) MUST_USE;
/* Completes the recording and writes the file of --record. ran: the command has run; else the
 * recording is removed. */
int tape_close(struct tape *t, bool ran, struct err *err) MUST_USE;

/* Records output that the term was fed. data is the tape. */
void tape_output(void *data, const char *bytes, size_t len);
/* Records input for the agent. master: the terminal's. */
void tape_input(struct tape *t, int master, const char *bytes, size_t len);
void tape_resize(struct tape *t, int cols, int rows);
/* Replaces this text by stars in all later records. Returns false if that is impossible. */
bool tape_secret(struct tape *t, const char *text);
void tape_news(struct tape *t, const struct model *m);
/* Returns, once, the message of the failure that ended the recording; NULL: none. Heap. */
char *tape_failure(struct tape *t) MUST_USE;
/* Returns true once, after the recording was reduced to one screen a second. */
bool tape_is_thinned(struct tape *t);
/* Returns true each time when the recording begins to wait for space on the disk. */
bool tape_is_waiting(struct tape *t);
