/* filter_prologue - the part of the seccomp program before libseccomp's rules. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <linux/filter.h>

#include "backends/linux/door/filter_spec.h"

/* Writes the rules for opens that only read, for system calls newer than this program (ENOSYS), and
 * for calls that are allowed by the value of an argument. They apply to callers of the native
 * architecture only. Returns the number of instructions. */
unsigned short filter_prologue(struct sock_filter *code, const struct filter_spec *spec);
