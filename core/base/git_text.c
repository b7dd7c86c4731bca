/* git_text - puts single hunks into a text, and merges texts. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/git2.h"
#include "core/base/git_text.h"

static int make_patch(git_patch **ret, const struct buf *before, const struct buf *after,
		      struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_diff_options opt;

	if (!g)
		return -ENOENT;
	if (g->git_diff_options_init(&opt, GIT_DIFF_OPTIONS_VERSION) < 0)
		return git2_fail(g, err, "diff");
	opt.flags |= GIT_DIFF_FORCE_TEXT;
	if (g->git_patch_from_buffers(ret, before->data, before->len, "", after->data, after->len,
				      "", &opt) < 0)
		return git2_fail(g, err, "diff");
	return 0;
}

int git_text_hunks(const struct buf *before, const struct buf *after, struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_patch *patch = NULL;
	int r = make_patch(&patch, before, after, err);

	if (r < 0)
		return r;
	r = (int)g->git_patch_num_hunks(patch);
	g->git_patch_free(patch);
	return r;
}

/* Returns the offset of the line of that number, counted from 1. */
static size_t line_at(const struct buf *b, size_t from, int lines)
{
	for (; lines > 0 && from < b->len; lines--) {
		const char *end = memchr(b->data + from, '\n', b->len - from);

		from = end ? (size_t)(end - b->data) + 1 : b->len;
	}
	return from;
}

/* Returns the index of the first line. A side without lines names the line before it. */
static int first_of(int start, int lines)
{
	return lines ? start - 1 : start;
}

int git_text_compose(const struct buf *before, const struct buf *after, git_text_pick pick,
		     const void *data, struct buf *out, struct err *err)
{
	const struct git2 *g = git2_get(err);
	size_t n, at = 0, new_at = 0;
	int line = 0, new_line = 0;
	git_patch *patch = NULL;
	int r = make_patch(&patch, before, after, err);

	if (r < 0)
		return r;
	n = g->git_patch_num_hunks(patch);
	for (unsigned i = 0; r == 0 && i < n; i++) {
		const git_diff_hunk *h;
		size_t lines, from, upto, new_from, new_upto;

		if (g->git_patch_get_hunk(&h, &lines, patch, i) < 0) {
			r = git2_fail(g, err, "diff");
			break;
		}
		from = line_at(before, at, first_of(h->old_start, h->old_lines) - line);
		upto = line_at(before, from, h->old_lines);
		new_from = line_at(after, new_at, first_of(h->new_start, h->new_lines) - new_line);
		new_upto = line_at(after, new_from, h->new_lines);
		buf_add(out, before->data + at, from - at);
		if (pick(data, i + 1))
			buf_add(out, after->data + new_from, new_upto - new_from);
		else
			buf_add(out, before->data + from, upto - from);
		line = first_of(h->old_start, h->old_lines) + h->old_lines;
		new_line = first_of(h->new_start, h->new_lines) + h->new_lines;
		at = upto;
		new_at = new_upto;
	}
	buf_add(out, before->data + at, before->len - at);
	g->git_patch_free(patch);
	return r;
}

static git_merge_file_input input_of(const struct git2 *g, const struct buf *b)
{
	git_merge_file_input in;

	g->git_merge_file_input_init(&in, GIT_MERGE_FILE_INPUT_VERSION);
	in.ptr = b->data;
	in.size = b->len;
	return in;
}

static int merge(const struct git_text_sides *sides, struct buf *out, struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_merge_file_input base, ours, theirs;
	git_merge_file_result res = {0};
	git_merge_file_options opt;
	int r;

	if (!g)
		return -ENOENT;
	base = input_of(g, sides->base);
	ours = input_of(g, sides->ours);
	theirs = input_of(g, sides->theirs);
	g->git_merge_file_options_init(&opt, GIT_MERGE_FILE_OPTIONS_VERSION);
	opt.our_label = sides->our_label;
	opt.their_label = sides->their_label;
	if (g->git_merge_file(&res, &base, &ours, &theirs, &opt) < 0)
		return git2_fail(g, err, "merge");
	r = res.automergeable ? 0 : -ESTALE;
	if (r == 0 || sides->our_label)
		buf_add(out, res.ptr, res.len);
	g->git_merge_file_result_free(&res);
	return r;
}

bool git_text_same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

int git_text_merge(const struct git_text_sides *sides, struct buf *out, struct err *err)
{
	const struct buf *base = sides->base, *ours = sides->ours, *theirs = sides->theirs;

	if (git_text_same(base, ours) || git_text_same(ours, theirs))
		buf_add(out, theirs->data, theirs->len);
	else if (git_text_same(base, theirs))
		buf_add(out, ours->data, ours->len);
	else
		return merge(sides, out, err);
	return 0;
}
