/* services - decides which mach services may be looked up. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct sbpl;

/*
 * A name is plain ("com.apple.fonts") or a pattern: "com.apple.fonts*" is a prefix; an asterisk
 * elsewhere stands for any characters, and the name becomes a regular expression. Names are
 * printable ASCII without blanks, quotes and backslashes, 1 to MACH_NAME_MAX bytes.
 *
 * If several lists name a service, block wins over allow, for either default. Borrowed; lists are
 * NULL-terminated or NULL.
 */
#define MACH_NAME_MAX 127 /* BOOTSTRAP_MAX_NAME_LEN, its NUL left out */

struct mach_services {
	bool allow_by_default;
	bool report_only; /* everything is allowed; look-ups that would be denied are logged */
	bool off;	  /* everything is allowed */
	const char *const *allow, *const *block;
	const char *const *allow_prefixes, *const *block_prefixes;
};

/*
 * Allowed: services that command line programs need. Blocked: accessibility, privacy settings,
 * authorisation, AppleScript, the pasteboard, services that start programs outside.
 *
 * com.apple.trustd.agent is not allowed here, although Go, Swift and Apple's curl ask it whether a
 * certificate is valid: it fetches addresses that the certificate names, outside the sandbox and
 * past the proxy. If the network is open, the profile allows it (section_network.c).
 */
extern const char *const mach_default_allow[], *const mach_default_block[],
						       *const mach_default_block_prefixes[];

/* Checks the names. Returns 0, or -EINVAL if one is invalid; err says which. */
int mach_services_check(const struct mach_services *m, struct err *err) MUST_USE;
/* Writes the section of a profile. NULL: the default lists. The names must have been checked. */
void mach_services_write(struct sbpl *s, const struct mach_services *m);

/*
 * Returns the mark of a session: a service name that only the session's profile allows to be looked
 * up. No program offers the service. sandbox_check() tells whether a process may look it up, and so
 * whether it is inside, independently of parent and environment. A process in no sandbox, or in a
 * wide one, may look up every name. `other` returns a name that no profile of cordon's allows, to
 * detect such a process. Heap.
 */
char *profile_mark(const char *session, bool other);
