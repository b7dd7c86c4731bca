/* serve - `cordon serve`: a session driven by another program, and the program inside that obeys.
 */
/* SPDX-License-Identifier: MIT */
#include "core/api/serve.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/api/describe.h"
#include "core/api/inside/inside.h"
#include "core/base/log.h"
#include "core/journal/journal.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/front.h"
#include "tui/commands/reading.h"
#include "tui/commands/run.h"

struct options {
	const char *level, *mcp_socket, *on_disconnect;
};

static const struct flag flags[] = {
	{"--log-level", "error|warn|info|debug|trace", offsetof(struct options, level),
	 "which diagnostics go to standard error, as JSON lines; info is what it is without"},
	{"--mcp-socket", "PATH", offsetof(struct options, mcp_socket),
	 "also serve the session's tools to MCP clients, on a Unix socket there"},
	{"--on-disconnect", "end|continue", offsetof(struct options, on_disconnect),
	 "what becomes of a command when the client goes away; as the setting api.on-disconnect"},
};

static const struct usage usage = {
	"serve [--log-level LEVEL] [--mcp-socket PATH] [--on-disconnect end|continue]",
	"Start and drive a session for another program: JSON messages, one a line, on standard\n"
	"input and output. core/api/protocol.json has their schemas.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- from session.start to the options of cordon run ----------------------------------------- */

struct making {
	struct run run;
	struct strings argv, owned;
	bool made;
	const char *on_disconnect; /* the option; NULL: as the settings say */
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

static const cJSON *get(const cJSON *o, const char *name)
{
	return cJSON_GetObjectItemCaseSensitive(o, name);
}

static void give_limits(struct making *m, const cJSON *limits)
{
	static const char *const keys[][2] = {
		{"max_log_size", "journal.size"},	{"max_steps", "journal.steps"},
		{"max_step_size", "journal.step-size"}, {"processes", "sandbox.processes"},
		{"memory", "sandbox.memory"},		{"open_files", "sandbox.open-files"},
		{"cpu_seconds", "sandbox.cpu-seconds"},
	};

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (get(limits, keys[i][0]))
			give_setting(m, keys[i][1], get(limits, keys[i][0]));
}

/* What this build has none of is refused, never left out. */
static int check_possible(const cJSON *payload, struct fault *f)
{
	if (str_eq(cJSON_GetStringValue(get(payload, "vm_mode")), "persistent") &&
	    !str_eq(cJSON_GetStringValue(get(payload, "backend")), "vm"))
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
					       {"network_policy", "--network"},
					       {"vm_mode", "--vm-mode"}};
	const cJSON *one, *agent = get(get(payload, "agent"), "command");

	for (size_t i = 0; i < dirs->n; i++)
		give(m, dirs->list[i].read_only ? "--ro" : "--rw", dirs->list[i].path);
	for (size_t i = 0; i < ARRAY_LEN(named); i++)
		if (get(payload, named[i][0]))
			give(m, named[i][1], get(payload, named[i][0])->valuestring);
	if (get(payload, "on_disconnect"))
		give_setting(m, "api.on-disconnect", get(payload, "on_disconnect"));
	else if (m->on_disconnect)
		give_text(m, "api.on-disconnect", m->on_disconnect);
	for (one = json_first(get(payload, "settings")); one; one = one->next)
		give_setting(m, one->string, one);
	give_limits(m, get(payload, "limits"));
	strings_add(&m->argv, "--");
	/* Its name chooses the profile. */
	strings_add(&m->argv, agent ? agent->child->valuestring : "sh");
}

static void forget(void *data)
{
	struct making *m = data;

	if (m->made)
		run_done(&m->run);
	m->made = false;
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
	struct err err = {0};
	int r = check_possible(payload, f);

	if (r < 0)
		return r;
	if (!first || chdir(first->path) < 0)
		return fault_say(f, FAULT_SESSION_DIRECTORY,
				 "working directories: none of them can be worked in: one must be "
				 "read_write");
	give_options(m, payload, dirs);
	m->run = (struct run){.kept = BUF_INIT};
	m->made = true;
	r = run_options_parse(&m->run.opt, (int)m->argv.n, (char **)(uintptr_t)m->argv.list, &err);
	if (r == 0)
		r = run_prepare(&m->run, &err);
	if (r < 0) {
		forget(m);
		return fault_err(f, FAULT_SESSION_NOT_STARTED, &err);
	}
	*ret = &m->run.spec;
	return 0;
}

/* One that this version reads stays: nothing of it need be lost. */
static int discard_other(const char *folder, const char *state, struct err *err)
{
	struct journal_spec spec = {.folder = folder, .state_dir = state, .read_only = true};
	struct journal *j = NULL;
	struct err why = {0};
	int r = journal_open(&j, &spec, NULL, &why);

	journal_close(j);
	if (r != -EPROTO)
		return err_say(err, -EEXIST,
			       "'%s': has no history of another version: nothing is thrown away",
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

int front_log_level(const char *name, struct err *err)
{
	static const char *const names[] = {"error", "warn", "info", "debug", "trace"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_eq(name ? name : "info", names[i]))
			continue;
		log_also(2, (enum log_level)MIN(i, (size_t)LOG_DEBUG));
		return 0;
	}
	return err_say(err, -EINVAL, "--log-level '%s': say error, warn, info, debug or trace",
		       name);
}

int cmd_serve(int argc, char **argv, struct err *err)
{
	struct options o = {0};
	struct strings args = {0};
	struct making m = {0};
	struct serve_maker maker = {.make = make, .forget = forget, .discard = discard, .data = &m};
	int r = reading_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && args.n)
		r = err_say(err, -EINVAL, "serve: takes no arguments: usage: cordon %s",
			    usage.synopsis);
	strings_done(&args);
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
