/* options - the options of `cordon run`: one table for parsing, --help and the man page. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/options.h"

#include <errno.h>
#include <string.h>

#include "core/base/nearest.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/commands/show.h"

void strings_add(struct strings *s, const char *v)
{
	s->list = xrealloc(s->list, (s->n + 2) * sizeof(*s->list));
	s->list[s->n++] = v;
	s->list[s->n] = NULL;
}

void strings_done(struct strings *s)
{
	free(s->list);
	*s = (struct strings){0};
}

enum option_type {
	OPT_FLAG,
	OPT_TEXT,
	OPT_LIST,
	OPT_MAYBE, /* an optional text after "="; "" if it is left out */
};

struct option_def {
	const char *name, *alias;
	enum option_type type;
	size_t at; /* offset in struct run_options */
	const char *arg, *help;
};

#define AT(field) offsetof(struct run_options, field)

static const struct option_def options[] = {
	{"--rw", NULL, OPT_LIST, AT(rw), "PATH",
	 "a further working folder; also permits your home, /etc, /usr and /var as working "
	 "folders"},
	{"--worktree", NULL, OPT_MAYBE, AT(worktree), NULL,
	 "work in a git worktree beside the repository, on a branch of its own; --worktree=NAME "
	 "names "
	 "it, and goes on in one that is there"},
	{"--with-changes", NULL, OPT_FLAG, AT(with_changes), NULL,
	 "with --worktree, a new one: with uncommitted changes, and files that git neither tracks "
	 "nor ignores"},
	{"--from-step", NULL, OPT_TEXT, AT(from_step), "STEP",
	 "with --worktree, a new one: its files are as they were here after that step"},
	{"--ro", NULL, OPT_LIST, AT(ro), "PATH",
	 "a folder that is visible inside, never writable, without questions and history"},
	{"--overlay", NULL, OPT_LIST, AT(overlay), "PATH",
	 "with --backend native, a directory that is writable inside; its changes are kept apart, "
	 "the host's directory "
	 "stays as it is"},
	{"--hide", "--blacklist", OPT_LIST, AT(hide), "PATH", "a path that does not exist inside"},
	{"--allow-unix", NULL, OPT_LIST, AT(allow_unix), "PATH",
	 "a socket of the host that programs inside may connect to; its server acts outside the "
	 "sandbox"},
	{"--git-credentials", NULL, OPT_FLAG, AT(git_credentials), NULL,
	 "git inside may get your credentials over https, after an answer for each host"},
	{"--ssh-agent", NULL, OPT_LIST, AT(ssh_agent), "'KEY HOST...'",
	 "a key of your ssh-agent that may sign in to these hosts"},
	{"--network", NULL, OPT_TEXT, AT(network), "none|ask|open",
	 "loopback only, ask about each host (the default), or the host's own network"},
	{"--no-network", NULL, OPT_FLAG, AT(no_network), NULL, "--network none"},
	{"--allow-network", NULL, OPT_FLAG, AT(allow_network), NULL,
	 "any host is allowed and logged; private and metadata addresses are still asked about"},
	{"--allow-domain", NULL, OPT_LIST, AT(allow_domain), "HOST",
	 "a host that programs inside may connect to, with its sub-domains; or *, HOST:PORT, "
	 "ADDRESS/BITS"},
	{"--publish", NULL, OPT_LIST, AT(publish), "PORT[:HOSTPORT]",
	 "show a port of the sandbox on the host's loopback"},
	{"--network-strategy", NULL, OPT_TEXT, AT(strategy), "fail|rewire-device|rewire-port",
	 "where the loopback device is shared with the host: refuse to listen at foreign ports, or "
	 "use an address or port of the session instead"},
	{"--listening-base-port", NULL, OPT_TEXT, AT(base_port), "PORT",
	 "the first port of the session there"},
	{"--listening-port-count", NULL, OPT_TEXT, AT(port_count), "N",
	 "the number of ports of the session"},
	{"--listening-loopback", NULL, OPT_TEXT, AT(loopback), "ADDRESS",
	 "the loopback address of the session"},
	{"--headless", NULL, OPT_FLAG, AT(headless), NULL,
	 "no console: uses the caller's stdin, stdout and stderr, and denies every request"},
	{"--stdio", NULL, OPT_FLAG, AT(stdio), NULL,
	 "no console, for editors: requests wait for cordon attach, approve, or approval.command"},
	{"--steps", NULL, OPT_TEXT, AT(steps), "one|auto",
	 "one undo step for the whole run, or one for each command"},
	{"--backend", NULL, OPT_TEXT, AT(backend), "native|bwrap|landlock|vm",
	 "what confines the agent; see cordon doctor"},
	{"--vm-memory", NULL, OPT_TEXT, AT(vm_memory), "SIZE",
	 "--backend vm: the guest's memory, as 4g"},
	{"--vm-cpus", NULL, OPT_TEXT, AT(vm_cpus), "N", "--backend vm: its processors"},
	{"--vm-mode", NULL, OPT_TEXT, AT(vm_mode), "persistent|ephemeral",
	 "--backend vm: keep changes outside the working folders, or lose them at the end (the "
	 "default)"},
	{"--mode", NULL, OPT_TEXT, AT(mode), "static|dynamic",
	 "everything but hidden paths can be read, or reads that no rule grants wait for an answer "
	 "(the default)"},
	{"--profile", NULL, OPT_TEXT, AT(profile), "NAME",
	 "rules for a known agent, by name or file; unset: chosen by the command; none: no "
	 "profile"},
	{"--shared-settings", NULL, OPT_FLAG, AT(shared_settings), NULL,
	 "use the settings in your home once, where the agent has separate ones for this folder"},
	{"--no-debug", NULL, OPT_FLAG, AT(no_debug), NULL, "forbid ptrace among programs inside"},
	{"--config", NULL, OPT_TEXT, AT(config), "FILE",
	 "a settings file that overrides the user's"},
	{"--set", NULL, OPT_LIST, AT(set), "KEY=VALUE", "one setting; overrides all files"},
	{"--theme", NULL, OPT_TEXT, AT(theme), "NAME", "colours of the console"},
	{"--keymap", NULL, OPT_TEXT, AT(keymap), "NAME", "keys of the console"},
	{"--record", NULL, OPT_TEXT, AT(record), "FILE",
	 "write the recording to this file when the session has ended, as an asciicast"},
	{"--exit", NULL, OPT_FLAG, AT(exit_at_end), NULL,
	 "leave the console when the command ends"},
	{"--verbose", "-v", OPT_FLAG, AT(verbose), NULL,
	 "print the setup of the sandbox: folders, hidden places, limits, rules; on stderr, or in "
	 "the console's activity"},
	{"--help", "-h", OPT_FLAG, AT(help), NULL, "this list"},
};

#undef AT

/* Options about the console, or how `cordon run` waits: not for sessions that a program drives. */
static const char *const alone[] = {"--headless", "--stdio", "--steps", "--theme", "--keymap",
				    "--record",	  "--exit",  "--help",	NULL};

static const struct option_def *find(const char *arg, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const char *names[] = {options[i].name, options[i].alias};

		for (size_t k = 0; k < ARRAY_LEN(names); k++)
			if (names[k] && strlen(names[k]) == len && strncmp(names[k], arg, len) == 0)
				return &options[i];
	}
	return NULL;
}

static void store(struct run_options *o, const struct option_def *d, const char *value)
{
	char *field = (char *)o + d->at;

	switch (d->type) {
	case OPT_FLAG:
		*(bool *)(void *)field = true;
		break;
	case OPT_TEXT:
	case OPT_MAYBE:
		*(const char **)(void *)field = value ? value : "";
		break;
	case OPT_LIST:
		strings_add((struct strings *)(void *)field, value);
		break;
	}
}

static int unknown(const char *arg, size_t len, struct err *err)
{
	AUTO_FREE char *word = xstrndup(arg, len);
	struct nearest near = nearest_to(word);

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		nearest_try(&near, options[i].name);
	if (near.best)
		return err_say(err, -EINVAL, "unknown option '%s': did you mean %s?", word,
			       near.best);
	return err_say(
		err, -EINVAL,
		"unknown option '%s': not one of cordon run's: cordon run --help lists them, "
		"and -- goes before a command that begins with a dash",
		word);
}

int run_options_parse(struct run_options *o, int argc, char **argv, struct err *err)
{
	int i;

	for (i = 0; i < argc && argv[i][0] == '-' && argv[i][1] != '\0'; i++) {
		const char *arg = argv[i], *value = NULL;
		size_t len = strcspn(arg, "=");
		const struct option_def *d;

		if (str_eq(arg, "--")) {
			i++;
			break;
		}
		d = find(arg, len);
		if (!d)
			return unknown(arg, len, err);
		if (arg[len] == '=')
			value = arg + len + 1;
		if (d->type == OPT_FLAG && value)
			return err_say(err, -EINVAL, "option '%s': takes no value: leave '=%s' out",
				       d->name, value);
		if ((d->type == OPT_TEXT || d->type == OPT_LIST) && !value) {
			if (i + 1 >= argc)
				return err_say(err, -EINVAL, "option '%s': needs a value: %s %s",
					       d->name, d->name, d->arg);
			value = argv[++i];
		}
		store(o, d, value);
	}
	o->argv = (const char *const *)(argv + i);
	return 0;
}

void run_options_done(struct run_options *o)
{
	strings_done(&o->rw);
	strings_done(&o->ro);
	strings_done(&o->overlay);
	strings_done(&o->hide);
	strings_done(&o->allow_unix);
	strings_done(&o->ssh_agent);
	strings_done(&o->allow_domain);
	strings_done(&o->publish);
	strings_done(&o->set);
}

static bool is_given(const struct run_options *o, const struct option_def *d)
{
	const char *field = (const char *)o + d->at;

	switch (d->type) {
	case OPT_FLAG:
		return *(const bool *)(const void *)field;
	case OPT_TEXT:
	case OPT_MAYBE:
		return *(const char *const *)(const void *)field != NULL;
	case OPT_LIST:
		return ((const struct strings *)(const void *)field)->n != 0;
	}
	return false;
}

/* Options of one run: its directory, how it waits, the file of its recording. */
static const char *const of_one_run[] = {
	"--worktree", "--with-changes", "--from-step", "--headless",
	"--stdio",    "--record",	"--verbose",   NULL};

static void add_option(struct buf *line, const char *name, const char *value)
{
	buf_fmt(line, "%s%s", line->len ? " " : "", name);
	if (!value)
		return;
	buf_str(line, " ");
	text_shell_word(line, value);
}

static bool is_path(const struct option_def *d, const char *value)
{
	if (*value == '/' || *value == '~' || (*value == '$' && str_eq(d->name, "--allow-unix")))
		return false;
	if (str_eq(d->name, "--profile"))
		return strchr(value, '/') != NULL;
	return str_eq(d->arg, "PATH") || str_eq(d->arg, "FILE");
}

/* Returns the value for a run that begins in another directory. Paths in the working folder stay
 * relative: the other run has its own parts to write to or to hide. Heap. */
static char *value_from(const char *cwd, const struct option_def *d, const char *value)
{
	AUTO_FREE char *joined = path_join(cwd, value);
	AUTO_FREE char *whole = realpath(joined, NULL);
	bool parts = str_eq(d->name, "--rw") || str_eq(d->name, "--hide");

	if (!whole)
		whole = path_clean(joined);
	if (!is_path(d, value) || (parts && path_is_beneath(whole, cwd)))
		return xstrdup(value);
	return take_ptr(&whole);
}

static void add_value(struct buf *line, const char *cwd, const struct option_def *d,
		      const char *value)
{
	AUTO_FREE char *from = value_from(cwd, d, value);

	add_option(line, d->name, from);
}

static void add_given(struct buf *line, const struct run_options *o, const struct option_def *d,
		      const char *cwd)
{
	const char *field = (const char *)o + d->at;
	const struct strings *list = (const struct strings *)(const void *)field;

	if (!is_given(o, d) || str_one_of(d->name, of_one_run))
		return;
	if (d->type == OPT_LIST)
		for (size_t i = 0; i < list->n; i++)
			add_value(line, cwd, d, list->list[i]);
	else if (d->type == OPT_FLAG)
		add_option(line, d->name, NULL);
	else
		add_value(line, cwd, d, *(const char *const *)(const void *)field);
}

char *run_options_line(const struct run_options *o, const char *cwd)
{
	struct buf line = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		add_given(&line, o, &options[i], cwd);
	if (line.len)
		buf_str(&line, " --");
	for (size_t i = 0; o->argv && o->argv[i]; i++) {
		if (line.len) {
			buf_ch(&line, ' ');
			text_shell_word(&line, o->argv[i]);
		} else {
			text_shell_command(&line, o->argv[i]);
		}
	}
	return buf_take(&line);
}

int run_options_check_driven(const struct run_options *o, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (str_one_of(options[i].name, alone) && is_given(o, &options[i]))
			return err_say(err, -EINVAL,
				       "%s: of cordon run alone, without effect here: leave it out",
				       options[i].name);
	return 0;
}

void run_options_each(bool driven, void (*fn)(void *data, const char *option, const char *help),
		      void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		const struct option_def *d = &options[i];
		char left[64];

		if (driven && str_one_of(d->name, alone))
			continue;
		snprintf(left, sizeof(left), "%s%s%s%s%s", d->name, d->alias ? ", " : "",
			 d->alias ? d->alias : "", d->arg ? " " : "", d->arg ? d->arg : "");
		fn(data, left, d->help);
	}
}

static void show(void *data, const char *option, const char *help)
{
	(void)data;
	show_option(option, help);
}

void run_options_help(bool driven)
{
	run_options_each(driven, show, NULL);
}
