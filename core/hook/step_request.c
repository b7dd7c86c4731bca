/* step_request - converts an event of an agent's hook to a step request for the keeper. */
/* SPDX-License-Identifier: MIT */
#include "core/hook/step_request.h"

#include <cjson/cJSON.h>
#include <string.h>

#include "core/base/path.h"
#include "core/base/text.h"

#define WORDS_MAX 120 /* bytes */

static const char *text_of(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
}

/* Adds the first line that is not empty, without characters that a terminal or a path
 * interprets. */
static void add_line(struct buf *out, const char *text)
{
	size_t len, at = 0, start = out->len;

	text += strspn(text, " \t\r\n");
	len = strcspn(text, "\r\n");
	while (at < len) {
		int32_t cp;
		size_t n = text_decode(text + at, len - at, &cp);

		if (out->len - start + n > WORDS_MAX)
			break;
		if (cp >= 0 && !text_is_deceptive(cp))
			buf_add(out, text + at, n);
		at += n;
	}
}

static bool writes(const char *tool)
{
	static const char *const tools[] = {"Edit",	   "MultiEdit", "Write", "NotebookEdit",
					    "write_file",  "replace",	"edit",	 "write",
					    "apply_patch", NULL};

	return tool && str_one_of(tool, tools);
}

static const char *path_of(const cJSON *event)
{
	static const char *const keys[] = {"file_path", "notebook_path", "absolute_path",
					   "filePath"};
	const cJSON *input = cJSON_GetObjectItem(event, "tool_input");
	const char *path = NULL;

	for (size_t i = 0; !path && i < ARRAY_LEN(keys); i++)
		path = text_of(input, keys[i]);
	return path;
}

static void add_edit(struct buf *out, const cJSON *event)
{
	const char *path = path_of(event), *cwd = text_of(event, "cwd");
	const char *below = path && cwd ? path_below(path, cwd) : NULL;

	add_line(out, text_of(event, "tool_name"));
	if (path && *path) {
		buf_ch(out, ' ');
		add_line(out, below && *below ? below : path);
	}
}

/* Returns whether the agent waits for its user. An older Claude Code sends no type. */
static bool asks_its_human(const cJSON *event, const char *name)
{
	static const char *const types[] = {"permission_prompt", "elicitation_dialog",
					    "ToolPermission", NULL};
	const char *type = text_of(event, "notification_type"), *words = text_of(event, "message");

	if (str_eq(name, "PermissionRequest"))
		return true;
	if (!str_eq(name, "Notification"))
		return false;
	return type ? str_one_of(type, types) : words && strstr(words, "permission") != NULL;
}

bool step_request(const cJSON *event, struct buf *ret)
{
	const char *name = text_of(event, "hook_event_name"), *prompt = text_of(event, "prompt");
	bool edits = writes(text_of(event, "tool_name"));

	if (!name)
		return false;
	if ((str_eq(name, "UserPromptSubmit") || str_eq(name, "BeforeAgent")) && prompt) {
		buf_str(ret, "turn/");
		add_line(ret, prompt);
		return true;
	}
	if (edits && (str_eq(name, "PreToolUse") || str_eq(name, "BeforeTool"))) {
		buf_str(ret, "edit");
		return true;
	}
	if (edits && (str_eq(name, "PostToolUse") || str_eq(name, "AfterTool"))) {
		buf_str(ret, "edited/");
		add_edit(ret, event);
		return true;
	}
	if (asks_its_human(event, name)) {
		buf_str(ret, "asks");
		return true;
	}
	if (str_eq(name, "Stop") || str_eq(name, "AfterAgent")) {
		buf_str(ret, "rests");
		return true;
	}
	return false;
}
