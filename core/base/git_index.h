/* git_index - reads the entries and extensions of a git index (gitformat-index(5)). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The bytes are untrusted: every read is bounded, nothing is allocated, and time is
 * proportional to the length of all paths. They are borrowed, and must not change meanwhile.
 * Threads: any, one a reader.
 *
 *	git_index_open() -> git_index_entry() `entries` times -> git_index_extension() until
 *	git_index_left() is 0
 *
 * Each returns false if this is no index, or not one that git would write.
 */

#define GIT_INDEX_PATH 4096u /* longest path in bytes */

struct git_index {
	const unsigned char *start, *p, *end; /* end: of the data, before the final hash */
	size_t hash;			      /* length of an object's name: 20 or 32 */
	uint32_t version, entries;
	char name[GIT_INDEX_PATH + 1]; /* of the newest entry; NUL-terminated */
	/* name_len: bytes; kept: bytes shared with the previous name. */
	size_t name_len, kept;
};

struct git_index_entry {
	uint32_t mode;
	uint16_t flags, more;		   /* more: of an extended entry; else 0 */
	const unsigned char *mode_bytes;   /* 4 bytes, as in the file */
	const unsigned char *object_bytes; /* `hash` bytes */
};

struct git_index_extension {
	const unsigned char *head; /* 4 bytes of name, 4 of size */
	const unsigned char *body;
	uint32_t size; /* of the body */
};

#define GIT_INDEX_HEADER   12u
#define GIT_INDEX_NAME	   0x0fffu /* flags: the length of the path, if it is small enough */
#define GIT_INDEX_EXTENDED 0x4000u

bool git_index_open(struct git_index *x, const void *data, size_t len, size_t hash);
/* Reads the next entry; its path is x->name. */
bool git_index_entry(struct git_index *x, struct git_index_entry *ret);
bool git_index_extension(struct git_index *x, struct git_index_extension *ret);
size_t git_index_left(const struct git_index *x);  /* bytes; 0: everything was read */
uint32_t git_index_number(const unsigned char *p); /* 4 bytes, the highest first */
