/* object - stat, open and copy of a file system object by name, never following a link. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"

#define OBJECT_UNSEEN ((mode_t)-1) /* the object lies in a directory without search permission */

struct journal; /* notes borrowed mode bits (store/borrow_mode.c) */

struct object { /* mode 0: the path does not exist */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint32_t nlink;
	uint64_t dev, ino, size, blocks;
	int64_t mtime_ns, ctime_ns, btime_ns;
	uint64_t generation; /* of the inode number, if btime_ns is 0; 0: unknown */
};

/* 12 bits of major and 20 of minor number are all that the kernel has. */
static inline uint32_t object_pack_dev(uint64_t dev)
{
	return (uint32_t)(dev >> 32) << 20 | (uint32_t)(dev & 0xfffff);
}
static inline uint64_t object_unpack_dev(uint32_t dev)
{
	return (uint64_t)(dev >> 20) << 32 | (dev & 0xfffff);
}

/* The same in fewer bytes: without blocks, and of the links only whether there are several. */
struct packed_object {
	uint64_t ino, size;
	int64_t mtime_ns, ctime_ns, btime_ns;
	uint32_t dev; /* object_pack_dev() */
	uid_t uid;
	gid_t gid;
	uint16_t mode;
	bool linked;
};
void object_pack(struct packed_object *l, const struct object *o);
void object_unpack(const struct packed_object *l, struct object *ret);

/* Fills in *o. Returns 0 also if the name does not exist (o->mode 0). name "" is dirfd itself.
 * Never follows a link. */
int object_stat(int dirfd, const char *name, struct object *o);
int object_open(int dirfd, const char *name) MUST_USE; /* O_PATH */
/* Returns whether both are the same inode, not a reused number. */
bool object_same(const struct object *a, const struct object *b);
/* Returns whether birth time or generation show that two inodes of one device and number differ. */
bool object_is_reuse(int64_t a_btime_ns, uint64_t a_generation, const struct object *b);
/* Returns whether a reuse of the inode's number can be detected. */
static inline bool object_is_identified(const struct object *o)
{
	return o->btime_ns || o->generation;
}
/* Reads mode, owner, times and xattrs of an O_PATH descriptor as a blob, or applies them. */
int attributes_read(struct journal *j, int fd, struct buf *ret) MUST_USE;
int attributes_apply(int fd, struct span meta) MUST_USE;
/*
 * Applies them as far as permissions allow: the rest of another user's file takes its owner or
 * root. Returns 1 if owner, mode or xattrs could not be set; times that could not be set are
 * ignored.
 */
int attributes_apply_ours(int fd, struct span meta) MUST_USE;
/* Returns a hash of the extended attributes that a user may set, with ACLs; 0 if there are none. */
uint64_t attributes_hash_xattrs(int fd); /* open for reading */
uint64_t attributes_hash_xattrs_at(int dirfd, const char *name);
uint64_t attributes_hash_kept(struct span meta); /* the same of a blob */
mode_t attributes_mode(struct span meta);
/* Converts a record's time to nanoseconds. A time that is too late for them (2262) becomes the
 * greatest value, as in object_stat(). */
int64_t attributes_ns(uint64_t sec, uint32_t nsec);
int64_t attributes_mtime(struct span meta); /* ns; -1: the blob is damaged */
bool attributes_are_sound(struct span meta);
/* Sets the blob's modification time. name "": returns 0 also if the object is another user's, whose
 * time is not changed. */
int attributes_set_mtime(int dirfd, const char *name, struct span meta) MUST_USE;
int object_chmod(int fd, mode_t mode) MUST_USE; /* fd: an O_PATH descriptor */
int object_chmod_at(int dirfd, const char *name, mode_t mode) MUST_USE;
/* Clones or copies all of src over dst, from offset 0; dst gets the length of src. Returns 1 if it
 * was cloned, or 0. */
int object_copy_data(int src, int dst) MUST_USE;
int object_clone_data(int src, int dst) MUST_USE; /* -EOPNOTSUPP: cannot be cloned */
/* Returns the bytes of the extents that no other file shares. */
uint64_t extents_unshared(int dirfd, const char *name);
/* Handles SIGIO, which the kernel sends when a process opens a file for writing during the lease of
 * object_has_writer(), and which would end this process. Called when a journal is opened. */
void object_expect_breaks(void);
/* Returns whether any process has this file open for writing (or a shared writable mapping of it);
 * true if that is unknown. fd is open read-only, for this call only: close it next. */
bool object_has_writer(int fd);
/* The same, but returns false if it is unknown. */
bool object_is_written(int fd);
/* Lets the opening of this file block in other processes (and in this one) until all descriptors
 * that share the open file description of fd are closed. Returns false, after a few milliseconds,
 * if another process has the file open; or if it cannot be held. */
bool object_hold(int fd);
/* Returns a hash of the content, or 0 if it is unknown. Of a file longer than CONTENT_HASH_MAX only
 * some parts are hashed: together with the times that is enough to tell a new name (which changes
 * the ctime) from an edit. */
uint64_t content_hash(int fd, size_t size);
uint64_t content_hash_bytes(const char *bytes, size_t size); /* the same of bytes in memory */
#define CONTENT_HASH_MAX ((size_t)16 << 10)
/* Returns a hash of a git index's entries that does not change when git refreshes the index; 0 if
 * the file is no index or is too large. */
uint64_t git_index_hash(int fd, size_t size);
/* Returns a hash of every byte. Holes are not read. */
uint64_t content_hash_whole(int fd, uint64_t size); /* 0: unknown */
uint64_t content_hash_all(const char *bytes, size_t size);

int move_noreplace(int fromfd, const char *from, int tofd, const char *to) MUST_USE;
int move_exchange(int afd, const char *a, int bfd, const char *b) MUST_USE;
/* Copies the object (not a directory) with its metadata to a free name. */
int object_copy(struct journal *j, int fromfd, const char *from, int tofd, const char *to) MUST_USE;
/* Renames to a free name, or copies and removes between two mounts. ret_copy (or NULL): the copy as
 * it was before it got the name; mode 0: it was not copied. */
int object_move(struct journal *j, int fromfd, const char *from, int tofd, const char *to,
		struct object *ret_copy) MUST_USE;
