/* package - downloads a kernel for guests where the host has none that can be read. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

/*
 * By apt-get, of the distribution's own signed archive; nothing is installed. What a guest needs of
 * it is unpacked below state_dir/vm/packages. Says on standard output what is downloaded and how
 * large it is. -EOPNOTSUPP: there is no apt-get here.
 */
int package_download(const char *state_dir, struct err *err) MUST_USE;
