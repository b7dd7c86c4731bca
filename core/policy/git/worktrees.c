/* worktrees - what of a shared git directory is the state of other worktrees. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/path.h"
#include "core/policy/git/git_settings.h"
#include "core/policy/policy_priv.h"

/*
 * Worktrees of a repository share objects, branches, configuration. Index, HEAD and what an
 * unfinished merge or rebase left is each one's own (gitrepository-layout(5), COMMON_DIR): in
 * worktrees/NAME of a linked one, directly in the directory that of the main one. The agent works
 * in one of them. Those whose files lie in a folder of the session are the agent's, too, as are the
 * ones that it adds there. The others belong to the human, or to another session. Which is which is
 * looked up each time, as the human may add one meanwhile: worktrees/NAME/gitdir names the
 * checkout, and git writes it first.
 */

/* State of the main worktree, folded; "*" stands for the rest of a name or what comes before. */
static const char *const main_state[] = {"*head",
					 "*head.lock",
					 "index",
					 "index.*",
					 "sharedindex*",
					 "bisect_*",
					 "merge_*",
					 "auto_merge",
					 "commit_editmsg",
					 "squash_msg",
					 "rebase-merge",
					 "rebase-apply",
					 "sequencer",
					 "logs/head",
					 "logs/head.lock",
					 "refs/bisect",
					 "refs/worktree",
					 "refs/rewritten",
					 "info/sparse-checkout",
					 "info/sparse-checkout.lock",
					 NULL};

static const char others_reason[] = "it belongs to another worktree of this repository";

static bool fits(const char *rest, const char *want)
{
	size_t n = strlen(want), len;

	if (*want == '*')
		return !strchr(rest, '/') && str_ends(rest, want + 1);
	if (want[n - 1] == '*')
		return strncmp(rest, want, n - 1) == 0;
	len = strlen(rest);
	return strncmp(rest, want, n) == 0 && (len == n || rest[n] == '/');
}

static bool is_main_state(const char *rest)
{
	for (size_t i = 0; main_state[i]; i++)
		if (fits(rest, main_state[i]))
			return true;
	return false;
}

void worktrees_collect(struct policy *p, const struct policy_spec *spec)
{
	for (size_t i = 0; spec->git_dirs && spec->git_dirs[i]; i++)
		places_add(&p->own, xstrdup(spec->git_dirs[i]));
	for (size_t i = 0; spec->repositories && spec->repositories[i]; i++)
		places_add(&p->repositories, xstrdup(spec->repositories[i]));
}

/* Does the worktree of this git directory lie outside the folders? One that is only being made does
 * not yet say. */
static bool is_elsewhere(const struct policy *p, const char *git_dir)
{
	AUTO_FREE char *pointer = git_pointer(git_dir, "gitdir", "");
	AUTO_FREE char *dot = pointer ? path_clean(pointer) : NULL;

	return dot && !places_cover(&p->folders, dot);
}

/* rest: below the repository. */
static bool is_linked_elsewhere(const struct policy *p, const char *common, const char *rest)
{
	AUTO_FREE char *git_dir = NULL;
	const char *name = path_below(rest, "worktrees");

	if (!name || !*name)
		return false;
	git_dir = xasprintf("%s/worktrees/%.*s", common, (int)strcspn(name, "/"), name);
	return !places_has(&p->own, git_dir) && is_elsewhere(p, git_dir);
}

static bool is_others(const struct policy *p, const char *path)
{
	AUTO_BUF struct buf folded = BUF_INIT;
	const char *common = NULL, *rest = NULL;

	for (size_t i = 0; i < p->repositories.n && !rest; i++) {
		common = p->repositories.list[i];
		rest = path_below(path, common);
	}
	if (!rest || !*rest)
		return false;
	if (is_linked_elsewhere(p, common, rest))
		return true;
	if (places_has(&p->own, common)) /* a submodule's: no main worktree but the folder */
		return false;
	names_fold_path(&folded, rest);
	return is_main_state(folded.data);
}

void worktrees_check(const struct policy *p, const char *path, struct builtin *b)
{
	if (p->repositories.n && b->verdict < POLICY_DENY && is_others(p, path))
		*b = builtin_says(POLICY_DENY, others_reason, path_depth(path), false);
}
