/* object - stat, open and copy of a file system object by name, never following a link. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"

#define OBJ_UNSEEN ((mode_t)-1) /* in a directory that we may not search */

struct journal; /* notes which mode bits were lent meanwhile (borrow_mode.c) */

struct obj { /* mode 0: nothing is there */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	uint32_t nlink;
	uint64_t dev, ino, size, blocks;
	int64_t mtime_ns, ctime_ns, btime_ns;
	uint64_t generation; /* where btime_ns is 0: of the inode's number; 0: not told either */
};

/* 12 bits of major and 20 of minor number are all that the kernel has. */
static inline uint32_t dev_pack(uint64_t dev)
{
	return (uint32_t)(dev >> 32) << 20 | (uint32_t)(dev & 0xfffff);
}
static inline uint64_t dev_unpack(uint32_t dev)
{
	return (uint64_t)(dev >> 20) << 32 | (dev & 0xfffff);
}

/* The same in fewer bytes; blocks and, but for "more than one", links are not kept. */
struct look {
	uint64_t ino, size;
	int64_t mtime_ns, ctime_ns, btime_ns;
	uint32_t dev; /* dev_pack() */
	uid_t uid;
	gid_t gid;
	uint16_t mode;
	bool linked;
};
void look_set(struct look *l, const struct obj *o);
void look_get(const struct look *l, struct obj *ret);

/* 0 also when nothing is there. name "" is dirfd itself. Never follows. */
int obj_stat(int dirfd, const char *name, struct obj *o);
int obj_open(int dirfd, const char *name) MUST_USE;	 /* O_PATH */
bool obj_same(const struct obj *a, const struct obj *b); /* the same inode, not a later reuse */
/* Inodes of one device and number: the file system tells that one is a reuse of the other. */
bool obj_reused(int64_t a_btime_ns, uint64_t a_generation, const struct obj *b);
/* Would a reuse of its number be noticed? */
static inline bool obj_is_identified(const struct obj *o)
{
	return o->btime_ns || o->generation;
}
/* Mode, owner, times, xattrs of an O_PATH descriptor, as a blob. */
int meta_read(struct journal *j, int fd, struct buf *ret) MUST_USE;
int meta_apply(int fd, struct span meta) MUST_USE;
/*
 * The same as far as we may: of what belongs to another, its owner or root set the rest. 1: owner,
 * mode or attributes were left as they are; times are nothing to speak of.
 */
int meta_apply_ours(int fd, struct span meta) MUST_USE;
/* Of the extended attributes that a user may set, ACLs among them. 0: there are none. */
uint64_t meta_attrs_hash(int fd); /* open for reading */
uint64_t meta_attrs_hash_at(int dirfd, const char *name);
mode_t meta_mode(struct span meta);
/* As a record has it, in nanoseconds: one beyond what these hold (in 2262) is the last of them, as
 * obj_stat() tells it. */
int64_t meta_ns(uint64_t sec, uint32_t nsec);
int64_t meta_mtime(struct span meta); /* ns; -1: it tells none */
bool meta_is_sound(struct span meta);
/* name "": 0 also when it is another's, whose time stays. */
int meta_set_mtime(int dirfd, const char *name, struct span meta) MUST_USE;
int meta_chmod(int fd, mode_t mode) MUST_USE; /* of an O_PATH descriptor */
int meta_chmod_at(int dirfd, const char *name, mode_t mode) MUST_USE;
/* Clone or copy all of src over dst (from offset 0, dst ends up as long as src). 1: cloned. */
int data_copy(int src, int dst) MUST_USE;
int data_clone(int src, int dst) MUST_USE;	     /* -EOPNOTSUPP: only a copy could do it */
uint64_t data_unshared(int dirfd, const char *name); /* bytes that no other file shares */
/* Open for reading whatever the mode says, if we own it. Regular files only. */
int data_open(struct journal *j, int dirfd, const char *name) MUST_USE;
/* The same in one call where the mode allows it, for the question below; negative if it does not
 * open. It may be another kind of file than was looked at before. */
int data_peek(struct journal *j, int dirfd, const char *name) MUST_USE;
/* Who opens a file for writing while we hold the lease below has the kernel send us SIGIO, which
 * would end the process: called when a journal is opened. */
void data_expect_breaks(void);
/* Does anybody have this file open for writing (or a shared writable mapping of it)? In doubt yes.
 * fd is open read-only, for this question alone: close it next. */
bool data_has_writer(int fd);
/* Whoever opens this file from now on, to read or to write, waits until all of its descriptors that
 * share this one's opening are closed, or this is called off; where nobody but that has it open. */
void data_hold(int fd, bool on);
/* 0: unknown. Of what is longer than this, some parts only: together with the times that is enough
 * to tell a new name (which changes the ctime) from an edit. */
uint64_t data_hash(int fd, size_t size);
uint64_t data_hash_bytes(const char *bytes, size_t size); /* the same of all of them */
#define DATA_HASH_MAX ((size_t)16 << 10)
/* Of what a git index says: the same after git has refreshed it. 0: it is none, or too large. */
uint64_t data_index_hash(int fd, size_t size);
/* Of every byte; the cost is that of reading what is no hole. */
uint64_t data_hash_whole(int fd, uint64_t size); /* 0: unknown */
uint64_t data_hash_all(const char *bytes, size_t size);

int move_noreplace(int fromfd, const char *from, int tofd, const char *to) MUST_USE;
int move_exchange(int afd, const char *a, int bfd, const char *b) MUST_USE;
/* Make a copy of the object (not directories) with its metadata at a free name. */
int obj_copy(struct journal *j, int fromfd, const char *from, int tofd, const char *to) MUST_USE;
/* Rename to a free name; where two mounts are involved, copy and remove. */
/* ret_copy (or NULL): a copy, as it was before it had the name; mode 0: it is none. */
int obj_move(struct journal *j, int fromfd, const char *from, int tofd, const char *to,
	     struct obj *ret_copy) MUST_USE;
