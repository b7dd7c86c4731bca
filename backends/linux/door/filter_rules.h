/* filter_rules - the calls that the sandbox refuses, and those that are trapped. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <seccomp.h>

#include "backends/linux/door/filter_spec.h"
#include "core/base/util.h"

/* Adds the rules. Calls without a rule run natively. */
int filter_rules_add(scmp_filter_ctx c, const struct filter_spec *spec) MUST_USE;
