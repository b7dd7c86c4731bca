/* profile - a policy as a profile of Seatbelt. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "backends/macos/profile/sbpl.h"
#include "backends/macos/profile/services.h"

struct policy;

/*
 * Theory of operation.
 *
 * Seatbelt is a floor: it is put on before the agent starts, it can neither be changed nor ask, and
 * of several rules that match the last one decides. So everything that the policy asks about is
 * denied, and so is what it would look at first (git's configuration and index), unless an Endpoint
 * Security client holds such calls (`gate`).
 *
 * A profile is never looser than policy.h. It is stricter where Seatbelt cannot tell two things
 * apart:
 * - A directory that is made and one that is renamed to that name are both file-write-create. What
 *   the policy lets be made but not renamed to (`.git`, `.vscode`) is not made either.
 * - A file that is removed and one that is renamed away are both file-write-unlink.
 * - A git directory is not written at all: what is harmless of it needs a look at the content.
 * - Rules that end some day allow nothing; those with a double asterisk in their middle deny more
 *   than they say where another rule is nearer (listed.h).
 * - `head` is protected like `HEAD`: on most Macs it is the same file.
 *
 * Sections follow each other in this order, one function for each: what comes later wins.
 *     base, process, pty | reads, then what rules and built-in lists take away | writes, names of
 *     dangerous files | what stays hidden | network, unix sockets | mach services
 */

/* What the network is; ports are on the loopback device. */
enum profile_network {
	PROFILE_NETWORK_NONE,
	PROFILE_NETWORK_PROXY, /* connections to `proxies` alone */
	PROFILE_NETWORK_OPEN,  /* everything */
};

/* Borrowed until profile_build() returns. Lists are NULL-terminated or NULL, absolute. */
struct profile_spec {
	const struct policy *policy; /* the policy of those folders */
	const struct mac_os *os;     /* links; NULL: only those that every Mac has */
	const char *home;
	const char *const *folders;   /* written, but for what is protected */
	const char *const *read_only; /* read */
	const char *const *temp;      /* temporary directories: written and read */
	const char *own;	      /* the session's own one: sockets too; NULL: none */
	const char *const *system;    /* dynamic mode: read by every program; NULL: of macOS */
	const char *tty;	      /* the agent's own terminal; NULL: none */
	bool dynamic;		      /* reads: an allow list; else a deny list */
	bool gate; /* writes that the policy asks about are held elsewhere: they stay open */
	enum profile_network network;
	const uint16_t *proxies;	    /* ends with 0 */
	uint16_t listen_base, listen_count; /* ports that may be listened at */
	const struct mach_services *services;
	const char *session; /* whose mark it bears; NULL: none */
};

struct profile {
	struct sbpl sbpl;
	size_t skipped; /* allow rules that a profile cannot say exactly: they allow nothing */
};
#define AUTO_PROFILE CLEANUP(profile_done)

/*
 * -EINVAL: a name of a service or a list is no good. -E2BIG: it has more than PROFILE_MAX_BYTES.
 * *ret is written on success alone; profile_done().
 */
#define PROFILE_MAX_BYTES (4u << 20)
int profile_build(struct profile *ret, const struct profile_spec *spec, struct err *err) MUST_USE;
void profile_done(struct profile *p);

/*
 * The mark of a session: its profile lets a service of this name be looked up, and no other profile
 * does. Nobody offers such a service; the kernel can be asked of any process whether it might look
 * for it (sandbox_check()), and so whether it is inside, whatever its parent or its environment
 * are. Who is in no sandbox, or in a wide one, might look for everything: such a one is told by
 * `other`, a name that no profile of ours lets be looked up. Heap.
 */
char *profile_mark(const char *session, bool other);

/* How it is handed to sandbox-exec: an argument may not be that long. */
#define PROFILE_MAX_ARGUMENT (128u << 10)
bool profile_needs_file(const struct profile *p);
