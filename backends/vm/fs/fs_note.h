/* fs_note - messages between the fs server and the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One message on a SOCK_SEQPACKET pair. The keeper trusts none of its bytes. */
enum fs_what {
	FS_OPEN,   /* opens place 0 with `flags`; the answer has a descriptor */
	FS_CREATE, /* the same, with mode and umask */
	FS_MKDIR,
	FS_MKNOD,
	FS_SYMLINK, /* place 0 is the link, text[0] its target */
	FS_LINK,    /* place 0 gets the name of place 1 */
	FS_UNLINK,
	FS_RMDIR,
	FS_RENAME, /* place 0 to place 1 by flags */
	/* Sets the attributes of `set`. This and the next two concern place 0, or a file without a
	 * name, whose descriptor is attached. */
	FS_SETATTR,
	FS_SETXATTR,
	FS_REMOVEXATTR,
	FS_READ,   /* asks whether text[0], an absolute path, may be read */
	FS_CLOSED, /* a file that has no name yet has lost its last writer */
	FS_WHATS,
	/* Other messages: */
	FS_CANCEL = 100, /* server: the guest no longer waits for id */
	FS_ANSWER,	 /* keeper: a struct fs_answer */
};

enum {
	FS_SET_MODE = 1 << 0,
	FS_SET_OWNER = 1 << 1,
	FS_SET_SIZE = 1 << 2,
	FS_SET_TIMES = 1 << 3,
	FS_SET_PLAIN = 1 << 4, /* clear set-id bits; also for an open that truncates */
	FS_SET_ALL = (1 << 5) - 1,
};

struct fs_inode {
	uint64_t dev, ino; /* ino 0: not checked */
};

/* A name in a directory of the share. */
struct fs_spot {
	struct fs_inode dir, object;
	uint32_t dir_len, name_len; /* lengths in data, NUL excluded; name "": the share's root */
};

struct fs_time {
	int64_t sec;
	uint64_t nsec; /* or UTIME_NOW, UTIME_OMIT */
};

#define FS_VALUE_MAX 65536 /* XATTR_SIZE_MAX */
#define FS_DATA_MAX  (4 * PATH_MAX + 2 * 256 + FS_VALUE_MAX)

struct fs_note {
	uint64_t id;
	uint32_t what; /* enum fs_what */
	int32_t result;
	uint32_t share;
	uint32_t flags; /* of open(2), rename, setxattr */
	uint32_t mode, umask;
	uint32_t uid, gid; /* the caller's; FS_SETATTR: the new ones */
	uint32_t set;	   /* FS_SET_*; FS_READ: 1 to execute */
	uint32_t text_len; /* target of a link, name of an attribute, path */
	uint32_t value_len;
	uint32_t tid; /* the calling thread, in the guest; 0: not known */
	uint64_t size;
	struct fs_time times[2];
	struct fs_spot spot[2];
	/* dir 0, name 0, dir 1, name 1, text: each with its NUL; then the value. */
	char data[FS_DATA_MAX];
};
#define FS_NOTE_HEAD offsetof(struct fs_note, data)

/* FS_OPEN and FS_CREATE are answered with a descriptor. */
struct fs_answer {
	uint64_t id;
	uint32_t what;
	int32_t result;
};

/* Memory that keeper and server share. */
struct fs_page {
	_Atomic uint64_t changes; /* how often the keeper's rules changed since the fork */
};

/* Pointers to the parts of data. */
struct fs_note_parts {
	const char *dir[2], *name[2], *text, *value;
};
/* Fills in data and its lengths. The caller has set value_len. NULL is "". Returns the length of
 * the message; 0: too long. */
size_t fs_note_pack(struct fs_note *n, const struct fs_note_parts *p);
/* Finds the parts in a message of len bytes. Returns false if lengths do not fit, or a part has no
 * NUL at its end or one inside. */
bool fs_note_parse(const struct fs_note *n, size_t len, struct fs_note_parts *ret);
