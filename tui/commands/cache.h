/* cache - `cordon cache`: lists and removes the files of tools' private homes, for each folder. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* Does the work of `cordon cache --trim` once a day, after a session. most_bytes 0: no limit. */
void cache_trim_daily(const char *state_dir, int64_t most_bytes);
