/* external - starts programs of the user, which run outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "core/base/external.h"

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

/* ---- folders --------------------------------------------------------------------------------- */

static char **places;
static size_t n_places;
static external_writes writes;
static bool told; /* which they are */

/* Refuses to search PATH for a command that has not said where agents write. */
static int check_told(const char *what, struct err *err)
{
	return told ? 0
		    : err_say(err, -EPERM,
			      "%s: not run: this command does not know where agents write: report "
			      "this",
			      what);
}

void external_keep_out(const char *dir)
{
	AUTO_FREE char *real = dir ? realpath(dir, NULL) : NULL;

	told = true;
	if (!real || str_eq(real, "/"))
		return;
	for (size_t i = 0; i < n_places; i++)
		if (path_is_beneath(real, places[i]))
			return;
	places = xrealloc(places, (n_places + 1) * sizeof(*places));
	places[n_places++] = take_ptr(&real);
}

void external_ask(external_writes fn)
{
	writes = fn;
}

static bool is_kept_out(const char *path, enum external_use use)
{
	for (size_t i = 0; i < n_places; i++)
		if (path_is_beneath(path, places[i]))
			return true;
	return writes && writes(path, use);
}

/* Resolves the longest part of an absolute path that exists. */
static bool leads_there(const char *path, enum external_use use)
{
	AUTO_FREE char *clean = path_clean(path);
	char *end = clean + strlen(clean);

	if (is_kept_out(clean, use))
		return true;
	while (end > clean) {
		AUTO_FREE char *head = xstrndup(clean, (size_t)(end - clean));
		AUTO_FREE char *real = realpath(head, NULL);
		AUTO_FREE char *whole = real ? xasprintf("%s%s", real, end) : NULL;

		if (whole)
			return is_kept_out(whole, use);
		do
			end--;
		while (end > clean && *end != '/');
	}
	return false;
}

bool external_is_kept_out(const char *path)
{
	AUTO_FREE char *real = realpath(path, NULL);

	return !real || leads_there(path, EXTERNAL_PROGRAM);
}

/* ---- words ----------------------------------------------------------------------------------- */

static const char separators[] = " \t\n:,;|&<>()\"'=`{}";

static bool ends_with(const char *text, size_t len, const char *suffix)
{
	size_t n = strlen(suffix);

	return len >= n && memcmp(text + len - n, suffix, n) == 0;
}

/* Returns the path that begins at the slash `at` of text, with the home in front if the text names
 * it. Heap. */
static char *path_at(const char *text, size_t at)
{
	static const char *const homes[] = {"~", "$HOME", "${HOME}", "\"$HOME\"", "\"${HOME}\""};
	size_t len = strcspn(text + at, separators);
	const char *home = getenv("HOME");

	for (size_t i = 0; home && i < ARRAY_LEN(homes); i++)
		if (ends_with(text, at, homes[i]))
			return xasprintf("%s%.*s", home, (int)len, text + at);
	return xstrndup(text + at, len);
}

/* Is it a script whose first line names a program of a folder? */
static bool has_interpreter_there(const char *path)
{
	char head[256];
	AUTO_CLOSE int fd = program_runs(path) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

	if (n < 2 || memcmp(head, "#!", 2) != 0)
		return false;
	head[n] = '\0';
	head[strcspn(head, "\n")] = '\0';
	for (size_t i = 2; head[i]; i++) {
		AUTO_FREE char *named = head[i] == '/' ? path_at(head, i) : NULL;

		if (named && leads_there(named, EXTERNAL_PROGRAM))
			return true;
	}
	return false;
}

static bool is_refused(const char *program)
{
	return is_kept_out(program, EXTERNAL_PROGRAM) || has_interpreter_there(program);
}

static bool leads_to_folder(const char *path, enum external_use use)
{
	return leads_there(path, use) || (use == EXTERNAL_PROGRAM && has_interpreter_there(path));
}

/* Does text hold a folder's own name? The name may have blanks. */
static bool holds_name(const char *text)
{
	for (size_t i = 0; i < n_places; i++) {
		size_t len = strlen(places[i]);

		for (const char *at = text; (at = strstr(at, places[i])); at += len)
			if (!at[len] || at[len] == '/' || strchr(separators, at[len]))
				return true;
	}
	return false;
}

static bool names_folder(const char *text, enum external_use use)
{
	if (holds_name(text))
		return true;
	for (size_t i = 0; text[i]; i++) {
		AUTO_FREE char *path = text[i] == '/' ? path_at(text, i) : NULL;

		if (path && leads_to_folder(path, use))
			return true;
	}
	return false;
}

static int refuse(const char *setting, const char *what, struct err *err)
{
	return err_say(err, -EPERM,
		       "%s: %s is in a folder that the agent can write: not run: name a program "
		       "elsewhere, by its whole path",
		       setting, what);
}

/* Checks one word. A relative path is not found from "/", so the user is told where it leads. */
static int check_word(const char *setting, const char *word, struct err *err)
{
	AUTO_FREE char *cwd = getcwd(NULL, 0);
	AUTO_FREE char *from_here = cwd ? path_join(cwd, word) : NULL;
	AUTO_FREE char *found = NULL;
	struct err why = {0};

	if (strchr(word, '/'))
		return from_here && access(from_here, F_OK) == 0 &&
				       leads_to_folder(from_here, EXTERNAL_PROGRAM)
			       ? refuse(setting, word, err)
			       : 0;
	found = external_find(word, &why);
	return why.code == -EPERM ? refuse(setting, word, err) : 0;
}

int external_check(const char *setting, const char *line, struct err *err)
{
	AUTO_FREE char *words = xstrdup(line);
	char *rest = NULL;
	int r = names_folder(line, EXTERNAL_PROGRAM) ? refuse(setting, line, err) : 0;

	for (char *word = strtok_r(words, separators, &rest); r == 0 && word;
	     word = strtok_r(NULL, separators, &rest))
		r = check_word(setting, word, err);
	return r;
}

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

		if (real && !strchr(real, ':') && !is_kept_out(real, EXTERNAL_PROGRAM))
			buf_fmt(&path, "%s%s", path.len ? ":" : "", real);
	}
	return xstrdup(path.len ? path.data : SYSTEM);
}

/* Returns whether a program of that name is only in an entry of PATH that safe_path() drops. */
static bool is_only_in_folder(const char *name)
{
	AUTO_FREE char *found = program_find(name);
	AUTO_FREE char *real = found ? realpath(found, NULL) : NULL;

	return real && leads_to_folder(real, EXTERNAL_PROGRAM);
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
	if (real && is_refused(real)) {
		self = os_self_is(real) ? running_file() : NULL;
		if (!self)
			refuse("program", name, err);
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

	if (!strchr(name, '/') && check_told(name, err) < 0)
		return NULL;
	if (strchr(name, '/'))
		return find_path(name, err);
	for (char *dir = *name ? strtok_r(path, ":", &rest) : NULL; dir;
	     dir = strtok_r(NULL, ":", &rest)) {
		AUTO_FREE char *file = path_join(dir, name);
		AUTO_FREE char *real = program_runs(file) ? realpath(file, NULL) : NULL;

		if (!real)
			continue;
		if (!is_refused(real))
			return take_ptr(&file);
		refuse("PATH", file, err);
		return NULL;
	}
	if (is_only_in_folder(name))
		refuse("PATH", name, err);
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
		return holds_name(setting + strlen("HOME="));
	return !str_starts(setting, "PATH=") &&
	       names_folder(strchr(setting, '=') + 1, EXTERNAL_VARIABLE);
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
	int r = o->command ? check_told(o->command, err) : 0;

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
