/* test_journal_restore_moment - edits from outside in the very moment in which single paths are
 * restored. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/*
 * The human appends to "file" right before each system call of a restore in turn, if that has just
 * given the file its old bytes. An undo of the restore must not take that away.
 */
struct moment {
	struct fix *f;
	int64_t id;
	int result;
	bool came;
	bool hunk;
};

static char *text_of(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	FILE *in = fopen(whole, "re");
	char text[4096];
	size_t n;

	if (!in)
		return NULL;
	n = fread(text, 1, sizeof(text), in);
	fclose(in);
	return xstrndup(text, n);
}

static void add_human(void *arg)
{
	struct moment *m = arg;
	AUTO_FREE char *text = text_of(m->f, "file");
	AUTO_FREE char *whole = xasprintf("%s/file", m->f->folder);
	FILE *out;

	if (!text || strcmp(text, "found\n") != 0)
		return;
	out = fopen(whole, "ae");
	assert_non_null(out);
	fputs("human\n", out);
	fclose(out);
	m->came = true;
}

static void run_restore(void *arg)
{
	struct moment *m = arg;

	if (m->hunk)
		m->result = journal_restore_hunk(m->f->j, m->id, "file", 1, &m->f->err);
	else
		m->result = restore(m->f, m->id, "file", 0);
}

static bool has_human(struct fix *f, const char *path)
{
	AUTO_FREE char *text = text_of(f, path);

	return text && strstr(text, "human\n");
}

/* False: there are not so many calls. */
static bool try_at(int nth, void (*step)(struct fix *), bool hunk, int *came)
{
	struct fix *f = fix_new();
	struct moment m = {.f = f, .hunk = hunk};
	struct inject i = {.nth = nth, .meanwhile = add_human};
	void *state = f;

	outside(f, "file", "found\n");
	begin(f, "agent");
	step(f);
	m.id = commit(f);
	usleep(5000); /* the file's time is a tick of the kernel's clock */
	inject_run(&i, run_restore, &m);
	if (m.came) {
		int r;

		(*came)++;
		if (m.result < 0) /* it was seen before anything was done */
			assert_int_equal(m.result, -ESTALE);
		r = undo(f, 1, 0);
		if (r < 0)
			assert_int_equal(r, -ESTALE);
		if (!has_human(f, "file") && !has_human(f, "other"))
			fail_msg("the edit before call %d is gone: restore says %d, undo %d", nth,
				 m.result, r);
	}
	fix_teardown(&state);
	return i.seen >= nth;
}

/* In larger steps up to the moment. */
static void sweep(void (*step)(struct fix *), bool hunk)
{
	int came = 0, nth = 1;

	while (try_at(nth, step, hunk, &came) && !came)
		nth += 8;
	assert_true(came > 0);
	for (nth -= 7; try_at(nth, step, hunk, &came); nth++)
		continue;
}

static void remove_file(struct fix *f)
{
	must(f, rm(f, "file"));
}

static void change_file(struct fix *f)
{
	must(f, put(f, "file", "agent\n"));
}

static void change_in_place(struct fix *f)
{
	assert_int_equal(
		linkat(journal_folder_fd(f->j), "file", journal_folder_fd(f->j), "second", 0), 0);
	must(f, put(f, "file", "agent\n"));
}

static void change_mode(struct fix *f)
{
	must(f, mode(f, "file", 0600));
}

static void move_file(struct fix *f)
{
	must(f, mv(f, "file", "other", 0));
}

static void a_removed_file(void **state)
{
	(void)state;
	sweep(remove_file, false);
}

static void a_changed_file(void **state)
{
	(void)state;
	sweep(change_file, false);
}

static void one_of_two_names(void **state)
{
	(void)state;
	sweep(change_in_place, false);
}

static void a_mode(void **state)
{
	(void)state;
	sweep(change_mode, false);
}

static void a_moved_file(void **state)
{
	(void)state;
	sweep(move_file, false);
}

static void a_hunk(void **state)
{
	(void)state;
	sweep(change_file, true);
}

/* Nobody is there: all of it is the restore's own, over and over. */
static void nobody(void **state)
{
	static void (*const steps[])(struct fix *) = {remove_file, change_file, change_in_place,
						      change_mode, move_file};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		struct fix *f = fix_new();
		void *own = f;
		int64_t id;

		outside(f, "file", "found\n");
		begin(f, "agent");
		steps[i](f);
		id = commit(f);
		must(f, restore(f, id, "file", 0));
		for (int k = 0; k < 3; k++) {
			must(f, undo(f, 1, 0));
			must(f, redo(f, 0));
		}
		assert_cat(f, "file", "found\n");
		must(f, undo(f, 2, 0));
		assert_sound(f);
		fix_teardown(&own);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_removed_file),   cmocka_unit_test(a_changed_file),
		cmocka_unit_test(one_of_two_names), cmocka_unit_test(a_mode),
		cmocka_unit_test(a_moved_file),	    cmocka_unit_test(a_hunk),
		cmocka_unit_test(nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
