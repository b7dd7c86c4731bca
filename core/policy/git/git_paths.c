/* git_paths - classifies paths below a git directory by their use in git on the host. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/git/git_paths.h"

#include <string.h>

#include "core/base/path.h"
#include "core/base/util.h"
#include "core/os/text.h"
#include "core/policy/policy_priv.h"

/*
 * The first line that matches decides. "*" matches one component, "name.*" one that begins so, a
 * "/" and two asterisks at the end any rest, two at the start any directories. From
 * gitrepository-layout(5), and from the files that git opens: git does not read other paths, or
 * only shows them.
 *
 * A file that git on the host writes under a fixed name must not be a link: git would write
 * COMMIT_EDITMSG, a reflog or FETCH_HEAD through it. That holds for every line.
 */
static const struct git_path {
	const char *path;
	enum git_rule rule;
	const char *does;
} table[] = {
	{"objects/info/alternates", GIT_OBJECTS,
	 "git on the host reads objects from where it says"},
	{"objects/info/http-alternates", GIT_ASK,
	 "git on the host fetches objects from where it says"},
	{"objects/**", GIT_DATA, "objects, each named by its hash"},
	{"index", GIT_INDEX, "git on the host writes the paths that it names"},
	{"sharedindex.*", GIT_INDEX, "git on the host writes the paths that it names"},
	{"config", GIT_CONFIG, "git on the host obeys it and it can name programs to run"},
	{"config.worktree", GIT_CONFIG, "git on the host obeys it and it can name programs to run"},
	{"hooks/**", GIT_HOOK, "git on the host runs it"},
	{"commondir", GIT_ASK, "git on the host takes its configuration from there"},
	{"gitdir", GIT_ASK,
	 "git on the host takes it for the place of a worktree, and removes that"},
	/* A reflog, or a remote's HEAD, can serve as the HEAD of a git directory. */
	{"logs/objects/**", GIT_MAKES, "it would make a git directory of the reflogs"},
	{"logs/commondir", GIT_MAKES, "it would make a git directory of the reflogs"},
	{"logs/refs/remotes/*/objects/**", GIT_MAKES,
	 "it would make a git directory of the reflogs"},
	{"logs/refs/remotes/*/commondir", GIT_MAKES,
	 "it would make a git directory of the reflogs"},
	{"refs/remotes/*/objects/**", GIT_MAKES, "it would make a git directory of the references"},
	{"refs/remotes/*/commondir", GIT_MAKES, "it would make a git directory of the references"},
	{"head", GIT_DATA, "the branch that is checked out"},
	{"logs/head", GIT_DATA, "its reflog"},
	{"refs/remotes/*/head", GIT_DATA, "a remote's default branch"},
	{"logs/refs/remotes/*/head", GIT_DATA, "its reflog"},
	/* "head" in it folds to HEAD. */
	{"sequencer/objects/**", GIT_MAKES, "it would make a git directory of a cherry-pick"},
	{"sequencer/commondir", GIT_MAKES, "it would make a git directory of a cherry-pick"},
	{"sequencer/head", GIT_DATA, "the commit that a cherry-pick began at"},
	{"**/head", GIT_ASK, "it would make a git directory of the directory that it lies in"},
	{"refs/**", GIT_DATA, "names of commits"},
	{"logs/**", GIT_DATA, "reflogs"},
	{"remotes/**", GIT_ASK, "git on the host takes it for the address of a remote"},
	{"branches/**", GIT_ASK, "git on the host takes it for the address of a remote"},
	{"rebase-merge/git-rebase-todo", GIT_REBASE, "`git rebase --continue` runs what it says"},
	{"rebase-merge/strategy", GIT_STRATEGY, "`git rebase --continue` runs git-merge- with it"},
	{"sequencer/opts", GIT_OPTIONS, "`git cherry-pick --continue` runs git-merge- with it"},
	{"info/attributes", GIT_ASK,
	 "it chooses which filters and drivers git on the host runs, and no diff shows it"},
	{"shallow", GIT_SHALLOW,
	 "`git gc` on the host drops the history before the commits that it names"},
	{"merge_rr", GIT_RERERE, "git on the host copies the files that it names to rr-cache"},
	{"gitweb/**", GIT_ASK, "`git instaweb` runs it"},
	{"fsmonitor--daemon.ipc", GIT_ASK, "git on the host asks it which files have changed"},
	{"fsmonitor--daemon/**", GIT_ASK, "git on the host asks it which files have changed"},
	/* The rest is documentation: all of it is data, like every name that the table lacks. */
	{"info/exclude", GIT_DATA, "patterns, as in .gitignore"},
	{"info/sparse-checkout", GIT_DATA, "patterns of paths in the index"},
	{"info/grafts", GIT_DATA, "parents of commits"},
	{"info/refs", GIT_DATA, "a copy of refs for HTTP"},
	{"packed-refs", GIT_DATA, "names of commits"},
	{"reftable/**", GIT_DATA, "names of commits"},
	{"rebase-merge/**", GIT_DATA,
	 "names, numbers and messages of a rebase; options are parsed, not run"},
	{"rebase-apply/**", GIT_DATA, "patches; git refuses paths in them that lead out"},
	{"sequencer/**", GIT_DATA, "commits to pick; git refuses any other command here"},
	{"rr-cache/**", GIT_DATA, "resolutions of conflicts, which show in the files"},
	{"description", GIT_DATA, "text"},
	{"gc.pid", GIT_DATA, "the number of a process that is waited for"},
	{"gc.log", GIT_DATA, "text that stops automatic gc"},
};

static const char link_reason[] = "git on the host would write through the link";
static const char dir_reason[] =
	"a whole directory would take its place, and git obeys what is in it";
static const char git_dir[] = "git on the host takes its configuration from there";

/* ---- the table ------------------------------------------------------------------------------- */

static size_t component(const char *c)
{
	return strcspn(c, "/");
}

/* Returns the path after the first component: "" after the last. */
static const char *rest_of(const char *c)
{
	c += component(c);
	return *c == '/' ? c + 1 : c;
}

static const char *leaf_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Matches one component with one of a pattern. */
static bool component_fits(const char *c, size_t n, const char *want, size_t m)
{
	if (m == 1 && *want == '*')
		return true;
	if (m > 1 && want[m - 1] == '*')
		return n >= m && strncmp(c, want, m - 1) == 0;
	return n == m && strncmp(c, want, n) == 0;
}

static bool fits(const char *path, const char *want)
{
	if (strncmp(want, "**/", 3) == 0)
		return strchr(path, '/') && str_eq(leaf_of(path), want + 3);
	while (*want && *path) {
		size_t n = component(path), m = component(want);

		if (m == 2 && memcmp(want, "**", 2) == 0)
			return true;
		if (!component_fits(path, n, want, m))
			return false;
		path = rest_of(path);
		want = rest_of(want);
	}
	return !*path && (!*want || str_eq(want, "**"));
}

/* Returns the rule for a path of one git directory, and its use by git. */
static enum git_rule git_path_rule(const char *rest, const char **ret_does)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++) {
		const char *want = table[i].path;

		if (*want != '*' && *want != *rest)
			continue;
		if (!fits(rest, want))
			continue;
		*ret_does = table[i].does;
		return table[i].rule;
	}
	*ret_does = git_dir;
	return GIT_DATA;
}

/* ---- verdicts -------------------------------------------------------------------------------- */

/* Returns whether it is the link that `git init` makes to test for links; git never reads it. */
static bool is_probe(const char *leaf)
{
	return *leaf == 't' && strlen(leaf) == 7 && !strchr(leaf, '/');
}

static enum policy_verdict check_data(enum policy_act act, const char *rest, const char **reason)
{
	if (act == POLICY_SYMLINK && !is_probe(rest)) {
		*reason = link_reason;
		return POLICY_ASK;
	}
	if (act == POLICY_DIR_TO) {
		*reason = dir_reason;
		return POLICY_ASK;
	}
	return POLICY_ALLOW;
}

static enum policy_verdict check_hook(enum policy_act act, const char *rest)
{
	bool sample = *rest && str_ends(rest, ".sample");

	/* The executable bit makes a file a hook. */
	if (*rest && act == POLICY_META && !sample)
		return POLICY_ASK;
	if (sample && act != POLICY_RENAME_FROM && act != POLICY_SYMLINK && act != POLICY_DIR_TO)
		return POLICY_ALLOW;
	return protect_guard(act, false);
}

/* Vets content that takes the name. git writes NAME.lock and renames it, so the content can be read
 * first. */
static enum policy_verdict check_content(enum policy_act act, bool remembers)
{
	if (act == POLICY_WRITE || act == POLICY_RENAME_TO)
		return POLICY_VET;
	if (remembers && (act == POLICY_REMOVE || act == POLICY_RENAME_FROM))
		return POLICY_VET;
	return protect_guard(act, false);
}

/* Judges a path of one git directory, without the repositories below it. */
static enum policy_verdict check_one(enum policy_act act, const char *rest, const char **reason)
{
	enum git_rule rule = git_path_rule(rest, reason);

	switch (rule) {
	case GIT_DATA:
		return check_data(act, rest, reason);
	case GIT_MAKES:
		return act == POLICY_MKDIR ? POLICY_ASK : protect_guard(act, false);
	case GIT_HOOK:
		return check_hook(act, rest_of(rest));
	case GIT_CONFIG:
		return check_content(act, true);
	case GIT_INDEX:
	case GIT_REBASE:
	case GIT_STRATEGY:
	case GIT_OPTIONS:
	case GIT_RERERE:
	case GIT_OBJECTS:
	case GIT_SHALLOW:
		return check_content(act, false);
	case GIT_ASK:
		break;
	}
	return protect_guard(act, false);
}

/* Returns whether it is "worktrees/NAME/commondir" or "worktrees/NAME/gitdir", which `git worktree
 * add` makes, in a submodule's directory, too. */
static bool is_pointer(const char *rest)
{
	if (path_begins(rest, "modules"))
		while (*rest && !path_begins(rest, "worktrees"))
			rest = rest_of(rest);
	if (!path_begins(rest, "worktrees"))
		return false;
	rest = rest_of(rest);
	if (!*rest)
		return false;
	rest = rest_of(rest);
	return str_eq(rest, "commondir") || str_eq(rest, "gitdir");
}

static enum policy_content content_of(const char *rest)
{
	const char *does;
	enum git_rule rule = git_path_rule(rest, &does);

	switch (rule) {
	case GIT_CONFIG:
		return CONTENT_CONFIG;
	case GIT_INDEX:
		return CONTENT_INDEX;
	case GIT_REBASE:
		return CONTENT_REBASE;
	case GIT_STRATEGY:
		return CONTENT_STRATEGY;
	case GIT_OPTIONS:
		return CONTENT_OPTIONS;
	case GIT_RERERE:
		return CONTENT_EMPTY;
	case GIT_OBJECTS:
		return CONTENT_POINTER;
	case GIT_SHALLOW:
		return CONTENT_SHALLOW;
	case GIT_DATA:
	case GIT_ASK:
	case GIT_MAKES:
	case GIT_HOOK:
		break;
	}
	return CONTENT_NONE;
}

/* rest: the path after modules/ or worktrees/. */
static enum policy_content nested_content(const char *rest)
{
	enum policy_content found = CONTENT_NONE;

	for (const char *c = rest_of(rest); *c && found == CONTENT_NONE; c = rest_of(c))
		found = content_of(c);
	return found;
}

/* Returns whether it is a name that git gives to a file that it writes and later renames. */
static bool is_temporary(const char *c, size_t n)
{
	return (n > 5 && memcmp(c + n - 5, ".lock", 5) == 0) ||
	       (n > 4 && memcmp(c + n - 4, ".new", 4) == 0) || strncmp(c, "tmp", 3) == 0 ||
	       strncmp(c, ".tmp", 4) == 0 || strncmp(c, "incoming", 8) == 0 ||
	       strncmp(c, "sharedindex_", 12) == 0 || strncmp(c, "refs_", 5) == 0 ||
	       strncmp(c, "packs_", 6) == 0;
}

static bool has_temporary(const char *rest)
{
	for (const char *c = rest; *c; c = rest_of(c))
		if (is_temporary(c, component(c)))
			return true;
	return false;
}

/* Returns whether git itself renames to this name in a repository below modules/ or worktrees/. */
static bool is_git_data(const char *rest)
{
	static const char *const plain[] = {"index",	  "packed-refs", "shallow",
					    "gc.pid",	  "description", "merge_msg",
					    "squash_msg", "merge_rr",	 "merge_mode",
					    "auto_merge", "tag_editmsg", "notes_editmsg"};
	static const char *const dirs[] = {"objects",  "refs",	       "logs",
					   "info",     "rebase-merge", "sequencer",
					   "rr-cache", "rebase-apply", "reftable"};
	const char *leaf = leaf_of(rest);

	if (leaf == rest)
		return false;
	if (str_ends(leaf, "head") || strncmp(leaf, "sharedindex.", 12) == 0 ||
	    strncmp(leaf, "index.stash.", 12) == 0 || str_eq(leaf, "commit_editmsg"))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (str_eq(leaf, plain[i]))
			return true;
	for (const char *c = rest_of(rest); *c; c = rest_of(c))
		for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
			if (path_begins(c, dirs[i]) && *rest_of(c))
				return true;
	return false;
}

/* Judges a HEAD below refs/, which may be a remote's HEAD in a repository above. All other files
 * that make a directory a git directory are protected at any depth here. */
static enum policy_verdict check_nested_head(enum policy_act act, const char *rest)
{
	if (act == POLICY_SYMLINK || has_temporary(rest))
		return protect_guard(act, false);
	return POLICY_ALLOW;
}

static bool follows_refs(const char *c)
{
	return strncmp(c - 5, "refs/", 5) == 0; /* after "modules/" or more */
}

/*
 * Judges a path below modules/ or worktrees/: git directories at any depth, because a submodule's
 * name may have slashes. Judges it for each directory where one may begin. Only git's own names
 * show that a rename moves a plain file.
 */
static enum policy_verdict check_nested(enum policy_act act, const char *rest, const char **reason)
{
	enum policy_verdict worst = POLICY_ALLOW, v;
	const char *leaf = leaf_of(rest), *why;

	*reason = git_dir;
	if (act == POLICY_SYMLINK && leaf != rest && is_probe(leaf) && !is_git_data(rest))
		return POLICY_ALLOW;
	if (str_eq(leaf, "head"))
		worst = check_nested_head(act, rest);
	for (const char *c = rest_of(rest); *c && !str_eq(leaf, "head"); c = rest_of(c)) {
		if (path_begins(c, "remotes") && follows_refs(c))
			continue; /* a directory of names, not of addresses */
		v = check_one(act, c, &why);
		if (v <= worst)
			continue;
		worst = v;
		*reason = why;
	}
	if (worst != POLICY_ALLOW || nested_content(rest) != CONTENT_NONE)
		return worst;
	if (act == POLICY_SYMLINK || act == POLICY_DIR_TO)
		return POLICY_ASK;
	if (act == POLICY_RENAME_TO && !is_git_data(rest))
		return POLICY_ASK;
	if (act == POLICY_RENAME_FROM && !is_temporary(leaf, strlen(leaf)))
		return POLICY_ASK;
	return POLICY_ALLOW;
}

/* Returns whether it is refs or logs, down to one remote, or sequencer: directories that usually
 * have a file HEAD beneath. */
static bool is_ref_dir(const char *rest)
{
	if (str_eq(rest, "sequencer"))
		return true;
	if (path_begins(rest, "logs")) {
		rest = rest_of(rest);
		if (!*rest)
			return true;
	}
	if (!path_begins(rest, "refs"))
		return false;
	rest = rest_of(rest);
	if (*rest && path_begins(rest, "remotes"))
		rest = rest_of(rest);
	else if (*rest)
		return false;
	return !*rest_of(rest);
}

static bool is_nest(const char *rest)
{
	return path_begins(rest, "modules") || path_begins(rest, "worktrees");
}

enum policy_verdict git_path_check(enum policy_act act, const char *rest, const char **ret_reason)
{
	*ret_reason = git_dir;
	if (!*rest) /* after a rename its config could be edited */
		return act == POLICY_RENAME_FROM ? POLICY_ASK : protect_guard(act, false);
	if (is_pointer(rest))
		return check_content(act, false);
	if (is_nest(rest))
		return *rest_of(rest) ? check_nested(act, rest_of(rest), ret_reason)
				      : protect_guard(act, act == POLICY_RENAME_FROM);
	if ((act == POLICY_RENAME_FROM || act == POLICY_RENAME_TO) && is_ref_dir(rest))
		return POLICY_ASK;
	return check_one(act, rest, ret_reason);
}

/* ---- content --------------------------------------------------------------------------------- */

enum policy_content git_path_content(const char *rest)
{
	if (is_pointer(rest))
		return CONTENT_POINTER;
	return is_nest(rest) ? nested_content(rest_of(rest)) : content_of(rest);
}

/* ---- directories of any name ----------------------------------------------------------------- */

unsigned git_path_suspect(const char *folded)
{
	unsigned above = 1;
	const char *c = folded + strlen(folded);

	/* At most three components: objects/info/alternates. */
	while (c > folded && above <= 3) {
		const char *does;

		c = memrchr(folded, '/', (size_t)(c - folded));
		if (!c)
			break;
		if (git_path_rule(c + 1, &does) != GIT_DATA || str_eq(c + 1, "head"))
			return above;
		above++;
	}
	return 0;
}
