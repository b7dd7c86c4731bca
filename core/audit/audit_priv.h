/* audit_priv - the form of a line and of the head file, between writer and verifier. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/audit.h"

#define AUDIT_HASH_LEN	64u	   /* hex digits of SHA-256 */
#define AUDIT_FIELD_MAX (8u << 10) /* bytes of a text field, as they are written */
/* Seven text fields and the rest. Older versions kept as many bytes before they were escaped, each
 * of which can be six characters ("\udc80"). */
#define AUDIT_LINE_MAX (7 * 6 * AUDIT_FIELD_MAX + 4096)

/* A log that has grown to this is set aside as PATH.1 by the next audit_open(); the PATH.1 of
 * before is dropped. The chain goes on from one file to the other. */
#define AUDIT_ROTATE_BYTES (64 << 20)

struct audit_head {
	uint64_t seq;
	uint64_t first; /* in the head file: number of the oldest line that is kept */
	char hash[AUDIT_HASH_LEN + 1];
	char prev[AUDIT_HASH_LEN + 1];
};

/* SHA-256 of a line before its ",\"hash\"", as hex. */
void audit_hash(char out[AUDIT_HASH_LEN + 1], const char *line, size_t len);
/* seq, prev and hash of one line (without its newline); false when it has not that form. */
bool audit_parse(const char *line, size_t len, struct audit_head *ret);

/* The head file: one fixed-size text "SEQ HASH FIRST\n", rewritten in place. */
int audit_write_head(int fd, uint64_t seq, const char *hash, uint64_t first);
bool audit_read_head(int fd, struct audit_head *ret);
