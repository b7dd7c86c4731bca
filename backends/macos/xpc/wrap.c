/* wrap - runs one command under a profile that the environment describes. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/xpc/wrap.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "backends/macos/launch/env.h"
#include "backends/macos/profile/profile.h"
#include "backends/macos/xpc/config.h"
#include "core/policy/policy.h"

static void say(const struct xpc_wrap *w, const char *fmt, const char *what, const char *then)
{
	AUTO_BUF struct buf line = BUF_INIT;

	buf_fmt(&line, "cordon: %s: %s%s%s", fmt, what, *then ? ": " : "", then);
	w->say(w->data, line.data);
}

static const char *variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* For the command: without what is for us. */
static char **command_env(const struct xpc_wrap *w)
{
	char **env = mac_env((const char *const *)w->env, NULL, NULL);
	size_t kept = 0;

	for (size_t i = 0; env[i]; i++) {
		if (str_starts(env[i], XPC_CONFIG_VARIABLE "="))
			free(env[i]);
		else
			env[kept++] = env[i];
	}
	env[kept] = NULL;
	return env;
}

static int become(const struct xpc_wrap *w, const char *path, char *const *argv)
{
	char **env = command_env(w);
	int code;

	(void)execve(path, argv, env);
	code = errno;
	util_free_list(&env);
	say(w, "cannot run", path, strerror(code));
	return code == ENOENT || code == ENOTDIR ? 127 : 126;
}

/* ---- the profile ----------------------------------------------------------------------------- */

static int make_profile(const struct xpc_wrap *w, const struct xpc_config *x, struct profile *ret,
			struct err *err)
{
	const struct mach_services services = xpc_config_services(x);
	const char **folders = NULL;
	struct policy_spec about = {.home = w->home};
	struct profile_spec spec = {.os = w->os, .home = w->home, .services = &services};
	struct policy *policy = NULL;
	size_t n = 0;
	int r;

	while (x->allowed_paths && x->allowed_paths[n])
		n++;
	folders = xcalloc(n + 2, sizeof(*folders));
	folders[0] = x->workspace;
	for (size_t i = 0; i < n; i++)
		folders[i + 1] = x->allowed_paths[i];
	about.folders = spec.folders = folders;
	spec.network = x->allow_network ? PROFILE_NETWORK_OPEN : PROFILE_NETWORK_NONE;
	r = policy_new(&policy, &about, err);
	if (r == 0) {
		spec.policy = policy;
		r = profile_build(ret, &spec, err);
	}
	policy_free(policy);
	free(folders);
	return r;
}

/* ---- entering -------------------------------------------------------------------------------- */

static int enter(const struct xpc_wrap *w, const struct profile *p, struct err *err)
{
	const struct rlimit none = {0, 0};
	char why[200] = "";
	int r;

	if (setrlimit(RLIMIT_CORE, &none) < 0)
		return err_set(err, -errno, "switch core dumps off");
	r = w->os->deny_attach(w->os->data);
	if (r < 0 && r != -EINVAL)
		say(w, "debuggers are not kept away", strerror(-r), "");
	if (w->sandbox_exec)
		return 0;
	r = w->os->apply(w->os->data, p->sbpl.text.data, (const char *const *)p->sbpl.params, why,
			 sizeof(why));
	return r < 0 ? err_set(err, r, "enter the sandbox: %s", why) : 0;
}

struct words {
	char **list;
	size_t n;
};

static void add(struct words *w, char *text)
{
	w->list = xrealloc(w->list, (w->n + 2) * sizeof(*w->list));
	w->list[w->n++] = text;
	w->list[w->n] = NULL;
}

/* sandbox-exec -D P0=... -p PROFILE -- COMMAND... */
static int become_by_program(const struct xpc_wrap *w, const struct profile *p,
			     char *const *command)
{
	struct words argv = {0};
	int r;

	add(&argv, xstrdup("sandbox-exec"));
	for (size_t i = 0; i < p->sbpl.n_params; i += 2) {
		add(&argv, xstrdup("-D"));
		add(&argv, xasprintf("%s=%s", p->sbpl.params[i], p->sbpl.params[i + 1]));
	}
	add(&argv, xstrdup("-p"));
	add(&argv, xstrdup(p->sbpl.text.data));
	add(&argv, xstrdup("--"));
	for (; *command; command++)
		add(&argv, xstrdup(*command));
	r = become(w, w->sandbox_exec, argv.list);
	util_free_list(&argv.list);
	return r;
}

static int confined(const struct xpc_wrap *w, const struct xpc_config *x, char *const *command,
		    int *ret_status, struct err *err)
{
	struct profile p = {.sbpl = SBPL_INIT};
	int r = make_profile(w, x, &p, err);

	if (r == 0 && w->sandbox_exec && profile_needs_file(&p))
		r = err_say(err, -E2BIG, "the profile is too long for an argument");
	if (r == 0 && w->sandbox_exec && !w->os->can_run(w->os->data, w->sandbox_exec))
		r = err_set(err, -ENOENT, "run '%s'", w->sandbox_exec);
	if (r == 0)
		r = enter(w, &p, err);
	if (r == 0)
		*ret_status = w->sandbox_exec ? become_by_program(w, &p, command)
					      : become(w, command[0], command);
	profile_done(&p);
	return r;
}

int xpc_wrap(const struct xpc_wrap *w)
{
	const char *text = variable(w->env, XPC_CONFIG_VARIABLE);
	struct xpc_config x = {0};
	struct err err = {0};
	char *const *command;
	int status = 125;

	if (!w->argv[0] || !w->argv[1] || !str_eq(w->argv[1], "--") || !w->argv[2]) {
		say(w, "usage", "WRAPPER -- COMMAND [ARGUMENT...]", "");
		return 125;
	}
	command = w->argv + 2;
	if (!text) {
		say(w, "the command does not run", XPC_CONFIG_VARIABLE " is not set", "");
		return 125;
	}
	if (xpc_config_parse(&x, text, &err) < 0) {
		say(w, "the command does not run", err.text, "");
		return 125;
	}
	if (confined(w, &x, command, &status, &err) < 0) {
		say(w,
		    x.fail_open ? "the command runs without a sandbox" : "the command does not run",
		    err.text, x.fail_open ? "xpc.on-failure = open" : "");
		if (x.fail_open)
			status = become(w, command[0], command);
	}
	xpc_config_done(&x);
	return status;
}
