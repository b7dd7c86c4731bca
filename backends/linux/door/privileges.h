/* privileges - refuses file changes that take a capability which the caller does not have. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <sys/stat.h>

/*
 * Programs inside have no capability. A keeper that root started has some, to restore files in
 * undo, and performs the programs' calls. File capabilities would give them to any user of the host
 * who runs the file, and are refused with the kernel's error. A set-id bit would give any other
 * user the rights of the one who started cordon, outside the sandbox. A new one of a file is
 * dropped silently, as the kernel drops bits that a process may not set. A bit that the file has
 * already stays until a program inside opens the file for writing.
 *
 * Threads: any; no state. Source: inode_owner_or_capable() and file_remove_privs() of the kernel,
 * capabilities(7).
 */

/* Returns -EPERM for an attribute that takes a capability to set or remove, else 0. */
int privileged_attribute(const char *name);
/* Returns the mode for a new object, not a directory, whose caller asked for `mode`. */
mode_t privileges_new(mode_t mode);
/* Returns the mode for an existing object. was: its attributes before the change. */
mode_t privileges_mode(mode_t mode, const struct stat *was);
/* Removes set-id bits and capabilities of a file that was opened for writing: the kernel would do
 * so at the first write(2), but not at a write through a mapping. The journal saves both before.
 * Returns 0 or negative errno. */
int privileges_drop(int fd);
