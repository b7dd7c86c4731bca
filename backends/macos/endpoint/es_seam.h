/* es_seam - what passes between Endpoint Security and those who decide: messages and answers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The whole of Endpoint Security that the rest of this folder sees: es_darwin.c fills it from the
 * system's messages, tests from their own. A message and its strings are borrowed for one call;
 * what is answered later is named by its handle.
 */
enum es_kind {
	ES_OPEN, /* waits for an answer, and so do those up to ES_CREATE */
	ES_EXEC,
	ES_SIGNAL,
	ES_GET_TASK, /* debuggers: task_for_pid() and ptrace(PT_ATTACHEXC) */
	ES_UNLINK,
	ES_RENAME,
	ES_CREATE,
	ES_FORK, /* the rest only tell */
	ES_EXIT,
	ES_XPC_CONNECT,
	ES_KINDS
};

/* The number of a process and of its use: a number that is used again has another version. */
struct es_id {
	int32_t pid;
	uint32_t version;
};

struct es_message {
	enum es_kind kind;
	uint64_t handle;      /* answers are to this one; 0: none is wanted */
	uint64_t seq;	      /* one more for each message of the client's; a gap: dropped */
	int64_t deadline_us;  /* of es_seam.now(): without an answer the kernel ends this process */
	struct es_id process; /* who */
	struct es_id parent;
	struct es_id target; /* SIGNAL, GET_TASK: of whom; FORK: the child */
	const char *path;    /* OPEN, EXEC, UNLINK, CREATE: of what; RENAME: from; else NULL */
	const char *path2;   /* RENAME: to */
	const char *service; /* XPC_CONNECT */
	bool cut;	     /* a path is longer than Endpoint Security tells */
	bool writes;	     /* OPEN: for writing */
	int signal;
};

struct es_seam {
	void *data; /* handed to both */
	/* Once for each handle. Never cached by the kernel: what is inside changes. */
	void (*answer)(void *data, uint64_t handle, enum es_kind kind, bool allow);
	int64_t (*now)(void *data); /* microseconds, monotonic */
};

/* Why there is no client. */
enum es_lack {
	ES_LACKS_NOTHING,
	ES_LACKS_ENTITLEMENT, /* com.apple.developer.endpoint-security.client */
	ES_LACKS_PERMISSION,  /* Full Disk Access */
	ES_LACKS_ROOT,
	ES_LACKS_ROOM, /* the system has as many clients as it allows */
	ES_LACKS_SYSTEM,
};
