/* guest - the files that a guest is started from: kernel and base of the initramfs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * state_dir/vm/guest/RELEASE/ holds the kernel (unpacked if possible) and the base of the
 * initramfs, about 70 MiB, and a stamp that identifies the kernel and the pid 1 that they were
 * made of. If either changes, the directory is made anew. state_dir/vm/packages/ holds the
 * unpacked packages of `cordon vm build --download`.
 */
struct guest {
	char *release;
	char *kernel, *base; /* paths */
	int64_t size;	     /* bytes of both */
	bool made;	     /* by this call */
};

struct guest_spec {
	const char *state_dir;
	const char *kernel; /* vm.kernel, or NULL */
	const char *shim;   /* the file of pid 1 */
};

/* Finds the files, or makes them from a kernel of this host, which takes a second or two. */
int guest_prepare(struct guest *ret, const struct guest_spec *spec, struct err *err) MUST_USE;
/* Only finds the files. -EAGAIN: they would have to be made. */
int guest_find(struct guest *ret, const struct guest_spec *spec, struct err *err) MUST_USE;
void guest_done(struct guest *g);
/* Returns the directory of unpacked packages. Heap string. */
char *guest_packages(const char *state_dir) MUST_USE;
/* Returns the file of pid 1, beside the program or as installed. Heap string; NULL: err says
 * why. */
char *guest_shim(struct err *err) MUST_USE;
