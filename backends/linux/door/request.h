/* request - one trapped call: its registers, and its arguments copied once from the caller's
 * memory.
 */
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

/* Copies of the caller's memory, made once. Everything later looks at these alone. */
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

/* What was on the screen while a human decided: the same place, or the answer does not count. */
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
	bool opath_ok;	  /* an O_PATH descriptor will do */
	unsigned resolve; /* RESOLVE_* of openat2 */
	bool slash;	  /* O_CREAT of "x/" */
	bool creates;	  /* O_CREAT: a trailing slash is EISDIR, in a link's text too */
	bool gives_fd;	  /* the result is a descriptor for the caller */
	bool reads;	  /* an open for reading that the floor would refuse */
	int opened;	/* owned: what is handed over, or connected to, once a human has allowed it;
			 * -1: nothing */
	bool resumed;	/* comes back from an answer; the copies are the first ones */
	bool cwd_known; /* for the second path of a call that has two */
	struct stat cwd;
	struct shown shown[2];
	struct asked asked; /* what a call with two paths, or a link's text, brings to its name */
	int flags;
	mode_t mode;
	struct timespec times[2];
	struct place *place[2]; /* the door's scratch */
};

/* Where the one request lies that is being served, and what its slots and places point to. */
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
/* Copy a path. 0, -EFAULT, -ENAMETOOLONG, DOOR_CONTINUE when the memory cannot be read at all. */
int request_path(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr);
/* Both paths of a call with one look; what this leaves out request_path() copies. */
void request_paths(struct request *r, const uint64_t addr[2]);
/* Copy a string of at most max bytes with its NUL; longer is -E2BIG. */
int request_text(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t max);
int request_mem(struct ldoor *d, struct request *r, enum slot slot, uint64_t addr, size_t len);
/* Write to the caller's memory; -EFAULT. */
int request_write(const struct request *r, uint64_t addr, const void *data, size_t len);
/* 0, or DOOR_DEAD: tid may be somebody else's by now and nothing that was read counts. */
int request_alive(const struct ldoor *d, const struct request *r);
/* A duplicate of the caller's descriptor; -EBADF. */
int request_fd(struct ldoor *d, const struct request *r, int fd);
