/* reader - parses the lines of the audit log. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * One line as audit_append() writes it: an object of strings, numbers and literals, no nesting.
 * Strings are decoded to the original bytes ("\udcff" is the byte 0xff, which JSON libraries
 * refuse). Life: audit_record_init() once, audit_record_parse() per line, audit_record_done().
 */
#define AUDIT_FIELDS 32

struct audit_record {
	struct buf bytes; /* every name and value, NUL-terminated */
	size_t name[AUDIT_FIELDS], value[AUDIT_FIELDS], len[AUDIT_FIELDS];
	size_t n;
};

void audit_record_init(struct audit_record *r);
void audit_record_done(struct audit_record *r);
/* Parses a line. Returns 0, or -EBADMSG: it has another form. */
int audit_record_parse(struct audit_record *r, const char *line, size_t len) MUST_USE;
/* Returns a field; NULL: it is absent. ret_len may be NULL. Valid until the next parse. */
const char *audit_record_get(const struct audit_record *r, const char *name, size_t *ret_len);
/* Returns a field; "" if it is absent. */
const char *audit_record_text(const struct audit_record *r, const char *name);

/* Calls on() for each whole line of the log, the oldest first: those of PATH.1, the file before
 * rotation, then those of PATH. A missing file has none. Returns -EBADMSG at the first bad line. */
int audit_read(const char *path, void (*on)(void *data, const struct audit_record *record),
	       void *data, struct err *err) MUST_USE;
