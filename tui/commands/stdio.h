/* stdio - `cordon run --stdio`: an agent behind the caller's pipes, whose questions wait. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

/* Returns the exit status for the shell, or negative with err set, like headless_run(). */
int stdio_run(struct session_spec *spec, struct err *err) MUST_USE;
