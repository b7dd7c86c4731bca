/* protect - files that something on the host runs or obeys later. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

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
static const char manager[] = "a hook manager runs what it says";
static const char mise[] = "mise runs what it says, on the way into the directory";
static const char git_dir[] = "git on the host takes its configuration from there";

/* Protected by the last component alone, at any depth; one that ends in ".*" with whatever follows
 * the first dot inside it. Sorted. */
static const struct leaf {
	const char *name;
	const char *reason;
} leaves[] = {
	{".aider.conf.yml", agent},
	{".bash_aliases", shell},
	{".bash_login", shell},
	{".bash_logout", shell},
	{".bash_profile", shell},
	{".bashrc", shell},
	{".cordon.conf", "cordon obeys it"},
	{".crush.json", agent},
	{".cshrc", shell},
	{".devcontainer.json", editor},
	{".dir-locals-2.el", editor},
	{".dir-locals.el", editor},
	{".direnvrc", "direnv runs it"},
	{".emacs", editor},
	{".envrc", "direnv runs it"},
	{".exrc", editor},
	{".gdbinit", "gdb runs it"},
	{".gitconfig", git_conf},
	{".gvimrc", editor},
	{".inputrc", shell},
	{".kshrc", shell},
	{".lefthook-local.*", manager},
	{".lefthook.*", manager},
	{".lldbinit", "lldb runs it"},
	{".login", shell},
	{".logout", shell},
	{".mcp.json", agent},
	{".mise.*", mise},
	{".nvim.lua", editor},
	{".nvimrc", editor},
	{".overcommit.yml", manager},
	{".pam_environment", login},
	{".pre-commit-config.yaml", manager},
	{".profile", shell},
	{".screenrc", "screen runs it"},
	{".tcshrc", shell},
	{".tmux.conf", "tmux runs it"},
	{".vimrc", editor},
	{".xinitrc", login},
	{".xprofile", login},
	{".xsession", login},
	{".xsessionrc", login},
	{".zlogin", shell},
	{".zlogout", shell},
	{".zprofile", shell},
	{".zshenv", shell},
	{".zshrc", shell},
	{"crush.json", agent},
	{"hk.pkl", manager},
	{"lefthook-local.*", manager},
	{"lefthook.*", manager},
	{"mise.*", mise},
	{"opencode.json", agent},
	{"opencode.jsonc", agent},
	{"prek.toml", manager},
};

enum {
	KEEP = 1, /* taking it away loosens something too */
};

/*
 * Protected below a directory of this name. below: paths separated by blanks, each protects itself,
 * what is under it, and (against being put in place whole) what is above it; "*" at the end stands
 * for whatever follows; "" is everything.
 */
static const struct tree {
	const char *name;
	const char *below;
	int flags;
	const char *reason;
} trees[] = {
	{".amazonq", "", KEEP, agent},
	{".amp", "", KEEP, agent},
	{".augment", "", KEEP, agent},
	{".claude", "", KEEP, agent},
	{".cline", "", KEEP, agent},
	{".clinerules", "hooks", KEEP, agent},
	{".codex", "", KEEP, agent},
	{".config",
	 "fish autostart systemd environment.d git nvim direnv mise zed opencode plasma-workspace "
	 "starship.toml user-dirs.dirs lldb gdb tmux cordon",
	 0, "programs of the human obey it"},
	{".continue", "", KEEP, agent},
	{".cursor", "", KEEP, agent},
	{".devcontainer", "", 0, editor},
	{".emacs.d", "", 0, editor},
	{".factory", "", KEEP, agent},
	{".fleet", "", 0, editor},
	{".gemini", "", KEEP, agent},
	{".githooks", "", 0, git_hook},
	{".github", "hooks mcp.json copilot", 0, agent},
	{".gnupg", "", KEEP, "it holds keys"},
	{".helix", "config.toml languages.toml", 0, editor},
	{".hg", "hgrc hgrc-not-shared sharedpath", 0,
	 "Mercurial on the host obeys it and it can name programs to run"},
	{".husky", "", 0, git_hook},
	{".idea", "", 0, editor},
	{".jj", "repo/config.toml workspace-config.toml", 0, "Jujutsu on the host obeys it"},
	{".junie", "", KEEP, agent},
	{".kilocode", "", KEEP, agent},
	{".kiro", "", KEEP, agent},
	{".lefthook", "", 0, manager},
	{".lefthook-local", "", 0, manager},
	{".local", "bin share/applications share/systemd share/dbus-1", 0, login},
	{".mise", "config.*", 0, mise},
	{".nvim", "", 0, editor},
	{".opencode", "", KEEP, agent},
	{".openhands", "", KEEP, agent},
	{".qwen", "", KEEP, agent},
	{".roo", "", KEEP, agent},
	{".shadowenv.d", "", 0, "shadowenv runs it"},
	{".sl", "config", 0, "Sapling on the host obeys it and it can name programs to run"},
	{".ssh", "", KEEP, "ssh obeys it"},
	{".trae", "", KEEP, agent},
	{".vim", "", 0, editor},
	{".vscode",
	 "tasks.json settings.json launch.json mcp.json c_cpp_properties.json cmake-kits.json", 0,
	 editor},
	{".windsurf", "", KEEP, agent},
	{".zed", "settings.json tasks.json debug.json", 0, editor},
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

/* ---- git ------------------------------------------------------------------------------------- */

/* Nothing may be put in place, or be reached by another name; making room is harmless. */
static enum policy_verdict guard(enum policy_act act, bool keep)
{
	switch (act) {
	case POLICY_WRITE:
	case POLICY_RENAME_TO:
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

/* Names that git gives to what it is still writing, and renames when it is whole. */
static bool is_temporary(const char *c, size_t n)
{
	return (n > 5 && memcmp(c + n - 5, ".lock", 5) == 0) || strncmp(c, "tmp", 3) == 0 ||
	       strncmp(c, ".tmp", 4) == 0 || strncmp(c, "incoming", 8) == 0;
}

static bool has_temporary(const char *rest)
{
	for (const char *c = rest; *c; c = rest_of(c))
		if (is_temporary(c, strcspn(c, "/")))
			return true;
	return false;
}

/* A name that git itself renames onto inside a repository below modules/ or worktrees/. */
static bool is_git_data(const char *rest)
{
	static const char *const plain[] = {
		"index",   "head",	 "orig_head", "fetch_head",  "packed-refs",
		"shallow", "merge_head", "gc.pid",    "description", "commit_editmsg",
	};
	static const char *const dirs[] = {"objects", "refs", "logs", "info"};
	const char *leaf = leaf_of(rest);

	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (leaf != rest && str_eq(leaf, plain[i]))
			return true;
	for (const char *c = rest_of(rest); *c; c = rest_of(c))
		for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
			if (component_is(c, dirs[i]) && *rest_of(c))
				return true;
	return false;
}

static enum policy_verdict check_hook(enum policy_act act, const char *rest)
{
	/* mode bits are what makes a hook of a file */
	if (*rest && act == POLICY_META && !str_ends(rest, ".sample"))
		return POLICY_ASK;
	if (*rest && str_ends(rest, ".sample") && act != POLICY_RENAME_FROM)
		return POLICY_ALLOW;
	return guard(act, false);
}

/* git writes config.lock and renames it: what is renamed can be read first. */
static enum policy_verdict check_config(enum policy_act act)
{
	if (act == POLICY_WRITE || act == POLICY_RENAME_TO)
		return POLICY_VET;
	return guard(act, false);
}

/*
 * Below .git/modules or .git/worktrees: further repositories, at any depth. A directory that is
 * renamed brings its hooks along, or lets its config be edited under another name; that a rename is
 * of a plain file shows only in the names that git uses.
 */
static enum policy_verdict check_nested(enum policy_act act, const char *rest, const char **reason)
{
	const char *leaf = leaf_of(rest);

	*reason = git_hook;
	for (const char *c = rest; *c; c = rest_of(c))
		if (component_is(c, "hooks"))
			return check_hook(act, rest_of(c));
	*reason = git_conf;
	if (str_eq(leaf, "config") || str_eq(leaf, "config.worktree"))
		return check_config(act);
	*reason = git_dir;
	if (str_eq(leaf, "commondir") || (str_eq(leaf, "head") && has_temporary(rest)))
		return guard(act, false);
	if (act == POLICY_RENAME_TO && !is_git_data(rest))
		return POLICY_ASK;
	if (act == POLICY_RENAME_FROM && !is_temporary(leaf, strlen(leaf)))
		return POLICY_ASK;
	return POLICY_ALLOW;
}

/* refs and logs down to one remote: the directories below which a file HEAD is usual. */
static bool is_ref_dir(const char *rest)
{
	if (component_is(rest, "logs")) {
		rest = rest_of(rest);
		if (!*rest)
			return true;
	}
	if (!component_is(rest, "refs"))
		return false;
	rest = rest_of(rest);
	if (*rest && component_is(rest, "remotes"))
		rest = rest_of(rest);
	else if (*rest)
		return false;
	return !*rest_of(rest);
}

/* HEAD, logs/HEAD, refs/remotes/origin/HEAD, logs/refs/remotes/origin/HEAD. */
static bool is_usual_head(const char *rest)
{
	if (component_is(rest, "logs"))
		rest = rest_of(rest);
	if (component_is(rest, "refs") && component_is(rest_of(rest), "remotes"))
		rest = rest_of(rest_of(rest_of(rest)));
	return str_eq(rest, "head");
}

/* rest: what follows ".git" (or "x.git", a bare repository), folded. */
static enum policy_verdict check_git(enum policy_act act, const char *rest, const char **reason)
{
	*reason = git_dir;
	if (!*rest) /* moved away, its config could be edited under another name */
		return act == POLICY_RENAME_FROM ? POLICY_ASK : guard(act, false);
	if (component_is(rest, "modules") || component_is(rest, "worktrees"))
		return *rest_of(rest) ? check_nested(act, rest_of(rest), reason)
				      : guard(act, act == POLICY_RENAME_FROM);
	if (component_is(rest, "commondir"))
		return guard(act, false);
	if (act == POLICY_RENAME_FROM || act == POLICY_RENAME_TO)
		if (is_ref_dir(rest))
			return POLICY_ASK;
	if (str_eq(leaf_of(rest), "head") && !is_usual_head(rest))
		return guard(act, false);
	*reason = git_hook;
	if (component_is(rest, "hooks"))
		return check_hook(act, rest_of(rest));
	*reason = git_conf;
	if (str_eq(rest, "config") || str_eq(rest, "config.worktree"))
		return check_config(act);
	return POLICY_ALLOW;
}

/* ---- trees ----------------------------------------------------------------------------------- */

/* One path of struct tree.below against what follows the directory: equal, above or below. */
static bool touches(const char *rest, const char *want, size_t n)
{
	size_t i = 0;

	while (i < n && rest[i] && rest[i] == want[i])
		i++;
	if (i == n)
		return rest[i] == '\0' || rest[i] == '/';
	if (want[i] == '*')
		return true;
	return rest[i] == '\0' && (i == 0 || want[i] == '/');
}

/* *depth grows by the components of what is protected below the tree's own name. */
static bool tree_covers(const struct tree *t, const char *rest, unsigned *depth)
{
	const char *want = t->below;

	if (!*want)
		return true;
	while (*want) {
		size_t n = strcspn(want, " ");

		if (touches(rest, want, n)) {
			*depth += 1 + (memchr(want, '/', n) != NULL);
			return true;
		}
		want += n + (want[n] == ' ');
	}
	return false;
}

static enum policy_verdict check_tree(const struct tree *t, enum policy_act act, const char *rest,
				      unsigned *depth)
{
	if (!tree_covers(t, rest, depth))
		return POLICY_ALLOW;
	return guard(act, (t->flags & KEEP) && *rest);
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool leaf_is_candidate(const char *leaf)
{
	/* Only these protected names do not begin with a dot. */
	switch (*leaf | 0x20) {
	case 'c':
		return strcasecmp(leaf, "crush.json") == 0;
	case 'h':
		return strcmp(leaf, "HEAD") == 0 || strcasecmp(leaf, "hk.pkl") == 0;
	case 'l':
		return strncasecmp(leaf, "lefthook", 8) == 0;
	case 'm':
		return strncasecmp(leaf, "mise.", 5) == 0;
	case 'o':
		return strncasecmp(leaf, "opencode.json", 13) == 0;
	case 'p':
		return strcasecmp(leaf, "prek.toml") == 0;
	default:
		return false;
	}
}

/* Does the component that ends before c end in ".git"? */
static bool ends_in_git(const char *path, const char *c)
{
	return c - path > 4 && strncasecmp(c - 4, ".git", 4) == 0;
}

bool protect_is_candidate(const char *path)
{
	const char *leaf = path, *c;

	for (c = path; *c; c++) {
		if (*c == '/') {
			if (c[1] == '.' || ends_in_git(path, c))
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

static enum policy_verdict check_leaf(enum policy_act act, const char *leaf, const char *raw,
				      bool in_git, const char **reason)
{
	const struct leaf *l = find_leaf(leaf, strlen(leaf));

	*reason = editor;
	if (str_ends(leaf, ".code-workspace"))
		return guard(act, false);
	/* HEAD beside objects/ and refs/ makes any directory a repository with a config. */
	*reason = "it would make this directory a git repository, whose configuration git obeys";
	if (!in_git && str_eq(raw, "HEAD"))
		return guard(act, false);
	if (!l)
		l = find_begun(leaf);
	if (!l)
		return POLICY_ALLOW;
	*reason = l->reason;
	return guard(act, str_eq(l->name, ".cordon.conf") || l->reason == agent);
}

/* The strictest verdict so far; of several that say the same, the one about the nearest place. */
struct worst {
	enum policy_verdict verdict;
	const char *reason;
	unsigned depth;
};

static void keep_worst(struct worst *w, enum policy_verdict v, const char *reason, unsigned depth)
{
	if (v > w->verdict)
		*w = (struct worst){v, reason, depth};
	else if (v == w->verdict && depth > w->depth)
		w->depth = depth;
}

enum policy_verdict protect_check(enum policy_act act, const char *folded, const char *raw_leaf,
				  const char **ret_reason, unsigned *ret_depth)
{
	struct worst w = {POLICY_ALLOW, NULL, 0};
	const char *leaf = leaf_of(folded), *reason = NULL;
	unsigned total = places_depth(folded), depth = 0;
	bool in_git = false;
	enum policy_verdict v;

	for (const char *c = folded; *c; c = rest_of(c)) {
		size_t n = strcspn(c, "/");
		unsigned at = depth += n > 0;
		const struct tree *t;

		if (n >= 4 && memcmp(c + n - 4, ".git", 4) == 0) {
			in_git = true;
			v = check_git(act, rest_of(c), &reason);
			at = component_is(rest_of(c), "hooks") ? at + 1 : total;
		} else if (*c == '.' && (t = find_tree(c, n))) {
			reason = t->reason;
			v = check_tree(t, act, rest_of(c), &at);
		} else {
			continue;
		}
		keep_worst(&w, v, reason, at);
	}
	v = check_leaf(act, leaf, raw_leaf, in_git, &reason);
	keep_worst(&w, v, reason, total);
	if (w.verdict != POLICY_ALLOW)
		*ret_reason = w.reason;
	*ret_depth = w.depth;
	return w.verdict;
}
