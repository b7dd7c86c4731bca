/* cast - parses and formats lines of an asciicast. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * An event is `[1.25, "o", "text"]`: seconds, a code, a string.
 * Codes:   o output, i input, r "80x24", m marker, x exit status, c an event of cordon's own as a
 *          JSON object. Players skip codes that they do not know.
 * Threads: any; nothing is shared.
 */
#define CAST_OUTPUT 'o'
#define CAST_INPUT  'i'
#define CAST_RESIZE 'r'
#define CAST_MARK   'm'
#define CAST_EXIT   'x'
#define CAST_OWN    'c'

#define CAST_MAX_US ((int64_t)1000 * 365 * 86400 * 1000000) /* the latest possible time */

struct cast_event {
	int64_t t_us; /* since the start (v2), or since the previous event (v3) */
	char code;
	struct span data; /* raw bytes in the caller's buffer */
};

/* Parses an event. Clears *text and decodes the string into it; ret->data points into it. Returns
 * 0, or -EBADMSG: not an event. */
int cast_parse(const char *line, size_t len, struct buf *text, struct cast_event *ret) MUST_USE;
/* Parses only the time and the code, in a tenth of the time. */
int cast_peek(const char *line, size_t len, int64_t *ret_us, char *ret_code) MUST_USE;
/* Appends the line with its newline. Bytes that are not UTF-8 become U+FFFD. */
void cast_format(struct buf *out, int64_t t_us, char code, const char *data, size_t len);
/* Appends a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD. */
void cast_quote(struct buf *out, const char *s, size_t len);
/* Returns how many bytes at the end of s begin an incomplete character: 0..3. */
size_t cast_partial(const char *s, size_t len);
/* Parses "80x24"; both numbers are 1..1000. */
bool cast_size(const char *s, size_t len, int *ret_cols, int *ret_rows);

/* The first line. */
struct cast_header {
	int version; /* 1, 2, 3 */
	int cols, rows;
	int64_t timestamp;   /* seconds since 1970; 0: unknown */
	double idle_limit_s; /* 0: none */
	char *title, *command;
	char *session, *folder; /* NULL in a cast of another program */
};

/* Parses a header of v2 or v3. Returns -EBADMSG: not a header; -ENOTSUP: another version. */
int cast_header_parse(const char *line, size_t len, struct cast_header *ret, struct err *err)
	MUST_USE;
void cast_header_format(struct buf *out, const struct cast_header *h);
void cast_header_done(struct cast_header *h);
