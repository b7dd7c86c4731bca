/* qemu - starts the emulator, confined, with the few devices that a guest needs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * QEMU gets its resources as open descriptors: the sockets of ports, file server and QMP, the
 * initramfs, the disk. It opens only its libraries and firmware and the kernel, for reading, and
 * /dev/kvm; Landlock allows no other open and no write. It has no capability and no network, cannot
 * start a program (its own -sandbox, and a filter of cordon's), and is killed when its parent ends.
 */
#define QEMU_SHARES_MAX 17

struct qemu_spec {
	const char *program; /* absolute, resolved */
	bool kvm, microvm;
	int64_t memory; /* bytes */
	int cpus;
	const char *kernel; /* file; QEMU may read its directory */
	int initrd;	    /* descriptor, of a memory file */
	int control, tty;   /* the ports' ends */
	int qmp, console;   /* both sockets */
	int words;	    /* its stderr */
	int disk;	    /* an image, or -1 */
	int net;	    /* socket for frames, or -1 */
	int disk_read;	    /* the image, read-only: QEMU uses it at first */
	const char *const *tags;
	const int *shares; /* sockets of the file server, one for each tag */
	size_t n;
};

/* Returns the QEMU for this machine's processor. Heap string; NULL: err says what to install. */
char *qemu_find(struct err *err) MUST_USE;
/* Forks QEMU and returns its pid. QEMU writes later errors to spec->words. */
pid_t qemu_start(const struct qemu_spec *spec, struct err *err);
/* Returns QEMU's arguments, NULL-terminated, heap. */
char **qemu_argv(const struct qemu_spec *spec) MUST_USE;

/* ---- confine.c ---- */
/* Confines the child: no capability, no writes but to /dev/kvm, no network, no other process. */
int qemu_confine(const char *program, const char *kernel, bool kvm, struct err *err) MUST_USE;

/* ---- accel.c ---- */
/*
 * Returns whether a virtual processor of this kind ("kvm", "tcg") runs here. /dev/kvm often opens
 * although no processor starts. Runs one instruction in a machine without devices; takes at most
 * five seconds.
 */
bool accel_works(const char *program, const char *name, char *why, size_t size);
