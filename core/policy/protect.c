/* protect - files that something on the host runs or obeys later. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "core/policy/git_paths.h"
#include "core/policy/listed.h"
#include "core/policy/policy_priv.h"

/*
 * An agent that cannot leave its sandbox can still leave a file that the host runs for it: a git
 * hook, a start-up file, an editor's task. These names are protected wherever they appear, whether
 * they exist or not. Left out on purpose is what runs only when a human asks for just that
 * (Makefile, package.json): protecting it would stop the agent's work.
 */
static const char shell[] = "shells read it when they start";
static const char editor[] = "an editor runs or obeys it";
static const char agent[] = "it is an agent's own settings";
static const char login[] = "the desktop or the login runs it";
static const char git_conf[] = "git on the host obeys it and it can name programs to run";
static const char git_hook[] = "git on the host runs it";
static const char interpreter[] = "an interpreter or a debugger runs it when it starts";
static const char manager[] = "a hook manager runs what it says";
static const char versions[] =
	"mise and asdf put the directories that it names in front of the PATH";
static const char pickled[] = "aider unpickles it, and a pickle can name programs to run";
static const char nix[] = "direnv evaluates it where .envrc says so, and runs its shell hook";
static const char rustup[] = "rustup runs the toolchain that it names, for a shell's prompt too";
static const char mise[] = "mise runs what it says, on the way into the directory";

/* Protected by the last component alone, at any depth; one that ends in ".*" with whatever follows
 * the first dot inside it. Sorted. */
static const struct leaf {
	const char *name;
	const char *reason;
} leaves[] = {
	{".aider.conf.yml", agent},
	{".autoenv.zsh", "autoenv runs it on the way into the directory"},
	{".autoenv_leave.zsh", "autoenv runs it on the way out of the directory"},
	{".bash_aliases", shell},
	{".bash_login", shell},
	{".bash_logout", shell},
	{".bash_profile", shell},
	{".bashrc", shell},
	{".byebugrc", interpreter},
	{".cordon.conf", "cordon obeys it"},
	{".crush.json", agent},
	{".cshrc", shell},
	{".devcontainer.json", editor},
	{".dir-locals-2.el", editor},
	{".dir-locals.el", editor},
	{".direnvrc", "direnv runs it"},
	{".emacs", editor},
	{".envrc", "direnv runs it"},
	{".envrc.*", "direnv runs it where .envrc says so"},
	{".erlang", interpreter},
	{".exrc", editor},
	{".gdbinit", "gdb runs it"},
	{".gdbinit.py", "gdb runs it"},
	{".ghci", interpreter},
	{".gitconfig", git_conf},
	{".gvimrc", editor},
	{".huskyrc", manager},
	{".huskyrc.*", manager},
	{".iex.exs", interpreter},
	{".inputrc", shell},
	{".irbrc", interpreter},
	{".kateproject", editor},
	{".kateproject.*", editor},
	{".kshrc", shell},
	{".lazy.lua", editor},
	{".lefthook-local.*", manager},
	{".lefthook.*", manager},
	{".lfsconfig", "git-lfs on the host sends files to where it says"},
	{".lintstagedrc", manager},
	{".lintstagedrc.*", manager},
	{".lldbinit", "lldb runs it"},
	{".local.vimrc", editor},
	{".login", shell},
	{".logout", shell},
	{".luarc.*", "the Lua language server runs the plugin that it names"},
	{".lvimrc", editor},
	{".mcp.json", agent},
	{".merlin", "Merlin runs the preprocessors that it names, in an editor"},
	{".mise.*", mise},
	{".neoconf.json", editor},
	{".nvim.lua", editor},
	{".nvimrc", editor},
	{".ocamlinit", interpreter},
	{".octaverc", interpreter},
	{".overcommit.yml", manager},
	{".pam_environment", login},
	{".pdbrc", interpreter},
	{".perldb", interpreter},
	{".pre-commit-config.yaml", manager},
	{".pre-commit-config.yml", manager},
	{".profile", shell},
	{".pryrc", interpreter},
	{".rdata", "R loads it when it starts, and runs .First of it"},
	{".rdbgrc", interpreter},
	{".rdbgrc.*", interpreter},
	{".renviron", interpreter},
	{".rprofile", interpreter},
	{".rtx.*", mise},
	{".rvmrc", "rvm runs it on the way into the directory"},
	{".screenrc", "screen runs it"},
	{".simple-git-hooks.*", manager},
	{".tcshrc", shell},
	{".tmux.conf", "tmux runs it"},
	{".tool-versions", versions},
	{".vimrc", editor},
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
	{"lefthook-local.*", manager},
	{"lefthook.*", manager},
	{"lint-staged.*", manager},
	{"mise.*", mise},
	{"opencode.json", agent},
	{"opencode.jsonc", agent},
	{"prek.toml", manager},
	{"rust-toolchain", rustup},
	{"rust-toolchain.*", rustup},
	{"shell.nix", nix},
	{"simple-git-hooks.*", manager},
	{"startup.m", interpreter},
};

enum {
	KEEP = 1,      /* taking it away loosens something too */
	WORKTREES = 2, /* each directory in its worktrees/ is as a working folder of its own */
	LINKS = 4,     /* links to programs of the host are harmless (policy_vet_link()) */
};

/*
 * Protected below a directory of this name. below: paths separated by blanks, each protects itself,
 * what is under it, and (against being put in place whole) what is above it; "*" at the end of a
 * component stands for the rest of it; "" is everything. Where it is not, and nothing is kept, a
 * plain file of that name is nothing to the program.
 */
static const struct tree {
	const char *name;
	const char *below;
	int flags;
	const char *reason;
} trees[] = {
	{".aider.tags.cache.v3", "", 0, pickled},
	{".aider.tags.cache.v4", "", 0, pickled},
	{".amazonq", "", KEEP, agent},
	{".amp", "", KEEP, agent},
	{".augment", "", KEEP, agent},
	{".bashrc.d", "", 0, shell},
	{".bsp", "", 0, "an editor runs the build servers that it names"},
	{".cargo", "config config.toml", 0, "cargo runs what it names, and editors run cargo"},
	{".cargo-husky", "", 0, git_hook},
	{".claude", "", KEEP | WORKTREES, agent},
	{".cline", "", KEEP, agent},
	{".clinerules", "hooks", KEEP, agent},
	{".codebuddy", "", KEEP, agent},
	{".codex", "", KEEP, agent},
	{".config",
	 "fish autostart systemd environment.d git nvim direnv mise zed opencode plasma-workspace "
	 "starship.toml user-dirs.dirs lldb gdb tmux cordon xonsh nushell elvish i3 sway hypr "
	 "kitty alacritty wezterm ghostty lefthook* hk.pkl",
	 0, "programs of the human obey it"},
	{".continue", "", KEEP, agent},
	{".copilot", "", KEEP, agent},
	{".cursor", "", KEEP | WORKTREES, agent},
	{".devcontainer", "", 0, editor},
	{".direnv", "bin */bin flake-profile* nix-profile* devenv-profile*", 0,
	 "direnv runs it, or puts it in front of the PATH"},
	{".emacs.d", "", 0, editor},
	{".externaltoolbuilders", "", 0, "Eclipse runs what it says at each build of its own"},
	{".factory", "", KEEP, agent},
	{".fleet", "", 0, editor},
	{".gemini", "", KEEP | WORKTREES, agent},
	{".git-hooks", "", 0, git_hook},
	{".githooks", "", 0, git_hook},
	{".github", "hooks mcp.json copilot", 0, agent},
	{".gnupg", "", KEEP, "it holds keys"},
	{".helix", "config.toml languages.toml", 0, editor},
	{".hg", "hgrc hgrc-not-shared sharedpath", 0,
	 "Mercurial on the host obeys it and it can name programs to run"},
	{".husky", "", 0, git_hook},
	{".idea", "", 0, editor},
	{".iflow", "", KEEP, agent},
	{".jj", "repo/config.toml repo/store/git_target repo/workspace_store workspace-config.toml",
	 0, "Jujutsu on the host obeys it"},
	{".junie", "", KEEP, agent},
	{".kilocode", "", KEEP | WORKTREES, agent},
	{".kiro", "", KEEP, agent},
	{".lefthook", "", 0, manager},
	{".lefthook-local", "", 0, manager},
	{".local", "bin share/applications share/systemd share/dbus-1", 0, login},
	{".lsp", "config.edn", 0, "the Clojure language server runs the commands that it names"},
	{".mise", "config.* tasks", 0, mise},
	{".moon", "hooks workspace.*", 0, manager},
	{".nvim", "", 0, editor},
	{".oh-my-zsh", "", 0, shell},
	{".omp", "", KEEP, agent},
	{".opencode", "", KEEP, agent},
	{".openhands", "", KEEP, agent},
	{".pi", "", KEEP, agent},
	{".qoder", "", KEEP, agent},
	{".qwen", "", KEEP, agent},
	{".roo", "", KEEP, agent},
	{".rovodev", "", KEEP, agent},
	{".shadowenv.d", "", 0, "shadowenv runs it"},
	{".sl", "config sharedpath", 0,
	 "Sapling on the host obeys it and it can name programs to run"},
	{".ssh", "", KEEP, "ssh obeys it"},
	{".tabnine", "", KEEP, agent},
	{".theia", "tasks.json settings.json launch.json", 0, editor},
	{".trae", "", KEEP, agent},
	{".trunk", "plugins trunk.yaml user.yaml", 0, manager},
	{".venv", "bin/python*", LINKS, "editors run it to ask for its version"},
	{".vibe", "", KEEP, agent},
	{".vim", "", 0, editor},
	{".vscode",
	 "tasks.json settings.json launch.json mcp.json c_cpp_properties.json cmake-kits.json", 0,
	 editor},
	{".warp", "", KEEP, agent},
	{".windsurf", "", KEEP, agent},
	{".zed", "settings.json tasks.json debug.json", 0, editor},
	{"mise", "config.* conf.d tasks", 0, mise},
};

/* ---- looking up ------------------------------------------------------------------------------ */

/* Compare a component (not NUL-terminated) with a name. */
static int component_cmp(const char *c, size_t n, const char *name)
{
	int r = strncmp(c, name, n);

	return r ? r : -(name[n] != '\0');
}

static const struct leaf *find_leaf(const char *c, size_t n)
{
	size_t lo = 0, hi = ARRAY_LEN(leaves);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int r = component_cmp(c, n, leaves[mid].name);

		if (r == 0)
			return &leaves[mid];
		if (r < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

/* "mise.local.toml" for "mise.*". */
static const struct leaf *find_begun(const char *leaf)
{
	const char *dot = *leaf ? strchr(leaf + 1, '.') : NULL;
	char name[32];

	if (!dot ||
	    snprintf(name, sizeof(name), "%.*s*", (int)(dot + 1 - leaf), leaf) >= (int)sizeof(name))
		return NULL;
	return find_leaf(name, strlen(name));
}

static const struct tree *find_tree(const char *c, size_t n)
{
	size_t lo = 0, hi = ARRAY_LEN(trees);

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		int r = component_cmp(c, n, trees[mid].name);

		if (r == 0)
			return &trees[mid];
		if (r < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return NULL;
}

static bool component_is(const char *c, const char *name)
{
	size_t n = strlen(name);

	return strncmp(c, name, n) == 0 && (c[n] == '/' || c[n] == '\0');
}

/* What follows the first component: "" after the last. */
static const char *rest_of(const char *c)
{
	c += strcspn(c, "/");
	return *c == '/' ? c + 1 : c;
}

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Nothing may be put in place, or be reached by another name; making room is harmless. */
enum policy_verdict protect_guard(enum policy_act act, bool keep)
{
	switch (act) {
	case POLICY_WRITE:
	case POLICY_SYMLINK:
	case POLICY_RENAME_TO:
	case POLICY_DIR_TO:
	case POLICY_LINK_FROM:
		return POLICY_ASK;
	case POLICY_REMOVE:
	case POLICY_RENAME_FROM:
		return keep ? POLICY_ASK : POLICY_ALLOW;
	case POLICY_MKDIR:
	case POLICY_META:
		break;
	}
	return POLICY_ALLOW;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* One path of struct tree.below against what follows the directory: equal, above or below. */
static bool touches(const char *rest, const char *want, size_t n)
{
	const char *at = rest;
	size_t i = 0;

	for (; i < n && *at && (want[i] == '*' || want[i] == *at); i++)
		at += want[i] == '*' ? strcspn(at, "/") : 1;
	if (i < n && want[i] == '*')
		i++;
	if (i == n)
		return *at == '\0' || *at == '/';
	return *at == '\0' && (at == rest || want[i] == '/');
}

/* Components of the shorter one. */
static unsigned shorter(const char *rest, const char *want, size_t n)
{
	unsigned left = *rest != '\0', right = 1;

	for (const char *c = rest; *c; c++)
		left += *c == '/';
	for (size_t i = 0; i < n; i++)
		right += want[i] == '/';
	return MIN(left, right);
}

/* *depth grows by the components of what is protected below the tree's own name, as far as they are
 * in the path: a rule about the very path is near enough. */
static bool tree_covers(const struct tree *t, const char *rest, unsigned *depth)
{
	const char *want = t->below;

	if (!*want)
		return true;
	while (*want) {
		size_t n = strcspn(want, " ");

		if (touches(rest, want, n)) {
			*depth += shorter(rest, want, n);
			return true;
		}
		want += n + (want[n] == ' ');
	}
	return false;
}

static bool is_plain(const struct tree *t)
{
	return *t->below && !(t->flags & KEEP);
}

/* "worktrees/x", what is in it, and that the last of them goes. */
static bool is_worktree(const struct tree *t, enum policy_act act, const char *rest)
{
	if (!(t->flags & WORKTREES) || !component_is(rest, "worktrees"))
		return false;
	return *rest_of(rest) || act == POLICY_REMOVE;
}

static enum policy_verdict check_tree(const struct tree *t, enum policy_act act, const char *rest,
				      unsigned *depth)
{
	if (is_worktree(t, act, rest) || !tree_covers(t, rest, depth))
		return POLICY_ALLOW;
	if (is_plain(t) && !*rest &&
	    (act == POLICY_WRITE || act == POLICY_RENAME_TO || act == POLICY_LINK_FROM))
		return POLICY_ALLOW;
	if ((t->flags & LINKS) && act == POLICY_SYMLINK && *rest)
		return POLICY_VET;
	/* Of a tree that is kept nothing goes away, nor does it go away whole. */
	return protect_guard(act, (t->flags & KEEP) && (*rest || act == POLICY_RENAME_FROM));
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool leaf_is_candidate(const char *leaf)
{
	/* Only these protected names do not begin with a dot. */
	switch (*leaf | 0x20) {
	case 'c':
		return strcasecmp(leaf, "crush.json") == 0 ||
		       strcasecmp(leaf, "captainhook.json") == 0;
	case 'd':
		return strcasecmp(leaf, "devbox.json") == 0 || strncasecmp(leaf, "devenv.", 7) == 0;
	case 'f':
		return strncasecmp(leaf, "flake.", 6) == 0;
	case 'g':
		return strncasecmp(leaf, "grumphp.", 8) == 0;
	case 'h':
		return strcmp(leaf, "HEAD") == 0 || strncasecmp(leaf, "hk.", 3) == 0 ||
		       strncasecmp(leaf, "husky.", 6) == 0 || strcasecmp(leaf, "hie.yaml") == 0;
	case 'j':
		return strncasecmp(leaf, "jupyter_", 8) == 0;
	case 'l':
		return strncasecmp(leaf, "lefthook", 8) == 0 ||
		       strncasecmp(leaf, "lint-staged.", 12) == 0;
	case 'm':
		return strncasecmp(leaf, "mise.", 5) == 0;
	case 'o':
		return strncasecmp(leaf, "opencode.json", 13) == 0;
	case 'p':
		return strcasecmp(leaf, "prek.toml") == 0;
	case 'r':
		return strncasecmp(leaf, "rust-toolchain", 14) == 0;
	case 's':
		return strncasecmp(leaf, "simple-git-hooks.", 17) == 0 ||
		       strcasecmp(leaf, "shell.nix") == 0 || strcasecmp(leaf, "startup.m") == 0;
	default:
		return false;
	}
}

/* Does the component that ends before c end in ".git"? */
static bool ends_in_git(const char *path, const char *c)
{
	return c - path > 4 && strncasecmp(c - 4, ".git", 4) == 0;
}

static bool starts_mise(const char *c)
{
	return (*c == 'm' || *c == 'M') && strncasecmp(c, "mise", 4) == 0 &&
	       (c[4] == '/' || c[4] == '\0');
}

bool protect_is_candidate(const char *path)
{
	const char *leaf = path, *c;

	for (c = path; *c; c++) {
		if (*c == '/') {
			if (c[1] == '.' || ends_in_git(path, c) || starts_mise(c + 1))
				return true;
			leaf = c + 1;
		} else if ((unsigned char)*c >= 0x80 || (*c == '~' && c[1] >= '1' && c[1] <= '9')) {
			return true;
		}
	}
	if (c - leaf > 15 && strcasestr(leaf, ".code-workspace"))
		return true;
	return ends_in_git(path, c) || leaf_is_candidate(leaf);
}

/* jupyter_config.py, jupyter_server_config.json */
static bool is_jupyter(const char *leaf)
{
	return strncmp(leaf, "jupyter_", 8) == 0 &&
	       (str_ends(leaf, "config.py") || str_ends(leaf, "config.json"));
}

static enum policy_verdict check_leaf(enum policy_act act, const char *leaf, const char *raw,
				      bool in_git, const char **reason)
{
	const struct leaf *l = find_leaf(leaf, strlen(leaf));

	*reason = editor;
	if (str_ends(leaf, ".code-workspace"))
		return protect_guard(act, false);
	*reason = interpreter;
	if (is_jupyter(leaf))
		return protect_guard(act, false);
	/* HEAD beside objects/ and refs/ makes any directory a repository with a config. */
	*reason = "it would make this directory a git repository, whose configuration git obeys";
	if (!in_git && str_eq(raw, "HEAD"))
		return protect_guard(act, false);
	if (!l)
		l = find_begun(leaf);
	if (!l)
		return POLICY_ALLOW;
	*reason = l->reason;
	return protect_guard(act, str_eq(l->name, ".cordon.conf") || l->reason == agent);
}

/* The strictest verdict so far; of several that say the same, the one about the nearest place. What
 * is milder and nearer than that is kept beside it. */
static void keep_worst(struct builtin *b, enum policy_verdict v, const char *reason, unsigned depth)
{
	if (v > b->verdict) {
		if (b->verdict != POLICY_ALLOW && b->depth > depth)
			b->inner = (struct inner){b->verdict, b->reason, b->depth};
		b->verdict = v;
		b->reason = reason;
		b->depth = depth;
	} else if (v == b->verdict && depth > b->depth) {
		b->depth = depth;
	} else if (v < b->verdict && v >= b->inner.verdict && depth > b->inner.depth) {
		b->inner = (struct inner){v, reason, depth};
	}
	if (b->inner.depth <= b->depth)
		b->inner = (struct inner){.verdict = POLICY_ALLOW};
}

/* A file of that name says where the git directory is; a directory is it. */
static bool is_gitfile(const char *c, size_t n)
{
	return n == 4 && c[4] == '\0';
}

void protect_check(enum policy_act act, const char *folded, const char *raw_leaf, bool in_git,
		   struct builtin *ret)
{
	struct builtin b = {.verdict = POLICY_ALLOW};
	const char *leaf = leaf_of(folded), *reason = NULL;
	unsigned total = places_depth(folded), depth = 0;
	enum policy_verdict v;

	for (const char *c = folded; *c; c = rest_of(c)) {
		size_t n = strcspn(c, "/");
		unsigned at = depth += n > 0;
		const struct tree *t;

		if (n >= 4 && memcmp(c + n - 4, ".git", 4) == 0) {
			in_git = true;
			v = git_path_check(act, rest_of(c), &reason);
			if (is_gitfile(c, n) && (act == POLICY_WRITE || act == POLICY_RENAME_TO))
				v = POLICY_VET;
			at = component_is(rest_of(c), "hooks") ? at + 1 : total;
		} else if ((*c == '.' || *c == 'm') && (t = find_tree(c, n))) {
			reason = t->reason;
			v = check_tree(t, act, rest_of(c), &at);
		} else {
			continue;
		}
		keep_worst(&b, v, reason, at);
	}
	v = check_leaf(act, leaf, raw_leaf, in_git, &reason);
	keep_worst(&b, v, reason, total);
	if (b.verdict == POLICY_ALLOW)
		b = (struct builtin){.verdict = POLICY_ALLOW, .depth = b.depth};
	*ret = b;
}

bool protect_is_tree(const char *name)
{
	AUTO_BUF struct buf folded = BUF_INIT;

	names_fold(&folded, name, strlen(name));
	return find_tree(folded.data, folded.len);
}

enum policy_content protect_content(const char *folded)
{
	for (const char *c = folded; *c; c = rest_of(c)) {
		size_t n = strcspn(c, "/");
		enum policy_content found = CONTENT_NONE;

		if (n >= 4 && memcmp(c + n - 4, ".git", 4) == 0)
			found = is_gitfile(c, n) ? CONTENT_POINTER : git_path_content(rest_of(c));
		if (found != CONTENT_NONE)
			return found;
	}
	return CONTENT_NONE;
}

/* ---- as a list ------------------------------------------------------------------------------- */

bool policy_name_at(size_t i, struct policy_name *ret)
{
	const struct tree *t;

	if (i < ARRAY_LEN(leaves)) {
		const struct leaf *l = &leaves[i];

		*ret = (struct policy_name){.name = l->name};
		ret->keep = str_eq(l->name, ".cordon.conf") || l->reason == agent;
		return true;
	}
	i -= ARRAY_LEN(leaves);
	if (i >= ARRAY_LEN(trees))
		return false;
	t = &trees[i];
	*ret = (struct policy_name){t->name, t->below, t->flags & KEEP, is_plain(t)};
	return true;
}
