/* reload - rules of files that change while a session runs: read again, all of them or none. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

struct keeper;

void reload_start(struct keeper *k);
void reload_stop(struct keeper *k);
int64_t reload_next(const struct keeper *k);
void reload_tick(struct keeper *k);
