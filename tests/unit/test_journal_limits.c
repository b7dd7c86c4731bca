/* test_journal_limits - limits of a step, beside those of the store. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"
#include "core/journal/store/usage.h"
#include "tests/support/journalfix.h"

static int put_kib(struct fix *f, const char *path, size_t kib, char c)
{
	AUTO_FREE char *text = xmalloc((kib << 10) + 1);

	memset(text, c, kib << 10);
	text[kib << 10] = '\0';
	return put(f, path, text);
}

static void remove_large(struct fix *f, struct journal_options options)
{
	begin(f, "make");
	assert_int_equal(put(f, "small", "s"), 0);
	assert_int_equal(put_kib(f, "big", 400, 'b'), 0);
	assert_true(commit(f) > 0);
	f->options = options;
	fix_reopen(f);
	begin(f, "remove");
	assert_int_equal(rm(f, "small"), 0);
	assert_int_equal(rm(f, "big"), 0);
}

/* A step that is larger than the store is reported at once: kept, it would be all that the store
 * has. */
TEST(a_step_is_not_larger_than_the_store)
{
	static const struct journal_options less[] = {{.size = 256 << 10},
						      {.size = 256 << 10, .step_size = 1 << 20}};
	/* Moving an object into the store copies nothing. */
	static const struct journal_options more = {.size = 1 << 20, .step_size = 4 << 10};

	for (size_t i = 0; i <= ARRAY_LEN(less); i++) {
		bool enough = i == ARRAY_LEN(less);
		struct fix *f = fix_new();

		remove_large(f, enough ? more : less[i]);
		assert_int_equal(strstr(step_why(f->s), "unprotected") == NULL, enough);
		assert_true(commit(f) > 0);
		assert_true(store_holds(f->j) <= f->options.size);
		assert_int_equal(undo(f, 1, 0), enough ? 0 : -ESTALE);
		fix_free(f);
	}
}

/* ---- what would go beyond them ---------------------------------------------------------------
 */

struct asked {
	struct fix *f;
	int answer;
	bool raise;
	size_t times;
	uint64_t size;
};

static int on_loss(void *data, enum loss what, uint64_t size)
{
	struct asked *a = data;

	if (what != LOSS_BEYOND)
		return 0;
	a->times++;
	a->size = size;
	if (a->raise)
		step_raise(a->f->s);
	return a->answer;
}

/* Begins a step that may copy 64 KiB, in a folder with "big" (400 KiB, not written just now) and
 * "small". */
static void begin_small(struct fix *f, struct asked *a)
{
	static const struct timespec then[2] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};

	begin(f, "make");
	assert_int_equal(put(f, "small", "s"), 0);
	assert_int_equal(put_kib(f, "big", 400, 'b'), 0);
	assert_true(commit(f) > 0);
	assert_int_equal(utimensat(journal_folder_fd(f->j), "big", then, 0), 0);
	f->options = (struct journal_options){.size = 1 << 20, .step_size = 64 << 10};
	fix_reopen(f);
	begin(f, "work");
	a->f = f;
	step_ask_before(f->s, on_loss, a);
}

TEST_WITH(what_goes_beyond_is_asked_about_before, fix_setup, fix_teardown)
{
	struct asked no = {.answer = -EPERM}, raise = {.raise = true}, bare = {0};
	struct fix *f = *state;
	AUTO_FREE char *before = NULL;

	begin_small(f, &no);
	before = snap(f);
	assert_int_equal(put(f, "big", "cut"), -EPERM);
	assert_int_equal(no.times, 1);
	assert_true(no.size >= 400 << 10);
	assert_tree(f, before);
	raise.f = bare.f = f;
	step_ask_before(f->s, on_loss, &raise);
	assert_int_equal(put(f, "big", "cut"), 0);
	assert_int_equal(raise.times, 1);
	assert_string_equal(step_why(f->s), "");
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_tree(f, before);
	begin(f, "without");
	step_ask_before(f->s, on_loss, &bare);
	assert_int_equal(put(f, "big", "cut"), 0);
	assert_int_equal(put(f, "small", "more"), 0);
	assert_int_equal(bare.times, 1);
	assert_string_not_equal(step_why(f->s), "");
	assert_true(commit(f) > 0);
	assert_int_equal(undo(f, 1, 0), -ESTALE);
}

static int open_big(struct fix *f)
{
	struct at where = at(f, "big");
	int fd = op_open(f->s, &where, O_WRONLY, 0, NULL);

	assert_true(fd >= 0);
	return fd;
}

/* `touch` opens it for writing, and writes nothing. */
TEST(a_large_file_that_is_only_opened_is_not_lost)
{
	static const struct timespec now[2] = {{.tv_nsec = UTIME_NOW}, {.tv_nsec = UTIME_NOW}};

	for (int writes = 0; writes < 4; writes++) {
		struct asked yes = {0};
		struct fix *f = fix_new();
		AUTO_FREE char *before = NULL;
		AUTO_CLOSE int fd = -1;

		begin_small(f, &yes);
		if (step_may_change_unseen(f->s, journal_folder_fd(f->j), &(struct object){0})) {
			fix_free(f); /* skip() does not return */
			skip();
		}
		before = snap(f);
		fd = open_big(f);
		if (writes == 1)
			assert_int_equal(pwrite(fd, "x", 1, 0), 1);
		assert_int_equal(
			op_utimens(f->s,
				   &(struct at){.dirfd = fd, .dir = "", .name = "", .leaf = "big"},
				   now, NULL),
			0);
		if (writes == 2)
			assert_int_equal(pwrite(fd, "x", 1, 0), 1);
		util_close_fd(&fd);
		fd = open_big(f);
		if (writes == 3)
			assert_int_equal(pwrite(fd, "x", 1, 0), 1);
		util_close_fd(&fd);
		assert_int_equal(put(f, "small", "more"), 0);
		assert_true(commit(f) > 0);
		assert_int_equal(undo(f, 1, 0), writes ? -ESTALE : 0);
		if (!writes)
			assert_tree(f, before);
		fix_free(f);
	}
}

TESTS(NULL, NULL)
