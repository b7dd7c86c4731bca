/* serve - `cordon serve`: a session driven by another program, and the program inside that obeys
 * it. */
/* SPDX-License-Identifier: MIT */
#include "core/api/stdio/serve.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/api/describe.h"
#include "core/api/inside/inside.h"
#include "core/api/mcp/mcp.h"
#include "core/base/json.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/front.h"
#include "tui/commands/flags.h"
#include "tui/console/driven.h"

struct options {
	const char *level, *mcp_socket, *on_disconnect;
};

static const struct flag flags[] = {
	{"--log-level", "error|warn|info|debug|trace", offsetof(struct options, level),
	 "which diagnostics go to standard error, as JSON lines; default: info"},
	{"--mcp-socket", "PATH", offsetof(struct options, mcp_socket),
	 "also serve the session's tools to MCP clients, on a Unix socket there"},
	{"--on-disconnect", "end|continue", offsetof(struct options, on_disconnect),
	 "end a running command when the client disconnects, or let it continue; default: the "
	 "setting api.on-disconnect"},
};

static const struct usage usage = {
	"serve [--log-level LEVEL] [--mcp-socket PATH] [--on-disconnect end|continue]",
	"Start and drive a session for another program: JSON messages, one a line, on standard "
	"input and output. core/api/protocol.json has their schemas.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- options of cordon run from session.start ------------------------------------------------ */

struct making {
	struct strings argv, owned;
	struct front_run made;
	const char *on_disconnect; /* the option; NULL: by the settings */
};

static void give(struct making *m, const char *option, const char *value)
{
	char *text = xasprintf("%s=%s", option, value);

	strings_add(&m->argv, text);
	strings_add(&m->owned, text);
}

static void give_text(struct making *m, const char *key, const char *value)
{
	AUTO_FREE char *text = xasprintf("%s=%s", key, value);

	give(m, "--set", text);
}

static void give_setting(struct making *m, const char *key, const cJSON *value)
{
	AUTO_FREE char *number =
		cJSON_IsString(value) ? NULL : xasprintf("%.0f", value->valuedouble);

	give_text(m, key, number ? number : value->valuestring);
}

static void give_limits(struct making *m, const cJSON *limits)
{
	static const char *const keys[][2] = {
		{"max_log_size_bytes", "journal.size"},
		{"max_step_count", "journal.steps"},
		{"max_single_step_size_bytes", "journal.step-size"},
		{"max_log_size", "journal.size"},
		{"max_steps", "journal.steps"},
		{"max_step_size", "journal.step-size"},
		{"processes", "sandbox.processes"},
		{"memory", "sandbox.memory"},
		{"open_files", "sandbox.open-files"},
		{"cpu_seconds", "sandbox.cpu-seconds"},
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (json_get(limits, keys[i][0]))
			give_setting(m, keys[i][1], json_get(limits, keys[i][0]));
}

/* Allows hosts of the list only; no profile adds hosts unless it was requested by name. */
static void give_allowlist(struct making *m, const cJSON *payload)
{
	const cJSON *one;

	give(m, "--network", "ask");
	give_text(m, "rule.network_allowlist.deny", "connect *");
	for (one = json_first(json_get(payload, "network_allowlist")); one; one = one->next) {
		AUTO_FREE char *value = xasprintf("connect %s", one->valuestring);

		give_text(m, "rule.network_allowlist.allow", value);
	}
	if (!json_get(payload, "profile"))
		give(m, "--profile", "none");
}

static void give_network(struct making *m, const cJSON *payload)
{
	const char *policy = cJSON_GetStringValue(json_get(payload, "network_policy"));

	if (str_eq(policy, "allowlist"))
		give_allowlist(m, payload);
	else if (policy)
		give(m, "--network", str_eq(policy, "disabled") ? "none" : policy);
}

static bool is_persistent(const cJSON *payload)
{
	return str_eq(cJSON_GetStringValue(json_get(payload, "vm_mode")), "persistent");
}

/* Refuses options that this build does not support, instead of ignoring them. */
static int check_possible(const cJSON *payload, struct fault *f)
{
	const char *backend = cJSON_GetStringValue(json_get(payload, "backend"));

	if (is_persistent(payload) && backend && !str_eq(backend, "vm"))
		return fault_say(f, FAULT_SESSION_UNSUPPORTED,
				 "vm_mode 'persistent': only a virtual machine persists: leave it "
				 "out, or ask for a backend that has one");
	return 0;
}

static const struct dir *first_writable(const struct dirs *p)
{
	for (size_t i = 0; i < p->n; i++)
		if (!p->list[i].read_only)
			return &p->list[i];
	return NULL;
}

static void give_options(struct making *m, const cJSON *payload, const struct dirs *dirs)
{
	static const char *const named[][2] = {{"backend", "--backend"},
					       {"mode", "--mode"},
					       {"profile", "--profile"},
					       {"vm_mode", "--vm-mode"}};
	const cJSON *one, *agent = json_get(json_get(payload, "agent"), "command");

	for (size_t i = 0; i < dirs->n; i++)
		give(m, dirs->list[i].read_only ? "--ro" : "--rw", dirs->list[i].path);
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (json_get(payload, named[i][0]))
			give(m, named[i][1], json_get(payload, named[i][0])->valuestring);
	if (is_persistent(payload) && !json_get(payload, "backend"))
		give(m, "--backend", "vm");
	give_network(m, payload);
	if (json_get(payload, "on_disconnect"))
		give_setting(m, "api.on-disconnect", json_get(payload, "on_disconnect"));
	else if (m->on_disconnect)
		give_text(m, "api.on-disconnect", m->on_disconnect);
	for (one = json_first(json_get(payload, "settings")); one; one = one->next)
		give_setting(m, one->string, one);
	give_limits(m, json_get(payload, "limits"));
	strings_add(&m->argv, "--");
	/* The command's name selects the profile. */
	strings_add(&m->argv, agent ? agent->child->valuestring : "sh");
}

static void forget(void *data)
{
	struct making *m = data;

	front_forget(&m->made);
	for (size_t i = 0; i < m->owned.n; i++) {
		void *p = (void *)(uintptr_t)m->owned.list[i];

		free(p);
	}
	strings_done(&m->owned);
	strings_done(&m->argv);
}

static int make(void *data, const cJSON *payload, const struct dirs *dirs,
		struct session_spec **ret, struct fault *f)
{
	struct making *m = data;
	const struct dir *first = first_writable(dirs);
	int r = check_possible(payload, f);

	if (r < 0)
		return r;
	if (!first || chdir(first->path) < 0)
		return fault_say(f, FAULT_SESSION_DIRECTORY,
				 "working directories: none of them can be worked in: one must be "
				 "read_write");
	give_options(m, payload, dirs);
	r = front_make(&m->made, &m->argv, "cordon serve", ret, f);
	if (r < 0)
		forget(m);
	return r;
}

/* Discards a history of another version; one that this version can read stays. */
static int discard_other(const char *folder, const char *state, struct err *err)
{
	struct journal_spec spec = {.folder = folder, .state_dir = state, .read_only = true};
	struct journal *j = NULL;
	struct err why = {0};
	int r = journal_open(&j, &spec, NULL, &why);

	journal_close(j);
	if (r != -EPROTO)
		return err_say(err, -EEXIST,
			       "'%s': has no history of another version than this cordon reads: "
			       "nothing is thrown away",
			       folder);
	spec.read_only = false;
	return journal_discard(&spec, err);
}

static int discard(void *data, const char *path, struct fault *f)
{
	AUTO_FREE char *real = realpath(path, NULL);
	AUTO_FREE char *home = NULL;
	AUTO_FREE char *state = NULL;
	struct err err = {0};
	int r;

	(void)data;
	if (!real)
		return fault_say(f, FAULT_SESSION_DIRECTORY, "path '%s': there is none", path);
	r = folders_home(&home, &err);
	if (r == 0) {
		state = folders_state_dir(home);
		r = discard_other(real, state, &err);
	}
	return r < 0 ? fault_err(f, FAULT_UNDO_FAILED, &err) : 0;
}

/* ---- commands -------------------------------------------------------------------------------- */

int cmd_serve(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct making m = {0};
	struct serve_maker maker = {.make = make,
				    .forget = forget,
				    .discard = discard,
				    .data = &m,
				    .mcp_listen = mcp_listen,
				    .mcp_close = mcp_close};
	int r = flags_parse(&usage, argc, argv, &o, NULL, err);

	driven_consoles();
	if (r == 0)
		r = front_log_level(o.level, err);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	if (o.on_disconnect && !str_eq(o.on_disconnect, "end") &&
	    !str_eq(o.on_disconnect, "continue")) {
		err_say(err, -EINVAL, "--on-disconnect '%s': say end or continue", o.on_disconnect);
		return CMD_FAILED;
	}
	m.on_disconnect = o.on_disconnect;
	maker.mcp_socket = o.mcp_socket;
	r = serve_run(&maker, err);
	return r < 0 ? CMD_FAILED : r;
}

int cmd_inside(int argc, char **argv, struct err *err)
{
	(void)argc, (void)argv;
	if (inside_main() != 2)
		return 0;
	err_say(err, -EINVAL, "inside: is started by cordon serve and cordon mcp: start those");
	return CMD_FAILED;
}
