/* restored - predicts the result of a restore of single paths. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/model/history.h"
#include "tests/model/lines.h"

struct view {
	struct lines before, after, pre, result;
	const char *path;
};

static struct view open_view(const struct restored *r)
{
	return (struct view){split(r->before), split(r->after), split(r->pre),
			     split(r->result ? r->result : ""), r->path};
}

static void close_view(struct view *v)
{
	lines_done(&v->before);
	lines_done(&v->after);
	lines_done(&v->pre);
	lines_done(&v->result);
}

/* Returns whether it is the same object, whatever other names it has. */
static bool equal(const char *a, const char *b)
{
	AUTO_FREE char *x = a ? bare(a) : NULL, *y = b ? bare(b) : NULL;

	return alike(x, y);
}

static bool at_or_below(const char *path, size_t len, const char *top)
{
	size_t n = strlen(top);

	return len > n && path[0] == '/' && strncmp(path + 1, top, n) == 0 &&
	       (len == n + 1 || path[n + 1] == '/');
}

static bool changed(const struct view *v, const char *path, size_t len)
{
	return !equal(line_of(&v->before, path, len), line_of(&v->after, path, len));
}

static bool lacks_a_dir(const struct lines *has, const struct lines *lacks)
{
	for (size_t i = 0; i < has->n; i++) {
		const char *other = line_of(lacks, has->list[i], path_len(has->list[i]));

		if (is_dir(has->list[i]) && !(other && is_dir(other)))
			return true;
	}
	return false;
}

/* Returns whether an object came to another path, by its own rename or a directory's. Its old path
 * may have another object now. */
static bool moves_something(const struct view *v)
{
	for (size_t i = 0; i < v->after.n; i++) {
		const char *now = v->after.list[i];

		if (line_of(&v->before, now, path_len(now)))
			continue;
		for (size_t k = 0; k < v->before.n; k++) {
			const char *was = v->before.list[k];
			const char *is = line_of(&v->after, was, path_len(was));

			if (str_eq(was + path_len(was), now + path_len(now)) &&
			    !(is && str_eq(is, was)))
				return true;
		}
	}
	return false;
}

static bool same_time(const char *a, const char *b)
{
	const char *x = field(a, 3), *y = field(b, 3);
	size_t len = strcspn(x, " ");

	return len == strcspn(y, " ") && memcmp(x, y, len) == 0;
}

static bool lies_in(const char *line, const char *dir)
{
	size_t len = path_len(dir);

	return strncmp(line, dir, len) == 0 && line[len] == '/';
}

/* Returns whether one directory seems to have replaced another: it has the other's time, or its
 * time changed and the other is gone. Or the other is gone, and both looked alike. */
static bool replaces_a_dir(const struct view *v)
{
	for (size_t i = 0; i < v->after.n; i++) {
		const char *now = v->after.list[i];
		const char *then = line_of(&v->before, now, path_len(now));

		if (!is_dir(now) || !then || !is_dir(then))
			continue;
		for (size_t k = 0; k < v->before.n; k++) {
			const char *was = v->before.list[k];
			bool gone = !lies_in(was, now) && !line_of(&v->after, was, path_len(was));

			if (was == then || !is_dir(was))
				continue;
			if (str_eq(now, then) ? gone && same_time(was, now)
					      : gone || same_time(was, now))
				return true;
		}
	}
	return false;
}

/* Returns whether two directories look alike: they may have been exchanged. */
static bool has_twins(const struct lines *l)
{
	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; is_dir(l->list[i]) && k < i; k++)
			if (str_eq(l->list[i] + path_len(l->list[i]),
				   l->list[k] + path_len(l->list[k])))
				return true;
	return false;
}

/* Returns whether directories cannot be told apart: names came and went. */
static bool is_unclear(const struct view *v)
{
	bool gone = lacks_a_dir(&v->before, &v->after), come = lacks_a_dir(&v->after, &v->before);

	return (gone && come) || ((gone || come || has_twins(&v->before)) && moves_something(v)) ||
	       replaces_a_dir(v) || locks_a_dir(&v->before) || locks_a_dir(&v->after) ||
	       locks_a_dir(&v->pre);
}

/* Returns whether it has several names in any of the trees: it changes with the others. */
static bool has_links(const struct view *v, const char *path, size_t len)
{
	const struct lines *const all[] = {&v->before, &v->after, &v->pre, &v->result};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (has_link(all[i], path, len))
			return true;
	return false;
}

/* Returns whether a directory above it is gone. */
static bool lost_its_way(const struct view *v, const char *path, size_t len)
{
	for (size_t i = 1; i < len; i++) {
		const char *was = path[i] == '/' ? line_of(&v->after, path, i) : NULL;
		const char *is = was ? line_of(&v->pre, path, i) : NULL;

		if (was && is_dir(was) && !(is && is_dir(is)))
			return true;
	}
	return false;
}

/* Returns whether the directory that must make room for the old object has content that is not the
 * step's. */
static bool has_company(const struct view *v, const char *path, size_t len)
{
	const char *was = line_of(&v->before, path, len);

	for (size_t i = 0; was && !is_dir(was) && i < v->pre.n; i++) {
		const char *now = v->pre.list[i];

		if (strncmp(now, path, len) == 0 && now[len] == '/' &&
		    !line_of(&v->after, now, path_len(now)))
			return true;
	}
	return false;
}

bool restore_is_due(const struct restored *r)
{
	struct view v = open_view(r);
	const struct lines *const both[] = {&v.before, &v.after};
	bool due = !is_unclear(&v), below = false;

	for (size_t i = 0; i < 2; i++)
		for (size_t k = 0; k < both[i]->n; k++) {
			const char *path = both[i]->list[k];
			size_t len = path_len(path);

			if (!changed(&v, path, len))
				continue;
			due = due && !lost_its_way(&v, path, len) && !has_company(&v, path, len) &&
			      equal(line_of(&v.after, path, len), line_of(&v.pre, path, len));
			/* The name by which a file was changed is not visible. */
			below |= at_or_below(path, len, r->path) && !has_links(&v, path, len);
		}
	close_view(&v);
	return due && below;
}

static bool holds_something(const struct lines *l, const char *path, size_t len)
{
	for (size_t i = 0; i < l->n; i++)
		if (strncmp(l->list[i], path, len) == 0 && l->list[i][len] == '/')
			return true;
	return false;
}

static bool is_right(const struct view *v, const char *path, size_t len)
{
	const char *want = line_of(&v->before, path, len), *was = line_of(&v->pre, path, len);
	const char *got = line_of(&v->result, path, len);
	bool there = at_or_below(path, len, v->path);

	/* Another directory of the same tick looks the same, so a change may be invisible. */
	if (there && equal(got, want))
		return true;
	if (changed(v, path, len) && (equal(got, want) || (!there && equal(got, was))))
		return true;
	if (!changed(v, path, len) && equal(got, was))
		return true;
	/* A directory stays, or comes back, for its content. */
	if (got && is_dir(got) && holds_something(&v->result, path, len) && (was || !there))
		return true;
	return has_links(v, path, len);
}

static bool all_right(const struct view *v, bool quiet)
{
	const struct lines *const all[] = {&v->before, &v->after, &v->pre, &v->result};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		for (size_t k = 0; k < all[i]->n; k++) {
			const char *path = all[i]->list[k];
			size_t len = path_len(path);
			const char *want = line_of(&v->before, path, len);
			const char *was = line_of(&v->pre, path, len);
			const char *got = line_of(&v->result, path, len);

			if (is_right(v, path, len))
				continue;
			if (!quiet)
				fprintf(stderr,
					"# restored '%s'\n#   before  %s\n#   then    %s\n"
					"#   at last %s\n",
					v->path, want ? want : "-", was ? was : "-",
					got ? got : "-");
			return false;
		}
	return true;
}

bool tree_restored(const struct restored *r)
{
	struct view v = open_view(r);
	bool good = is_unclear(&v) || all_right(&v, r->quiet);

	close_view(&v);
	return good;
}
