/* newc - writes cpio archives in the format that the kernel takes as an initramfs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"

/*
 * Archives can be laid behind each other: the kernel unpacks one after the other, and a later file
 * replaces an earlier one. So a base that is made once is followed by a small part of the session.
 * Owner is root, times are zero: the same input gives the same bytes. Directories come before what
 * is in them; names are relative.
 */
void newc_dir(struct buf *out, const char *name, mode_t mode);
void newc_file(struct buf *out, const char *name, mode_t mode, const void *data, size_t len);
void newc_end(struct buf *out);
