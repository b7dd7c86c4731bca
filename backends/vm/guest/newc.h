/* newc - writes cpio archives in the format that the kernel takes as an initramfs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/stat.h>

#include "core/base/buf.h"

/*
 * Archives can be concatenated: the kernel unpacks them in order, and a later file replaces an
 * earlier one. So a base that is made once is followed by a small archive of the session. The owner
 * is root and times are zero: the same input gives the same bytes. Directories precede their
 * content; names are relative.
 */
void newc_dir(struct buf *out, const char *name, mode_t mode);
void newc_file(struct buf *out, const char *name, mode_t mode, const void *data, size_t len);
void newc_end(struct buf *out);
