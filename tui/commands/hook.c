/* hook - `cordon hook`: an agent asks before it runs a command, and learns what will not work. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/json.h"
#include "core/hook/advice.h"
#include "core/hook/step_request.h"
#include "core/keeper/service.h"
#include "core/keeper/step_ask.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"

#define PAYLOAD_MAX (4u << 20) /* bytes; may contain a whole file of the Write tool */
#define ANSWER_MAX  4096
#define STOPPED	    2 /* exit status: to every agent "not run, the reason is on stderr" */

struct hook_options {
	const char *agent;
};

static const struct flag flags[] = {
	{"--agent", "claude|codex|gemini|opencode", offsetof(struct hook_options, agent),
	 "the agent whose hook it is; default: claude"},
};

static const struct usage usage = {
	"hook [--agent NAME]",
	"Called by an agent's hook: reads one JSON event from standard input. Before a command it "
	"warns of what fails inside, and names an alternative; `cordon install` sets it up.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- the event ------------------------------------------------------------------------------- */

/* Returns whether a tool is about to run. Claude Code, Codex: hook_event_name PreToolUse,
 * tool_name, tool_input. Gemini: BeforeTool. opencode has no command hooks; the plugin that `cordon
 * install` writes sends the same form. */
static bool is_before_tool(const cJSON *event)
{
	const char *name = cJSON_GetStringValue(cJSON_GetObjectItem(event, "hook_event_name"));

	return name && (str_eq(name, "PreToolUse") || str_eq(name, "BeforeTool"));
}

static const char *text_of(const cJSON *o, const char *key)
{
	return cJSON_GetStringValue(cJSON_GetObjectItem(o, key));
}

static void advise_array(struct advice *ret, const cJSON *list, const struct advice_context *c)
{
	const char *argv[256];
	const cJSON *item;
	size_t n = 0;

	cJSON_ArrayForEach(item, list)
	{
		if (n < ARRAY_LEN(argv) && cJSON_IsString(item))
			argv[n++] = item->valuestring;
	}
	advise_argv(ret, argv, n, c);
}

static void advise_input(struct advice *ret, const cJSON *input, const struct advice_context *c)
{
	static const char *const paths[] = {"file_path", "absolute_path", "filePath", "path",
					    "notebook_path"};
	const cJSON *command = cJSON_GetObjectItem(input, "command");

	if (cJSON_IsString(command))
		advise_command(ret, command->valuestring, strlen(command->valuestring), c);
	else if (cJSON_IsArray(command))
		advise_array(ret, command, c);
	for (size_t i = 0; ret->level == ADVICE_NONE && i < ARRAY_LEN(paths); i++) {
		const char *path = text_of(input, paths[i]);

		if (path)
			advise_path(ret, path, c);
	}
}

/* ---- the answer ------------------------------------------------------------------------------ */

static void print_json(cJSON *o)
{
	char *text = json_print(o);

	if (text)
		puts(text);
	free(text);
}

/* Prints additional text for the agent's model, in the answer to this event. */
static void print_context(const char *event, const char *text)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *out = cJSON_AddObjectToObject(o, "hookSpecificOutput");

	cJSON_AddStringToObject(out, "hookEventName", event);
	cJSON_AddStringToObject(out, "additionalContext", text);
	print_json(o);
	cJSON_Delete(o);
}

/* Prints Claude Code's hookSpecificOutput {permissionDecision, permissionDecisionReason,
 * additionalContext}. */
static void print_claude(const struct advice *a, const char *notices)
{
	cJSON *o = cJSON_CreateObject();
	cJSON *out = cJSON_AddObjectToObject(o, "hookSpecificOutput");
	AUTO_BUF struct buf context = BUF_INIT;

	cJSON_AddStringToObject(out, "hookEventName", "PreToolUse");
	if (notices)
		buf_fmt(&context, "%s%s", notices, a->level == ADVICE_NOTE ? "\n" : "");
	if (a->level == ADVICE_NOTE)
		buf_str(&context, a->text);
	if (context.len)
		cJSON_AddStringToObject(out, "additionalContext", context.data);
	if (a->level > ADVICE_NOTE) {
		cJSON_AddStringToObject(out, "permissionDecision",
					a->level == ADVICE_ASK ? "ask" : "deny");
		cJSON_AddStringToObject(out, "permissionDecisionReason", a->text);
	}
	print_json(o);
	cJSON_Delete(o);
}

/* Prints the answer; returns the exit status. Gemini shows systemMessage to its user. Codex runs
 * the tool if it finds an unknown field, so it gets only an exit status and no notes. Neither can
 * ask: the user's own approval setting applies. */
static int answer(const char *agent, const char *event, const struct advice *a, const char *notices)
{
	cJSON *o;

	if (notices && !str_eq(event, "PreToolUse")) {
		if (str_eq(agent, "opencode"))
			puts(notices);
		else
			print_context(event, notices);
		return 0;
	}
	if (a->level == ADVICE_NONE && !notices)
		return 0;
	if (str_eq(agent, "claude")) {
		print_claude(a, notices);
		return 0;
	}
	if (a->level == ADVICE_STOP) {
		fprintf(stderr, "%s\n", a->text);
		return STOPPED;
	}
	if (!str_eq(agent, "gemini"))
		return 0;
	o = cJSON_CreateObject();
	cJSON_AddStringToObject(o, "systemMessage", a->text);
	print_json(o);
	cJSON_Delete(o);
	return 0;
}

/* ---- notices --------------------------------------------------------------------------------- */

/* Returns whether the agent's model reads the answer to this event of the hooks that `cordon
 * install` writes. */
static bool carries_context(const char *agent, const char *event)
{
	static const char *const claude[] = {"UserPromptSubmit", "PreToolUse", "PostToolUse", NULL};
	static const char *const codex[] = {"UserPromptSubmit", "PostToolUse", NULL};
	static const char *const gemini[] = {"BeforeAgent", "AfterTool", NULL};

	if (str_eq(agent, "opencode")) /* its plugin appends the text to the tool's result */
		return str_eq(event, "PostToolUse");
	return str_one_of(event, str_eq(agent, "gemini")  ? gemini
				 : str_eq(agent, "codex") ? codex
							  : claude);
}

/* Returns the user's actions that the agent does not know, or NULL. Heap. */
static char *fetch_notices(void)
{
	AUTO_CLOSE int fd = step_ask("notices");
	AUTO_FREE char *text = NULL;

	if (fd < 0 || io_read_all(fd, ANSWER_MAX, &text, NULL) < 0)
		return NULL;
	for (size_t n = strlen(text); n && text[n - 1] == '\n'; n--)
		text[n - 1] = '\0';
	if (!*text || str_starts(text, STEP_REFUSED))
		return NULL;
	return xasprintf("%s\n%s", NOTICES_FROM, text);
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* Reports steps; a failure has no effect. */
static void tell_steps(const cJSON *event)
{
	AUTO_BUF struct buf request = BUF_INIT;
	AUTO_FREE char *answer = NULL;
	AUTO_CLOSE int fd = step_request(event, &request) ? step_ask(request.data) : -1;

	/* Waits for the answer, whose text is not used. */
	if (fd >= 0 && io_read_all(fd, ANSWER_MAX, &answer, NULL) < 0)
		return;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int agent_is_known(const char *agent, struct err *err)
{
	static const char *const known[] = {"claude", "codex", "gemini", "opencode"};

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (str_eq(agent, known[i]))
			return 0;
	return err_say(err, -EINVAL, "--agent %s: use claude, codex, gemini or opencode", agent);
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value;
}

int cmd_hook(int argc, char **argv, struct err *err)
{
	struct hook_options o = {0};
	struct advice advice = {ADVICE_NONE, ""};
	struct advice_context context = {0};
	AUTO_FREE char *text = NULL, *home = NULL, *cwd = NULL, *name = NULL, *notices = NULL;
	size_t len = 0;
	cJSON *event;
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	if (r != 0)
		return r > 0 ? 0 : CMD_FAILED;
	if (!o.agent)
		o.agent = "claude";
	if (agent_is_known(o.agent, err) < 0)
		return CMD_FAILED;
	r = io_read_all(STDIN_FILENO, PAYLOAD_MAX, &text, &len);
	event = r == 0 ? cJSON_ParseWithLength(text, len) : NULL;
	if (!cJSON_IsObject(event)) {
		cJSON_Delete(event);
		err_say(err, -EINVAL,
			"hook: standard input is no JSON object of at most 4 MiB: an agent calls "
			"this, "
			"see `cordon hook --help`");
		return CMD_REFUSED;
	}
	home = xstrdup(is_set("HOME") ? getenv("HOME") : "/");
	cwd = text_of(event, "cwd") ? xstrdup(text_of(event, "cwd")) : NULL;
	context = (struct advice_context){
		is_set("CORDON"),
		is_set("SSH_AUTH_SOCK"),
		is_set("DOCKER_HOST"),
		home,
		cwd && *cwd == '/' ? cwd : NULL,
	};
	name = text_of(event, "hook_event_name") ? xstrdup(text_of(event, "hook_event_name"))
						 : xstrdup("");
	if (context.inside)
		tell_steps(event);
	if (context.inside && carries_context(o.agent, name))
		notices = fetch_notices();
	if (is_before_tool(event))
		advise_input(&advice, cJSON_GetObjectItem(event, "tool_input"), &context);
	cJSON_Delete(event);
	return finish(answer(o.agent, name, &advice, notices), err);
}
