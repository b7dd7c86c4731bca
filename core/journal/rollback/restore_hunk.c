/* restore_hunk - one hunk of a step's diff of a file as it was before, made as a step of its own.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/base/git2.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/fs/reach.h"
#include "core/journal/history/placed.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "core/journal/rollback/restore.h"
#include "core/journal/step/guarded.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * The hunk is counted in the diff that libgit2 makes of the file before and after the step, as
 * core/diff shows it. It is taken back from what lies in the folder by a merge of three sides: what
 * the step left is the base, what lies there is ours, and what the step left without the hunk is
 * theirs. Where somebody has edited the same lines since, nothing is written.
 */
#define HUNK_FILE_MAX ((size_t)8 << 20) /* as core/diff */

struct sides {
	struct buf before, after, now, wanted;
};

static void sides_done(struct sides *s)
{
	buf_done(&s->before);
	buf_done(&s->after);
	buf_done(&s->now);
	buf_done(&s->wanted);
}

static int read_side(struct journal *j, int64_t id, const struct change *c, bool after,
		     struct buf *ret, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = journal_content(j, id, c, after, &fd, err);

	if (r < 0)
		return r;
	r = io_read_all(fd, HUNK_FILE_MAX, &text, &len);
	if (r < 0)
		return err_set(err, r, "read '%s'", c->path);
	buf_add(ret, text, len);
	return 0;
}

static int read_now(struct restore *list, size_t i, struct buf *ret, struct err *err)
{
	const struct change *c = &list->list[i];
	struct journal *j = list->j;
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *text = NULL;
	struct reach reach = {0};
	struct spot at;
	struct obj o = {0};
	size_t len = 0;
	int r = reach_look(j, &reach, c->root, c->path, &at, &o);

	if (r == 0 && S_ISREG(o.mode))
		fd = data_open(j, at.fd, at.name);
	reach_close(j, &reach);
	if (r == 0 && !S_ISREG(o.mode))
		return err_say(err, -ESTALE, "'%s' is no file any more", c->path);
	r = r < 0 ? r : fd < 0 ? fd : io_read_all(fd, HUNK_FILE_MAX, &text, &len);
	restore_expect(&list->pieces[i], &o); /* as it was before it was read */
	if (r < 0)
		return err_set(err, r, "read '%s'", c->path);
	buf_add(ret, text, len);
	return 0;
}

/* ---- without the hunk ----------------------------------------------------------------------- */

/* Bytes up to the line of that number, counted from 1. */
static size_t line_at(const struct buf *b, int line)
{
	size_t at = 0;

	for (int i = 1; i < line && at < b->len; i++) {
		const char *end = memchr(b->data + at, '\n', b->len - at);

		at = end ? (size_t)(end - b->data) + 1 : b->len;
	}
	return at;
}

/* A side without lines names the one before it. */
static void range_of(const struct buf *b, int start, int lines, size_t *from, size_t *upto)
{
	start += lines == 0;
	*from = line_at(b, start);
	*upto = line_at(b, start + lines);
}

static int leave_out(struct sides *s, const char *path, unsigned hunk, struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_patch *patch = NULL;
	git_diff_options opt;
	const git_diff_hunk *h;
	size_t n, from, upto, old_from, old_upto;
	int r = 0;

	if (!g)
		return -ENOENT;
	if (g->git_diff_options_init(&opt, GIT_DIFF_OPTIONS_VERSION) < 0)
		return git2_fail(g, err, "diff");
	opt.flags |= GIT_DIFF_FORCE_TEXT;
	if (g->git_patch_from_buffers(&patch, s->before.data, s->before.len, path, s->after.data,
				      s->after.len, path, &opt) < 0)
		return git2_fail(g, err, "diff '%s'", path);
	if (hunk == 0 || hunk > g->git_patch_num_hunks(patch) ||
	    g->git_patch_get_hunk(&h, &n, patch, hunk - 1) < 0) {
		r = err_say(err, -ENOENT, "'%s' has no hunk %u", path, hunk);
	} else {
		range_of(&s->after, h->new_start, h->new_lines, &from, &upto);
		range_of(&s->before, h->old_start, h->old_lines, &old_from, &old_upto);
		buf_add(&s->wanted, s->after.data, from);
		buf_add(&s->wanted, s->before.data + old_from, old_upto - old_from);
		buf_add(&s->wanted, s->after.data + upto, s->after.len - upto);
	}
	g->git_patch_free(patch);
	return r;
}

static bool same(const struct buf *a, const struct buf *b)
{
	return a->len == b->len && memcmp(a->data, b->data, a->len) == 0;
}

/* wanted becomes what will be written. */
static int merge(struct sides *s, const char *path, struct err *err)
{
	const struct git2 *g = git2_get(err);
	git_merge_file_options opt;
	git_merge_file_input base, ours, theirs;
	git_merge_file_result res = {0};
	bool clean;

	if (same(&s->now, &s->after))
		return 0;
	g->git_merge_file_options_init(&opt, GIT_MERGE_FILE_OPTIONS_VERSION);
	g->git_merge_file_input_init(&base, GIT_MERGE_FILE_INPUT_VERSION);
	ours = theirs = base;
	base.ptr = s->after.data;
	base.size = s->after.len;
	ours.ptr = s->now.data;
	ours.size = s->now.len;
	theirs.ptr = s->wanted.data;
	theirs.size = s->wanted.len;
	if (g->git_merge_file(&res, &base, &ours, &theirs, &opt) < 0)
		return git2_fail(g, err, "merge '%s'", path);
	clean = res.automergeable != 0;
	if (clean) {
		buf_clear(&s->wanted);
		buf_add(&s->wanted, res.ptr, res.len);
	}
	g->git_merge_file_result_free(&res);
	if (!clean)
		return err_say(err, -ESTALE,
			       "'%s' was edited in these lines since: edit it instead", path);
	return same(&s->now, &s->wanted)
		       ? err_say(err, -EALREADY, "'%s' has this hunk as it was before", path)
		       : 0;
}

/* ---- the step ------------------------------------------------------------------------------- */

static int write_step(struct restore *r, size_t i, unsigned hunk, const struct buf *text,
		      struct err *err)
{
	AUTO_FREE char *command =
		xasprintf("undo --step %" PRId64 " -- %s (hunk %u)", r->id, r->list[i].path, hunk);
	struct err ignored = {0};
	struct journal *j = r->j;
	int e = journal_begin(j, STEP_API, command, &r->s, err);

	if (e < 0)
		return e;
	placed_begin(j);
	r->s->noted = r->s->careful = true;
	step_spare(r->s);
	store_forget_near(j);
	e = bring_text(r, i, (struct span){text->data, text->len});
	if (e == -RESTORE_EDITED)
		e = restore_say_edited(r->list[i].path, err);
	else if (e < 0)
		err_set(err, e, "write '%s'", r->list[i].path);
	if (e == 0)
		e = restore_taken(r, err);
	if (e == 0)
		e = journal_commit(r->s, 0, err);
	if (e < 0 && journal_abort(r->s, &ignored) < 0)
		e = err_wrap(err, e, "put back after a restore that failed");
	if (e < 0 || !j->owning)
		placed_end(j);
	return MIN(e, 0);
}

/* A file before and after the step, of a name that may be written. */
static int find_file(struct restore *list, const char *const *paths, const struct change **ret,
		     struct err *err)
{
	const struct change *c = NULL;
	int r = restore_load(list, paths, err);

	if (r < 0)
		return r;
	for (size_t i = 0; i < list->n && !c; i++)
		if (list->pieces[i].chosen && restore_wants(list->j, &list->list[i], paths))
			c = &list->list[i];
	if (!c || !S_ISREG(c->before.mode) || !S_ISREG(c->after.mode))
		return err_say(err, -EINVAL,
			       "'%s' was no file before and after the step: restore all of it",
			       paths[0]);
	if (guarded_name(list->j, c->root, c->path, S_IFREG))
		return err_say(err, -EPERM, "'%s' is protected: restore all of it", paths[0]);
	*ret = c;
	return 0;
}

/* In the folder that the path lies in. */
static int restore_in(struct journal *j, int64_t id, const char *const *paths, unsigned hunk,
		      struct err *err)
{
	CLEANUP(restore_done) struct restore list = {.j = j, .id = id, .strict = true};
	CLEANUP(sides_done) struct sides s = {BUF_INIT, BUF_INIT, BUF_INIT, BUF_INIT};
	const struct change *c = NULL;
	int r = find_file(&list, paths, &c, err);

	if (!c)
		return r;
	/* What lies there first: the side after the step may be read from that. */
	r = read_now(&list, (size_t)(c - list.list), &s.now, err);
	if (r == 0)
		r = read_side(j, id, c, false, &s.before, err);
	if (r == 0)
		r = read_side(j, id, c, true, &s.after, err);
	if (r == 0)
		r = leave_out(&s, c->path, hunk, err);
	if (r == 0)
		r = merge(&s, c->path, err);
	return r < 0 ? r : write_step(&list, (size_t)(c - list.list), hunk, &s.wanted, err);
}

int journal_restore_hunk(struct journal *j, int64_t id, const char *path, unsigned hunk,
			 struct err *err)
{
	const char *const paths[] = {path, NULL};
	struct journal *k = j;

	if (j->open)
		return err_say(err, -EBUSY, "a step is still running: wait for it to end");
	while (!restore_covers(k, path) && (k = k->sibling) != j)
		continue;
	if (!restore_covers(k, path))
		return err_say(err, -ENOENT, "'%s' lies in none of the session's folders", path);
	return restore_in(k, id, paths, hunk, err);
}
