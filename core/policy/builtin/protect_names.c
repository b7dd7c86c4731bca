/* protect_names - names of files that programs of the host run or obey later. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/builtin/protect_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/policy/listed.h"

static const char shell[] = "shells read it when they start";
const char protect_editor[] = "an editor runs or obeys it";
static const char agent[] = "it is an agent's own settings";
static const char login[] = "the desktop or the login runs it";
static const char git_conf[] = "git on the host obeys it and it can name programs to run";
static const char git_hook[] = "git on the host runs it";
const char protect_interpreter[] = "an interpreter or a debugger runs it when it starts";
static const char manager[] = "a hook manager runs what it says";
static const char versions[] =
	"mise and asdf put the directories that it names in front of the PATH";
static const char pickled[] = "aider unpickles it, and a pickle can name programs to run";
static const char nix[] = "direnv evaluates it where .envrc says so, and runs its shell hook";
static const char rustup[] = "rustup runs the toolchain that it names, for a shell's prompt too";
static const char mise[] = "mise runs what it says, on the way into the directory";

/* Sorted. */
static const struct protect_leaf leaves[] = {
	{".aider.conf.yml", agent},
	{".autoenv.zsh", "autoenv runs it on the way into the directory"},
	{".autoenv_leave.zsh", "autoenv runs it on the way out of the directory"},
	{".bash_aliases", shell},
	{".bash_login", shell},
	{".bash_logout", shell},
	{".bash_profile", shell},
	{".bashrc", shell},
	{".byebugrc", protect_interpreter},
	{".cordon.conf", "cordon obeys it"},
	{".crush.json", agent},
	{".cshrc", shell},
	{".devcontainer.json", protect_editor},
	{".dir-locals-2.el", protect_editor},
	{".dir-locals.el", protect_editor},
	{".direnvrc", "direnv runs it"},
	{".emacs", protect_editor},
	{".envrc", "direnv runs it"},
	{".envrc.*", "direnv runs it where .envrc says so"},
	{".erlang", protect_interpreter},
	{".exrc", protect_editor},
	{".gdbinit", "gdb runs it"},
	{".gdbinit.py", "gdb runs it"},
	{".ghci", protect_interpreter},
	{".gitconfig", git_conf},
	{".gvimrc", protect_editor},
	{".huskyrc", manager},
	{".huskyrc.*", manager},
	{".iex.exs", protect_interpreter},
	{".inputrc", shell},
	{".irbrc", protect_interpreter},
	{".kateproject", protect_editor},
	{".kateproject.*", protect_editor},
	{".kshrc", shell},
	{".lazy.lua", protect_editor},
	{".lefthook-local.*", manager},
	{".lefthook.*", manager},
	{".lfsconfig", "git-lfs on the host sends files to where it says"},
	{".lintstagedrc", manager},
	{".lintstagedrc.*", manager},
	{".lldbinit", "lldb runs it"},
	{".local.vimrc", protect_editor},
	{".login", shell},
	{".logout", shell},
	{".luarc.*", "the Lua language server runs the plugin that it names"},
	{".lvimrc", protect_editor},
	{".mcp.json", agent},
	{".merlin", "Merlin runs the preprocessors that it names, in an editor"},
	{".mise.*", mise},
	{".neoconf.json", protect_editor},
	{".nvim.lua", protect_editor},
	{".nvimrc", protect_editor},
	{".ocamlinit", protect_interpreter},
	{".octaverc", protect_interpreter},
	{".overcommit.yml", manager},
	{".pam_environment", login},
	{".pdbrc", protect_interpreter},
	{".perldb", protect_interpreter},
	{".pre-commit-config.yaml", manager},
	{".pre-commit-config.yml", manager},
	{".profile", shell},
	{".project", "Eclipse runs the builders that it names"},
	{".pryrc", protect_interpreter},
	{".rdata", "R loads it when it starts, and runs .First of it"},
	{".rdbgrc", protect_interpreter},
	{".rdbgrc.*", protect_interpreter},
	{".renviron", protect_interpreter},
	{".rprofile", protect_interpreter},
	{".rtx.*", mise},
	{".rvmrc", "rvm runs it on the way into the directory"},
	{".screenrc", "screen runs it"},
	{".simple-git-hooks.*", manager},
	{".tcshrc", shell},
	{".tmux.conf", "tmux runs it"},
	{".tool-versions", versions},
	{".vimrc", protect_editor},
	{".wezterm.lua", "WezTerm runs it"},
	{".xinitrc", login},
	{".xonshrc", shell},
	{".xprofile", login},
	{".xsession", login},
	{".xsessionrc", login},
	{".ycm_extra_conf.py", "YouCompleteMe runs it, in an editor"},
	{".zlogin", shell},
	{".zlogout", shell},
	{".zprofile", shell},
	{".zshenv", shell},
	{".zshrc", shell},
	{"captainhook.json", manager},
	{"crush.json", agent},
	{"devbox.json", nix},
	{"devenv.*", nix},
	{"flake.lock", nix},
	{"flake.nix", nix},
	{"grumphp.*", manager},
	{"hie.yaml", "the Haskell language server runs the program that it names"},
	{"hk.local.pkl", manager},
	{"hk.pkl", manager},
	{"husky.*", manager},
	{"kilo.json", agent},
	{"kilo.jsonc", agent},
	{"lefthook-local.*", manager},
	{"lefthook.*", manager},
	{"lint-staged.*", manager},
	{"lsp.json", agent},
	{"mise.*", mise},
	{"opencode.json", agent},
	{"opencode.jsonc", agent},
	{"prek.toml", manager},
	{"rust-toolchain", rustup},
	{"rust-toolchain.*", rustup},
	{"shell.nix", nix},
	{"simple-git-hooks.*", manager},
	{"startup.m", protect_interpreter},
};

/* Sorted. */
static const struct protect_tree trees[] = {
	{".agents", "plugins skills/*/mcp.json", 0, agent},
	{".aider.tags.cache.v3", "", 0, pickled},
	{".aider.tags.cache.v4", "", 0, pickled},
	{".amazonq", "", PROTECT_KEEP, agent},
	{".amp", "", PROTECT_KEEP, agent},
	{".augment", "", PROTECT_KEEP, agent},
	{".bashrc.d", "", 0, shell},
	{".bloop", "", 0, "an editor's build server runs the source generators that it names"},
	{".bsp", "", 0, "an editor runs the build servers that it names"},
	{".bzr", "branch/branch.conf branch/location", 0,
	 "Breezy on the host obeys it and it can name functions to run"},
	{".cargo", "config config.toml", 0, "cargo runs what it names, and editors run cargo"},
	{".cargo-husky", "", 0, git_hook},
	{".claude", "", PROTECT_KEEP | PROTECT_WORKTREES, agent},
	{".cline", "", PROTECT_KEEP, agent},
	{".clinerules", "hooks", PROTECT_KEEP, agent},
	{".codebuddy", "", PROTECT_KEEP, agent},
	{".codex", "", PROTECT_KEEP, agent},
	{".config",
	 "fish autostart systemd environment.d git nvim direnv mise zed opencode plasma-workspace "
	 "starship.toml user-dirs.dirs lldb gdb tmux cordon xonsh nushell elvish i3 sway hypr "
	 "kitty alacritty wezterm ghostty lefthook* hk.pkl",
	 0, "programs of the human obey it"},
	{".continue", "", PROTECT_KEEP, agent},
	{".copilot", "", PROTECT_KEEP, agent},
	{".cursor", "", PROTECT_KEEP | PROTECT_WORKTREES, agent},
	{".devcontainer", "", 0, protect_editor},
	{".direnv", "bin */bin flake-profile* nix-profile* devenv-profile*", 0,
	 "direnv runs it, or puts it in front of the PATH"},
	{".emacs.d", "", 0, protect_editor},
	{".externaltoolbuilders", "", 0, "Eclipse runs what it says at each build of its own"},
	{".factory", "", PROTECT_KEEP, agent},
	{".fleet", "", 0, protect_editor},
	{".gemini", "", PROTECT_KEEP | PROTECT_WORKTREES, agent},
	{".git-hooks", "", 0, git_hook},
	{".githooks", "", 0, git_hook},
	{".github", "agents copilot extensions hooks lsp.json mcp.json", 0, agent},
	{".gnupg", "", PROTECT_KEEP, "it holds keys"},
	{".grok", "", PROTECT_KEEP, agent},
	{".helix", "config.toml languages.toml", 0, protect_editor},
	{".hg", "hgrc hgrc-not-shared sharedpath", 0,
	 "Mercurial on the host obeys it and it can name programs to run"},
	{".husky", "", 0, git_hook},
	{".idea", "", 0, protect_editor},
	{".iflow", "", PROTECT_KEEP, agent},
	{".jj", "repo/config.toml repo/store/git_target repo/workspace_store workspace-config.toml",
	 0, "Jujutsu on the host obeys it"},
	{".junie", "", PROTECT_KEEP, agent},
	{".kilo", "", PROTECT_KEEP, agent},
	{".kilocode", "", PROTECT_KEEP | PROTECT_WORKTREES, agent},
	{".kiro", "", PROTECT_KEEP, agent},
	{".lefthook", "", 0, manager},
	{".lefthook-local", "", 0, manager},
	{".local", "bin share/applications share/systemd share/dbus-1", 0, login},
	{".lsp", "config.edn", 0, "the Clojure language server runs the commands that it names"},
	{".mise", "config.* tasks", 0, mise},
	{".moon", "hooks workspace.*", 0, manager},
	{".nvim", "", 0, protect_editor},
	{".oh-my-zsh", "", 0, shell},
	{".omp", "", PROTECT_KEEP, agent},
	{".opencode", "", PROTECT_KEEP, agent},
	{".openhands", "", PROTECT_KEEP, agent},
	{".pi", "", PROTECT_KEEP, agent},
	{".pijul", "config* hook*", 0,
	 "Pijul on the host obeys it and it can name programs to run"},
	{".qoder", "", PROTECT_KEEP, agent},
	{".qwen", "", PROTECT_KEEP, agent},
	{".roo", "", PROTECT_KEEP, agent},
	{".rovodev", "", PROTECT_KEEP, agent},
	{".shadowenv.d", "", 0, "shadowenv runs it"},
	{".sl", "config sharedpath", 0,
	 "Sapling on the host obeys it and it can name programs to run"},
	{".ssh", "", PROTECT_KEEP, "ssh obeys it"},
	{".tabnine", "", PROTECT_KEEP, agent},
	{".theia", "tasks.json settings.json launch.json", 0, protect_editor},
	{".trae", "", PROTECT_KEEP, agent},
	{".trunk", "plugins trunk.yaml user.yaml", 0, manager},
	{".venv", "bin/python*", PROTECT_LINKS, "editors run it to ask for its version"},
	{".vibe", "", PROTECT_KEEP, agent},
	{".vim", "", 0, protect_editor},
	{".vscode",
	 "tasks.json settings.json launch.json mcp.json c_cpp_properties.json cmake-kits.json", 0,
	 protect_editor},
	{".warp", "", PROTECT_KEEP, agent},
	{".windsurf", "", PROTECT_KEEP, agent},
	{".zed", "settings.json tasks.json debug.json", 0, protect_editor},
	{"_darcs", "prefs/defaults prefs/prefs", 0,
	 "Darcs on the host obeys it and it can name programs to run"},
	{"mise", "config.* conf.d tasks", 0, mise},
};

/* A component of a path, which is not NUL-terminated. */
struct component {
	const char *c;
	size_t n;
};

/* Compares a component with an entry of a table, which begins with its name. */
static int component_cmp(const void *key, const void *entry)
{
	const struct component *k = key;
	const char *name = *(const char *const *)entry;
	int r = strncmp(k->c, name, k->n);

	return r ? r : -(name[k->n] != '\0');
}

#define FIND(table, c, n)                                                                          \
	bsearch(&(struct component){c, n}, table, ARRAY_LEN(table), sizeof((table)[0]),            \
		component_cmp)

const struct protect_leaf *protect_find_leaf(const char *c, size_t n)
{
	return FIND(leaves, c, n);
}

const struct protect_leaf *protect_find_begun(const char *leaf)
{
	const char *dot = *leaf ? strchr(leaf + 1, '.') : NULL;
	char name[32];

	if (!dot ||
	    snprintf(name, sizeof(name), "%.*s*", (int)(dot + 1 - leaf), leaf) >= (int)sizeof(name))
		return NULL;
	return protect_find_leaf(name, strlen(name));
}

const struct protect_tree *protect_find_tree(const char *c, size_t n)
{
	return FIND(trees, c, n);
}

bool protect_leaf_keeps(const struct protect_leaf *l)
{
	return str_eq(l->name, ".cordon.conf") || l->reason == agent;
}

bool protect_tree_is_plain(const struct protect_tree *t)
{
	return *t->below && !(t->flags & PROTECT_KEEP);
}

bool policy_name_at(size_t i, struct policy_name *ret)
{
	const struct protect_tree *t;

	if (i < ARRAY_LEN(leaves)) {
		const struct protect_leaf *l = &leaves[i];

		*ret = (struct policy_name){.name = l->name};
		ret->keep = protect_leaf_keeps(l);
		return true;
	}
	i -= ARRAY_LEN(leaves);
	if (i >= ARRAY_LEN(trees))
		return false;
	t = &trees[i];
	*ret = (struct policy_name){t->name, t->below, t->flags & PROTECT_KEEP,
				    protect_tree_is_plain(t)};
	return true;
}
