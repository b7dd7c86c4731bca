/* step_ask - sends requests about the open step to the keeper, from programs inside. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* The line before the notices, where the model of the agent reads them. */
#define NOTICES_FROM "cordon, the sandbox that you run in, reports:"

struct err;

/*
 * Sends a request of keeper_step() (service.h). Returns a descriptor to read the answer from, or
 * negative errno: -ENOENT if there is no sandbox.
 */
int step_ask(const char *request);
/* Sends a request and reads the line of the answer. Returns 0; -EPERM if the keeper refused, with
 * its message in err; other negative errno if the keeper did not answer, without a message. *ret:
 * heap. */
int step_ask_line(const char *request, char **ret, struct err *err);
