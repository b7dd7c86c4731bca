/* audit_priv - the format of lines and of the head file, for writer and verifier. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"

#define AUDIT_HASH_LEN	64u	   /* hex digits of SHA-256 */
#define AUDIT_FIELD_MAX (8u << 10) /* bytes of a text field, as they are written */
/* Seven text fields and the rest. Older versions applied the limit before escaping, which can make
 * six characters of a byte ("\udc80"). */
#define AUDIT_LINE_MAX (7 * 6 * AUDIT_FIELD_MAX + 4096)

/* At this size the next audit_open() renames the log to PATH.1, and drops the older PATH.1. The
 * chain goes on from one file to the other. */
#define AUDIT_ROTATE_BYTES (64 << 20)

struct audit_head {
	uint64_t seq;
	uint64_t first; /* in the head file: number of the oldest line that is kept */
	char hash[AUDIT_HASH_LEN + 1];
	char prev[AUDIT_HASH_LEN + 1];
};

/* Computes the SHA-256 of a line before its ",\"hash\"", as hex. */
void audit_hash(char out[AUDIT_HASH_LEN + 1], const char *line, size_t len);
/* Parses seq, prev and hash of one line (without its newline). Returns false if it has another
 * form. */
bool audit_parse(const char *line, size_t len, struct audit_head *ret);

/* The head file: one fixed-size text "SEQ HASH FIRST\n", rewritten in place. */
int audit_write_head(int fd, uint64_t seq, const char *hash, uint64_t first);
bool audit_read_head(int fd, struct audit_head *ret);
