/* qmp - what QEMU's machine protocol says, and commands to it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/*
 * JSON lines on a socket of its own. QEMU greets, takes no command before qmp_capabilities, and
 * answers in order. A QEMU that a guest has taken over may say anything here.
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
	char name[64];	/* of an event: "SHUTDOWN"; of an error: its class */
	char text[256]; /* of an error: its words; of query-status: "running", "paused" */
};

/* 0, or -EBADMSG. */
int qmp_parse(struct qmp_message *ret, const char *line, size_t len) MUST_USE;
/* name as QEMU knows it, without arguments: qmp_capabilities, query-status, stop, cont, quit. */
void qmp_command(struct buf *out, const char *name);
