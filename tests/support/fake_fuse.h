/* fake_fuse - a kernel and a keeper for the read gate's handlers: two sockets, without a mount. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/linux/gate/gate_fuse.h"
#include "backends/linux/gate/gate_held.h"
#include "core/base/io.h"

#include <linux/fuse.h>

/* The handlers run in this process, one request after the other. Their answers, and their messages
 * to the keeper, are read from the other ends. A process can have only one: gate_held.c has one
 * state. A test that wants another tree starts again, with nothing held. */
#define FAKE_ROOM (192 * 1024) /* requests are smaller than a socket's buffer */

struct fake_reply {
	bool there;
	int error; /* 0 or negative errno */
	const char *data;
	size_t len;
};

static struct {
	int kernel, device; /* two ends, in place of /dev/fuse */
	int keeper, sock;
	struct plan plan;
	struct policy *policy;
	struct gate_page page;
	struct gate_server server;
	struct gate_fs fs;
	int tid;	   /* the caller's */
	uint64_t unique;   /* of the last request */
	uint64_t outdated; /* node whose attributes the kernel was told to drop; 0 */
	uint64_t rules;	   /* reported changes of rules */
	char room[FAKE_ROOM];
} fake;

/* Reads the answers since the last call; a held request has none. */
static struct fake_reply fake_hear(void)
{
	struct fuse_out_header head;

	for (;;) {
		ssize_t n = recv(fake.kernel, fake.room, sizeof(fake.room), MSG_DONTWAIT);

		if (n < (ssize_t)sizeof(head))
			return (struct fake_reply){.there = false};
		memcpy(&head, fake.room, sizeof(head));
		if (head.len != (size_t)n)
			abort();
		if (head.unique)
			return (struct fake_reply){.there = true,
						   .error = head.error,
						   .data = fake.room + sizeof(head),
						   .len = (size_t)n - sizeof(head)};
		if (head.error == FUSE_NOTIFY_INVAL_INODE) {
			struct fuse_notify_inval_inode_out out;

			memcpy(&out, fake.room + sizeof(head), sizeof(out));
			fake.outdated = out.ino;
		}
	}
}

static struct fake_reply fake_ask(uint32_t opcode, uint64_t node, const void *data, size_t len)
{
	static struct fuse_buf room;
	struct fuse_in_header head = {.len = (uint32_t)(sizeof(head) + len),
				      .opcode = opcode,
				      .unique = ++fake.unique,
				      .nodeid = node,
				      .uid = geteuid(),
				      .gid = getegid(),
				      .pid = (uint32_t)fake.tid};
	char message[FAKE_ROOM];
	int n;

	memcpy(message, &head, sizeof(head));
	if (len)
		memcpy(message + sizeof(head), data, len);
	if (send(fake.kernel, message, head.len, MSG_DONTWAIT) != (ssize_t)head.len)
		abort();
	n = fuse_session_receive_buf(fake.fs.session, &room);
	if (n != (int)head.len)
		abort();
	fuse_session_process_buf(fake.fs.session, &room);
	return fake_hear();
}

/* Sends a request whose data is a struct, perhaps with a name after it. */
static UNUSED struct fake_reply fake_ask_name(uint32_t opcode, uint64_t node, const void *data,
					      size_t len, const char *name)
{
	char message[PATH_MAX + 256];
	size_t n = strlen(name) + 1;

	if (len)
		memcpy(message, data, len);
	memcpy(message + len, name, n);
	return fake_ask(opcode, node, message, len + n);
}

/* ---- the keeper ------------------------------------------------------------------------------ */

static void fake_say(const struct gate_note *note, size_t path_len)
{
	if (send(fake.keeper, note, GATE_NOTE_HEAD + path_len, MSG_NOSIGNAL) < 0 ||
	    !gate_held_serve(POLLIN, false))
		abort();
}

static UNUSED void fake_answer(uint64_t id, int result)
{
	fake_say(&(struct gate_note){.id = id, .what = GATE_ANSWER, .result = result}, 1);
}

/* Reads a message of the server to the keeper, except requests to read the page. Returns false if
 * there is none. */
static UNUSED bool fake_told(struct gate_note *note)
{
	ssize_t n;

	do
		n = recv(fake.keeper, note, sizeof(*note), MSG_DONTWAIT);
	while (n > 0 && note->what == GATE_COUNT);
	return n > (ssize_t)GATE_NOTE_HEAD;
}

/* Grants like a user's answer for the session, about a tree; the path ends with `/`. */
static UNUSED uint64_t fake_grant(enum rule_kind kind, const char *path)
{
	struct gate_note note = {.what = GATE_GIVEN, .kind = kind};

	note.answer = (struct answer){.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_TREE};
	note.id = ++fake.rules;
	snprintf(note.path, sizeof(note.path), "%s", path);
	atomic_fetch_add(&fake.page.changes, 1);
	fake_say(&note, strlen(note.path) + 1);
	return note.id;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void fake_begin(const char *tree)
{
	struct fuse_init_in init = {.major = FUSE_KERNEL_VERSION,
				    .minor = FUSE_KERNEL_MINOR_VERSION,
				    .flags = FUSE_DO_READDIRPLUS | FUSE_AUTO_INVAL_DATA |
					     FUSE_BIG_WRITES | FUSE_MAX_PAGES};
	int device[2], talk[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, device) < 0)
		abort();
	fake.kernel = device[0];
	fake.device = device[1];
	fake.tid = getpid();
	fake.server = (struct gate_server){
		.plan = &fake.plan, .policy = fake.policy, .page = &fake.page, .sock = fake.sock};
	if (fake.sock == 0) { /* the first time */
		if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, talk) < 0)
			abort();
		fake.keeper = talk[0];
		fake.server.sock = fake.sock = talk[1];
		/* No process: no caller is the keeper. */
		gate_held_begin(&fake.server, -1);
		fake_say(&(struct gate_note){.what = GATE_ARM}, 1);
	}
	memset(&fake.fs, 0, sizeof(fake.fs));
	if (gate_fs_init(&fake.fs, &fake.server, tree, fake.device) < 0 ||
	    fake_ask(FUSE_INIT, 0, &init, sizeof(init)).error)
		abort();
}

static void fake_end(void)
{
	gate_fs_done(&fake.fs); /* closes the device */
	close(fake.kernel);
}
