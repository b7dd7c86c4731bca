/* gate_priv - what the processes of the read gate say to each other. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>

#include "backends/linux/gate.h"
#include "backends/linux/native_priv.h"

/* ---- server and keeper: one message on a SOCK_SEQPACKET pair --------------------------------- */

enum gate_say {
	GATE_ASK,    /* server: may tid open path? */
	GATE_CANCEL, /* server: nobody waits for id any more */
	GATE_ANSWER, /* keeper: result is 0 or a negative errno */
	GATE_ARM,    /* keeper: from now on it answers; what was opened before got EACCES */
};

struct gate_note {
	uint64_t id;
	int32_t what; /* enum gate_say */
	int32_t tid;  /* as the host counts */
	int32_t result;
	bool exec, dir;
	char path[PATH_MAX]; /* sent up to its NUL */
};
#define GATE_NOTE_HEAD offsetof(struct gate_note, path)

/* ---- gate_server.c: the process ---- */
struct gate_server {
	const struct plan *plan;
	const struct policy *policy;
	const int *fuse; /* one device for each gated tree */
	int sock;
};
NORETURN void gate_server_run(const struct gate_server *s);

/* ---- mounter.c: the process ---- */
struct mounter {
	const struct plan *plan;
	int user_ns;
	int sock;
};
NORETURN void mounter_run(const struct mounter *m);

/* Keeper to mounter: a human has granted that directory and all below, or taken it back. */
struct bind_note {
	bool on;
	char path[PATH_MAX]; /* sent up to its NUL */
};
#define BIND_NOTE_HEAD offsetof(struct bind_note, path)

/* ---- gate.c ---- */
/* Close every descriptor but these, and have 0 to 2 lead nowhere. */
void gate_keep_only(const int *fds, size_t n);

/* ---- gate_door.c ---- */
/* Takes sock; mounter is borrowed until the door is closed. */
struct door *gate_door_new(struct keeper *k, int sock, int mounter) MUST_USE;
