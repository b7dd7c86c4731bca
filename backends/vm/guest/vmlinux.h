/* vmlinux - extracts the ELF kernel from a compressed kernel image. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * Appends the image's ELF kernel to out. Under emulation a packed kernel takes five seconds to
 * unpack itself; QEMU starts an ELF file by its PVH entry point without that delay. An image that
 * is such a file already is copied. Returns -ENOEXEC if it is no x86 kernel or lacks that entry
 * point; QEMU may still start the image itself.
 */
int vmlinux_extract(struct span image, struct buf *out, struct err *err) MUST_USE;
