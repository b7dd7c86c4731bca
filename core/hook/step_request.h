/* step_request - an event of an agent's hook as what the keeper is told about steps. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct cJSON;

/*
 * UserPromptSubmit {"prompt":"fix the parser\nplease"}         -> "turn/fix the parser"
 * PreToolUse  {"tool_name":"Edit", ...}                        -> "edit"
 * PostToolUse {"tool_name":"Edit","tool_input":{"file_path":"/p/src/a.c"},"cwd":"/p"}
 *                                                              -> "edited/Edit src/a.c"
 * and the same of Gemini's and Codex's events. Commands are steps by themselves: nothing is said of
 * them. False: nothing is to be said. Pure.
 */
bool step_request(const struct cJSON *event, struct buf *ret);
