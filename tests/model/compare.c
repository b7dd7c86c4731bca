/* compare - compares trees path by path: whether a change has been carried over to a newer tree. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/model/history.h"
#include "tests/model/lines.h"

bool trees_equal_loosely(const char *a, const char *b)
{
	struct lines x = split(a), y = split(b);
	bool equal = x.n == y.n;

	for (size_t i = 0; equal && i < x.n; i++)
		equal = alike(x.list[i], y.list[i]);
	lines_done(&x);
	lines_done(&y);
	return equal;
}

/* Returns whether the same object has any name: a directory above it was moved, or another name
 * remains. */
static bool elsewhere(const struct lines *l, const char *line)
{
	AUTO_FREE char *want = bare(line);

	for (size_t i = 0; i < l->n; i++) {
		AUTO_FREE char *have = bare(l->list[i]);

		if (str_eq(have + path_len(have), want + path_len(want)))
			return true;
	}
	return false;
}

struct carry {
	struct lines from, to, now, result;
	bool quiet;
};

/* Returns whether a second name came back of a file whose first name is another file's now: later
 * changes of the first name do not apply to it. */
static bool parted(const struct carry *c, const char *want, const char *got)
{
	const char *other = want ? strstr(want, " same as ") : NULL, *was, *is;

	if (!other || !got)
		return false;
	other += strlen(" same as ");
	was = line_of(&c->from, other, path_len(other));
	is = line_of(&c->now, other, path_len(other));
	return !was || !is || !str_eq(was, is);
}

/* Returns whether an externally written file (from, now) was moved by the change and given another
 * mode or owner (to): then its bytes must be at the new path (got), with these attributes. */
static bool went_along(const char *from, const char *now, const char *to, const char *got)
{
	return from && now && to && got && !is_dir(to) && str_eq(field(from, 3), field(to, 3)) &&
	       str_eq(field(now, 3), field(got, 3)) &&
	       strncmp(got, to, (size_t)(field(to, 3) - to)) == 0;
}

static bool went_from(const struct carry *c, const char *from, const char *now)
{
	for (size_t i = 0; i < c->to.n; i++) {
		const char *to = c->to.list[i];

		if (went_along(from, now, to, line_of(&c->result, to, path_len(to))))
			return true;
	}
	return false;
}

static bool came_to(const struct carry *c, const char *to, const char *got)
{
	for (size_t i = 0; i < c->from.n; i++) {
		const char *from = c->from.list[i];

		if (went_along(from, line_of(&c->now, from, path_len(from)), to, got))
			return true;
	}
	return false;
}

/* Returns whether path is an external hard link: changes of the other name are visible here,
 * too. */
static bool is_link(const struct carry *c, const char *path, size_t len)
{
	return !line_of(&c->from, path, len) && !line_of(&c->to, path, len) &&
	       has_link(&c->now, path, len) && has_link(&c->result, path, len);
}

static bool carried(const struct carry *c, const char *path, size_t len)
{
	const char *from = line_of(&c->from, path, len), *to = line_of(&c->to, path, len);
	const char *now = line_of(&c->now, path, len), *got = line_of(&c->result, path, len);
	const char *want = alike(from, to) ? now : to;
	bool touched = !same_work(now, from), lost = touched && !alike(from, to) && !alike(now, to);

	/* A file saved again unchanged has another time, which may be its former one. */
	if ((alike(got, want) || (!touched && (alike(got, to) || parted(c, want, got)))) && !lost)
		return true;
	if (hides(&c->from, path, len) || hides(&c->to, path, len) || hides(&c->now, path, len) ||
	    hides(&c->result, path, len))
		return true;
	if (is_link(c, path, len))
		return true;
	/* An external file may have moved with its directory. */
	if (touched &&
	    (!now || is_dir(now) || elsewhere(&c->result, now) || went_from(c, from, now)))
		return true;
	if (!touched && got && (elsewhere(&c->now, got) || came_to(c, to, got)))
		return true;
	/* Or it was removed at the path to which the change had moved it. */
	if (!touched && !got && to && elsewhere(&c->from, to) && !elsewhere(&c->now, to))
		return true;
	if (c->quiet)
		return false;
	fprintf(stderr, "# %.*s\n#   before  %s\n#   after   %s\n#   then    %s\n#   at last %s\n",
		(int)len, path, to ? to : "-", from ? from : "-", now ? now : "-", got ? got : "-");
	return false;
}

bool tree_carried(const char *from, const char *to, const char *now, const char *result, bool quiet)
{
	struct carry c = {split(from), split(to), split(now), split(result), quiet};
	const struct lines *all[] = {&c.from, &c.to, &c.now, &c.result};
	bool good = true;

	for (size_t i = 0; good && i < ARRAY_LEN(all); i++)
		for (size_t k = 0; good && k < all[i]->n; k++)
			good = carried(&c, all[i]->list[k], path_len(all[i]->list[k]));
	lines_done(&c.from);
	lines_done(&c.to);
	lines_done(&c.now);
	lines_done(&c.result);
	return good;
}

/* Returns whether a file was renamed back and merged: new bytes and time, the external mode, at
 * another path that was written. */
static bool merged_elsewhere(const struct carry *c, const char *from, const char *now)
{
	size_t meta = (size_t)(field(now, 3) - field(now, 1));

	for (size_t i = 0; from && !is_dir(now) && i < c->result.n; i++) {
		const char *got = c->result.list[i];
		const char *was = line_of(&c->now, got, path_len(got));

		if (!alike(was, got) && !line_of(&c->from, got, path_len(got)) &&
		    strncmp(field(got, 1), field(now, 1), meta) == 0)
			return true;
	}
	return false;
}

/* Returns whether an externally removed directory is needed again for restored content. */
static bool holds_again(const struct carry *c, const char *got)
{
	size_t len = path_len(got);

	for (size_t i = 0; is_dir(got) && i < c->result.n; i++) {
		const char *below = c->result.list[i];

		if (strncmp(below, got, len) == 0 && below[len] == '/' &&
		    !line_of(&c->now, below, path_len(below)))
			return true;
	}
	return false;
}

static bool kept(const struct carry *c, const char *path, size_t len, bool merged)
{
	const char *from = line_of(&c->from, path, len), *now = line_of(&c->now, path, len);
	const char *got = line_of(&c->result, path, len);

	if (same_work(now, from) || alike(got, now) || (now && is_dir(now)))
		return true;
	if (hides(&c->from, path, len) || hides(&c->now, path, len) || hides(&c->result, path, len))
		return true;
	if (now ? elsewhere(&c->result, now)
		: !got || elsewhere(&c->now, got) || holds_again(c, got))
		return true;
	if (merged && now && ((got && from && !is_dir(got)) || merged_elsewhere(c, from, now)))
		return true;
	if (!c->quiet)
		fprintf(stderr, "# %.*s\n#   before  %s\n#   then    %s\n#   at last %s\n",
			(int)len, path, from ? from : "-", now ? now : "-", got ? got : "-");
	return false;
}

bool tree_kept(const char *from, const char *now, const char *result, bool merged, bool quiet)
{
	struct carry c = {split(from), split(""), split(now), split(result), quiet};
	const struct lines *all[] = {&c.from, &c.now};
	bool good = true;

	for (size_t i = 0; good && i < ARRAY_LEN(all); i++)
		for (size_t k = 0; good && k < all[i]->n; k++)
			good = kept(&c, all[i]->list[k], path_len(all[i]->list[k]), merged);
	lines_done(&c.from);
	lines_done(&c.to);
	lines_done(&c.now);
	lines_done(&c.result);
	return good;
}
