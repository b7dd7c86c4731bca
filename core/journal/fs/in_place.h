/* in_place - tells whether a file system writes over the blocks of a file in place. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/*
 * Returns whether the file system of fd overwrites blocks in place. If it does, a store into a
 * mapping needs no space once the blocks are allocated. Otherwise (btrfs; an overlay on an unknown
 * file system) it may need some, and a full disk would be a SIGBUS: there a mapping is only read,
 * and a full disk is an error of pwrite().
 */
bool in_place_writes(int fd);
/* Asks the file system to overwrite this file in place, if it can. The file must be empty. Its
 * space is allocated before it is written, so that a full disk always has room for its bytes. */
void in_place_keep(int fd);
