/* guest - what a guest is started from, made once for each kernel and kept. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * state_dir/vm/guest/RELEASE/ holds the kernel (unpacked where that can be) and the base of the
 * initramfs, about 70 MiB, and a stamp that says of what they were made. It is made anew when the
 * stamp is not that of the kernel and of pid 1 as they are now. state_dir/vm/packages/ holds what
 * `cordon vm build --download` unpacked.
 */
struct guest {
	char *release;
	char *kernel, *base; /* files */
	int64_t size;	     /* bytes of both */
	bool made;	     /* by this call */
};

struct guest_spec {
	const char *state_dir;
	const char *kernel; /* vm.kernel, or NULL */
	const char *shim;   /* the file of pid 1 */
};

/* Finds it, or makes it from a kernel of this host: a second or two. */
int guest_prepare(struct guest *ret, const struct guest_spec *spec, struct err *err) MUST_USE;
/* Only finds it: -EAGAIN when it would have to be made. */
int guest_find(struct guest *ret, const struct guest_spec *spec, struct err *err) MUST_USE;
void guest_done(struct guest *g);
/* Where packages are unpacked. Heap string. */
char *guest_packages(const char *state_dir) MUST_USE;
/* The file of pid 1: beside the program or where it is installed. Heap string; NULL: err says. */
char *guest_shim(struct err *err) MUST_USE;
