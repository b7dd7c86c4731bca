/* reader - the audit log's lines taken apart again. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * One line as audit_append() writes it: an object of strings, numbers and
 * literals, no nesting. Strings are
 * decoded to the raw bytes that went in ("\udcff" is the byte 0xff, which JSON libraries refuse).
 * Life: audit_record_init() once, audit_record_parse() per line, audit_record_done().
 */
#define AUDIT_FIELDS 32

struct audit_record {
	struct buf bytes; /* every name and value, NUL-terminated */
	size_t name[AUDIT_FIELDS], value[AUDIT_FIELDS], len[AUDIT_FIELDS];
	size_t n;
};

void audit_record_init(struct audit_record *r);
void audit_record_done(struct audit_record *r);
/* -EBADMSG: not such a line. */
int audit_record_parse(struct audit_record *r, const char *line, size_t len) MUST_USE;
/* NULL when the field is not there. ret_len may be NULL. Borrowed until the next parse. */
const char *audit_record_get(const struct audit_record *r, const char *name, size_t *ret_len);
