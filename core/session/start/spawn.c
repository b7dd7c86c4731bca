/* spawn - turns the options of a session into the specification for the backend. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/program.h"
#include "core/config/config.h"
#include "core/os/file.h"
#include "core/policy/policy.h"
#include "core/session/start/env.h"
#include "core/session/start/own_settings.h"
#include "core/session/start/repository.h"

extern char **environ;

/* The default preset has room for big builds: 8192 processes, three quarters of the machine's
 * memory. `strict` is for agents that need to build nothing big. */
static struct spawn_limits limits_of(const struct config *c)
{
	bool strict = str_eq(config_str(c, "sandbox.preset"), "strict");
	int64_t ram = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);
	struct spawn_limits l = {
		.processes = strict ? 1024 : 8192,
		.memory = strict ? (int64_t)2 << 30 : ram / 4 * 3,
		.open_files = strict ? 1024 : 0,
		.address_space = config_bool(c, "sandbox.address-space"),
	};

	if (config_str(c, "sandbox.processes"))
		l.processes = config_int(c, "sandbox.processes");
	if (config_str(c, "sandbox.memory"))
		l.memory = config_int(c, "sandbox.memory");
	if (config_str(c, "sandbox.open-files"))
		l.open_files = config_int(c, "sandbox.open-files");
	if (config_str(c, "sandbox.cpu-seconds"))
		l.cpu_seconds = config_int(c, "sandbox.cpu-seconds");
	l.needs_processes = l.processes > 0 && config_is_set(c, "sandbox.processes");
	l.needs_memory = l.memory > 0 && config_is_set(c, "sandbox.memory");
	return l;
}

static struct vm_settings vm_of(const struct config *c)
{
	return (struct vm_settings){
		.memory = config_int(c, "vm.memory"),
		.disk = config_int(c, "vm.disk"),
		.cpus = (int)config_int(c, "vm.cpus"),
		.microvm = str_eq(config_str(c, "vm.machine"), "microvm"),
		.persistent = str_eq(config_str(c, "vm.mode"), "persistent"),
		.kernel = config_str(c, "vm.kernel"),
	};
}

static enum read_gate read_gate_of(const struct config *c)
{
	const char *name = config_str(c, "sandbox.read-gate");

	if (str_eq(name, "fuse"))
		return READ_GATE_FUSE;
	return str_eq(name, "trap") ? READ_GATE_TRAP : READ_GATE_AUTO;
}

struct spawn_spec spawn_wanted(const struct config *c)
{
	struct spawn_spec wanted = {
		.landlock_off = !config_bool(c, "sandbox.landlock"),
		.dynamic = str_eq(config_str(c, "sandbox.mode"), "dynamic"),
		.read_gate = read_gate_of(c),
		.limits = limits_of(c),
		.vm = vm_of(c),
	};

	config_list(c, "sandbox.overlay", &wanted.overlays);
	return wanted;
}

/* Makes the tools' cache below the state directory, which does not exist inside. Without it they
 * have no cache. */
static void make_cache(struct spawn_plan *p, const struct session_spec *spec)
{
	AUTO_FREE char *label = path_label(spec->folders[0]);
	AUTO_FREE char *dir = xasprintf("%s/cache/%s", spec->state_dir, label);
	int r;

	if (!config_bool(spec->config, "sandbox.cache"))
		return;
	r = io_mkdir_p(AT_FDCWD, dir, 0700);
	if (r < 0)
		log_warn("session", "no cache inside: %s: %s", dir, strerror(-r));
	else
		p->cache = take_ptr(&dir);
}

/* Adds the overlays: homes of tools after those that the user has named, so that they win. */
static void add_homes(struct spawn_plan *p, const struct session_spec *spec)
{
	size_t named = 0;

	homes_prepare(&p->homes, spec, p->policy, p->cache);
	p->env = env_set(p->env, (const char *const *)p->homes.env, p->cache ? CACHE_INSIDE : NULL);
	while (spec->overlays && spec->overlays[named])
		named++;
	if (named + p->homes.n == 0)
		return;
	p->overlays = xcalloc(named + p->homes.n + 1, sizeof(*p->overlays));
	p->places = xcalloc(named + p->homes.n, sizeof(*p->places));
	for (size_t i = 0; i < named; i++)
		p->overlays[i] = spec->overlays[i];
	for (size_t i = 0; i < p->homes.n; i++) {
		p->overlays[named + i] = p->homes.paths[i];
		p->places[named + i] = p->homes.places[i];
	}
}

/* Makes the agent's own settings for this folder, if the user has chosen so, and adds the variable
 * that leads to them. */
static int add_own_settings(struct spawn_plan *p, const struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *dir = p->cache ? own_settings_dir(spec->config) : NULL;
	AUTO_FREE char *setting = dir ? own_settings_env(spec->config, dir) : NULL;
	AUTO_BUF struct buf left = BUF_INIT;
	int r;

	if (!dir)
		return 0;
	r = own_settings_make(spec->config, p->policy, p->cache, dir, &left, err);
	if (r < 0)
		return r;
	p->env = env_set(p->env, (const char *const[]){setting, NULL}, CACHE_INSIDE);
	p->own = xasprintf("own settings: %s has a copy for this folder (%s); "
			   "--shared-settings uses yours%s%s",
			   config_profile(spec->config),
			   config_origin(spec->config, "sandbox.own-settings"),
			   left.len ? "; left out of the copy, as links and what may not be read "
				      "are: "
				    : "",
			   left.data ? left.data : "");
	return 0;
}

/* Writes a resolv.conf with the stub resolver inside, whatever the host uses. It has no search
 * list, because the user would be asked about each name that the list makes up. */
static void make_resolv(struct spawn_plan *p, const struct session_spec *spec)
{
	static const char text[] = "# names are resolved through cordon\n"
				   "nameserver 127.0.0.53\noptions edns0\n";
	AUTO_CLOSE int dir = -1;
	AUTO_FREE char *there = NULL;
	size_t len;
	int r;

	if (!spec->ask_network)
		return;
	r = io_mkdir_p(AT_FDCWD, spec->state_dir, 0700);
	dir = open(spec->state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0 && dir < 0)
		r = -errno;
	if (r == 0 && (io_read_file(dir, "resolv.conf", sizeof(text), &there, &len) < 0 ||
		       !str_eq(there, text)))
		r = io_write_file(dir, "resolv.conf", 0644, text, sizeof(text) - 1, false);
	if (r < 0)
		log_warn("session", "no resolver inside: %s: %s", spec->state_dir, strerror(-r));
	else
		p->resolv = path_join(spec->state_dir, "resolv.conf");
}

/* Finds the front ends of tools beside this program, or where it is installed. */
static void find_tools(struct spawn_plan *p, const struct session_spec *spec)
{
	static const char *const places[] = {"safe-tools", "../libexec/cordon/safe-tools",
					     "../Resources/safe-tools"}; /* macOS */
	AUTO_FREE char *self = os_self_copy();

	if (!self || str_eq(config_str(spec->config, "tools.safe"), "off"))
		return;
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < ARRAY_LEN(places) && !p->tools; i++) {
		AUTO_FREE char *dir = path_join(self, places[i]);

		p->tools = realpath(dir, NULL);
	}
	if (!p->tools)
		log_warn("session", "tools.safe: no safe-tools beside %s: install cordon anew",
			 self);
}

/* Returns the path of the program (heap), or NULL if there is none. */
static char *program_of(const struct session_spec *spec)
{
	AUTO_FREE char *file = spec->argv && spec->argv[0] ? program_find(spec->argv[0]) : NULL;
	AUTO_FREE char *whole = file ? path_join(spec->cwd, file) : NULL;

	return whole ? path_clean(whole) : NULL;
}

static int new_policy(struct spawn_plan *p, const struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *program = program_of(spec);
	const struct repositories *repos = spec->repositories;
	const struct policy_spec about = {
		.config = spec->config,
		.home = spec->home,
		.folders = spec->folders,
		.repositories = repos ? (const char *const *)repos->common : NULL,
		.git_dirs = repos ? (const char *const *)repos->git_dirs : NULL,
		.read_only = spec->read_only,
		.overlays = spec->overlays,
		.hidden = spec->hidden,
		.sockets = p->sockets,
		.hosts = spec->hosts,
		.public_hosts = spec->public_hosts,
		.path = getenv("PATH"),
		.program = program,
		.dynamic = spec->dynamic,
	};

	return policy_new(&p->policy, &about, err);
}

/* Returns whether a folder is a linked worktree: its git directory is worktrees/NAME of another. */
static bool is_linked_worktree(const struct repositories *repos)
{
	for (size_t i = 0; repos && i < repos->n_git_dirs; i++)
		for (size_t k = 0; k < repos->n_common; k++) {
			const char *below = path_below(repos->git_dirs[i], repos->common[k]);

			if (below && str_starts(below, "worktrees/"))
				return true;
		}
	return false;
}

/* Keeps `git gc` from shortening the reflogs of all worktrees: it would fail at those of other
 * worktrees, which belong to the user. With both settings at never it leaves reflogs out. */
static char **add_git_settings(char **env, const struct session_spec *spec)
{
	if (str_eq(config_str(spec->config, "git.signing"), "off")) {
		env = env_add_git(env, "commit.gpgSign", "false");
		env = env_add_git(env, "tag.gpgSign", "false");
	}
	if (is_linked_worktree(spec->repositories)) {
		env = env_add_git(env, "gc.reflogExpire", "never");
		env = env_add_git(env, "gc.reflogExpireUnreachable", "never");
	}
	return env;
}

/* Removes variables from the environment. Keeps those for proxies if the host's network is
 * shared. */
static char **scrub(const struct session_spec *spec, const char *session)
{
	static const char *const proxies[] = {"HTTPS_PROXY", "https_proxy", "HTTP_PROXY",
					      "http_proxy",  "ALL_PROXY",   "all_proxy",
					      "NO_PROXY",    "no_proxy"};
	const char *const *list = NULL;
	size_t n = config_list(spec->config, "sandbox.env", &list);
	AUTO_FREE const char **extra = xcalloc(n + ARRAY_LEN(proxies) + 1, sizeof(*extra));

	for (size_t i = 0; i < n; i++)
		extra[i] = list[i];
	for (size_t i = 0; spec->allow_network && i < ARRAY_LEN(proxies); i++)
		extra[n + i] = proxies[i];
	return env_scrub(environ, extra, session);
}

/* Protects the files of the session's rules, which are read again when they change, and the links
 * that lead to cordon's folders: without them the next session has other rules and no history. */
static void protect_settings(struct spawn_plan *p, const struct session_spec *spec)
{
	const char *set = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	AUTO_FREE char *usual = path_join(home && *home == '/' ? home : spec->home, ".local/state");
	char **files = spec->source ? config_files(spec->source) : NULL;

	for (size_t i = 0; files && files[i]; i++) {
		AUTO_FREE char *path = path_join(spec->cwd, files[i]);

		policy_keep_place(p->policy, *files[i] == '/' ? files[i] : path,
				  "cordon reads its settings from it");
	}
	policy_keep_way(p->policy, set && *set == '/' ? set : usual,
			"cordon finds its undo store by it");
	util_free_list(&files);
}

static void learn_names(struct spawn_plan *p, const struct session_spec *spec)
{
	for (size_t i = 0; spec->folders[i]; i++)
		policy_learn(p->policy, spec->folders[i]);
	protect_settings(p, spec);
}

int spawn_plan_new(struct spawn_plan **ret, const struct session_spec *spec, const char *session,
		   struct err *err)
{
	struct spawn_plan *p = xcalloc(1, sizeof(*p));
	AUTO_FREE char *seen = path_join(spec->state_dir, "seen");
	const char *const *settings = NULL;
	int r;

	spawn_broker_sockets(p, spec);
	r = spec->backend ? spawn_check_stdio(spec->stdio, spec->allow_network, err) : 0;
	if (r == 0)
		r = new_policy(p, spec, err);
	if (r < 0) {
		spawn_plan_free(p);
		return r;
	}
	spawn_begin_search(p, spec, seen);
	learn_names(p, spec);
	p->env = scrub(spec, session);
	if (spec->tty && !spec->headless)
		p->env = env_in_pane(p->env);
	make_cache(p, spec);
	make_resolv(p, spec);
	add_homes(p, spec);
	config_list(spec->config, "sandbox.set-env", &settings);
	p->env = env_set(p->env, settings, p->cache ? CACHE_INSIDE : NULL);
	p->env = add_git_settings(p->env, spec);
	r = add_own_settings(p, spec, err);
	if (r < 0) {
		spawn_plan_free(p);
		return r;
	}
	find_tools(p, spec);
	p->env = env_add_tools(p->env, p->tools, config_str(spec->config, "tools.safe"),
			       spec->folders);
	p->spec = (struct spawn_spec){
		.argv = spec->argv,
		.env = (const char *const *)p->env,
		.cwd = spec->cwd,
		.home = spec->home,
		.stdio = {spec->stdio[0], spec->stdio[1], spec->stdio[2]},
		.tty = spec->tty,
		.folders = spec->folders,
		.read_only = spec->read_only,
		.overlays = p->overlays,
		.places = p->places,
		.absent_homes = p->homes.absent,
		.home_points = p->homes.points,
		.cache = p->cache,
		.tools = p->tools,
		.state_dir = spec->state_dir,
		.session = session,
		.allow_network = spec->allow_network,
		.ask_network = spec->ask_network,
		.publish = spec->publish,
		.resolv = p->resolv,
		.no_debug = spec->no_debug,
		.nesting = config_bool(spec->config, "sandbox.nesting"),
		.landlock_off = !config_bool(spec->config, "sandbox.landlock"),
		.dynamic = spec->dynamic,
		.read_gate = read_gate_of(spec->config),
		.limits = limits_of(spec->config),
		.vm = vm_of(spec->config),
	};
	r = spawn_window(p, spec, err);
	if (r < 0) {
		spawn_plan_free(p);
		return r;
	}
	spawn_window_env(p);
	spawn_hide(p, spec);
	r = spawn_end_search(p, spec, err);
	if (r < 0) {
		spawn_plan_free(p);
		return r;
	}
	spawn_sockets(p);
	spawn_broker_env(p, spec->broker);
	spawn_secrets(p, spec);
	*ret = p;
	return 0;
}

void spawn_plan_free(struct spawn_plan *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->env && p->env[i]; i++)
		free(p->env[i]);
	if (p->window > 0)
		close(p->window);
	for (size_t i = 0; i < p->n_hidden; i++)
		free(p->hidden[i]);
	for (size_t i = 0; i < p->n_notes; i++)
		free(p->notes[i]);
	free(p->notes);
	free(p->sockets);
	free(p->env);
	free(p->cache);
	homes_done(&p->homes);
	free(p->overlays);
	free(p->places);
	free(p->own);
	free(p->tools);
	free(p->resolv);
	free(p->ca);
	free(p->hidden);
	policy_free(p->policy);
	free(p);
}
