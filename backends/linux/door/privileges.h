/* privileges - what the keeper could do to a file, and a caller without capabilities could not. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Programs inside have no capability. The keeper has some where root has started it, for what it
 * puts back, and performs their calls: a copy of a shell, given CAP_SETUID or a set-id bit of
 * root's in a working folder, would make any user of the host root. So capabilities of files are
 * refused as the kernel would refuse them. Set-id bits of files are left out without a word, as
 * the kernel does with those that a process may not give: only what is there already stays, until
 * somebody inside may write to it.
 *
 * Threads: any; nothing is kept. Source: inode_owner_or_capable() and file_remove_privs() of the
 * kernel, capabilities(7).
 */

/* -EPERM for an attribute that takes a capability to set or remove; else 0. */
int privileged_attribute(const char *name);
/* The mode that a new object, no directory, gets where its caller wants this one. */
mode_t privileges_new(mode_t mode);
/* The same for the object that was looked at. */
mode_t privileges_mode(mode_t mode, const struct stat *was);
/* The file was opened for writing, and what it gives to who runs it goes: the kernel would see to
 * it at the first write, but not to what a mapping writes. What an undo needs is kept before. 0 or
 * negative errno. */
int privileges_drop(int fd);
