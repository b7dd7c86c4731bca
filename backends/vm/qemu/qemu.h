/* qemu - starts the emulator, confined, with the few devices that a guest needs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#include "core/base/err.h"

/*
 * Everything that QEMU works with is handed over as an open descriptor: sockets of the ports, of
 * the file server and of QMP, the initramfs, the disk. It opens its own libraries and firmware and
 * the kernel, for reading, and /dev/kvm; Landlock lets it open nothing else and write nowhere. It
 * has no capability, no network, starts no program (its own -sandbox and a filter of ours), and is
 * killed when the process that started it ends.
 */
#define QEMU_SHARES_MAX 17

struct qemu_spec {
	const char *program; /* absolute, resolved */
	bool kvm, microvm;
	int64_t memory; /* bytes */
	int cpus;
	const char *kernel; /* file; what lies in its directory may be read */
	int initrd;	    /* descriptor, of a memory file */
	int control, tty;   /* the ports' ends */
	int qmp, console;   /* both sockets */
	int words;	    /* its stderr */
	int disk;	    /* image, or -1 */
	int net;	    /* socket that frames pass through, or -1 */
	int disk_read;	    /* the same, open for reading only: QEMU begins with that */
	const char *const *tags;
	const int *shares; /* sockets of the file server, one for each tag */
	size_t n;
};

/* The program for this machine's kind of processor. Heap string; NULL: err says what to install. */
char *qemu_find(struct err *err) MUST_USE;
/* Forks. Returns its pid. What fails after that it says through spec->words. */
pid_t qemu_start(const struct qemu_spec *spec, struct err *err);
/* NULL-terminated, heap: the arguments that it gets. */
char **qemu_argv(const struct qemu_spec *spec) MUST_USE;

/* ---- confine.c ---- */
/* In the child: no capability, nothing writable but /dev/kvm, no network, no other process. */
int qemu_confine(const char *program, const char *kernel, bool kvm, struct err *err) MUST_USE;

/* ---- accel.c ---- */
/*
 * Does a virtual processor of this kind ("kvm", "tcg") really run here? /dev/kvm often opens where
 * no processor starts. Runs one instruction in a machine without devices; at most five seconds.
 */
bool accel_works(const char *program, const char *name, char *why, size_t size);
