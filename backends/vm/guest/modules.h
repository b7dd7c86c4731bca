/* modules - which kernel modules are needed for which, and in what order they are loaded. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * dir is /lib/modules/RELEASE or alike. What depends on what is read from modules.dep; where
 * depmod(8) has not run, as in an unpacked package, from modules.order and the modules themselves.
 */
struct modules;

int modules_open(struct modules **ret, const char *dir, struct err *err) MUST_USE;
void modules_free(struct modules *m);
bool modules_has(const struct modules *m, const char *name); /* built in counts */
/*
 * The paths, below dir, of this module and all that it needs and that is not in the list yet, each
 * after what it needs. Built in: nothing. -ENOENT: this kernel has no such module.
 */
int modules_add(struct modules *m, const char *name, char ***list, size_t *n, struct err *err)
	MUST_USE;
/* The module file at a path of that list, unpacked. */
int modules_read(const struct modules *m, const char *path, struct buf *out, struct err *err)
	MUST_USE;
/* "kernel/fs/fuse/virtio-fs.ko.xz" -> "virtio_fs". Heap string. */
char *modules_name(const char *path) MUST_USE;
