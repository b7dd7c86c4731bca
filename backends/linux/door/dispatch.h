/* dispatch - one trapped call from its arguments to its answer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

/* granted: the user has allowed this very request. */
void door_dispatch(struct ldoor *d, struct request *r, bool granted);
