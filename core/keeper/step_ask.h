/* step_ask - for programs inside: a request to the keeper about the step that is open. */
/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * request is what keeper_step() takes (service.h). Returns a descriptor to read the answer from, or
 * negative errno: -ENOENT where there is no sandbox.
 */
int step_ask(const char *request);
