/* kernel - finds kernels of this host, or of a package, that a guest may start. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* An image and the modules that belong to it. */
struct kernel {
	char *image, *modules, *release;
};

struct kernels {
	struct kernel *list; /* best first */
	size_t n;
	char *unreadable; /* an image that only root may read; or NULL */
};

/*
 * setting: the image to use (vm.kernel), or NULL for those of unpacked packages below `packages`,
 * the running kernel, and others of this host. Does not check their features. Returns -ENOENT if
 * there is none; err says what to do.
 */
int kernels_find(struct kernels *ret, const char *setting, const char *packages, struct err *err)
	MUST_USE;
void kernels_done(struct kernels *k);
