/* expected_events - predicts the watcher's events for changes that this process made itself. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/expected_events.h"

#include "core/base/util.h"
#include "core/journal/edits.h"
#include "core/journal/step/open_files.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

void event_expect_no_close(struct journal *j, struct open_file *w)
{
	if (w->once)
		HASH_DELETE(by_name, j->once, w);
	w->once = false;
}

static struct open_file *find(struct journal *j, const char *key)
{
	struct open_file *w;

	HASH_FIND(by_name, j->once, key, strlen(key), w);
	return w;
}

void event_expect_close(struct journal *j, struct open_file *w, const char *key)
{
	struct open_file *other = find(j, key);

	if (!j->expects)
		return;
	event_expect_no_close(j, w);
	if (other) /* the object that had the name before */
		event_expect_no_close(j, other);
	HASH_ADD_KEYPTR(by_name, j->once, key, strlen(key), w);
	w->once = true;
}

void event_expect_no_close_at(struct journal *j, int root, const char *path)
{
	AUTO_FREE char *key = j->once && path ? path_key_make(root, path) : NULL;
	struct open_file *w = key ? find(j, key) : NULL;

	if (w)
		event_expect_no_close(j, w);
}

void event_expect_name(struct journal *j, int root, const char *path)
{
	free(j->named);
	j->named = j->expects ? path_key_make(root, path) : NULL;
}

void journal_expect_events(struct journal *j)
{
	j->expects = true;
}

void journal_expect_nothing(struct journal *j)
{
	while (j->once)
		event_expect_no_close(j, j->once);
	free(take_ptr(&j->named));
}

bool event_is_expected(struct journal *j, const char *key, enum seen_what what)
{
	struct open_file *w = find(j, key);
	bool moved;

	if (what == SEEN_NAMED && j->named && str_eq(j->named, key)) {
		free(take_ptr(&j->named));
		return true;
	}
	if (!w || what == SEEN_MADE || what == SEEN_META)
		return false;
	event_expect_no_close(j, w);
	moved = w->then != j->carried.now; /* a directory was renamed, perhaps one above the file */
	w->told = what == SEEN_CLOSED && !moved;
	w->closes += w->told;
	return w->told;
}
