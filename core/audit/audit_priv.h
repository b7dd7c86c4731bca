/* audit_priv - the format of lines and of the head file, for writer and verifier. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"

#define AUDIT_HASH_LEN	64u	   /* hex digits of SHA-256 */
#define AUDIT_FIELD_MAX (8u << 10) /* bytes of a text field as it is written */
/* Seven text fields and the rest. Older versions applied the limit before escaping, which can turn
 * a byte into six characters ("\udc80"). */
#define AUDIT_LINE_MAX (7 * 6 * AUDIT_FIELD_MAX + 4096)

/* From this size on the next audit_open() renames the log to PATH.1, which replaces the older one.
 * The chain continues in the new file. */
#define AUDIT_ROTATE_BYTES (64 << 20)

/* So many bytes of disk space are reserved for a session's next lines, for the time in which the
 * disk is full, unless it has less than 16 times as much left. */
#define AUDIT_RESERVE (1 << 20)

struct audit_head {
	uint64_t seq;
	uint64_t first; /* number of the oldest line, only in the head file */
	char hash[AUDIT_HASH_LEN + 1];
	char prev[AUDIT_HASH_LEN + 1];
};

/* Computes the SHA-256 of a line up to its ",\"hash\"", as hex. */
void audit_hash(char out[AUDIT_HASH_LEN + 1], const char *line, size_t len);
/* Parses seq, prev and hash of a line without its newline. Returns false if it has another form. */
bool audit_parse(const char *line, size_t len, struct audit_head *ret);

/* Reserves AUDIT_RESERVE bytes behind the end of the log. Returns false if there are none. */
bool audit_reserve(int fd);
void audit_release(int fd);

/* Writes the head file in place: one text of fixed size, "SEQ HASH FIRST\n". */
int audit_write_head(int fd, uint64_t seq, const char *hash, uint64_t first);
bool audit_read_head(int fd, struct audit_head *ret);
