/* package - downloads a kernel for guests, if the host has none that the user can read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * Downloads by apt-get, from the distribution's own signed archive, and installs nothing. The files
 * that a guest needs are unpacked below state_dir/vm/packages. Prints name and size of the download
 * on standard output. -EOPNOTSUPP: there is no apt-get here.
 */
int package_download(const char *state_dir, struct err *err) MUST_USE;
