/* test_model - the data of views: rows of programs that are searched along $PATH, undone steps. */
/* SPDX-License-Identifier: MIT */
#include "core/base/clock.h"
#include "core/session/model.h"
#include "tests/support/check.h"

TEST(a_search_along_the_path_is_one_row)
{
	struct model m;

	model_init(&m);
	model_add_exec(&m, 1, 7, "rg x", "/usr/local/bin/rg");
	model_add_exec(&m, 1, 7, "rg x", "/usr/bin/rg");
	model_add_exec(&m, 1, 7, "rg x", "/bin/rg");
	assert_int_equal(m.row_count, 1);
	assert_string_equal(model_row(&m, 0)->more, "/bin/rg"); /* the existing one */
	model_add_exec(&m, 1, 7, "rg x", "/bin/evil");		/* another program with that name */
	model_add_exec(&m, 1, 8, "rg x", "/bin/evil");		/* another process */
	model_add_exec(&m, 1, 8, "rg y", "/bin/evil");		/* other arguments */
	model_add_row(&m, ROW_TOUCH, 1, 8, 0, "write", "f", NULL);
	model_add_exec(&m, 1, 8, "rg y", "/bin/evil"); /* later */
	assert_int_equal(m.row_count, 6);
	model_done(&m);
}

/* A step that is undone in only one of its folders counts as kept: undo takes the rest. */
TEST(what_is_undone_in_one_folder_is_kept)
{
	static char command[] = "c";
	const struct step_info one = {.id = 1, .command = command};
	struct model m;

	model_init(&m);
	model_add_earlier(&m, &one, 1, true);
	assert_true(model_step(&m, 1)->undone);
	model_add_earlier(&m, &one, 1, false);
	assert_false(model_step(&m, 1)->undone);
	model_set_undone(&m, &one, 1, &one, 1);
	assert_false(model_step(&m, 1)->undone || model_step(&m, 1)->over);
	model_set_undone_in(&m, 1, "/b");
	assert_string_equal(model_step(&m, 1)->undone_in, "/b");
	model_set_undone_in(&m, 1, NULL);
	assert_null(model_step(&m, 1)->undone_in);
	model_set_undone(&m, &one, 1, NULL, 0);
	assert_true(model_step(&m, 1)->undone);
	model_done(&m);
}

/* A change after an undo ends its redo; a further undo does not restore the redo of earlier
 * ones. */
TEST(what_was_undone_stays_so)
{
	struct model m;
	struct step_info one = {.id = 1}, two = {.id = 2}, three = {.id = 3};

	model_init(&m);
	for (int64_t id = 1; id <= 3; id++)
		model_add_step(&m, id, STEP_COMMAND, "x", 0)->running = id == 3;
	model_set_undone(&m, &two, 1, &one, 1);
	assert_true(model_step(&m, 2)->undone && !model_step(&m, 2)->over);
	assert_false(model_step(&m, 1)->undone || model_step(&m, 3)->undone);
	model_step(&m, 3)->running = false; /* is kept */
	model_end_redo(&m);
	assert_true(model_step(&m, 2)->undone && model_step(&m, 2)->over);
	model_set_undone(&m, &three, 1, &one, 1);
	assert_true(model_step(&m, 2)->undone && model_step(&m, 2)->over);
	assert_true(model_step(&m, 3)->undone && !model_step(&m, 3)->over);
	model_set_undone(&m, NULL, 0, &three, 1); /* redone; the oldest was pruned */
	assert_false(model_step(&m, 1)->undone || model_step(&m, 3)->undone);
	assert_true(model_step(&m, 2)->undone);
	assert_true(model_step(&m, 1)->gone);
	assert_false(model_step(&m, 2)->gone || model_step(&m, 3)->gone);
	model_done(&m);
}

/* An edit of the user's, or a note, is no work of the agent. */
TEST(rows_about_processes_are_work)
{
	struct model m;

	model_init(&m);
	m.began_us -= MODEL_START_US;
	assert_string_equal(model_state(&m), "idle");
	model_add_row(&m, ROW_EXTERNAL, 0, 0, 0, "edit", "a", NULL);
	model_add_row(&m, ROW_NOTE, 0, 0, 0, "note", "detached", NULL);
	assert_string_equal(model_state(&m), "idle");
	model_add_row(&m, ROW_TOUCH, 1, 42, 0, "write", "a", NULL);
	model_add_row(&m, ROW_NOTE, 0, 0, 0, "note", "detached", NULL);
	assert_string_equal(model_state(&m), "working");
	model_done(&m);
}

/* Checks that an agent that has printed nothing yet is listed as working. */
TEST(the_start_is_no_rest)
{
	struct model m;

	model_init(&m);
	m.began_us -= MODEL_START_US / 2;
	assert_string_equal(model_state(&m), "working");
	m.printed_us = clock_mono_us() - MODEL_REST_US; /* its prompt */
	assert_string_equal(model_state(&m), "idle");
	m.printed_us = 0;
	m.began_us -= MODEL_START_US / 2;
	assert_string_equal(model_state(&m), "idle");
	model_done(&m);
}

/* The end of the turn, if something tells it, counts more than what is still drawn or runs. */
TEST(the_end_of_a_turn_is_rest)
{
	struct model m;

	model_init(&m);
	m.printed_us = clock_mono_us();
	assert_string_equal(model_state(&m), "working");
	m.tells_rest = true;
	assert_string_equal(model_state(&m), "working");
	m.rests = true;
	assert_string_equal(model_state(&m), "idle");
	m.agent_asks = true;
	assert_string_equal(model_state(&m), "asks");
	m.exited = true;
	assert_string_equal(model_state(&m), "ended");
	model_done(&m);
}

TESTS(NULL, NULL)
