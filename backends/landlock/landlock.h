/* landlock - the Linux backend for hosts that give no namespaces. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

extern const struct backend backend_landlock;
