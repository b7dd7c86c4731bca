/* newc - writes cpio archives in the format that the kernel takes as an initramfs. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/newc.h"

#include <string.h>

#define ALIGN 4

/* Aligns to 4 bytes from the start of the buffer, which holds whole archives only. */
static void pad(struct buf *out)
{
	static const char zeros[ALIGN];

	buf_add(out, zeros, (ALIGN - out->len % ALIGN) % ALIGN);
}

static void add(struct buf *out, const char *name, mode_t mode, const void *data, size_t len)
{
	/* magic, inode, mode, uid, gid, links, mtime, size, device 2x, node 2x, name, checksum. The
	 * inode is 0: it matters for hard links alone, and there are none. */
	buf_fmt(out, "070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", 0u,
		(unsigned)mode, 0u, 0u, 1u, 0u, (unsigned)len, 0u, 0u, 0u, 0u,
		(unsigned)strlen(name) + 1, 0u);
	buf_add(out, name, strlen(name) + 1);
	pad(out);
	buf_add(out, data, len);
	pad(out);
}

void newc_dir(struct buf *out, const char *name, mode_t mode)
{
	add(out, name, S_IFDIR | mode, "", 0);
}

void newc_file(struct buf *out, const char *name, mode_t mode, const void *data, size_t len)
{
	add(out, name, S_IFREG | mode, data, len);
}

void newc_end(struct buf *out)
{
	add(out, "TRAILER!!!", 0, "", 0);
}
