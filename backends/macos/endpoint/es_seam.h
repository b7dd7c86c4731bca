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
	ES_OPEN, /* waits for an answer, and so do those up to ES_MOUNT */
	ES_EXEC,
	ES_SIGNAL,
	ES_GET_TASK, /* debuggers: task_for_pid() and ptrace(PT_ATTACHEXC) */
	ES_UNLINK,   /* of a directory, too */
	ES_RENAME,
	ES_CREATE, /* of a directory, too */
	ES_TRUNCATE,
	ES_LINK,
	ES_CLONE, /* clonefile(2): path2 is a new file with what path has */
	ES_SWAP,  /* exchangedata(2): two files change places */
	ES_META,  /* mode, owner, times, flags, lists of access, extended attributes */
	ES_MOUNT, /* of a file system at path, or of one that is there with other options */
	ES_FORK,  /* the rest only tell */
	ES_EXIT,
	ES_CREATED,
	ES_RENAMED,
	ES_XPC_CONNECT,
	ES_KINDS
};

/* What a message of this kind waits for: an answer. */
static inline bool es_kind_asks(enum es_kind kind)
{
	return kind < ES_FORK;
}

#define ES_ARGV_MAX 8192u /* of the words of a command; LABEL_REST stands for what is more */

/*
 * The number of a process and of its use: a number that is used again has another version, and so
 * has a process that has executed another program. Those two are told apart by when it was forked.
 */
struct es_id {
	int32_t pid;
	uint32_t version;
	int64_t started_us; /* of the wall's clock; 0: not told, as for the version */
};

/*
 * Could they be of one process? Two parts of the system tell the start, which may round it each in
 * its way; and nobody gets a number again that soon, for all others come first.
 */
#define ES_START_US INT64_C(1000000)
static inline bool es_same_start(struct es_id a, struct es_id b)
{
	int64_t apart = a.started_us - b.started_us;

	return !a.started_us || !b.started_us || (apart < ES_START_US && apart > -ES_START_US);
}

/* What the system's own table says of processes, where messages were dropped. */
struct es_kin {
	struct es_id id;
	int32_t parent;
};

struct es_table {
	void *data; /* handed to all */
	/* The numbers of all; a count. */
	size_t (*list)(void *data, int32_t *out, size_t max);
	/* False: there is none of that number, or it has ended. */
	bool (*look)(void *data, int32_t pid, struct es_kin *ret);
	/* It is under the session's profile (profile_mark()). */
	bool (*is_marked)(void *data, int32_t pid);
};

struct es_message {
	enum es_kind kind;
	uint64_t handle;      /* answers are to this one; 0: none is wanted */
	uint64_t seq;	      /* one more for each message of the client's; a gap: dropped */
	int64_t deadline_us;  /* of es_seam.now(): without an answer the kernel ends this process */
	struct es_id process; /* who */
	struct es_id parent;
	struct es_id target; /* SIGNAL, GET_TASK: of whom; FORK: the child */
	const char *path;    /* of what; RENAME, LINK, CLONE, SWAP, RENAMED: from; or NULL */
	const char *path2;   /* of those five: to */
	const char *service; /* XPC_CONNECT */
	const char *argv;    /* EXEC: each ends with NUL; NULL: not told; at most ES_ARGV_MAX */
	size_t argv_len;
	uint64_t dev, ino;   /* of what is at path, as the kernel found it; ino 0: not told */
	uint32_t mode;	     /* its type, with ino; CREATE: of what is made */
	uint64_t dev2, ino2; /* the same of what has the second name already; ino2 0: nothing */
	uint32_t mode2;
	bool cut;	/* a path is longer than Endpoint Security tells */
	bool writes;	/* OPEN: for writing */
	bool truncates; /* OPEN: to nothing */
	bool dir;	/* CREATE: a directory */
	bool placed;	/* es_queue.h: the process is inside, and target_inside is told */
	bool target_inside;
	uint32_t found; /* es_queue.h: so many were found inside since the message before */
	bool granted;	/* es_client.h: a human has just allowed this very call */
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
