/* metrics - `cordon audit --metrics`: how often it was asked, what was answered, how long it took.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Of the log at path and the one that was set aside. */
int metrics_print(const char *path, bool json, struct err *err) MUST_USE;
