/* es_seam - messages of Endpoint Security and answers to them, free of the system's types. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The rest of this folder sees Endpoint Security through this header alone: es_message_darwin.c
 * fills it from the system's messages, tests from their own. A message and its strings are
 * borrowed for one call; a later answer refers to the message by its handle.
 */
enum es_kind {
	ES_OPEN, /* kinds up to ES_MOUNT wait for an answer */
	ES_EXEC,
	ES_SIGNAL,
	ES_GET_TASK, /* debuggers: task_for_pid() and ptrace(PT_ATTACHEXC) */
	ES_UNLINK,   /* of a directory, too */
	ES_RENAME,
	ES_CREATE, /* of a directory, too */
	ES_TRUNCATE,
	ES_LINK,
	ES_CLONE, /* clonefile(2): path2 is a new file with the content of path */
	ES_SWAP,  /* exchangedata(2): two files change places */
	ES_META,  /* mode, owner, times, flags, access lists, extended attributes */
	ES_MOUNT, /* mounts a file system at path, or remounts it with other options */
	ES_FORK,  /* the rest are notifications without an answer */
	ES_EXIT,
	ES_CREATED,
	ES_RENAMED,
	ES_XPC_CONNECT,
	ES_KINDS
};

/* Returns whether a message of this kind waits for an answer. */
static inline bool es_kind_asks(enum es_kind kind)
{
	return kind < ES_FORK;
}

#define ES_ARGV_MAX 8192u /* bytes of a command's words; LABEL_REST stands for the rest */

/*
 * Identifies a process. The version changes when a process executes another program, and when the
 * number is reused. The start distinguishes the two: exec(2) keeps it.
 */
struct es_id {
	int32_t pid;
	uint32_t version;   /* 0: not known */
	int64_t started_us; /* when it was forked, wall clock; 0: not known */
};

/*
 * Returns whether both may be of one process. The start comes from two parts of the system that may
 * round differently. A number is not reused within a second, because all other numbers come first.
 */
#define ES_START_US INT64_C(1000000)
static inline bool es_same_start(struct es_id a, struct es_id b)
{
	int64_t apart = a.started_us - b.started_us;

	return !a.started_us || !b.started_us || (apart < ES_START_US && apart > -ES_START_US);
}

/* An entry of the system's process table, which is read after messages were dropped. */
struct es_kin {
	struct es_id id;
	int32_t parent;
};

struct es_table {
	void *data; /* handed to all */
	/* Writes the numbers of all processes. Returns their count. */
	size_t (*list)(void *data, int32_t *out, size_t max);
	/* Returns false if there is no process of that number, or it has ended. */
	bool (*look)(void *data, int32_t pid, struct es_kin *ret);
	/* Returns whether the process is under the session's profile (profile_mark()). */
	bool (*is_marked)(void *data, int32_t pid);
};

struct es_message {
	enum es_kind kind;
	uint64_t handle;      /* for the answer; 0: needs no answer */
	uint64_t seq;	      /* grows by one for each message of the client's; a gap: dropped */
	int64_t deadline_us;  /* by es_seam.now(): the kernel ends a client that is later */
	struct es_id process; /* that makes the call */
	struct es_id parent;
	struct es_id target; /* SIGNAL, GET_TASK: the other process; FORK: the child */
	const char *path;    /* RENAME, LINK, CLONE, SWAP, RENAMED: the source; or NULL */
	const char *path2;   /* of these five: the target */
	const char *service; /* XPC_CONNECT */
	const char *argv; /* EXEC: words, each with its NUL, ES_ARGV_MAX at most; NULL: not known */
	size_t argv_len;
	uint64_t dev, ino;   /* of the object at path, as the kernel found it; ino 0: not known */
	uint32_t mode;	     /* its type, with ino; CREATE: the new object's */
	uint64_t dev2, ino2; /* of the existing object at path2; ino2 0: none */
	uint32_t mode2;
	bool cut;	/* Endpoint Security has cut a path that is too long */
	bool writes;	/* OPEN: for writing */
	bool truncates; /* OPEN: with O_TRUNC */
	bool dir;	/* CREATE: a directory */
	bool placed;	/* es_queue.h: the process is inside, and target_inside is set */
	bool target_inside;
	uint32_t found; /* es_queue.h: processes found inside after the message before */
	bool granted;	/* es_client.h: the user has just allowed this call */
	int signal;
};

struct es_seam {
	void *data; /* handed to both */
	/* Called once for each handle. The kernel caches no answer, as the set of processes inside
	 * changes. */
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
