/* elf_sections - finds sections and notes in a 64-bit little-endian ELF file in memory. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

/* False: there is none, or it is no such file, or it is damaged. *ret lies in the file. */
bool elf_section(struct span file, const char *name, struct span *ret);
/* Has it a note of this owner and type, as Xen's for a kernel that starts without a boot sector? */
bool elf_has_note(struct span file, const char *owner, uint32_t type);
