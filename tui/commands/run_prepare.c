/* run_prepare - makes a session's specification from options and settings. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/builtin/sockets.h"
#include "core/policy/written.h"
#include "core/session/folders.h"
#include "core/session/start/mounts.h"
#include "core/session/session.h"
#include "tui/commands/run.h"
#include "tui/commands/standing.h"
#include "tui/commands/worktree.h"
#include "tui/look/terminal.h"

void run_done(struct run *run)
{
	for (size_t i = 0; i < run->owned.n; i++) {
		void *p = (void *)(uintptr_t)run->owned.list[i];

		free(p);
	}
	strings_done(&run->owned);
	strings_done(&run->argv);
	strings_done(&run->settings);
	strings_done(&run->folders);
	strings_done(&run->read_only);
	strings_done(&run->overlays);
	strings_done(&run->hidden);
	strings_done(&run->sockets);
	buf_done(&run->kept);
	ending_done(&run->end);
	run_options_done(&run->opt);
	config_free(run->config);
	free(run->ports);
	free(run->cwd);
	free(run->home);
	free(run->state_dir);
}

/* Adds realpath() of an existing directory to list. Returns a positive number, its place, if it is
 * already there. */
static int add_dir(struct run *run, struct strings *list, const char *path, const char *what,
		   struct err *err)
{
	AUTO_FREE char *given = path_expand_home(path, run->home);
	AUTO_FREE char *real = realpath(given, NULL);
	struct stat st;

	if (!real)
		return err_set(err, -errno, "%s '%s'", what, path);
	if (stat(real, &st) < 0)
		return err_set(err, -errno, "%s '%s'", what, path);
	if (!S_ISDIR(st.st_mode))
		return err_say(err, -ENOTDIR, "%s '%s': not a directory: name a directory", what,
			       path);
	for (size_t i = 0; i < list->n; i++)
		if (str_eq(list->list[i], real))
			return (int)i + 1;
	strings_add(list, real);
	strings_add(&run->owned, take_ptr(&real));
	return 0;
}

static int add_each(struct run *run, struct strings *to, const struct strings *from,
		    const char *key, const char *what, struct err *err)
{
	const char *const *values;
	size_t n = config_list(run->config, key, &values), settings;
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = add_dir(run, to, values[i], what, err);
	settings = to->n;
	for (size_t i = 0; r >= 0 && i < from->n; i++) {
		r = add_dir(run, to, from->list[i], what, err);
		if (r > (int)settings)
			r = err_say(err, -EINVAL, "%s '%s': given twice: name it once", what,
				    from->list[i]);
	}
	return MIN(r, 0);
}

/* Returns whether dir is a directory of the system or of all users: "/etc", "/usr/lib", "/home". */
static bool is_systems(const char *dir)
{
	static const char *const itself[] = {"/dev",   "/home", "/media", "/mnt", "/nix",
					     "/opt",   "/root", "/run",	  "/srv", "/tmp",
					     "/users", "/var",	NULL};
	static const char *const with_all[] = {"/etc",	   "/bin",	 "/boot",      "/lib",
					       "/lib32",   "/lib64",	 "/proc",      "/sbin",
					       "/sys",	   "/snap",	 "/usr",       "/var/lib",
					       "/var/log", "/var/cache", "/var/spool", NULL};

	if (str_one_of(dir, itself))
		return true;
	if (path_is_inside(dir, "/usr/src") || path_is_inside(dir, "/usr/local/src"))
		return false;
	for (size_t i = 0; with_all[i]; i++)
		if (path_is_beneath(dir, with_all[i]))
			return true;
	return false;
}

/* Checks that the current folder may be the first working folder: not one that is given by
 * mistake. */
static int check_cwd_folder(const struct run *run, struct err *err)
{
	struct stat st;

	if (str_eq(run->cwd, "/"))
		return err_say(
			err, -EPERM,
			"working folder '/': too much to hand to an agent: cd into a project");
	if (str_eq(run->cwd, run->home) || is_systems(run->cwd))
		return err_say(err, -EPERM,
			       "working folder '%s': too much to hand to an agent: cd into a "
			       "project, or name it with --rw '%s' if you mean it",
			       run->cwd, run->cwd);
	if (stat(run->cwd, &st) < 0)
		return err_set(err, -errno, "working folder '%s'", run->cwd);
	if (st.st_uid != geteuid())
		return err_say(err, -EPERM,
			       "working folder '%s': belongs to uid %u, you are uid %u: run cordon "
			       "as its owner, or name it with --rw '%s' if you mean it",
			       run->cwd, st.st_uid, geteuid(), run->cwd);
	return 0;
}

static int collect_folders(struct run *run, struct err *err)
{
	bool named = false;
	int r = add_each(run, &run->folders, &run->opt.rw, "sandbox.rw", "working folder", err);

	for (size_t i = 0; r == 0 && i < run->folders.n; i++)
		named = named || path_is_beneath(run->cwd, run->folders.list[i]);
	if (r == 0 && !named) {
		struct strings rest = run->folders;

		r = check_cwd_folder(run, err);
		if (r < 0)
			return r;
		run->folders = (struct strings){0};
		r = add_dir(run, &run->folders, run->cwd, "working folder", err);
		for (size_t i = 0; i < rest.n; i++)
			strings_add(&run->folders, rest.list[i]);
		strings_done(&rest);
	}
	if (r == 0 && run->folders.n > 8)
		r = err_say(err, -E2BIG, "working folders: %zu given: at most 8", run->folders.n);
	for (size_t i = 0; r == 0 && i < run->folders.n; i++)
		for (size_t k = 0; k < run->folders.n; k++)
			if (i != k && path_is_beneath(run->folders.list[i], run->folders.list[k]))
				r = err_say(err, -EINVAL,
					    "working folders '%s' and '%s': one holds the other: "
					    "name the outer one only",
					    run->folders.list[i], run->folders.list[k]);
	return MIN(r, 0);
}

static int collect_read_only(struct run *run, struct err *err)
{
	const struct strings *list = &run->read_only;
	int r = add_each(run, &run->read_only, &run->opt.ro, "sandbox.ro", "--ro", err);

	for (size_t i = 0; r == 0 && i < list->n; i++)
		for (size_t k = 0; r == 0 && k < run->folders.n; k++)
			if (path_is_beneath(list->list[i], run->folders.list[k]))
				r = err_say(err, -EINVAL,
					    "--ro '%s': is or lies in the working folder '%s', "
					    "which is writable: name another",
					    list->list[i], run->folders.list[k]);
	return r;
}

static int collect_hidden(struct run *run, struct err *err)
{
	const char *const *values;
	size_t n = config_list(run->config, "sandbox.hide", &values);

	for (size_t i = 0; i < n + run->opt.hide.n; i++) {
		const char *given = i < n ? values[i] : run->opt.hide.list[i - n];
		AUTO_FREE char *expanded = path_expand_home(given, run->home);
		AUTO_FREE char *joined = path_join(run->cwd, expanded);
		char *real = realpath(joined, NULL);

		/* A path that does not exist is hidden by its given name. */
		if (!real)
			real = path_clean(joined);
		strings_add(&run->owned, real);
		strings_add(&run->hidden, real);
		for (size_t k = 0; k < run->folders.n; k++)
			if (path_is_beneath(run->folders.list[k], real))
				return err_say(err, -EINVAL,
					       "--hide '%s': holds the working folder '%s': hide "
					       "something else",
					       given, run->folders.list[k]);
	}
	return 0;
}

/* Returns the socket of a variable in a rule: "$SSH_AUTH_SOCK". Heap, or NULL. */
static char *socket_named(const char *given)
{
	const char *value = *given == '$' ? getenv(given + 1) : NULL;

	for (size_t i = 0; value && sockets_variables[i]; i++)
		if (str_eq(sockets_variables[i], given + 1))
			return sockets_named(given + 1, value);
	return NULL;
}

/* Grants the sockets that links lead to. */
static int collect_sockets(struct run *run, struct err *err)
{
	const struct strings *given = &run->opt.allow_unix;

	for (size_t i = 0; i < given->n; i++) {
		AUTO_FREE char *named = socket_named(given->list[i]);
		AUTO_FREE char *expanded =
			path_expand_home(named ? named : given->list[i], run->home);
		AUTO_FREE char *real = realpath(expanded, NULL);
		struct stat st;

		if (*given->list[i] == '$' && !named)
			return err_say(err, -ENOENT,
				       "--allow-unix '%s': no variable that names a socket: is it "
				       "set?",
				       given->list[i]);
		if (!real || stat(real, &st) < 0)
			return err_set(err, -errno, "--allow-unix '%s'", given->list[i]);
		if (!S_ISSOCK(st.st_mode))
			return err_say(err, -ENOTSOCK,
				       "--allow-unix '%s': not a socket: name the one that a "
				       "program listens on",
				       given->list[i]);
		strings_add(&run->sockets, real);
		strings_add(&run->owned, take_ptr(&real));
	}
	return 0;
}

static int choose_backend(struct run *run, struct err *err)
{
	const char *name =
		run->opt.backend ? run->opt.backend : config_str(run->config, "sandbox.backend");

	run->spec.backend = backend_find(name, err);
	return run->spec.backend ? 0 : -EINVAL;
}

static int check_words(const struct run_options *o, struct err *err)
{
	if (o->mode && !str_eq(o->mode, "static") && !str_eq(o->mode, "dynamic"))
		return err_say(err, -EINVAL, "--mode '%s': neither 'static' nor 'dynamic'",
			       o->mode);
	if (o->steps && !str_eq(o->steps, "one") && !str_eq(o->steps, "auto"))
		return err_say(err, -EINVAL, "--steps '%s': neither 'one' nor 'auto'", o->steps);
	if (o->headless && o->stdio)
		return err_say(err, -EINVAL,
			       "--headless and --stdio: the one denies what the other asks: keep "
			       "one");
	if (o->record && (o->headless || o->stdio))
		return err_say(err, -EINVAL,
			       "--record and --headless or --stdio: without a console there is no "
			       "screen to "
			       "record: leave one of them out");
	return run_check_network(o, err);
}

/* Returns an absolute path, kept until run_done(); NULL for NULL. */
static const char *from_here(struct run *run, const char *path)
{
	char *whole = path ? path_join(run->cwd, path) : NULL;

	if (whole)
		strings_add(&run->owned, whole);
	return whole;
}

static void add_setting(struct run *run, const char *key, const char *value)
{
	char *setting = value ? xasprintf("%s=%s", key, value) : NULL;

	if (!setting)
		return;
	strings_add(&run->owned, setting);
	strings_add(&run->settings, setting);
}

/* Adds options that are short names of settings. */
static void add_settings(struct run *run)
{
	const struct run_options *o = &run->opt;
	const struct {
		const char *key, *value;
	} list[] = {{"network.strategy", o->strategy},
		    {"network.listening-base-port", o->base_port},
		    {"network.listening-port-count", o->port_count},
		    {"network.listening-loopback", o->loopback},
		    {"vm.memory", o->vm_memory},
		    {"vm.cpus", o->vm_cpus},
		    {"vm.mode", o->vm_mode},
		    {"git.credentials", o->git_credentials ? "true" : NULL},
		    {"sandbox.shared-settings", o->shared_settings ? "true" : NULL}};

	for (size_t i = 0; i < o->set.n; i++)
		strings_add(&run->settings, o->set.list[i]);
	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		add_setting(run, list[i].key, list[i].value);
	for (size_t i = 0; i < o->ssh_agent.n; i++)
		add_setting(run, "ssh.agent", o->ssh_agent.list[i]);
}

static int load(struct run *run, struct err *err)
{
	int r;

	if (!run->opt.argv[0])
		return err_say(err, -EINVAL,
			       "nothing to run: no command was given: cordon run -- COMMAND");
	r = check_words(&run->opt, err);
	if (r < 0)
		return r;
	r = folders_home(&run->home, err);
	if (r < 0)
		return r;
	run->cwd = getcwd(NULL, 0);
	if (!run->cwd || *run->cwd != '/')
		return err_say(
			err, -ENOENT,
			"working folder: the current directory is gone: cd to one that exists");
	run->state_dir = folders_state_dir(run->home);
	add_settings(run);
	run->source = (struct config_spec){.home = run->home,
					   .config_home = getenv("XDG_CONFIG_HOME"),
					   .folder = run->cwd,
					   .file = run->opt.config,
					   .state_dir = run->state_dir,
					   .profile = run->opt.profile,
					   .command = run->opt.argv[0],
					   .settings = run->settings.list};
	r = config_load(&run->config, &run->source, err);
	/* The settings are read again from another directory. */
	run->source.file = from_here(run, run->source.file);
	if (run->source.profile && strchr(run->source.profile, '/'))
		run->source.profile = from_here(run, run->source.profile);
	return r;
}

/* Collects the command, its profile's arguments, and the user's. */
static void collect_argv(struct run *run)
{
	const char *const *argv = run->opt.argv, *const * more;
	size_t n = config_list(run->config, "sandbox.argument", &more);

	strings_add(&run->argv, argv[0]);
	for (size_t i = 0; i < n; i++) {
		size_t k = 1;

		while (argv[k] && !str_eq(argv[k], more[i]))
			k++;
		if (!argv[k])
			strings_add(&run->argv, more[i]);
	}
	run_add_unprompted(run);
	run->spec.unprompted = run_is_unprompted(run->config);
	for (size_t i = 1; argv[i]; i++)
		strings_add(&run->argv, argv[i]);
}

/* Refuses a home below directories that are private inside, because many programs fail without a
 * home. */
static int check_home(const struct run *run, struct err *err)
{
	const char *top = folders_private(run->home);

	if (!top || str_eq(run->spec.backend->name, "landlock"))
		return 0;
	for (size_t i = 0; i < run->folders.n; i++)
		if (path_is_beneath(run->home, run->folders.list[i]))
			return 0;
	return err_say(
		err, -EINVAL,
		"HOME=%s: inside, %s is another directory, so this home would not exist: set "
		"HOME to a directory elsewhere, or add --rw %s",
		run->home, top, run->home);
}

/* Keeps programs in places that the agent may write from being run outside. */
static int keep_out(const struct run *run, struct err *err)
{
	int r = written_share(err);

	for (size_t i = 0; i < run->folders.n; i++)
		external_keep_out(run->folders.list[i]);
	for (size_t i = 0; i < run->overlays.n; i++)
		external_keep_out(run->overlays.list[i]);
	folders_keep_out(run->state_dir, run->home, run->folders.list, run->config);
	return r;
}

static int enter_worktree(const struct run_options *o, struct err *err)
{
	const struct standing_run rules = {
		.file = o->config, .settings = o->set.list, .hide = o->hide.list};
	struct worktree_wish w = {.name = o->worktree, .changes = o->with_changes, .run = &rules};
	int r = o->from_step ? worktree_step(&w, o->from_step, err) : 0;

	if (r == 0 && o->worktree && !o->headless && !o->stdio)
		r = terminal_check("--headless", err); /* before a worktree is made */
	if (r < 0)
		return r;
	if (!o->worktree && (o->with_changes || o->from_step))
		return err_say(err, -EINVAL, "%s needs --worktree",
			       o->from_step ? "--from-step" : "--with-changes");
	return o->worktree ? worktree_enter(&w, err) : 0;
}

int run_prepare(struct run *run, struct err *err)
{
	const struct run_options *o = &run->opt;
	int r = enter_worktree(o, err);

	if (r == 0)
		r = load(run, err);
	if (r == 0)
		r = collect_folders(run, err);
	if (r == 0 && run->opt.rw.n)
		r = mounts_answer(run->folders.list, (const char *[]){NULL}, err);
	if (r == 0)
		r = collect_read_only(run, err);
	if (r == 0)
		r = add_each(run, &run->overlays, &o->overlay, "sandbox.overlay", "--overlay", err);
	if (r == 0)
		r = collect_hidden(run, err);
	if (r == 0)
		r = collect_sockets(run, err);
	if (r == 0)
		r = choose_backend(run, err);
	if (r == 0)
		r = check_home(run, err);
	if (r == 0)
		r = run_choose_network(run, err);
	if (r == 0)
		r = keep_out(run, err);
	if (r < 0)
		return r;
	run->spec.config = run->config;
	run->spec.source = &run->source;
	collect_argv(run);
	run->spec.argv = run->argv.list;
	run->spec.folders = run->folders.list;
	run->spec.read_only = run->read_only.list;
	run->spec.overlays = run->overlays.list;
	run->spec.kept = &run->kept;
	run->spec.hidden = run->hidden.list;
	run->spec.sockets = run->sockets.list;
	run->spec.cwd = run->cwd;
	run->spec.home = run->home;
	run->spec.state_dir = run->state_dir;
	run->spec.verbose = o->verbose;
	run->spec.headless = o->headless;
	run->spec.one_step = o->steps ? str_eq(o->steps, "one") : o->headless;
	run->spec.dynamic =
		str_eq(o->mode ? o->mode : config_str(run->config, "sandbox.mode"), "dynamic");
	run->spec.no_debug = o->no_debug || !config_bool(run->config, "sandbox.debug");
	return 0;
}
