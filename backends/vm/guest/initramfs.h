/* initramfs - builds the guest's initramfs: modules, pid 1, and the session's settings. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/vm/guest/modules.h"
#include "core/base/buf.h"
#include "core/base/err.h"

/* Appends modules and pid 1, the same for every session. -ENOENT: the kernel lacks a module. */
int initramfs_base(struct buf *out, const char *modules_dir, const char *shim, struct err *err)
	MUST_USE;

struct guest_share {
	const char *tag, *path;
	bool read_only;
};

/* Paths and tags end with NUL in the archive; all are borrowed. */
struct guest_conf {
	const char *root; /* tag of the host's tree */
	const char *disk; /* device that keeps the guest's changes, or "" */
	int64_t upper;	  /* without disk: bytes of memory for changes */
	const char *host; /* host name */
	bool net;	  /* it has a network device */
	const struct guest_share *shares;
	size_t n;
};
/* Appends the session's archive, which follows the base. */
void initramfs_session(struct buf *out, const struct guest_conf *conf);
