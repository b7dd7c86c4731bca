/* mcp - `cordon mcp`: a session as the tools of a language model. */
/* SPDX-License-Identifier: MIT */
#include "core/api/mcp/mcp.h"

#include <errno.h>
#include <string.h>

#include "tui/commands/commands.h"
#include "tui/commands/front.h"
#include "tui/console/driven.h"

struct making {
	struct strings argv; /* options of cordon run, and a command that selects no profile */
	struct front_run made;
};

static void forget(void *data)
{
	front_forget(&((struct making *)data)->made);
}

static int make(void *data, const struct cJSON *payload, const struct dirs *dirs,
		struct session_spec **ret, struct fault *f)
{
	struct making *m = data;

	(void)payload, (void)dirs;
	return front_make(&m->made, &m->argv, "cordon mcp", ret, f);
}

static int discard(void *data, const char *path, struct fault *f)
{
	(void)data, (void)path;
	return fault_say(f, FAULT_PROTOCOL_UNKNOWN_OPERATION, "not over MCP");
}

static void help(void)
{
	printf("usage: cordon mcp [--mcp-socket PATH] [--log-level LEVEL]\n"
	       "                  [--on-disconnect end|continue] [OPTIONS]\n\n"
	       "A Model Context Protocol server on standard input and output, or on a Unix\n"
	       "socket. Its session is started by the first request that needs one, in the\n"
	       "current directory, with these options of cordon run:\n\n");
	run_options_help(true);
}

/* Removes "--name VALUE" or "--name=VALUE" from argv. Returns 1 if it was there. */
static int take(int argc, char **argv, int *at, const char *name, const char **ret, struct err *err)
{
	size_t len = strlen(name);

	if (strncmp(argv[*at], name, len) != 0 || (argv[*at][len] && argv[*at][len] != '='))
		return 0;
	if (argv[*at][len] == '=') {
		*ret = argv[*at] + len + 1;
		return 1;
	}
	if (*at + 1 >= argc)
		return err_say(err, -EINVAL, "%s: needs a value", name);
	*ret = argv[++*at];
	return 1;
}

static int check(struct making *m, struct err *err)
{
	struct run_options o = {0};
	int r = run_options_parse(&o, (int)m->argv.n, (char **)(uintptr_t)m->argv.list, err);

	if (r == 0 && (!o.argv[0] || !str_eq(o.argv[0], "sh") || o.argv[1]))
		r = err_say(err, -EINVAL, "mcp: takes options alone: usage: cordon mcp --help");
	if (r == 0)
		r = run_options_check_driven(&o, err);
	run_options_done(&o);
	return r;
}

int cmd_mcp(int argc, char **argv, struct err *err)
{
	struct making m = {0};
	const struct serve_maker maker = {
		.make = make, .forget = forget, .discard = discard, .data = &m, .by_options = true};
	const char *path = NULL, *level = "warn", *gone = NULL;
	AUTO_FREE char *setting = NULL;
	int r = 0;

	driven_consoles();
	for (int i = 0; r >= 0 && i < argc; i++) {
		if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h")) {
			help();
			strings_done(&m.argv);
			return 0;
		}
		r = take(argc, argv, &i, "--mcp-socket", &path, err);
		if (r == 0)
			r = take(argc, argv, &i, "--log-level", &level, err);
		if (r == 0)
			r = take(argc, argv, &i, "--on-disconnect", &gone, err);
		if (r == 0)
			strings_add(&m.argv, argv[i]);
	}
	setting = xasprintf("--set=api.on-disconnect=%s", gone ? gone : "");
	if (gone)
		strings_add(&m.argv, setting);
	strings_add(&m.argv, "--");
	strings_add(&m.argv, "sh");
	if (r >= 0)
		r = check(&m, err);
	if (r >= 0)
		r = front_log_level(level, err);
	if (r >= 0)
		r = mcp_run(&maker, path, err);
	strings_done(&m.argv);
	return r < 0 ? CMD_FAILED : r;
}
