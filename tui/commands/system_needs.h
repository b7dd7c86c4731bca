/* system_needs - what cordon would use of this machine that is missing, and the line that adds it.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Says which packages are missing, and with which command they come. Returns how many. */
size_t system_needs_show(void);
/* Runs that command. 0, also when nothing is missing. */
int system_needs_install(struct err *err) MUST_USE;

#define APPARMOR_PROFILE "/etc/apparmor.d/cordon"
/* Does this kernel want a profile of AppArmor's before a program may make user namespaces, and has
 * cordon none? */
bool system_needs_apparmor(void);
char *system_apparmor_text(void) MUST_USE;	    /* the profile, for this program; heap */
int system_apparmor_load(struct err *err) MUST_USE; /* the kernel reads the file that is there */
/* The kernel forgets the profile that fd, which is inherited, has; its file may be gone. */
int system_apparmor_unload(int fd, struct err *err) MUST_USE;
