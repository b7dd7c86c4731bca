/* step_request - converts an event of an agent's hook to a step request for the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/buf.h"

struct cJSON;

/*
 * UserPromptSubmit {"prompt":"fix the parser\nplease"}         -> "turn/fix the parser"
 * PreToolUse  {"tool_name":"Edit", ...}                        -> "edit"
 * PostToolUse {"tool_name":"Edit","tool_input":{"file_path":"/p/src/a.c"},"cwd":"/p"}
 *                                                              -> "edited/Edit src/a.c"
 * PermissionRequest, Notification {"notification_type":"permission_prompt"} -> "asks"
 * Stop                                                         -> "rests"
 * and the same of Gemini's and Codex's events. Commands are steps by themselves and need no
 * request. Returns false if the event needs none. Pure.
 */
bool step_request(const struct cJSON *event, struct buf *ret);
