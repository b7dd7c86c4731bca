/* test_reviewed - hunks of a turn, their verdicts, and the messages to the agent. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/diff/reviewed.h"
#include "core/journal/note.h"
#include "tests/support/journalfix.h"

#define HOSTILE "a b\n%41\033[31m"

/* Returns 40 lines; the 5th and the 35th are these. */
static char *lines(const char *a, const char *b)
{
	struct buf text = BUF_INIT;

	for (int i = 1; i <= 40; i++)
		buf_fmt(&text, "%s %d\n", i == 5 ? a : i == 35 ? b : "line", i);
	return buf_take(&text);
}

TEST(pieces_are_hunks_or_whole_changes)
{
	struct fix *f = *state;
	AUTO_FREE char *before = lines("one", "two"), *after = lines("ONE", "TWO");
	struct hunks h;
	int64_t ids[2];

	one_step(f, "before", put(f, "m", before));
	begin(f, "first");
	assert_int_equal(put(f, "m", after), 0);
	assert_int_equal(put(f, HOSTILE, "new\n"), 0);
	ids[0] = commit(f);
	ids[1] = one_step(f, "second", put(f, "m", before));
	must(f, hunks_load(&h, f->j, ids, 2, NULL, &f->err));
	assert_int_equal(h.n, 5);
	assert_string_equal(h.list[0].path, HOSTILE);
	assert_int_equal(h.list[0].number, 0);
	assert_int_equal(h.list[0].kind, CHANGE_CREATED);
	for (unsigned i = 1; i < 5; i++) {
		assert_string_equal(h.list[i].path, "m");
		assert_int_equal(h.list[i].step, ids[(i - 1) / 2]);
		assert_int_equal(h.list[i].number, (i - 1) % 2 + 1);
		assert_int_equal(h.list[i].added, 1);
		assert_int_equal(h.list[i].deleted, 1);
	}
	hunks_done(&h);
}

TEST(what_was_said_is_kept)
{
	struct fix *f = *state;
	struct hunk h = {.step = -3, .number = 2, .path = (char *)(uintptr_t)HOSTILE};
	struct reviewed v;
	const struct review_entry *e;

	reviewed_load(&v, f->j);
	assert_int_equal(v.n, 0);
	reviewed_set(&v, -3, HOSTILE, 2, PIECE_TAKEN, 9);
	reviewed_set(&v, 4, "x", 0, PIECE_KEPT, 0);
	reviewed_set(&v, 5, "x", 1, PIECE_QUEUED, 0);
	assert_true(reviewed_comment(&v, &h, 7, "why % and \\ here?"));
	assert_false(reviewed_comment(&v, &h, 7, ""));
	reviewed_set(&v, 6, HOSTILE, 1, PIECE_KEPT, 0);
	v.list[0].committed = v.list[3].committed = true; /* one was taken back later */
	must(f, reviewed_save(&v, f->j));
	must(f, reviewed_save_committed(&v, f->j));
	reviewed_done(&v);
	reviewed_load(&v, f->j);
	assert_true(reviewed_committed(&v, 6, HOSTILE, 1));
	assert_false(reviewed_committed(&v, 4, "x", 0));
	assert_false(reviewed_committed(&v, -3, HOSTILE, 2));
	assert_false(reviewed_committed(&v, 7, HOSTILE, 1));
	assert_false(reviewed_load_committed(&v, f->j)); /* no more than before */
	for (size_t i = 0; i < v.n; i++)
		v.list[i].committed = false;
	assert_true(reviewed_load_committed(&v, f->j));
	assert_true(reviewed_committed(&v, 6, HOSTILE, 1));
	e = reviewed_taken(&v, -3, HOSTILE, 2);
	assert_non_null(e);
	assert_int_equal(e->is, PIECE_TAKEN);
	assert_int_equal(e->by, 9);
	assert_int_equal(reviewed_state(&v, 4, "x", 0), PIECE_KEPT);
	assert_int_equal(reviewed_state(&v, 5, "x", 1),
			 PIECE_OPEN); /* a queue ends with its session */
	assert_int_equal(v.n_points, 1);
	assert_string_equal(v.points[0].path, HOSTILE);
	assert_string_equal(v.points[0].text, "why % and \\ here?");
	reviewed_done(&v);
	must(f, journal_note_write(f->j, "review", "rounds 1\nis 9 9\npoint\n\xff", 24));
	reviewed_load(&v, f->j);
	assert_int_equal(v.n + v.n_points, 0);
	reviewed_done(&v);
}

TEST_WITH(a_message_names_what_was_not_told, NULL, NULL)
{
	struct hunk h = {.step = 1, .number = 1, .path = (char *)(uintptr_t)HOSTILE};
	struct reviewed v = {0};
	AUTO_BUF struct buf out = BUF_INIT;

	reviewed_set(&v, 1, "src/a.c", 1, PIECE_TAKEN, 2);
	reviewed_set(&v, 1, "src/a.c", 3, PIECE_TAKEN, 3);
	reviewed_set(&v, 1, "b", 0, PIECE_KEPT, 0);
	assert_true(reviewed_comment(&v, &h, 7, "use strtoul"));
	reviewed_message(&v, &out);
	assert_string_equal(out.data,
			    "1.1 a b\\n%41\\x1b[31m:7: use strtoul\n"
			    "When a point is handled, run: cordon review done 1.1\n"
			    "I took back what you changed in src/a.c (2 hunks): read these "
			    "files again and do not write that again.\n");
	reviewed_sent(&v);
	buf_clear(&out);
	reviewed_message(&v, &out);
	assert_int_equal(out.len, 0);
	reviewed_set(&v, 1, "src/a.c", 3, PIECE_OPEN, 0); /* restored, and taken back again */
	reviewed_set(&v, 1, "src/a.c", 3, PIECE_TAKEN, 5);
	assert_true(reviewed_comment(&v, &h, 0, "more"));
	reviewed_message(&v, &out);
	assert_string_equal(out.data, "2.1 a b\\n%41\\x1b[31m: more\n"
				      "When a point is handled, run: cordon review done 2.1\n"
				      "I took back what you changed in src/a.c: read these files "
				      "again and do not write that again.\n");
	reviewed_done(&v);
}

TEST(a_mode_beside_an_edit_is_a_piece)
{
	struct fix *f = *state;
	struct hunks h;
	int64_t id;

	one_step(f, "before", put(f, "m", "one\n"));
	begin(f, "edit and chmod");
	assert_int_equal(put(f, "m", "two\n"), 0);
	assert_int_equal(mode(f, "m", 0755), 0);
	id = commit(f);
	must(f, hunks_load(&h, f->j, &id, 1, NULL, &f->err));
	assert_int_equal(h.n, 2);
	assert_int_equal(h.list[0].number, 1);
	assert_int_equal(h.list[1].number, HUNK_MODE);
	assert_int_equal(h.list[1].n, 2);
	assert_memory_equal(h.text.data + h.lines[h.list[1].first + 1].at, "new mode 100755", 15);
	hunks_done(&h);
}

static bool is_undone(void *data, int64_t step)
{
	return step == *(int64_t *)data;
}

TEST_WITH(an_undo_opens_what_was_taken, NULL, NULL)
{
	int64_t undone = 9;
	struct reviewed v = {0};
	AUTO_BUF struct buf out = BUF_INIT;

	reviewed_set(&v, 3, "x", 1, PIECE_TAKEN, 9);
	assert_int_equal(reviewed_state(&v, 3, "x", 1), PIECE_TAKEN);
	reviewed_settle(&v, is_undone, &undone);
	assert_int_equal(reviewed_state(&v, 3, "x", 1), PIECE_OPEN);
	assert_null(reviewed_taken(&v, 3, "x", 1));
	reviewed_message(&v, &out);
	assert_int_equal(out.len, 0);
	undone = 0; /* redone */
	reviewed_settle(&v, is_undone, &undone);
	assert_int_equal(reviewed_state(&v, 3, "x", 1), PIECE_TAKEN);
	reviewed_done(&v);
}

TEST_WITH(a_whole_file_takes_later_changes_with_it, NULL, NULL)
{
	struct reviewed v = {0};

	reviewed_set(&v, 3, "x", 0, PIECE_OPEN, 0);
	reviewed_set(&v, 5, "x", 1, PIECE_KEPT, 0);
	assert_true(reviewed_kept_later(&v, 3, "x"));
	assert_false(reviewed_kept_later(&v, 5, "x"));
	assert_false(reviewed_kept_later(&v, 3, "y"));
	reviewed_set(&v, 5, "x", 1, PIECE_OPEN, 0);
	reviewed_set(&v, 3, "x", 0, PIECE_TAKEN, 8);
	assert_int_equal(reviewed_state(&v, 5, "x", 1), PIECE_TAKEN);
	assert_int_equal(reviewed_taken(&v, 5, "x", 1)->step, 3);
	assert_int_equal(reviewed_state(&v, 9, "x", 1), PIECE_OPEN); /* made later */
	assert_int_equal(reviewed_state(&v, 2, "x", 1), PIECE_OPEN);
	reviewed_done(&v);
}

/* Written verdicts can be read again, however long the names are. */
TEST(the_oldest_make_room)
{
	enum {
		LONG = 4000,
		MANY = 2000
	};
	struct fix *f = *state;
	AUTO_FREE char *path = xcalloc(LONG + 1, 1);
	struct reviewed v = {0};

	memset(path, '\n', LONG); /* three bytes each */
	for (int i = 1; i <= MANY; i++)
		reviewed_set(&v, i, path, 1, PIECE_KEPT, 0);
	must(f, reviewed_save(&v, f->j));
	reviewed_done(&v);
	reviewed_load(&v, f->j);
	assert_in_range(v.n, REVIEWED_BYTES / (3 * LONG + 64), MANY - 1);
	assert_int_equal(reviewed_state(&v, MANY, path, 1), PIECE_KEPT);
	assert_int_equal(reviewed_state(&v, 1, path, 1), PIECE_OPEN);
	reviewed_done(&v);
}

TEST_WITH(many_entries_are_found_by_path, NULL, NULL)
{
	const int many = REVIEWED_MAX + 10;
	struct reviewed v = {0};
	char path[16];

	for (int i = 1; i <= many; i++) {
		snprintf(path, sizeof(path), "%d", i % 100);
		reviewed_set(&v, i, path, 1, PIECE_KEPT, 0);
	}
	assert_in_range(v.n, REVIEWED_MAX / 2, REVIEWED_MAX);
	for (int i = 1; i <= many; i++) {
		bool gone = i <= many - (int)v.n;

		snprintf(path, sizeof(path), "%d", i % 100);
		assert_int_equal(reviewed_state(&v, i, path, 1), gone ? PIECE_OPEN : PIECE_KEPT);
	}
	assert_true(reviewed_kept_later(&v, 1, "7"));
	assert_false(reviewed_kept_later(&v, many, "7"));
	assert_false(reviewed_kept_later(&v, 1, "100"));
	reviewed_done(&v);
}

static struct reviewed with_points(size_t n)
{
	struct hunk h = {.step = 1, .number = 1, .path = (char *)(uintptr_t) "a"};
	struct reviewed v = {0};

	for (size_t i = 0; i < n; i++)
		assert_true(reviewed_comment(&v, &h, (int)i, "text"));
	return v;
}

static void refused(struct reviewed *v, const char *name, const char *words)
{
	struct err err = {0};

	assert_null(reviewed_handle(v, name, &err));
	assert_string_equal(err.text, words);
}

TEST(a_point_is_handled_once_it_was_sent)
{
	struct fix *f = *state;
	struct reviewed v = with_points(2);
	struct err err = {0};
	const struct point *p;

	refused(&v, "0.0", "no point 0.0 was sent; none is open");
	refused(&v, "1.1", "no point 1.1 was sent; none is open");
	reviewed_sent(&v);
	refused(&v, "1.3", "no point 1.3 was sent; open: 1.1, 1.2");
	p = reviewed_handle(&v, "1.2", &err);
	assert_non_null(p);
	assert_int_equal(p->line, 1);
	refused(&v, "1.2", "point 1.2 is done already; open: 1.1");
	must(f, reviewed_save(&v, f->j));
	reviewed_done(&v);
	reviewed_load(&v, f->j);
	refused(&v, "1.2", "point 1.2 is done already; open: 1.1");
	assert_null(reviewed_reopen(&v, 1, 1));
	assert_non_null(reviewed_reopen(&v, 1, 2));
	assert_non_null(reviewed_handle(&v, "1.2", &err));
	assert_non_null(reviewed_handle(&v, "1.1", &err));
	refused(&v, "1.1", "point 1.1 is done already; none is open");
	reviewed_done(&v);
}

TEST_WITH(no_other_name_is_a_point, NULL, NULL)
{
	static const char *const names[] = {
		"",	"1",	 "1.", ".1",  "1.1 ", " 1.1",  "+1.1",	    "1.-1",	"1..1",
		"1.1.", "1.1\n", "a",  "1,1", "1.1x", "0x1.1", "9999999.1", "1.9999999"};
	struct reviewed v = with_points(1);
	struct err err = {0};

	reviewed_sent(&v);
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		refused(&v, names[i], "a point is a number such as 3.2; open: 1.1");
	assert_non_null(reviewed_handle(&v, "1.1", &err));
	reviewed_done(&v);
}

/* The oldest handled point is dropped first; a point that waits to be sent is never lost. */
TEST_WITH(old_points_make_room, NULL, NULL)
{
	struct hunk h = {.step = 1, .number = 1, .path = (char *)(uintptr_t) "a"};
	struct reviewed v = with_points(POINTS_MAX);
	struct err err = {0};

	assert_false(reviewed_comment(&v, &h, 0, "one more"));
	reviewed_sent(&v);
	assert_non_null(reviewed_handle(&v, "1.5", &err));
	assert_non_null(reviewed_handle(&v, "1.9", &err));
	assert_true(reviewed_comment(&v, &h, 0, "one more"));
	refused(&v, "1.9",
		"point 1.9 is done already; open: 1.1, 1.2, 1.3, 1.4, 1.6, 1.7, 1.8, 1.10, 1.11, "
		"1.12 and 988 more");
	assert_null(reviewed_reopen(&v, 1, 5));
	assert_true(reviewed_comment(&v, &h, 0, "another"));
	assert_null(reviewed_reopen(&v, 1, 9));
	assert_true(reviewed_comment(&v, &h, 0, "a third"));
	assert_int_equal(v.points[0].number, 2);
	assert_int_equal(v.n_points, POINTS_MAX);
	assert_string_equal(v.points[POINTS_MAX - 1].text, "a third");
	reviewed_done(&v);
}

static int setup(void **state)
{
	*state = fix_new();
	return 0;
}

static int teardown(void **state)
{
	fix_free(*state);
	return 0;
}

TESTS(setup, teardown)
