/* mach_services - the oracle of backends/macos/profile/services.h: whether a service may be looked
 * up. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <string.h>

#include "backends/macos/profile/services.h"
#include "core/base/util.h"

/* An asterisk matches any characters. */
static bool matches(const char *pattern, const char *name)
{
	const char *star = NULL, *retry = NULL;

	while (*name) {
		if (*pattern == '*') {
			star = ++pattern;
			retry = name;
		} else if (*pattern == *name) {
			pattern++;
			name++;
		} else if (star) {
			pattern = star;
			name = ++retry;
		} else {
			return false;
		}
	}
	pattern += strspn(pattern, "*");
	return !*pattern;
}

static bool holds(const char *const *list, const char *name)
{
	for (; list && *list; list++)
		if (matches(*list, name))
			return true;
	return false;
}

static bool holds_prefix(const char *const *list, const char *name)
{
	for (; list && *list; list++) {
		AUTO_FREE char *pattern =
			strchr(*list, '*') ? xstrdup(*list) : xasprintf("%s*", *list);

		if (matches(pattern, name))
			return true;
	}
	return false;
}

static inline bool mach_services_allow(const struct mach_services *m, const char *name)
{
	const struct mach_services usual = {.allow = mach_default_allow,
					    .block = mach_default_block,
					    .block_prefixes = mach_default_block_prefixes};

	m = m ? m : &usual;
	if (holds(m->block, name) || holds_prefix(m->block_prefixes, name))
		return false;
	return holds(m->allow, name) || holds_prefix(m->allow_prefixes, name) ||
	       m->allow_by_default;
}
