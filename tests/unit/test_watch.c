/* test_watch - the watcher for external edits, if those never end. */
/* SPDX-License-Identifier: MIT */
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/keeper/sources.h"
#include "core/keeper/spec.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_priv.h"
#include "tests/support/journalfix.h"

#define ENOUGH 100 /* reads of one turn: many times what was queued at its start */

static char *flooded; /* a folder that changes faster than the watcher reads */
static int reads;

static void touch(const char *name, int i)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s%d", flooded, name, i);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	unlink(path);
}

static void flood(int n)
{
	for (int i = 0; i < n; i++)
		touch("a name that takes its room in the buffer of events ", i);
}

/* Replaces the library's read(): what is read from the watcher's queue is queued again, and more,
 * before it is judged. */
ssize_t read(int fd, void *buf, size_t n)
{
	ssize_t got = syscall(SYS_read, fd, buf, n);

	if (got > 0 && flooded && reads++ < ENOUGH)
		flood(100);
	return got;
}

struct session { /* a keeper that watches the folder, and has listed nothing yet */
	struct keeper_spec spec;
	struct keeper k;
	struct folder folder, *list[1];
};

static void start(struct session *s, struct fix *f)
{
	*s = (struct session){.spec.state_dir = f->state,
			      .k = {.epoll = epoll_create1(EPOLL_CLOEXEC), .n_folders = 1},
			      .folder = {.path = f->folder, .journal = f->j}};
	s->folder.keeper = &s->k;
	s->folder.fd = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	s->list[0] = &s->folder;
	s->k.spec = &s->spec;
	s->k.folders = s->list;
	watch_start(&s->k);
	assert_non_null(s->k.watch);
	s->k.watch->by->tree.most = 100;
}

static void stop(struct session *s)
{
	watch_stop(&s->k);
	sources_bury(&s->k);
	close(s->folder.fd);
	close(s->k.epoll);
}

static bool sees_an_edit(struct session *s)
{
	watch_drain(&s->k);
	return s->k.watch->settle_at > 0;
}

TEST(a_flood_does_not_hold_it)
{
	struct fix *f = *state;
	struct session s;

	start(&s, f);
	flooded = f->folder;
	flood(200);
	reads = 0;
	assert_true(sees_an_edit(&s));
	flooded = NULL;
	assert_in_range(reads, 2, ENOUGH - 1);
	stop(&s);
}

/* Its directory is not listed yet, nor is the one above. */
TEST(an_edit_of_what_a_step_has_touched_is_seen)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/d/e/f", f->folder);
	struct session s;

	must(f, mkdirat(journal_folder_fd(f->j), "d", 0755));
	must(f, mkdirat(journal_folder_fd(f->j), "d/e", 0755));
	outside(f, "d/e/f", "before");
	outside(f, "d/e/g", "before");
	start(&s, f);
	begin(f, "agent");
	must(f, put(f, "d/e/f", "agent"));
	watch_touched(&s.k, &s.folder, path);
	must(f, put(f, "d/e/f", "agent"));
	assert_false(sees_an_edit(&s));
	outside(f, "d/e/f", "user");
	assert_true(sees_an_edit(&s));
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
	stop(&s);
}

static bool came_from_outside(struct session *s, const char *name)
{
	struct watched_dir *d = watch_dir_child(s->k.watch->by->tree.dirs, name);

	assert_non_null(d);
	return d->late;
}

/* Each of them would be listed at once, with all below it. */
TEST(a_directory_that_a_redo_makes_did_not_come_from_outside)
{
	struct fix *f = *state;
	AUTO_FREE char *path = xasprintf("%s/d", f->folder);
	struct session s;

	start(&s, f);
	begin(f, "agent");
	must(f, md(f, "d"));
	watch_made(&s.k, &s.folder, journal_folder_fd(f->j), path);
	must(f, put(f, "d/f", "agent"));
	watch_drain(&s.k);
	assert_false(came_from_outside(&s, "d"));
	assert_true(commit(f) > 0);
	watch_own_begin(&s.k);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(redo(f, 0), 0);
	watch_own_end(&s.k);
	if (!watch_dir_child(s.k.watch->by->tree.dirs, "d")) /* it is queued to be listed */
		watch_add_dir(&s.k, s.k.watch->by->tree.dirs, "d");
	assert_false(came_from_outside(&s, "d"));
	must(f, mkdirat(journal_folder_fd(f->j), "outside", 0755));
	watch_drain(&s.k);
	assert_true(came_from_outside(&s, "outside"));
	stop(&s);
}

/* Returns whether the walk upwards from each directory ends. */
static bool is_a_tree(struct watched_dir *dirs)
{
	for (struct watched_dir *d = dirs; d; d = d->hh.next) {
		const struct watched_dir *up = d;

		for (int i = 0; up && i < 100; i++)
			up = up->parent;
		if (up)
			return false;
	}
	return true;
}

/* The events put the directory, which is listed at its later name, below itself. */
TEST(directories_listed_before_their_events_are_read_stay_a_tree)
{
	struct fix *f = *state;
	static const char *const below[] = {"sub", "a", "b"};
	int at = journal_folder_fd(f->j);
	struct watched_dir *top;
	struct session s;

	must(f, mkdirat(at, "old", 0755));
	must(f, mkdirat(at, "new", 0755));
	must(f, mkdirat(at, "new/sub", 0755));
	must(f, mkdirat(at, "new/a", 0755));
	must(f, mkdirat(at, "new/b", 0755));
	start(&s, f);
	top = s.k.watch->by->tree.dirs;
	watch_add_dir(&s.k, top, "old");
	watch_add_dir(&s.k, top, "new");
	assert_non_null(watch_dir_child(top, "new"));
	for (size_t i = 0; i < ARRAY_LEN(below); i++)
		watch_add_dir(&s.k, watch_dir_child(top, "new"), below[i]);
	must(f, renameat(at, "old", at, "new/sub/older"));
	must(f, renameat(at, "new/a", at, "new/b"));
	must(f, renameat(at, "new", at, "old"));
	watch_add_dir(&s.k, top, "old");
	watch_drain(&s.k);
	assert_true(is_a_tree(top));
	stop(&s);
}

TESTS(fix_setup, fix_teardown)
