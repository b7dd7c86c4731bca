/* qmp - parses QEMU's machine protocol, and builds commands. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * JSON lines on a socket of its own. QEMU greets, accepts no command before qmp_capabilities, and
 * answers in order. If a guest has taken QEMU over, any message is possible.
 */
#define QMP_LINE (64u << 10)

enum qmp_kind {
	QMP_GREETING,
	QMP_RETURN,
	QMP_ERROR,
	QMP_EVENT,
	QMP_OTHER,
};

struct qmp_message {
	enum qmp_kind kind;
	char name[64];	/* an event: "SHUTDOWN"; an error: its class */
	char text[256]; /* an error's description; query-status: "running", "paused" */
};

/* Parses a line. Returns 0 or -EBADMSG. */
int qmp_parse(struct qmp_message *ret, const char *line, size_t len) MUST_USE;
/* Appends a command without arguments: qmp_capabilities, query-status, stop, cont, quit. */
void qmp_command(struct buf *out, const char *name);
