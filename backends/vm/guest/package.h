/* package - downloads a kernel for guests, if the host has none that the user can read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Downloads with apt-get, from the distribution's signed archive, and installs nothing. Unpacks the
 * guest's files below state_dir/vm/packages. Prints name and size of the download on standard
 * output. Returns -EOPNOTSUPP if the host has no apt-get.
 */
int package_download(const char *state_dir, struct err *err) MUST_USE;
