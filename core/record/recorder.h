/* recorder - writes a session's recording, and never makes the session wait. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/record/block.h"

/*
 * Life:    recorder_open() (starts a thread) -> recorder_output() and its like -> recorder_close().
 * Threads: every function belongs to the main loop and only copies its bytes; the thread redacts,
 *          compresses and writes, once a second while bytes wait.
 * Bounds:  RECORDER_QUEUE bytes wait for the thread. When a slow or full disk leaves no room,
 *          output is dropped until there is room; then the whole screen is written in its place.
 *          From half of max_bytes on the screen is written once a second, near its end not at all;
 *          events are always. At max_bytes the recording ends.
 * Errors:  a full disk is waited for. Any other failure ends the recording, not the session:
 *          recorder_failure() returns it once.
 * Crash:   if the process is killed, the events of the last second are lost.
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
/* Writes the queued events and the seek table, and ends the thread. NULL is a no-op. */
void recorder_close(struct recorder *r);
const struct redact *recorder_redact(const struct recorder *r);
bool recorder_secret(struct recorder *r, const char *text); /* like redact_secret() */

void recorder_output(struct recorder *r, const char *bytes, size_t len);
/* Records keystrokes: call it only if they are to be recorded and the terminal echoes. */
void recorder_input(struct recorder *r, const char *bytes, size_t len);
void recorder_resize(struct recorder *r, int cols, int rows);
void recorder_mark(struct recorder *r, enum mark_kind kind, int64_t id, const char *words);
/* Records an event of cordon's own, one JSON object. row: it is a row of the activity list. Returns
 * false if there was no room: send it again later. */
bool recorder_own(struct recorder *r, const char *json, size_t len, bool row);

/* Returns whether recorder_key() is due; at other times it does nothing. */
bool recorder_wants_key(const struct recorder *r);
/* Records the current terminal, as a start for readers. screen: the same as output, for players
 * that missed some. The caller redacts both. */
void recorder_key(struct recorder *r, struct span key, struct span screen);

/* Returns the failure that ended the recording, once, in words; NULL: none. Heap. */
char *recorder_failure(struct recorder *r) MUST_USE;
/* Returns true once, when the recording begins to be thinned. */
bool recorder_is_thinned(struct recorder *r);
/* Returns true each time when the recording begins to wait for space on the disk. */
bool recorder_is_waiting(struct recorder *r);
/* Returns the microseconds since the recording began. */
int64_t recorder_now(const struct recorder *r);
