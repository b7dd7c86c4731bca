/* table - each trapped call, how its paths are resolved, how it is performed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "backends/linux/door/call.h"

extern const struct door_call door_calls[];
extern const size_t door_calls_len;

const struct door_call *door_call_of(int nr); /* NULL: not trapped */
