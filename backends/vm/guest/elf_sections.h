/* elf_sections - finds sections and notes in a 64-bit little-endian ELF file in memory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* Finds a section; *ret points into the file. Returns false if it is missing or the file is no
 * valid ELF file. */
bool elf_section(struct span file, const char *name, struct span *ret);
/* Returns whether the file has a note of this owner and type. Example: Xen's, for a kernel that
 * starts without a boot sector. */
bool elf_has_note(struct span file, const char *owner, uint32_t type);
