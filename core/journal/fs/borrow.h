/* borrow - mode bits borrowed to read a file or enter a directory; the store defines them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/base/util.h"

/*
 * The owner of a file may lack the bits to read it. They are added for the length of a call. The
 * store writes a note before (store/borrow_mode.c): if the process dies in between, the next start
 * removes the bits. So the readers below the store use these declarations, and the store defines
 * them.
 */
struct journal;

/* Adds mode bits to the object of an O_PATH descriptor. *was: pass it to borrow_return(), soon and
 * in the same thread. Returns 0, or -EACCES if the object belongs to another user. */
int borrow_bits(struct journal *j, int fd, mode_t bits, mode_t *was) MUST_USE;
int borrow_return(struct journal *j, int fd, mode_t was) MUST_USE;

/* Opens a regular file for reading, whatever its mode, if this user owns it. */
int borrow_open_file(struct journal *j, int dirfd, const char *name) MUST_USE;
/* Opens the file for object_has_writer(), by one call if the mode allows it. The file may be of
 * another type than at an earlier look. Returns a descriptor, or a negative number. */
int borrow_peek(struct journal *j, int dirfd, const char *name) MUST_USE;

/* Returns the mode of a directory without the bits that a running rollback has added
 * (store/borrowed_dirs.h). mode is the present one; dev as in struct object. */
mode_t borrowed_mode(const struct journal *j, uint64_t dev, uint64_t ino, mode_t mode);
