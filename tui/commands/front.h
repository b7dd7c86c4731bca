/* front - what the commands that speak to other programs share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* --log-level: diagnostics of this process as JSON lines on standard error. */
int front_log_level(const char *name, struct err *err) MUST_USE;
