/* test_fs_stream - how simulated events of FSEvents are interpreted. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/watch/fs_stream.h"
#include "tests/support/check.h"

/* The calls, one a line; and the content of the folder. */
struct fixture {
	struct buf told;
	const char *there[8]; /* a path that ends with a slash is a directory */
};

static mode_t look(void *data, const char *path)
{
	const struct fixture *f = data;
	size_t len = strlen(path);

	for (size_t i = 0; i < ARRAY_LEN(f->there) && f->there[i]; i++) {
		if (strncmp(f->there[i], path, len) != 0)
			continue;
		if (!f->there[i][len])
			return S_IFREG;
		if (str_eq(f->there[i] + len, "/"))
			return S_IFDIR;
	}
	return 0;
}

static void changed(void *data, const char *path, enum seen_what what, bool made, mode_t type)
{
	static const char *const words[] = {
		[SEEN_MADE] = "made",	  [SEEN_GONE] = "gone", [SEEN_NAMED] = "named",
		[SEEN_MOVED] = "changed", [SEEN_META] = "meta", [SEEN_CLOSED] = "closed"};
	struct fixture *f = data;

	assert_true(what == SEEN_GONE ? !type : type != 0);
	buf_fmt(&f->told, "%s %s%s\n", words[what], path, made ? " new" : "");
}

static void scan(void *data, const char *dir, bool made)
{
	struct fixture *f = data;

	buf_fmt(&f->told, "scan %s%s\n", dir, made ? " new" : "");
}

static void lost(void *data)
{
	struct fixture *f = data;

	buf_str(&f->told, "lost\n");
}

static void root_changed(void *data, const char *path)
{
	struct fixture *f = data;

	buf_fmt(&f->told, "root %s\n", path);
}

static void take(struct fixture *f, const struct os_fs_event *list, size_t n, const char *want)
{
	const struct fs_stream_ops ops = {.data = f,
					  .look = look,
					  .changed = changed,
					  .scan = scan,
					  .lost = lost,
					  .root_changed = root_changed};

	buf_clear(&f->told);
	fs_stream_take(&ops, list, n);
	assert_string_equal(f->told.data, want);
}

#define TAKE(f, want, ...)                                                                         \
	do {                                                                                       \
		const struct os_fs_event events[] = {__VA_ARGS__};                                 \
		take(f, events, ARRAY_LEN(events), want);                                          \
	} while (0)
#define EVENT(path, flags)                                                                         \
	{                                                                                          \
		(char *)(uintptr_t)(path), (flags), 7                                              \
	}

static struct fixture *fixture(const char *a, const char *b)
{
	static struct fixture f;

	buf_done(&f.told);
	f = (struct fixture){.told = BUF_INIT, .there = {a, b}};
	return &f;
}

TEST(one_mark_is_told_as_it_is)
{
	struct fixture *f = fixture("/w/a", NULL);

	TAKE(f, "made /w/a new\n", EVENT("/w/a", FSE_CREATED | FSE_IS_FILE));
	TAKE(f, "named /w/a new\n", EVENT("/w/a", FSE_RENAMED | FSE_IS_FILE));
	TAKE(f, "changed /w/a\n", EVENT("/w/a", FSE_MODIFIED | FSE_IS_FILE));
	TAKE(f, "meta /w/a\n", EVENT("/w/a", FSE_OWNER | FSE_INODE_META | FSE_IS_FILE));
	TAKE(f, "meta /w/a\n", EVENT("/w/a", FSE_XATTR | FSE_FINDER_INFO));
	/* A created file gets its mode and times as well. */
	TAKE(f, "made /w/a new\n", EVENT("/w/a", FSE_CREATED | FSE_INODE_META));
}

TEST(what_is_there_counts_more_than_the_marks)
{
	struct fixture *f = fixture("/w/a", NULL);

	/* Marks add up: made, written, removed, made again. */
	TAKE(f, "changed /w/a new\n", EVENT("/w/a", FSE_CREATED | FSE_REMOVED | FSE_MODIFIED));
	TAKE(f, "gone /w/b\n", EVENT("/w/b", FSE_CREATED | FSE_REMOVED | FSE_MODIFIED));
	/* Marked only as removed, but the file exists. */
	TAKE(f, "changed /w/a\n", EVENT("/w/a", FSE_REMOVED | FSE_IS_FILE));
	TAKE(f, "gone /w/b\n", EVENT("/w/b", FSE_CREATED | FSE_IS_FILE));
}

TEST(a_rename_is_two_events)
{
	struct fixture *f = fixture("/w/new", NULL);

	TAKE(f, "gone /w/old\nnamed /w/new new\n", EVENT("/w/old", FSE_RENAMED | FSE_IS_FILE),
	     EVENT("/w/new", FSE_RENAMED | FSE_IS_FILE));
	/* Renamed out of the folder, or into it: there is only one event. */
	TAKE(f, "gone /w/old\n", EVENT("/w/old", FSE_RENAMED));
	TAKE(f, "named /w/new new\n", EVENT("/w/new", FSE_RENAMED));
}

TEST(a_directory_that_came_is_listed)
{
	struct fixture *f = fixture("/w/d/", NULL);

	TAKE(f, "named /w/d new\nscan /w/d new\n", EVENT("/w/d", FSE_RENAMED | FSE_IS_DIR));
	TAKE(f, "made /w/d new\nscan /w/d new\n", EVENT("/w/d", FSE_CREATED | FSE_IS_DIR));
	TAKE(f, "", EVENT("/w/d", FSE_INODE_META | FSE_IS_DIR));
	/* A file has taken the name of a directory: the mark is outdated. */
	TAKE(fixture("/w/d", NULL), "changed /w/d new\n",
	     EVENT("/w/d", FSE_REMOVED | FSE_CREATED | FSE_IS_DIR | FSE_IS_FILE));
}

TEST(events_of_one_path_are_one)
{
	struct fixture *f = fixture("/w/a", "/w/b");

	TAKE(f, "changed /w/a new\nmeta /w/b\n", EVENT("/w/a", FSE_CREATED),
	     EVENT("/w/b", FSE_OWNER), EVENT("/w/a", FSE_MODIFIED), EVENT("/w/a", FSE_XATTR));
}

TEST(what_was_put_together_is_scanned_once)
{
	struct fixture *f = fixture("/w/s/", "/w/a");

	TAKE(f, "scan /w/s\n", EVENT("/w/s", FSE_MUST_SCAN | FSE_IS_DIR));
	TAKE(f, "scan /w/s\n", EVENT("/w/s/deep/er", FSE_MUST_SCAN), EVENT("/w/s", FSE_MUST_SCAN));
	TAKE(f, "scan /w/s\nscan /w/sx\n", EVENT("/w/s", FSE_MUST_SCAN),
	     EVENT("/w/sx", FSE_MUST_SCAN));
	TAKE(f, "scan /w/s\nmade /w/a new\n", EVENT("/w/s", FSE_MUST_SCAN),
	     EVENT("/w/a", FSE_CREATED));
}

/* Whichever side dropped events, everything is scanned once, after the known events. */
TEST(dropped_events_are_a_loss)
{
	struct fixture *f = fixture("/w/a", NULL);

	TAKE(f, "lost\n", EVENT("/", FSE_MUST_SCAN | FSE_USER_DROPPED));
	TAKE(f, "lost\n", EVENT("/w", FSE_MUST_SCAN | FSE_KERNEL_DROPPED),
	     EVENT("/w", FSE_MUST_SCAN | FSE_USER_DROPPED));
	TAKE(f, "made /w/a new\nlost\n", EVENT("/", FSE_MUST_SCAN | FSE_KERNEL_DROPPED),
	     EVENT("/w/a", FSE_CREATED), EVENT("/w/s", FSE_MUST_SCAN));
}

TEST(numbers_that_begin_anew_are_no_loss)
{
	struct fixture *f = fixture("/w/a", NULL);

	TAKE(f, "made /w/a new\n", EVENT("", FSE_IDS_WRAPPED), EVENT("/w/a", FSE_CREATED));
	TAKE(f, "made /w/a new\n", EVENT("/w/a", FSE_CREATED | FSE_IDS_WRAPPED));
}

TEST(what_is_no_change_is_none)
{
	struct fixture *f = fixture("/w/a", NULL);

	TAKE(f, "", EVENT("/", FSE_HISTORY_DONE));
	TAKE(f, "", EVENT("/w/m", FSE_MOUNT), EVENT("/w/m", FSE_UNMOUNT));
	TAKE(f, "", EVENT("/w/a", FSE_IS_FILE | FSE_OWN));
	TAKE(f, "root /w\n", EVENT("/w", FSE_ROOT_CHANGED));
}

TEST(what_makes_no_sense_is_a_loss)
{
	struct fixture *f = fixture("/w/a", NULL);

	TAKE(f, "lost\n", EVENT(NULL, FSE_CREATED));
	TAKE(f, "lost\n", EVENT("w/a", FSE_CREATED));
	TAKE(f, "lost\n", EVENT("", FSE_MUST_SCAN));
	take(f, NULL, 0, "");
}

/* A change of this process may be reported together with an external edit. */
TEST(own_changes_are_judged_like_others)
{
	TAKE(fixture("/w/a", NULL), "changed /w/a\n", EVENT("/w/a", FSE_MODIFIED | FSE_OWN));
}

TESTS(NULL, NULL)
