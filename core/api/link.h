/* link - the client's end of a session's protocol, as another terminal uses it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/reader.h"
#include "core/base/err.h"

/*
 * Life:   link_open() or link_each() -> link_next() ... -> link_done().
 * Blocks: a session that says nothing for LINK_WAIT_S is stopped or stuck: an error.
 */
#define LINK_WAIT_S 5

struct link {
	int fd;
	struct buf in;
	size_t used; /* of in: the last line that was given out */
	struct audit_record record;
	char *session;
	const char *tag; /* the end of the session's name: the first part of an ID */
	uint64_t pending;
	char *own_settings; /* the profile whose settings can be copied for the folder; or NULL */
};

/* The socket NAME of dir, and its greeting. -ECONNREFUSED, -ENOENT: nobody is there. */
int link_open(struct link *l, const char *dir, const char *name, struct err *err) MUST_USE;
void link_done(struct link *l);
/* The next line, parsed into l->record; its text is *ret until the next call. */
int link_next(struct link *l, struct span *ret, struct err *err) MUST_USE;
/* 1: a line that is there already, as link_next(); 0: none is. Never waits. */
int link_poll(struct link *l, struct err *err) MUST_USE;
const char *link_field(const struct link *l, const char *name); /* of the record; "": not there */
int link_send(struct link *l, const struct buf *out, struct err *err) MUST_USE;
/* fn for every session that answers; stops at its first result that is not 0, and returns it. fn
 * may take the link over by emptying it. One that is stopped hides no other: why it is left out is
 * added to mute. */
int link_each(int (*fn)(struct link *l, void *data, struct err *err), void *data, struct buf *mute,
	      struct err *err) MUST_USE;
