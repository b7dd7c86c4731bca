/* request - one trapped call: its registers, and one copy of its arguments. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <linux/limits.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include "backends/linux/door/call.h"
#include "backends/linux/door/place.h"
#include "core/keeper/folders/brought.h"

struct ldoor;

/* Copies of the caller's memory, made once. Later code reads only these. */
enum slot {
	SLOT_PATH,
	SLOT_PATH2,
	SLOT_EXTRA, /* times, open_how, an address, an attribute's name, a link's text */
	SLOT_VALUE, /* an attribute's value */
	SLOT_COUNT,
};

struct copy {
	char *data; /* NUL-terminated */
	size_t len;
	bool have;
};

/* The place that a question showed. The answer counts only if the path still leads to that place.
 */
struct shown {
	dev_t dev;
	ino_t ino;
	char *text;
};

struct request {
	uint64_t id;
	int tid;
	uint64_t args[6];
	const struct door_call *call;
	struct caller caller;
	struct copy slot[SLOT_COUNT];
	enum how how[2];
	int dirfd[2];
	int copied[2];	  /* 0, or why the path could not be copied */
	bool empty_ok[2]; /* AT_EMPTY_PATH */
	bool opath_ok;	  /* an O_PATH descriptor is accepted */
	unsigned resolve; /* RESOLVE_* of openat2 */
	bool slash;	  /* O_CREAT of a path like "x/" */
	bool creates;	  /* O_CREAT: a trailing slash is EISDIR, also in a link's text */
	bool gives_fd;	  /* the result is a descriptor */
	bool reads;	  /* an open for reading that the floor would refuse */
	/* Owned: the descriptor to hand over or connect to after the user has allowed it; or -1. */
	int opened;
	bool resumed; /* continues after an answer, with the first copies */
	/* All looks by the number tid were at the caller: request_proved(). */
	bool same_process;
	bool cwd_known; /* for the second path of a call with two */
	struct stat cwd;
	struct shown shown[2];
	struct asked asked; /* the source of a call with two paths, or a link's text */
	int flags;
	mode_t mode;
	struct timespec times[2];
	struct place *place[2]; /* the door's scratch */
};

/* Memory of the one request that is being served, and of its slots and places. */
struct scratch {
	struct request now;
	struct place places[2];
	char paths[2][PATH_MAX + 1];
	char extra[PATH_MAX + 1];
	char value[XATTR_SIZE_MAX + 1];
};

void request_open(struct ldoor *d);
void request_close(struct ldoor *d);
void request_begin(struct ldoor *d, struct request *r, const struct seccomp_notif *n);
/* Copies a path. Returns 0, -EFAULT, -ENAMETOOLONG, or DOOR_CONTINUE if the memory cannot be read
 * at all. */
int request_path(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr);
/* Copies both paths of a call with one read of the caller's memory. request_path() copies a path
 * that this read did not get. */
void request_paths(struct request *r, const uint64_t addr[2]);
/* The same for an attribute's name and its value: request_text() and request_mem() copy what this
 * read did not get. */
void request_name_and_value(struct request *r, uint64_t name, uint64_t value, size_t size);
/* Copies a string of at most max bytes with its NUL; a longer one is -E2BIG. */
int request_text(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t max);
int request_mem(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t len);
/* Writes to the caller's memory. Returns 0 or -EFAULT. */
int request_write(const struct request *r, uint64_t addr, const void *data, size_t len);
/* Returns 0 if the call still waits, else DOOR_DEAD: tid may be another thread's, so bytes that
 * were read by tid are not used. Asks the kernel unless same_process is set. */
int request_alive(const struct ldoor *d, const struct request *r);
/* Notes that a look at the caller by a handle succeeded: a pidfd, or its directory of /proc. older:
 * the handle was opened before the request came. */
void request_proved(struct request *r, bool older);
/* Returns a duplicate of the caller's descriptor, -EBADF, or DOOR_DEAD. */
int request_fd(struct ldoor *d, struct request *r, int fd);
