/* services - which mach services may be looked up. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct sbpl;

/*
 * A name is plain ("com.apple.fonts"), or a pattern: "com.apple.fonts*" is a prefix, an asterisk
 * elsewhere stands for any characters, and makes a regular expression of it. Names
 * are printable ASCII without blanks, quotes and backslashes, 1 to MACH_NAME_MAX bytes.
 *
 * Of several lists that name a service, block decides over allow, whatever the default is.
 * Borrowed; lists are NULL-terminated or NULL.
 */
#define MACH_NAME_MAX 127 /* BOOTSTRAP_MAX_NAME_LEN, its NUL left out */

struct mach_services {
	bool allow_by_default;
	bool report_only; /* everything is allowed; what would be denied gets into the log */
	bool off;	  /* everything is allowed */
	const char *const *allow, *const *block;
	const char *const *allow_prefixes, *const *block_prefixes;
};

/* What command line programs need, and what nobody's agent does: accessibility, privacy settings,
 * authorisation, AppleScript, the pasteboard, starting programs outside. */
extern const char *const mach_default_allow[], *const mach_default_block[],
						       *const mach_default_block_prefixes[];

/* -EINVAL: a name is no good; err says which. */
int mach_services_check(const struct mach_services *m, struct err *err) MUST_USE;
/* The section of a profile. NULL: the default lists. The names must have been checked. */
void mach_services_write(struct sbpl *s, const struct mach_services *m);

enum mach_why {
	MACH_BY_DEFAULT,
	MACH_ALLOWED,
	MACH_ALLOWED_PREFIX,
	MACH_BLOCKED,
	MACH_BLOCKED_PREFIX,
};
/* The same by hand: for events of what was looked up. */
bool mach_services_allow(const struct mach_services *m, const char *name, enum mach_why *ret_why);
