/* install - `cordon install`, `uninstall`, `init`: hooks, completions and settings for a user. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/builtin.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/program.h"
#include "core/base/text.h"
#include "core/session/folders.h"
#include "core/session/kept.h"
#include "core/setup/hooks.h"
#include "core/setup/setup.h"
#include "core/setup/template.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"
#include "tui/commands/system_needs.h"

struct install_options {
	bool yes, dry, packages, purge;
};

static const struct flag install_flags[] = {
	{"--yes", NULL, offsetof(struct install_options, yes), "do not ask"},
	{"--dry-run", NULL, offsetof(struct install_options, dry), "only list the changes"},
	{"--packages", NULL, offsetof(struct install_options, packages),
	 "also install the packages of the distribution that are missing"},
};

static const struct flag uninstall_flags[] = {
	{"--yes", NULL, offsetof(struct install_options, yes), "do not ask"},
	{"--dry-run", NULL, offsetof(struct install_options, dry), "only list the changes"},
	{"--purge", NULL, offsetof(struct install_options, purge),
	 "also remove all histories, audit logs, caches, recordings and settings of yours"},
};

static const struct usage install_usage = {
	"install [--yes] [--dry-run] [--packages]",
	"Set cordon up for you: a settings file with comments, completions for your shell, and "
	"hooks for the agents that are here. It lists the changes and asks once. Settings of "
	"agents are merged, with a copy kept; `cordon uninstall` removes all of it.\nMissing "
	"packages are named with the command that adds them. As root, it installs an AppArmor "
	"profile for cordon on systems that need one for user namespaces.",
	install_flags,
	ARRAY_LEN(install_flags),
};

static const struct usage uninstall_usage = {
	"uninstall [--yes] [--dry-run] [--purge]",
	"Remove what `cordon install` added, and nothing else. Histories stay, unless --purge is "
	"given. `make uninstall` or the package manager removes the program itself.",
	uninstall_flags,
	ARRAY_LEN(uninstall_flags),
};

static const struct usage init_usage = {
	"init",
	"Write .cordon.conf, a settings file with comments, into this folder. Its rules are for "
	"all users of the project.",
	NULL,
	0,
};

/* ---- available setups ------------------------------------------------------------------------ */

/* Before a tool, after a tool that writes, after a prompt, at a question of the agent's, at
 * rest. */
#define HOOKS 6

/* Agents with command hooks: their settings file, and the form of their hooks. */
static const struct agent {
	const char *program, *folder, *settings; /* folder: below the home; may be missing */
	struct setup_hook hooks[HOOKS];
} agents[] = {
	{"claude",
	 ".claude",
	 ".claude/settings.json",
	 {{"hooks of Claude Code", "PreToolUse", "Bash|Read|Edit|MultiEdit|Write|NotebookEdit",
	   "cordon hook", 5, NULL},
	  {NULL, "PostToolUse", "Edit|MultiEdit|Write|NotebookEdit", "cordon hook", 5, NULL},
	  {NULL, "UserPromptSubmit", "", "cordon hook", 5, NULL},
	  {NULL, "PermissionRequest", "", "cordon hook", 5, NULL},
	  {NULL, "Notification", "permission_prompt|elicitation_dialog", "cordon hook", 5, NULL},
	  {NULL, "Stop", "", "cordon hook", 5, NULL}}},
	{"gemini",
	 ".gemini",
	 ".gemini/settings.json",
	 {{"hooks of Gemini CLI", "BeforeTool", "run_shell_command|read_file|write_file|replace",
	   "cordon hook --agent gemini", 5000, NULL},
	  {NULL, "AfterTool", "write_file|replace", "cordon hook --agent gemini", 5000, NULL},
	  {NULL, "BeforeAgent", "", "cordon hook --agent gemini", 5000, NULL},
	  {NULL, "AfterAgent", "", "cordon hook --agent gemini", 5000, NULL},
	  {NULL, "Notification", "", "cordon hook --agent gemini", 5000, NULL}}},
	{"codex",
	 ".codex",
	 ".codex/hooks.json",
	 {{"hooks of Codex", "PreToolUse", "Bash|apply_patch", "cordon hook --agent codex", 5,
	   "codex runs them once you have trusted them: /hooks"},
	  {NULL, "PostToolUse", "apply_patch", "cordon hook --agent codex", 5, NULL},
	  {NULL, "UserPromptSubmit", "", "cordon hook --agent codex", 5, NULL},
	  {NULL, "PermissionRequest", "", "cordon hook --agent codex", 5, NULL},
	  {NULL, "Stop", "", "cordon hook --agent codex", 5, NULL}}},
};

static bool is_there(const char *home, const char *below, const char *program)
{
	AUTO_FREE char *dir = path_join(home, below);

	return access(dir, F_OK) == 0 || program_is_installed(program);
}

/* Returns $NAME if it is set and absolute, else `usual` below the home. */
static char *xdg(const char *name, const char *home, const char *usual)
{
	const char *set = getenv(name);

	return set && *set == '/' ? path_clean(set) : path_join(home, usual);
}

static void add_completions(struct setup *s, const char *home, bool *ret_fpath)
{
	const char *shell = getenv("SHELL");
	const char *name = shell ? path_base(shell) : "";
	AUTO_FREE char *data = xdg("XDG_DATA_HOME", home, ".local/share");
	AUTO_FREE char *config = xdg("XDG_CONFIG_HOME", home, ".config");
	AUTO_FREE char *path = NULL;

	if (str_eq(name, "bash")) {
		path = path_join(data, "bash-completion/completions/cordon");
		setup_add_file(s, path, "completions for bash", builtin_find("cordon.bash"));
	} else if (str_eq(name, "fish")) {
		path = path_join(config, "fish/completions/cordon.fish");
		setup_add_file(s, path, "completions for fish", builtin_find("cordon.fish"));
	} else if (str_eq(name, "zsh")) {
		path = path_join(data, "zsh/site-functions/_cordon");
		setup_add_file(s, path, "completions for zsh", builtin_find("cordon.zsh"));
		*ret_fpath = true;
	}
}

static void add_all(struct setup *s, const char *home, bool *ret_fpath)
{
	AUTO_FREE char *config = xdg("XDG_CONFIG_HOME", home, ".config");
	AUTO_FREE char *settings = path_join(config, "cordon/config");
	AUTO_FREE char *text = template_settings(false);

	if (access(settings, F_OK) < 0)
		setup_add_file(s, settings, "settings, every line a comment", text);
	add_completions(s, home, ret_fpath);
	for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
		AUTO_FREE char *path = path_join(home, agents[i].settings);

		const struct setup_hook *hooks[HOOKS + 1] = {NULL};

		for (size_t k = 0; k < HOOKS && agents[i].hooks[k].event; k++)
			hooks[k] = &agents[i].hooks[k];
		if (is_there(home, agents[i].folder, agents[i].program))
			setup_add_hooks(s, path, hooks);
	}
	if (is_there(config, "opencode", "opencode")) {
		AUTO_FREE char *path = path_join(config, "opencode/plugins/cordon.js");

		setup_add_file(s, path, "plugin of opencode", builtin_find("cordon-opencode.js"));
	}
}

/* ---- plan and question ----------------------------------------------------------------------- */

/* Shows the plan. Returns how many files will be written. */
static size_t show_plan(const struct setup *s)
{
	static const char *const signs[] = {"+ ", "~ ", "  ", "! "};
	static const char *const words[] = {"new", "our part is added", "there already", ""};
	size_t n = 0;

	for (size_t i = 0; i < setup_count(s); i++) {
		const struct setup_item *item = setup_item(s, i);

		n += item->text != NULL;
		fputs(signs[item->state], stdout);
		show_text(item->path, strlen(item->path));
		printf("\n    %s: %s\n", item->what, item->why ? item->why : words[item->state]);
		if (item->after && item->text)
			printf("    %s\n", item->after);
	}
	return n;
}

/* Adds the profile; for root it is a file like the others. */
static void add_profile(struct setup *s)
{
	AUTO_FREE char *text = system_needs_apparmor() ? system_apparmor_text() : NULL;

	if (text && geteuid() == 0)
		setup_add_file(s, APPARMOR_PROFILE, "AppArmor: cordon may make user namespaces",
			       text);
	else if (text)
		printf("! AppArmor lets only programs with a profile make user namespaces\n"
		       "    sudo cordon install\n");
}

/* Names the files that were not changed. Returns their number. */
static int name_undone(const struct setup *s, struct err *err)
{
	AUTO_BUF struct buf names = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < setup_count(s); i++) {
		const struct setup_item *item = setup_item(s, i);

		if (item->state == SETUP_REFUSED)
			buf_fmt(&names, "%s%s (%s)", n++ ? ", " : "", item->path, item->why);
	}
	if (n)
		return err_say(err, -EEXIST, "install: not done: %s", names.data);
	if (system_needs_apparmor() && geteuid() != 0)
		return err_say(err, -EPERM, "install: not done: %s: sudo cordon install",
			       APPARMOR_PROFILE);
	return 0;
}

static int apply(struct setup *s, const struct install_options *o, struct err *err)
{
	bool profile = system_needs_apparmor() && geteuid() == 0;
	int r = o->yes ? 0 : confirm_yes("Do this?", err);

	if (r == 0)
		r = setup_apply(s, err);
	if (r == 0 && profile)
		r = system_apparmor_load(err);
	if (r == 0 && o->packages)
		r = system_needs_install(err);
	return r;
}

static int install(const struct install_options *o, struct err *err)
{
	int64_t began = clock_mono_us();
	AUTO_FREE char *home = NULL, *state = NULL;
	struct setup *s = NULL;
	bool fpath = false;
	size_t n, missing;
	int r = folders_home(&home, err);

	if (r < 0)
		return r;
	state = folders_state_dir(home);
	folders_keep_out(state, home, NULL, NULL);
	r = setup_new(&s, state, err);
	if (r < 0)
		return r;
	add_all(s, home, &fpath);
	add_profile(s);
	n = show_plan(s);
	missing = system_needs_show(o->packages);
	if (n == 0 && !(missing && o->packages))
		printf("There is nothing to do.\n");
	else if (!o->dry) {
		r = apply(s, o, err);
		if (r == 0)
			printf("Done, %zu file%s, in %.1f s. `cordon uninstall` takes them away.\n",
			       n, n == 1 ? "" : "s", (double)(clock_mono_us() - began) / 1e6);
		if (r == 0 && fpath)
			printf("zsh: add ~/.local/share/zsh/site-functions to fpath before "
			       "compinit.\n");
	}
	if (r == 0 && !o->dry)
		r = name_undone(s, err);
	setup_free(s);
	return r;
}

int cmd_install(int argc, char **argv, struct err *err)
{
	struct install_options o = {0};
	int r = flags_parse(&install_usage, argc, argv, &o, NULL, err);

	if (r != 0)
		return r > 0 ? 0 : CMD_FAILED;
	r = install(&o, err);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}

/* ---- uninstall ------------------------------------------------------------------------------- */

static void tell(void *data, const char *path, const char *words)
{
	(void)data;
	show_text(path, strlen(path));
	printf(": %s\n", words);
}

static void tell_nothing(void *data, const char *path, const char *words)
{
	(void)data;
	(void)path;
	(void)words;
}

/* Lists what --purge removes in addition. */
static void tell_purge(const char *state, const char *settings)
{
	char size[32];

	text_size(size, sizeof(size), kept_all_bytes(state));
	show_text(state, strlen(state));
	printf(": all histories, audit logs, caches and recordings: %s\n", size);
	show_text(settings, strlen(settings));
	printf(": all settings\n");
}

static int purge(const char *state, const char *settings, struct err *err)
{
	int r = kept_remove_all(state, err);

	if (r == 0 && (r = io_remove_tree(AT_FDCWD, settings)) < 0)
		err_set(err, r, "remove '%s'", settings);
	return r;
}

/* Lists all files to remove. Returns 1 if there are none. */
static int tell_all(const struct install_options *o, const char *state, const char *settings,
		    struct err *err)
{
	struct err why = {0};
	int r = setup_remove(state, true, tell, NULL, &why);

	if (r == -ENOENT && !o->purge) {
		puts("There is nothing to do: nothing is installed for this user.");
		return 1;
	}
	if (r < 0 && r != -ENOENT) {
		*err = why;
		return r;
	}
	if (o->purge)
		tell_purge(state, settings);
	return 0;
}

static int uninstall(const struct install_options *o, struct err *err)
{
	AUTO_FREE char *home = NULL, *state = NULL, *config = NULL, *settings = NULL;
	AUTO_CLOSE int profile = -1;
	struct err why = {0};
	int r = folders_home(&home, err);

	if (r < 0)
		return r;
	state = folders_state_dir(home);
	config = xdg("XDG_CONFIG_HOME", home, ".config");
	settings = path_join(config, "cordon");
	r = tell_all(o, state, settings, err);
	if (r == 0 && !o->dry && !o->yes)
		r = confirm_yes("Do this?", err);
	if (r != 0 || o->dry)
		return MIN(r, 0);
	profile = open(APPARMOR_PROFILE, O_RDONLY); /* for apparmor_parser as well */
	r = setup_remove(state, false, tell_nothing, NULL, &why);
	if (r < 0 && r != -ENOENT)
		*err = why;
	else
		r = o->purge ? purge(state, settings, err) : 0;
	if (r == 0 && profile >= 0 && access(APPARMOR_PROFILE, F_OK) < 0)
		r = system_apparmor_unload(profile, err);
	if (r == 0)
		puts("Done.");
	return r;
}

int cmd_uninstall(int argc, char **argv, struct err *err)
{
	struct install_options o = {0};
	int r = flags_parse(&uninstall_usage, argc, argv, &o, NULL, err);

	if (r != 0)
		return r > 0 ? 0 : CMD_FAILED;
	r = uninstall(&o, err);
	return finish(r < 0 ? CMD_REFUSED : 0, err);
}

/* ---- init ------------------------------------------------------------------------------------ */

int cmd_init(int argc, char **argv, struct err *err)
{
	struct install_options o = {0};
	AUTO_FREE char *text = NULL;
	AUTO_CLOSE int fd = -1;
	int r = flags_parse(&init_usage, argc, argv, &o, NULL, err);

	if (r != 0)
		return r > 0 ? 0 : CMD_FAILED;
	text = template_settings(true);
	fd = open(".cordon.conf", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0) {
		if (errno == EEXIST)
			err_say(err, -EEXIST,
				"init: there is a .cordon.conf here already: it stays as it is");
		else
			err_set(err, -errno, "init: make .cordon.conf");
		return CMD_REFUSED;
	}
	r = io_write_all(fd, text, strlen(text));
	if (r < 0) {
		err_set(err, r, "init: write .cordon.conf");
		return CMD_REFUSED;
	}
	printf("wrote .cordon.conf: every line is a comment\n");
	return finish(0, err);
}
