/* expected_events - what a watcher will be told of that this process did itself. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/expected_events.h"

#include "core/base/util.h"
#include "core/journal/step/open_files.h"
#include "core/journal/util/path_set.h"

void expect_no_close(struct journal *j, struct writer *w)
{
	if (w->once)
		HASH_DELETE(by_name, j->once, w);
	w->once = false;
}

static struct writer *find(struct journal *j, const char *key)
{
	struct writer *w;

	HASH_FIND(by_name, j->once, key, strlen(key), w);
	return w;
}

void expect_close(struct journal *j, struct writer *w, const char *key)
{
	struct writer *other = find(j, key);

	if (!j->expects)
		return;
	expect_no_close(j, w);
	if (other) /* what had the name before */
		expect_no_close(j, other);
	HASH_ADD_KEYPTR(by_name, j->once, key, strlen(key), w);
	w->once = true;
}

void expect_no_close_at(struct journal *j, int root, const char *path)
{
	AUTO_FREE char *key = j->once && path ? key_make(root, path) : NULL;
	struct writer *w = key ? find(j, key) : NULL;

	if (w)
		expect_no_close(j, w);
}

void expect_name(struct journal *j, int root, const char *path)
{
	free(j->named);
	j->named = j->expects ? key_make(root, path) : NULL;
}

void journal_expect_events(struct journal *j)
{
	j->expects = true;
}

void journal_expect_nothing(struct journal *j)
{
	while (j->once)
		expect_no_close(j, j->once);
	free(take_ptr(&j->named));
}

bool is_expected(struct journal *j, const char *key, enum seen_what what)
{
	struct writer *w = find(j, key);
	bool moved;

	if (what == SEEN_NAMED && j->named && str_eq(j->named, key)) {
		free(take_ptr(&j->named));
		return true;
	}
	if (!w || what == SEEN_MADE || what == SEEN_META)
		return false;
	expect_no_close(j, w);
	moved = w->then != j->carried.now; /* a directory has, perhaps the one that it is in */
	w->told = what == SEEN_CLOSED && !moved;
	return w->told;
}
