/* filter_prologue - the part of the seccomp program that stands before libseccomp's rules. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <linux/filter.h>

#include "backends/linux/door/filter_spec.h"

/* Opens that only read, numbers that nobody here has heard of, and choices by a value. Only for
 * callers of this architecture; what the numbers mean for others the rules need not know. Returns
 * how many instructions it wrote. */
unsigned short filter_prologue(struct sock_filter *code, const struct filter_spec *spec);
