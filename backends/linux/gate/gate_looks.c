/* gate_looks - reports the first look of each program at each hidden place. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/gate/gate_looks.h"

#include <string.h>
#include <unistd.h>

#include "core/base/path.h"

/* Places at which programs look by habit. The name is that of the file that runs, without a version
 * or variant: "vim" stands for vim.basic, too, "python" for python3.11. */
static const struct {
	const char *program, *place;
} habits[] = {
	{"git", "/"},
	{"git-remote-http", "/"},
	{"ssh", "/.ssh"},
	{"scp", "/.ssh"},
	{"sftp", "/.ssh"},
	{"ssh-add", "/.ssh"},
	{"ssh-keygen", "/.ssh"},
	{"node", "/.npmrc"},
	{"bun", "/.npmrc"},
	{"node", "/.node_repl_history"},
	{"node", "/.yarnrc.yml"},
	{"node", "/.config/pnpm/rc"},
	{"bun", "/.bunfig.toml"},
	{"deno", "/.npmrc"},
	{"opencode", "/.npmrc"},
	{"python", "/.python_history"},
	{"python", "/.netrc"}, /* pip */
	{"python", "/.pypirc"},
	{"ruby", "/.bundle/config"},
	{"java", "/.m2/settings"},
	{"java", "/.gradle/gradle.properties"},
	{"php", "/composer/auth.json"},
	{"php", "/.composer/auth.json"},
	{"curl", "/.netrc"},
	{"wget", "/.netrc"},
	{"docker", "/.docker"},
	{"aws", "/.aws"},
	{"kubectl", "/.kube"},
	{"gpg", "/.gnupg"},
	{"bash", "/.bash_history"},
	{"zsh", "/.zsh_history"},
	{"fish", "/fish_history"},
	{"less", "/.lesshst"},
	{"vim", "/.viminfo"},
	{"psql", "/.pgpass"},
	{"psql", "/.psql_history"},
	{"mysql", "/.my.cnf"},
	{"mysql", "/.mysql_history"},
	{"mariadb", "/.my.cnf"},
	{"mariadb", "/.mysql_history"},
	{"gh", "/.config/gh"},
	{"cargo", "/.cargo/credentials"},
};

/* Returns whether the file is the program, or a version or variant of it. */
static bool is_program(const char *file, const char *program)
{
	const char *rest = str_starts(file, program) ? file + strlen(program) : NULL;

	return rest && (!*rest || *rest == '.' || (*rest >= '0' && *rest <= '9'));
}

static bool is_habit(const char *program, const char *place)
{
	for (size_t i = 0; i < ARRAY_LEN(habits); i++)
		if (is_program(program, habits[i].program) && strstr(place, habits[i].place))
			return true;
	return false;
}

/* Returns the hidden place that the path is in, or that it is. */
static const char *place_of(const struct keeper *k, const char *path)
{
	const char *const *list;
	size_t n = policy_hidden(keeper_policy(k), &list);

	for (size_t i = 0; i < n; i++)
		if (path_is_beneath(path, list[i]))
			return list[i];
	return path;
}

static bool is_first(struct gate_looks *l, const char *program, const char *place)
{
	AUTO_FREE char *look = xasprintf("%s %s", program, place);

	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->list[i], look))
			return false;
	if (l->n == LOOKS_MAX)
		return false;
	l->list[l->n++] = take_ptr(&look);
	return true;
}

void gate_looks_note(struct gate_looks *l, struct keeper *k, struct door *door,
		     const struct gate_note *note)
{
	struct caller c = {.door = door, .op = LOOKED_FOR};
	const char *place = place_of(k, note->path), *program = "";
	char link[32], exe[PATH_MAX];
	ssize_t n;

	if (l->n == LOOKS_MAX)
		return;
	snprintf(link, sizeof(link), "/proc/%d/exe", note->tid);
	n = readlink(link, exe, sizeof(exe) - 1);
	if (n > 0) {
		exe[n] = '\0';
		program = path_base(exe);
	}
	if (is_habit(program, place) || !is_first(l, program, place))
		return;
	if (keeper_caller(k, note->tid, &c) < 0)
		c.pid = c.tid = note->tid;
	keeper_looked(k, &c, note->path);
}

void gate_looks_done(struct gate_looks *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->list[i]);
	l->n = 0;
}
