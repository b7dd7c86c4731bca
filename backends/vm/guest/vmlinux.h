/* vmlinux - the kernel proper out of a compressed kernel image. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * Under emulation a packed kernel takes five seconds to unpack itself. Unpacked once, as an ELF
 * file that QEMU starts by its PVH entry point, it takes none. Appends that file to out. An image
 * that is one already is taken as it is. -ENOEXEC: it is no x86 kernel, or has no such entry; it
 * may still be started as it is.
 */
int vmlinux_extract(struct span image, struct buf *out, struct err *err) MUST_USE;
