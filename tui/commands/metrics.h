/* metrics - `cordon audit --metrics`: counts questions and answers, and the time to answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/* Prints the metrics of the log at path and of its predecessor, which a rotation set aside. */
int metrics_print(const char *path, bool json, struct err *err) MUST_USE;
