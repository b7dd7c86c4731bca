/* recorder - writes a session's recording, and never makes the session wait. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/record/block.h"

/*
 * Life:    recorder_open() (starts a thread) -> recorder_output() and its like -> recorder_close().
 * Threads: every function belongs to the main loop and only copies its bytes; the thread redacts,
 *          compresses and writes, once a second while there is anything.
 * Bounds:  RECORDER_QUEUE bytes wait for the thread. When a slow disk leaves no room, output is
 *          left out until there is, and the screen of that moment is written in its place.
 *          From half of max_bytes on the screen is written once a second, near its end not at all;
 *          events are always. At max_bytes the recording ends.
 * Errors:  what fails ends the recording, not the session: recorder_failure() says it once.
 * Crash:   whatever kills the process costs what came in the last second.
 */
#define RECORDER_QUEUE ((size_t)8 << 20)

struct recorder;
struct redact;

struct recorder_spec {
	int fd; /* taken over; empty, open for writing */
	int cols, rows;
	const char *session, *folder, *command;
	int64_t max_bytes;     /* 0: no limit; see Bounds */
	struct redact *redact; /* taken over */
};

int recorder_open(struct recorder **ret, const struct recorder_spec *spec, struct err *err)
	MUST_USE;
/* Writes what is left and the seek table, and ends the thread. NULL is a no-op. */
void recorder_close(struct recorder *r);
const struct redact *recorder_redact(const struct recorder *r);
bool recorder_secret(struct recorder *r, const char *text); /* as redact_secret() */

void recorder_output(struct recorder *r, const char *bytes, size_t len);
/* Keystrokes: only called when they are to be recorded and the terminal echoes. */
void recorder_input(struct recorder *r, const char *bytes, size_t len);
void recorder_resize(struct recorder *r, int cols, int rows);
void recorder_mark(struct recorder *r, enum mark_kind kind, int64_t id, const char *words);
/* An event of cordon's own: one JSON object. row: it is a row of the activity list. */
/* False: there was no room: tell it again later. */
bool recorder_own(struct recorder *r, const char *json, size_t len, bool row);

/* It is time for recorder_key(), which only then does anything. */
bool recorder_wants_key(const struct recorder *r);
/* The terminal as it is now, for readers to begin from; screen: the same as output, for players
 * that missed some. Both redacted by the caller. */
void recorder_key(struct recorder *r, struct span key, struct span screen);

/* Words of the failure that ended the recording, once; NULL: none. Heap. */
char *recorder_failure(struct recorder *r) MUST_USE;
/* True once: from now on output is thinned. */
bool recorder_is_thinned(struct recorder *r);
/* Microseconds since it began. */
int64_t recorder_now(const struct recorder *r);
