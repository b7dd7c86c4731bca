/* attach_plain - `cordon attach --plain`: what a session does as lines, for screen readers. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/mirror.h"

/* A line for each thing that happens, from the newest that already did, until the session ends. */
int attach_plain(struct mirror *mirror, struct err *err);
