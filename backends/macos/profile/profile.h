/* profile - translates a policy into a Seatbelt profile. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "backends/macos/profile/sbpl.h"
#include "backends/macos/profile/services.h"

struct policy;

/*
 * Theory of operation.
 *
 * A Seatbelt profile is applied before the agent starts, cannot be changed and cannot ask. Of
 * several matching rules the last one decides. So the profile denies every call that the policy
 * asks about or needs to see the content for (git's configuration and index), unless an Endpoint
 * Security client holds such calls (`gate`).
 *
 * A profile is never looser than policy.h. It is stricter where Seatbelt cannot distinguish calls:
 * - Making a directory and renaming one to that name are both file-write-create. Names that the
 *   policy allows to make but not to rename to (`.git`, `.vscode`) cannot be made either.
 * - Removing a file and renaming it away are both file-write-unlink.
 * - A git directory is not writable at all: to find its harmless files takes a look at the content.
 * - Rules that expire allow nothing. A rule with a double asterisk in its middle denies more
 *   than it says if another rule is nearer (listed.h).
 * - `head` is protected like `HEAD`: on most Macs it is the same file.
 *
 * Sections come in this order, one function for each; a later section wins.
 *     base, process, pty | reads, then denials of rules and built-in lists | writes, names of
 *     dangerous files | hidden paths | network, unix sockets | mach services
 */

/* Access to the network. Ports are on the loopback device. */
enum profile_network {
	PROFILE_NETWORK_NONE,
	PROFILE_NETWORK_PROXY, /* connections to `proxies` alone */
	PROFILE_NETWORK_OPEN,  /* everything */
};

/* Borrowed until profile_build() returns. Lists are NULL-terminated or NULL; paths are absolute. */
struct profile_spec {
	const struct policy *policy; /* the policy of those folders */
	const struct mac_os *os;     /* resolves links; NULL: only /etc, /tmp and /var */
	const char *home;
	const char *const *folders;   /* writable, but for protected files */
	const char *const *read_only; /* readable */
	const char *const *temp;      /* temporary directories: readable and writable */
	const char *own;	      /* the session's own one: sockets too; NULL: none */
	const char *const *system;    /* dynamic mode: readable by all programs; NULL: macOS's */
	const char *tty;	      /* the agent's own terminal; NULL: none */
	bool dynamic;		      /* reads: an allow list; else a deny list */
	bool gate; /* an Endpoint Security client holds writes that need an answer: allow them */
	enum profile_network network;
	const uint16_t *proxies;	    /* ends with 0 */
	uint16_t listen_base, listen_count; /* ports that programs may listen at */
	const struct mach_services *services;
	const char *session; /* the profile gets its mark (profile_mark()); NULL: none */
};

struct profile {
	struct sbpl sbpl;
	size_t skipped; /* allow rules that a profile cannot express exactly: left out */
};
#define AUTO_PROFILE CLEANUP(profile_done)

/*
 * Makes the profile; free it by profile_done(). -EINVAL: a service name or a list is invalid.
 * -E2BIG: more than PROFILE_MAX_BYTES. *ret is written on success alone.
 */
#define PROFILE_MAX_BYTES (4u << 20)
int profile_build(struct profile *ret, const struct profile_spec *spec, struct err *err) MUST_USE;
void profile_done(struct profile *p);

/* Returns whether the profile is too long for an argument of sandbox-exec. */
#define PROFILE_MAX_ARGUMENT (128u << 10)
bool profile_needs_file(const struct profile *p);
