/* external - starts programs of the user, which run outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "core/base/external_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/path.h"
#include "core/base/program.h"
#include "core/os/file.h"

#define SYSTEM "/usr/bin:/bin"

extern char **environ;

/* ---- PATH and environment -------------------------------------------------------------------- */

/* Returns PATH without entries that are relative or in a folder. Entries are resolved, as a link in
 * a folder could be changed before the search. Heap. */
static char *safe_path(void)
{
	AUTO_FREE char *given = xstrdup(getenv("PATH"));
	AUTO_BUF struct buf path = BUF_INIT;
	char *rest = NULL;

	for (char *dir = given ? strtok_r(given, ":", &rest) : NULL; dir;
	     dir = strtok_r(NULL, ":", &rest)) {
		AUTO_FREE char *real = *dir == '/' ? realpath(dir, NULL) : NULL;

		if (real && !strchr(real, ':') && !external_is_in_folder(real, EXTERNAL_PROGRAM))
			buf_fmt(&path, "%s%s", path.len ? ":" : "", real);
	}
	return xstrdup(path.len ? path.data : SYSTEM);
}

/* Returns whether a program of that name is only in an entry of PATH that safe_path() drops. */
static bool is_only_in_folder(const char *name)
{
	AUTO_FREE char *found = program_find(name);
	AUTO_FREE char *real = found ? realpath(found, NULL) : NULL;

	return real && external_leads_to_folder(real, EXTERNAL_PROGRAM);
}

/* Returns a name of this program's file that no rename changes; heap. NULL: the system has none. */
static char *running_file(void)
{
	char *name = xasprintf("/proc/%d/exe", (int)getpid());

	if (access(name, X_OK) == 0)
		return name;
	free(name);
	return NULL;
}

/* Returns whether the name is one of running_file(), perhaps in another process of cordon. */
static bool is_running_file(const char *name)
{
	return str_starts(name, "/proc/") && str_ends(name, "/exe") && os_self_is(name);
}

static char *find_path(const char *name, struct err *err)
{
	AUTO_FREE char *real = *name == '/' ? realpath(name, NULL) : NULL;
	char *self = NULL;

	if (is_running_file(name))
		return xstrdup(name);
	if (real && external_is_refused(real)) {
		self = os_self_is(real) ? running_file() : NULL;
		if (!self)
			external_refuse("program", name, err);
		return self;
	}
	if (real && program_runs(real))
		return take_ptr(&real);
	err_say(err, -ENOENT, "%s: there is no such program", name);
	return NULL;
}

char *external_find(const char *name, struct err *err)
{
	AUTO_FREE char *path = safe_path();
	char *rest = NULL;

	if (!strchr(name, '/') && external_check_told(name, err) < 0)
		return NULL;
	if (strchr(name, '/'))
		return find_path(name, err);
	for (char *dir = *name ? strtok_r(path, ":", &rest) : NULL; dir;
	     dir = strtok_r(NULL, ":", &rest)) {
		AUTO_FREE char *file = path_join(dir, name);
		AUTO_FREE char *real = program_runs(file) ? realpath(file, NULL) : NULL;

		if (!real)
			continue;
		if (!external_is_refused(real))
			return take_ptr(&file);
		external_refuse("PATH", file, err);
		return NULL;
	}
	if (is_only_in_folder(name))
		external_refuse("PATH", name, err);
	else
		err_say(err, -ENOENT, "%s: there is no such program", name);
	return NULL;
}

char *external_self(struct err *err)
{
	static const char deleted[] = " (deleted)";
	char self[PATH_MAX];
	ssize_t n = os_self_path(self, sizeof(self));

	if (n < 0) {
		err_set(err, (int)n, "find cordon");
		return NULL;
	}
	if (str_ends(self, deleted) && !os_self_is(self))
		self[(size_t)n - strlen(deleted)] = '\0';
	return external_find(self, err);
}

/* Returns whether to drop a variable. PATH has its own value; PWD and OLDPWD tell where a shell
 * was. */
static bool is_withheld(const char *setting)
{
	static const char *const own[] = {"PWD=", "OLDPWD="};

	for (size_t i = 0; i < ARRAY_LEN(own); i++)
		if (str_starts(setting, own[i]))
			return true;
	if (str_starts(setting, "HOME=")) /* of a rule for all below it no program knows */
		return external_holds_folder(setting + strlen("HOME="));
	return !str_starts(setting, "PATH=") &&
	       external_names_folder(strchr(setting, '=') + 1, EXTERNAL_VARIABLE);
}

char **external_env(void)
{
	AUTO_FREE char *path = safe_path();
	size_t n = util_list_len(environ), k = 0;
	char **env = xcalloc(n + 2, sizeof(*env));

	for (size_t i = 0; i < n; i++)
		if (strchr(environ[i], '=') && !str_starts(environ[i], "PATH=") &&
		    !is_withheld(environ[i]))
			env[k++] = xstrdup(environ[i]);
	env[k] = xasprintf("PATH=%s", path);
	return env;
}

char **external_withheld(void)
{
	size_t n = util_list_len(environ), k = 0;
	char **names = xcalloc(n + 1, sizeof(*names));

	for (size_t i = 0; i < n; i++)
		if (strchr(environ[i], '=') && is_withheld(environ[i]))
			names[k++] = xstrndup(environ[i], strcspn(environ[i], "="));
	return names;
}

/* ---- starts ---------------------------------------------------------------------------------- */

static void add_file(posix_spawn_file_actions_t *files, int fd, int to)
{
	if (fd == EXTERNAL_NULL)
		posix_spawn_file_actions_addopen(files, to, "/dev/null", O_RDWR, 0);
	else if (fd != EXTERNAL_SAME)
		posix_spawn_file_actions_adddup2(files, fd, to);
}

static int spawn(pid_t *pid, const struct external *o, const char *file, const char *const *argv,
		 char **env)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	int r;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addchdir_np(&files, "/");
	add_file(&files, o->in, 0);
	add_file(&files, o->out, 1);
	add_file(&files, o->err, 2);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	if (o->session)
		posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
							POSIX_SPAWN_SETSID);
	r = -posix_spawn(pid, file, &files, &attr, (char **)(uintptr_t)argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

/* Returns sh -c LINE [sh ARGUMENT...], or argv unchanged. A heap list; its strings are not
 * copied. */
static const char **words_of(const struct external *o)
{
	size_t n = 0, k = 0;
	const char **words;

	while (o->argv && o->argv[n])
		n++;
	words = xcalloc(n + 5, sizeof(*words));
	if (o->command) {
		words[k++] = "sh";
		words[k++] = "-c";
		words[k++] = o->command;
		words[k++] = "sh";
	}
	for (size_t i = 0; i < n; i++)
		words[k++] = o->argv[i];
	return words;
}

pid_t external_start(const struct external *o, struct err *err)
{
	AUTO_FREE const char **words = words_of(o);
	AUTO_FREE char *file = NULL;
	char **env;
	pid_t pid = 0;
	int r = o->command ? external_check_told(o->command, err) : 0;

	if (r == 0 && o->command)
		r = external_check(o->setting, o->command, err);
	if (r < 0)
		return r;
	file = o->command ? xstrdup("/bin/sh") : external_find(o->argv[0], err);
	if (!file)
		return err->code;
	env = external_env();
	r = spawn(&pid, o, file, words, env);
	util_free_list(&env);
	return r < 0 ? err_set(err, r, "run %s", o->setting ? o->setting : words[0]) : pid;
}

int external_run(const struct external *o, struct err *err)
{
	pid_t pid = external_start(o, err);
	int status = 0;

	if (pid < 0)
		return pid;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "wait for a program");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int external_run_here(const char *const *argv, struct err *err)
{
	const struct external o = {
		.argv = argv, .in = EXTERNAL_SAME, .out = EXTERNAL_SAME, .err = EXTERNAL_SAME};

	return external_run(&o, err);
}

int external_uv(uv_loop_t *loop, uv_process_t *process, const uv_process_options_t *opt,
		struct err *err)
{
	uv_process_options_t safe = *opt;
	AUTO_FREE char *file = str_eq(opt->file, "/proc/self/exe") ? xstrdup(opt->file)
								   : external_find(opt->file, err);
	char **env = opt->env ? NULL : external_env();
	int r;

	safe.file = file ? file : "/nonexistent";
	safe.cwd = "/";
	safe.env = env ? env : opt->env;
	r = uv_spawn(loop, process, &safe);
	util_free_list(&env);
	if (!file)
		return err->code;
	return r < 0 ? err_say(err, r, "%s: %s", opt->file, uv_strerror(r)) : 0;
}
