/* diff - shows the changes of a step as a unified diff: libgit2 on buffers, never a spawned git. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/git2.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/diff_priv.h"

/* the same number as git */
#define CONTEXT_LINES 3

/* ---- one patch ------------------------------------------------------------------------------- */

static int make_patch(const struct git2 *g, git_patch **ret, const struct pair *p,
		      const struct content *a, const struct content *b, unsigned context,
		      struct err *err)
{
	git_diff_options opt;

	if (g->git_diff_options_init(&opt, GIT_DIFF_OPTIONS_VERSION) < 0)
		return git2_fail(g, err, "diff");
	/* This text is not binary, even if libgit2 takes it for binary. */
	opt.flags |= GIT_DIFF_FORCE_TEXT;
	opt.context_lines = context;
	/* Without a repository there are no attributes or drivers that could run something. */
	if (g->git_patch_from_buffers(ret, a->data, a->len, p->old_path, b->data, b->len,
				      p->new_path, &opt) < 0)
		return git2_fail(g, err, "diff '%s'", p->new_path);
	return 0;
}

static int write_line(const git_diff_line *l, const struct sink *to)
{
	size_t len = l->content_len;

	switch (l->origin) {
	case GIT_DIFF_LINE_CONTEXT_EOFNL:
	case GIT_DIFF_LINE_ADD_EOFNL:
	case GIT_DIFF_LINE_DEL_EOFNL:
		return sink_fmt(to, DIFF_META, "\\ No newline at end of file");
	default:
		break;
	}
	if (len && l->content[len - 1] == '\n')
		len--;
	return sink_line(to,
			 l->origin == '+'   ? DIFF_ADD
			 : l->origin == '-' ? DIFF_DEL
					    : DIFF_CONTEXT,
			 l->content, len, l->old_lineno, l->new_lineno);
}

static int write_hunk(const struct git2 *g, git_patch *patch, size_t i, const struct sink *to)
{
	const git_diff_hunk *h;
	size_t n, len;
	int r;

	if (g->git_patch_get_hunk(&h, &n, patch, i) < 0)
		return -EIO;
	len = h->header_len;
	while (len && (h->header[len - 1] == '\n' || h->header[len - 1] == '\0'))
		len--;
	r = sink_line(to, DIFF_HUNK, h->header, len, h->old_start, h->new_start);
	for (size_t k = 0; r == 0 && k < n; k++) {
		const git_diff_line *l;

		if (g->git_patch_get_line_in_hunk(&l, patch, i, k) < 0)
			return -EIO;
		r = write_line(l, to);
	}
	return r;
}

static int write_names(const struct pair *p, const struct sink *to)
{
	int r = p->before.exists ? diff_write_name(to, "--- ", "a/", p->old_path)
				 : sink_fmt(to, DIFF_FILE, "--- /dev/null");

	if (r < 0)
		return r;
	return p->after.exists ? diff_write_name(to, "+++ ", "b/", p->new_path)
			       : sink_fmt(to, DIFF_FILE, "+++ /dev/null");
}

static int write_text(const struct pair *p, const struct content *a, const struct content *b,
		      const struct sink *to, struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_patch *patch = NULL;
	size_t n;
	int r;

	if (!g)
		return -ENOENT;
	r = make_patch(g, &patch, p, a, b, CONTEXT_LINES, err);
	if (r < 0)
		return r;
	n = g->git_patch_num_hunks(patch);
	if (n)
		r = write_names(p, to);
	for (size_t i = 0; r == 0 && i < n; i++)
		r = write_hunk(g, patch, i, to);
	g->git_patch_free(patch);
	return r;
}

int diff_hunks(const struct content *a, const struct content *b, diff_on_hunk on, void *data,
	       struct err *err)
{
	const struct git2 *g = git2_get(err);
	const struct pair p = {.old_path = "", .new_path = ""};
	git_patch *patch = NULL;
	int r = g ? make_patch(g, &patch, &p, a, b, 0, err) : -ENOENT;
	size_t n = r == 0 ? g->git_patch_num_hunks(patch) : 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		const git_diff_hunk *h;
		size_t lines;

		if (g->git_patch_get_hunk(&h, &lines, patch, i) < 0)
			r = git2_fail(g, err, "diff");
		else
			on(data, &(struct hunk){(size_t)(h->old_start - (h->old_lines != 0)),
						(size_t)h->old_lines,
						(size_t)(h->new_start - (h->new_lines != 0)),
						(size_t)h->new_lines});
	}
	if (patch)
		g->git_patch_free(patch);
	return r;
}

/* ---- other than text ------------------------------------------------------------------------- */

static void describe(char *out, size_t size, const struct content *c)
{
	char bytes[32];

	if (!c->exists) {
		snprintf(out, size, "nothing");
		return;
	}
	text_size(bytes, sizeof(bytes), c->size);
	snprintf(out, size, "%s%s%s", bytes, *c->hash ? " sha256:" : "", c->hash);
}

/* Returns whether the content is so large that it has neither its bytes nor a hash. */
static bool is_unread(const struct content *c)
{
	return !c->data && !*c->hash;
}

static int write_summary(const struct pair *p, const struct content *a, const struct content *b,
			 const struct sink *to)
{
	const bool unread = a->size == b->size && (is_unread(a) || is_unread(b));
	char before[64], after[64];

	if (p->between && (a->gone || b->gone))
		return sink_fmt(to, DIFF_META, "What was there %s is not kept",
				a->gone ? "before" : "after");
	if (a->gone) /* a step without protection never had it */
		return sink_fmt(to, DIFF_META, "The content before this step is not kept");
	if (b->gone)
		return sink_fmt(
			to, DIFF_META,
			"The content after this step is no longer kept: it was changed since");
	if (a->exists && b->exists && !unread && a->size == b->size && str_eq(a->hash, b->hash))
		return diff_write_same(p, to);
	describe(before, sizeof(before), a);
	describe(after, sizeof(after), b);
	return sink_fmt(to, DIFF_META, "%s: %s -> %s",
			unread ? "Too large to compare" : "Binary files differ", before, after);
}

static bool same_bytes(const struct content *a, const struct content *b)
{
	return a->data && b->data && a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

int diff_pair(struct journal *j, const struct pair *p, const struct sink *to, struct err *err)
{
	AUTO_CONTENT struct content a = {0};
	AUTO_CONTENT struct content b = {0};
	int r = content_load(&a, j, p, false, err);

	if (r == 0)
		r = content_load(&b, j, p, true, err);
	if (r == 0)
		r = diff_write_header(p, to);
	if (r < 0)
		return r;
	if (!a.data || !b.data)
		return write_summary(p, &a, &b, to);
	if (same_bytes(&a, &b))
		return diff_write_same(p, to);
	return write_text(p, &a, &b, to, err);
}

/* ---- one change ------------------------------------------------------------------------------ */

struct pair pair_of(int64_t step, const struct change *c)
{
	return (struct pair){
		.old_path = c->old_path ? c->old_path : c->path,
		.new_path = c->path,
		.before = c->before,
		.after = c->after,
		.before_step = step,
		.after_step = step,
		.before_change = c,
		.after_change = c,
	};
}

int diff_change(struct journal *j, int64_t step, const struct change *c, diff_on_line on,
		void *data, struct err *err)
{
	AUTO_FREE char *new_path = c->base ? path_join(c->base, c->path) : NULL;
	AUTO_FREE char *old_path = c->base && c->old_path ? path_join(c->base, c->old_path) : NULL;
	struct pair p = pair_of(step, c);
	const struct sink to = {on, data};

	if (new_path) {
		p.new_path = new_path;
		p.old_path = old_path ? old_path : new_path;
	}
	return diff_pair(j, &p, &to, err);
}

int diff_texts(const char *path, struct span old, struct span now, diff_on_line on, void *data,
	       struct err *err)
{
	const struct pair p = {
		.old_path = path, .new_path = path, .before.exists = true, .after.exists = true};
	const struct content a = {.data = (char *)(uintptr_t)old.data, .len = old.len};
	const struct content b = {.data = (char *)(uintptr_t)now.data, .len = now.len};
	const struct sink to = {on, data};

	return same_bytes(&a, &b) ? 0 : write_text(&p, &a, &b, &to, err);
}

int diff_count(struct journal *j, int64_t step, const struct change *c, int *ret_added,
	       int *ret_deleted, struct err *err)
{
	const struct pair p = pair_of(step, c);
	AUTO_CONTENT struct content a = {0};
	AUTO_CONTENT struct content b = {0};
	const struct git2 *g;
	git_patch *patch = NULL;
	size_t context, added, deleted;
	int r = content_load(&a, j, &p, false, err);

	if (r == 0)
		r = content_load(&b, j, &p, true, err);
	if (r < 0)
		return r;
	*ret_added = *ret_deleted = a.data && b.data ? 0 : -1;
	if (!a.data || !b.data || same_bytes(&a, &b))
		return 0;
	g = git2_get(err);
	if (!g)
		return -ENOENT;
	r = make_patch(g, &patch, &p, &a, &b, CONTEXT_LINES, err);
	if (r < 0)
		return r;
	if (g->git_patch_line_stats(&context, &added, &deleted, patch) < 0)
		r = git2_fail(g, err, "diff '%s'", p.new_path);
	g->git_patch_free(patch);
	if (r < 0)
		return r;
	*ret_added = (int)added;
	*ret_deleted = (int)deleted;
	return 0;
}

static bool has(const char *dir, size_t len, const char *name)
{
	AUTO_FREE char *path = xasprintf("%.*s/%s", (int)len, dir, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Returns the rest of an absolute path below the innermost git directory: a submodule's, or one
 * with another name, such as a bare repository. NULL: the path is in none. */
static const char *below_git_dir(const char *path)
{
	const char *rest = NULL;

	for (const char *at = *path == '/' ? path + 1 : NULL; at && (at = strchr(at, '/')); at++)
		if (has(path, (size_t)(at - path), "HEAD") &&
		    has(path, (size_t)(at - path), "objects"))
			rest = at + 1;
	return rest;
}

/* Returns the rest of a path below the first component ".git"; NULL: it has none. A directory x.git
 * may be any directory of the project, so its files are shown. */
static const char *below_dot_git(const char *path)
{
	for (const char *at = path; (at = strstr(at, ".git/")); at += 5)
		if (at == path || at[-1] == '/')
			return at + 5;
	return NULL;
}

const char *diff_below_git(const char *path)
{
	const char *rest = below_git_dir(path), *slash;

	if (!rest)
		rest = below_dot_git(path);
	slash = rest && str_starts(rest, "worktrees/") ? strchr(rest + strlen("worktrees/"), '/')
						       : NULL;
	return slash ? slash + 1 : rest;
}

/* Tells objects by git's own names: objects/ab/..., packs and their lists. Excludes alternates,
 * which lead to objects elsewhere. */
static bool is_object(const char *rest)
{
	const char *name = path_below(rest, "objects");
	size_t n = name ? strcspn(name, "/") : 0;

	if (!name || str_eq(name, "info/alternates") || str_eq(name, "info/http-alternates"))
		return false;
	return !n || (n == 2 && strspn(name, "0123456789abcdef") == 2) ||
	       path_is_beneath(name, "pack") || path_is_beneath(name, "info");
}

bool diff_is_gits_own(const char *path)
{
	static const char *const dirs[] = {"refs", "logs", "branches", "rr-cache"};
	static const char *const files[] = {"index",	      "packed-refs", "description",
					    "COMMIT_EDITMSG", "gc.log",	     "shallow",
					    "info/refs",      "info/exclude"};
	const char *rest = diff_below_git(path);

	if (!rest)
		return false;
	if (str_ends(rest, "HEAD") && !strchr(rest, '/'))
		return true;
	if (is_object(rest))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (path_is_beneath(rest, dirs[i]))
			return true;
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (str_eq(rest, files[i]))
			return true;
	return path_is_beneath(rest, "hooks") && str_ends(rest, ".sample");
}
