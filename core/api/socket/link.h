/* link - the client's side of a session's protocol, for other terminals. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/audit/reader.h"
#include "core/base/err.h"

/*
 * Life:   link_open() or link_each() -> link_next() ... -> link_done().
 * Blocks: a session that sends nothing for LINK_WAIT_S is stopped or stuck: an error.
 */
#define LINK_WAIT_S 5

struct link {
	int fd;
	struct buf in;
	size_t used; /* length of the line of `in` that was returned last */
	struct audit_record record;
	char *session;
	const char *tag; /* end of the session's name, which is the first part of an ID */
	uint64_t pending;
	char *own_settings; /* the profile whose settings can be copied for the folder; or NULL */
	bool connected, greeted;
	int error; /* of links_open(): the error of this link, with words in `why`; else 0 */
	char *why;
};

/* Connects to the socket NAME of dir, and reads the greeting. Returns -ECONNREFUSED or -ENOENT if
 * no session listens there. */
int link_open(struct link *l, const char *dir, const char *name, struct err *err) MUST_USE;
/* Removes the sockets of sessions that were killed. The caller holds the lock of the directory, so
 * no other session begins to listen. */
void link_sweep(const char *dir);
/* Connects to a session of this user by its full name. */
int link_open_session(struct link *l, const char *session, struct err *err) MUST_USE;
void link_done(struct link *l);
/* Reads the next line and parses it into l->record; *ret is its text until the next call. */
int link_next(struct link *l, struct span *ret, struct err *err) MUST_USE;
/* Returns a member of the record; "": it is absent. */
const char *link_field(const struct link *l, const char *name);
/* Returns a member that may be null as text: "" then. */
const char *link_text(const struct link *l, const char *name);
/* Sends one command and waits for its reply. Returns -EPERM, with the words of the session, if it
 * refused. */
int link_command(struct link *l, const struct buf *line, struct err *err) MUST_USE;
/* Connects to all sessions at once, or to the sessions with a name that ends in `wanted`, and reads
 * their greetings. Returns after wait_ms at the latest: a session that has not answered has error
 * -EAGAIN; a stopped one has it at once, or soon if others have filled its queue. If a session has
 * requests that wait, the first can be read, too. -ENOENT, no session runs, is no error. */
struct links {
	struct link *list;
	size_t n;
};
int links_open(struct links *ret, const char *wanted, int wait_ms, struct err *err) MUST_USE;
void links_done(struct links *l);
/* Adds why the session listens but does not answer. Returns whether there is such a reason. */
bool link_is_mute(const struct link *l, struct buf *mute);

/* Calls fn for every session that answers, or that `wanted` of links_open() names, and returns its
 * first result that is not 0. fn may take over the link by emptying it. A stopped session is
 * skipped, and the reason added to mute. */
int link_each(const char *wanted, int (*fn)(struct link *l, void *data, struct err *err),
	      void *data, struct buf *mute, struct err *err) MUST_USE;
