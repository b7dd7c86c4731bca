/* fsevents - macOS: reports changes below directories, by FSEvents. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The numbers are those of <CoreServices/FSEvents.h> (kFSEventStreamEventFlag...), under their own
 * names here, so that the code that judges them is compiled and tested on any system.
 */
enum {
	FSE_MUST_SCAN = 0x1,	  /* paths below changed, without their names */
	FSE_USER_DROPPED = 0x2,	  /* events were lost in this process */
	FSE_KERNEL_DROPPED = 0x4, /* events were lost in the kernel */
	FSE_IDS_WRAPPED = 0x8,	  /* event numbers begin again */
	FSE_HISTORY_DONE = 0x10,  /* no event */
	FSE_ROOT_CHANGED = 0x20,  /* a watched directory, or one above it, was renamed or removed */
	FSE_MOUNT = 0x40,
	FSE_UNMOUNT = 0x80,
	FSE_CREATED = 0x100,
	FSE_REMOVED = 0x200,
	FSE_INODE_META = 0x400,
	FSE_RENAMED = 0x800, /* for both names, in two events */
	FSE_MODIFIED = 0x1000,
	FSE_FINDER_INFO = 0x2000,
	FSE_OWNER = 0x4000,
	FSE_XATTR = 0x8000,
	FSE_IS_FILE = 0x10000,
	FSE_IS_DIR = 0x20000,
	FSE_IS_SYMLINK = 0x40000,
	FSE_OWN = 0x80000, /* by this process, perhaps among others */
};

struct os_fs_event {
	char *path; /* absolute; heap, owned by the reader */
	uint32_t flags;
	uint64_t id;
};

/*
 * Life:    open -> read whenever the descriptor is readable -> close.
 * Threads: one owner. Events come on a queue of the library's and wait under a lock, at most
 *          OS_FS_EVENTS_MAX; at more, they are dropped and "/" gets FSE_USER_DROPPED.
 * Errors:  negative errno; -EIO: FSEvents refused.
 */
#define OS_FS_EVENTS_MAX 16384

struct os_fs_stream;

/* dirs: absolute, without links. Reports later changes, of files too. */
int os_fs_stream_open(struct os_fs_stream **ret, const char *const *dirs, size_t n);
int os_fs_stream_fd(const struct os_fs_stream *s);
/* Delivers the events of all earlier changes before it returns. */
void os_fs_stream_flush(struct os_fs_stream *s);
size_t os_fs_stream_read(struct os_fs_stream *s, struct os_fs_event *list, size_t n);
void os_fs_stream_close(struct os_fs_stream *s); /* NULL is a no-op */
