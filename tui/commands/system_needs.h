/* system_needs - finds missing packages and settings of this machine, and adds them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Prints the missing packages and the command that installs them. is_run: the caller runs it next;
 * else the user must. Returns the number of packages. */
size_t system_needs_show(bool is_run);
/* Runs that command. Returns 0 also if no package is missing. */
int system_needs_install(struct err *err) MUST_USE;

#define APPARMOR_PROFILE "/etc/apparmor.d/cordon"
/* Returns whether this kernel requires an AppArmor profile for user namespaces, and cordon has
 * none.
 */
bool system_needs_apparmor(void);
char *system_apparmor_text(void) MUST_USE;	    /* the profile, for this program; heap */
int system_apparmor_load(struct err *err) MUST_USE; /* loads APPARMOR_PROFILE into the kernel */
/* Removes the profile in the inherited descriptor fd from the kernel. Its file may be deleted. */
int system_apparmor_unload(int fd, struct err *err) MUST_USE;
