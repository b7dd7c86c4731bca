/* protect - judges changes of files that programs of the host run or obey. */
/* SPDX-License-Identifier: MIT */
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "core/base/path.h"
#include "core/policy/builtin/protect_names.h"
#include "core/policy/git/git_paths.h"
#include "core/policy/policy_priv.h"

/* ---- paths ----------------------------------------------------------------------------------- */

/* Returns the path after the first component: "" after the last. */
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

/* Refuses to create the path or give it another name. A removal is harmless unless `keep` is
 * set. */
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

/* Returns whether `rest`, the path below the directory, equals a path of struct protect_tree.below,
 * or is above or beneath it. */
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

/* Returns the number of components of the shorter path. */
static unsigned shorter(const char *rest, const char *want, size_t n)
{
	unsigned left = *rest != '\0', right = 1;

	for (const char *c = rest; *c; c++)
		left += *c == '/';
	for (size_t i = 0; i < n; i++)
		right += want[i] == '/';
	return MIN(left, right);
}

/* Returns whether the tree protects this path. *depth grows by the components of the protected path
 * below the tree's name that are in `rest`, so that a rule about the very path is near enough. */
static bool tree_covers(const struct protect_tree *t, const char *rest, unsigned *depth)
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

/* Returns whether it is "worktrees/x", a path in it, or the removal of the last one. */
static bool is_worktree(const struct protect_tree *t, enum policy_act act, const char *rest)
{
	if (!(t->flags & PROTECT_WORKTREES) || !path_begins(rest, "worktrees"))
		return false;
	return *rest_of(rest) || act == POLICY_REMOVE;
}

static enum policy_verdict check_tree(const struct protect_tree *t, enum policy_act act,
				      const char *rest, unsigned *depth)
{
	if (is_worktree(t, act, rest) || !tree_covers(t, rest, depth))
		return POLICY_ALLOW;
	if (protect_tree_is_plain(t) && !*rest &&
	    (act == POLICY_WRITE || act == POLICY_RENAME_TO || act == POLICY_LINK_FROM))
		return POLICY_ALLOW;
	if ((t->flags & PROTECT_LINKS) && act == POLICY_SYMLINK && *rest)
		return POLICY_VET;
	/* With PROTECT_KEEP neither the directory nor a path in it may be removed. */
	return protect_guard(act,
			     (t->flags & PROTECT_KEEP) && (*rest || act == POLICY_RENAME_FROM));
}

/* ---- entry ----------------------------------------------------------------------------------- */

static bool leaf_is_candidate(const char *leaf)
{
	/* The only protected names that do not begin with a dot. */
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
	case 'k':
		return strncasecmp(leaf, "kilo.json", 9) == 0;
	case 'l':
		return strncasecmp(leaf, "lefthook", 8) == 0 ||
		       strncasecmp(leaf, "lint-staged.", 12) == 0 ||
		       strcasecmp(leaf, "lsp.json") == 0;
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

/* Returns whether the component that ends before c ends in ".git". */
static bool ends_in_git(const char *path, const char *c)
{
	return c - path > 4 && strncasecmp(c - 4, ".git", 4) == 0;
}

/* Returns whether a protected tree begins here whose name has no leading dot. */
static bool starts_tree(const char *c)
{
	const size_t n = strchr("mM_", *c) ? strcspn(c, "/") : 0;

	return (n == 4 && strncasecmp(c, "mise", n) == 0) ||
	       (n == 6 && strncasecmp(c, "_darcs", n) == 0);
}

/* Endings of folded names of editors' project files. */
static const char code[] = ".code-workspace", sublime[] = ".sublime-project";

bool protect_is_candidate(const char *path)
{
	const char *leaf = path, *c;

	for (c = path; *c; c++) {
		if (*c == '/') {
			if (c[1] == '.' || ends_in_git(path, c) || starts_tree(c + 1))
				return true;
			leaf = c + 1;
		} else if ((unsigned char)*c >= 0x80 || (*c == '~' && c[1] >= '1' && c[1] <= '9')) {
			return true;
		}
	}
	if (c - leaf >= (ptrdiff_t)sizeof(code) &&
	    (strcasestr(leaf, code) || strcasestr(leaf, sublime)))
		return true;
	return ends_in_git(path, c) || leaf_is_candidate(leaf);
}

/* Returns true for jupyter_config.py, jupyter_server_config.json and the like. */
static bool is_jupyter(const char *leaf)
{
	return strncmp(leaf, "jupyter_", 8) == 0 &&
	       (str_ends(leaf, "config.py") || str_ends(leaf, "config.json"));
}

static enum policy_verdict check_leaf(enum policy_act act, const char *leaf, const char *raw,
				      bool in_git, const char **reason)
{
	const struct protect_leaf *l = protect_find_leaf(leaf, strlen(leaf));

	*reason = protect_editor;
	if (str_ends(leaf, code) || str_ends(leaf, sublime))
		return protect_guard(act, false);
	*reason = protect_interpreter;
	if (is_jupyter(leaf))
		return protect_guard(act, false);
	/* With HEAD beside objects/ and refs/ any directory is a repository with a config. */
	*reason = "it would make this directory a git repository, whose configuration git obeys";
	if (!in_git && str_eq(raw, "HEAD"))
		return protect_guard(act, false);
	if (!l)
		l = protect_find_begun(leaf);
	if (!l)
		return POLICY_ALLOW;
	*reason = l->reason;
	return protect_guard(act, protect_leaf_keeps(l));
}

/* Keeps the strictest verdict so far; of equal ones, that about the deepest path. A milder verdict
 * about a deeper path is kept beside it. */
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

/* Returns whether the name is the path's last one. A file of that name points to the git directory;
 * a directory is the git directory. */
static bool is_gitfile(const char *c, size_t n)
{
	return n == 4 && c[4] == '\0';
}

void protect_check(enum policy_act act, const char *folded, const char *raw_leaf, bool in_git,
		   struct builtin *ret)
{
	struct builtin b = {.verdict = POLICY_ALLOW};
	const char *leaf = leaf_of(folded), *reason = NULL;
	unsigned total = path_depth(folded), depth = 0;
	enum policy_verdict v;

	for (const char *c = folded; *c; c = rest_of(c)) {
		size_t n = strcspn(c, "/");
		unsigned at = depth += n > 0;
		const struct protect_tree *t;

		if (n >= 4 && memcmp(c + n - 4, ".git", 4) == 0) {
			in_git = true;
			v = git_path_check(act, rest_of(c), &reason);
			if (is_gitfile(c, n) && (act == POLICY_WRITE || act == POLICY_RENAME_TO))
				v = POLICY_VET;
			at = path_begins(rest_of(c), "hooks") ? at + 1 : total;
		} else if ((*c == '.' || *c == 'm' || *c == '_') && (t = protect_find_tree(c, n))) {
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
	return protect_find_tree(folded.data, folded.len);
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
