/* modules - dependencies of kernel modules, and the order to load them in. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"
#include "core/base/err.h"

/*
 * dir is /lib/modules/RELEASE or alike. Dependencies are read from modules.dep; if depmod(8) has
 * not run, as in an unpacked package, from modules.order and the modules themselves.
 */
struct modules;

int modules_open(struct modules **ret, const char *dir, struct err *err) MUST_USE;
void modules_free(struct modules *m);
bool modules_has(const struct modules *m, const char *name); /* true if built in */
/*
 * Appends this module and its missing dependencies to the list, each after its own dependencies.
 * Entries are paths below dir. A built-in module adds nothing. Returns -ENOENT if this kernel has
 * no such module.
 */
int modules_add(struct modules *m, const char *name, char ***list, size_t *n, struct err *err)
	MUST_USE;
/* Reads the module file at a path of that list, unpacked. */
int modules_read(const struct modules *m, const char *path, struct buf *out, struct err *err)
	MUST_USE;
/* Returns "virtio_fs" for "kernel/fs/fuse/virtio-fs.ko.xz". Heap string. */
char *modules_name(const char *path) MUST_USE;
