/* os - the system calls of macOS that the portable part of this backend needs. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * One table, so that its callers are compiled and tested on any system: os_darwin.c fills it with
 * the real calls, tests with their own. Every slot is set.
 *
 * Life:    static; nothing to free.
 * Threads: deny_attach() is called between fork and exec and allocates nothing; apply() is called
 *          there of a process with one thread (launch/launch.h). The rest: one owner.
 * Errors:  0 or a count, or a negative errno. Nothing here prints.
 */

/* Properties of this host, of sysctl, csops and csrctl. */
struct mac_host {
	char version[32];    /* kern.osproductversion, "14.5"; "" where it cannot be read */
	bool sip;	     /* System Integrity Protection is on */
	bool sip_known;	     /* false: the state cannot be read */
	bool endpoint_right; /* this program has com.apple.developer.endpoint-security.client */
	bool has_init;	     /* sandbox_init_with_parameters() is in libSystem */
	uint64_t memory;     /* hw.memsize */
};

/* Use of one process and its descendants, by proc_pidinfo(). */
struct mac_usage {
	uint64_t resident; /* bytes */
	uint64_t cpu_us;   /* user and system */
	uint32_t processes, threads, open_files;
};

/* kern.memorystatus_vm_pressure_level */
enum mac_pressure {
	MAC_PRESSURE_UNKNOWN = 0,
	MAC_PRESSURE_NORMAL = 1,
	MAC_PRESSURE_WARN = 2,
	MAC_PRESSURE_CRITICAL = 4,
};

struct mac_os {
	void *data; /* handed to every slot */

	/* sandbox_init_with_parameters(): puts this process and its later children under the
	 * profile. params: key, value, key, value, NULL. why: libsandbox's error message. */
	int (*apply)(void *data, const char *profile, const char *const *params, char *why,
		     size_t size);
	/* ptrace(PT_DENY_ATTACH). */
	int (*deny_attach)(void *data);
	int (*look_at_host)(void *data, struct mac_host *ret);
	/* readlink(2): writes the link's target without a NUL and returns its length. -EINVAL: no
	 * link. */
	ssize_t (*read_link)(void *data, const char *path, char *out, size_t size);
	/* Returns whether the file may be run: access(2) with X_OK. */
	bool (*can_run)(void *data, const char *path);
	int (*usage)(void *data, pid_t root, struct mac_usage *ret);
	enum mac_pressure (*pressure)(void *data);
	/* Lists the live processes of a session: root (0: unknown), its descendants, processes
	 * under the session's profile (profile_mark()) or with CORDON_SESSION=session in their
	 * start environment, and their descendants. Returns their count, and at most max of them
	 * in out. */
	size_t (*list_inside)(void *data, const char *session, pid_t root, pid_t *out, size_t max);
	/* Returns the process of these that has a TCP socket from local port `from` to port `to`;
	 * 0: none. */
	pid_t (*owner_of_port)(void *data, const char *session, pid_t root, uint16_t from,
			       uint16_t to);
};

#ifdef __APPLE__
extern const struct mac_os mac_os_darwin; /* os_darwin.c */
#endif
