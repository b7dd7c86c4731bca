/* reload - rereads rule files that change during a session: all rules take effect, or none. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

struct keeper;

void reload_start(struct keeper *k);
void reload_stop(struct keeper *k);
int64_t reload_next(const struct keeper *k);
void reload_tick(struct keeper *k);
