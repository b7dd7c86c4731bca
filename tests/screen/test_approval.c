/* test_approval - the dialog: separate choices, one prompt for a directory, keys that cannot
 * answer. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/session/answers/answers.h"
#include "tests/screen/scene.h"
#include "tests/support/check.h"
#include "tui/console/kept_answers.h"

static void open_dialog(struct scene *s)
{
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_wait(s, 600);
}

/* ---- choices --------------------------------------------------------------------------------- */

TEST(choices_are_made_one_by_one)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/2026/a.md");
	open_dialog(s);
	assert_true(scene_shows(s, "[once]"));
	assert_true(scene_shows(s, "ALLOW reading ~/notes/2026/a.md once"));
	scene_keys(s, "t"); /* once has no time */
	assert_true(scene_shows(s, "choose how long first"));
	scene_keys(s, "s");
	assert_true(scene_shows(s, "[step]"));
	scene_keys(s, "s e");
	assert_true(scene_shows(s, "ALLOW reading what lies in ~/notes/2026, for this session"));
	assert_true(scene_shows(s, "DENY reading what lies in ~/notes/2026, for this session"));
	scene_keys(s, "e t");
	assert_true(scene_shows(s, "ALLOW reading everything in ~/notes/2026 and below"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 session tree for a time\n");
}

/* A row ends at a space; a word that is too long fills it. */
TEST(words_stay_whole)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/2026/a.md");
	free(s->model.asks[0].reason);
	s->model.asks[0].reason = xstrdup("it saves its own settings here on every start. They can "
					  "name programs that run later: hooks, servers");
	free(s->model.asks[0].command);
	s->model.asks[0].command = xmalloc(151);
	memset(s->model.asks[0].command, 'x', 150);
	s->model.asks[0].command[150] = '\0';
	open_dialog(s);
	assert_true(scene_shows(s, " They can name programs that run "));
	assert_true(scene_shows(s, " servers. "));
	scene_keys(s, "i");
	s->model.asks[0].command[84] = '\0'; /* as much as fits a row */
	assert_true(scene_shows(s, s->model.asks[0].command));
}

/* Unavailable choices are not on the screen, and their keys say why. No key changes another
 * choice. */
TEST(one_choice_never_changes_another)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/2026/a.md");
	open_dialog(s);
	assert_false(scene_shows(s, "how much")); /* once is about exactly this */
	assert_false(scene_shows(s, "until"));
	scene_keys(s, "e");
	assert_true(scene_shows(s, "Once is about exactly this: choose how long first."));
	assert_true(scene_shows(s, "[once]"));
	scene_keys(s, "s e");
	assert_true(scene_shows(s, "[its directory]"));
	assert_true(scene_shows(s, "how long  [step]  session")); /* "once" is no longer offered */
	scene_keys(s, "s s s s");
	assert_true(scene_shows(s, "[step]"));
	assert_true(scene_shows(s, "[its directory]"));
	scene_keys(s, "e e");
	assert_true(scene_shows(s, "[exactly this]"));
	scene_keys(s, "s s s s");
	assert_true(scene_shows(s, "[once]"));
	scene_keys(s, "d");
	assert_string_equal(s->said.data, "deny 7 once exact\n");
}

TEST(all_that_is_known_is_behind_a_key)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.git/hooks/x");
	s->model.asks[0].timeout_s = 60;
	open_dialog(s);
	assert_true(scene_shows(s, "vim.basic wants to write .git/hooks/x"));
	assert_true(scene_shows(s, "Git runs this file on the host later."));
	assert_true(scene_shows(s, "Denied by itself in 5"));
	assert_false(scene_shows(s, "pid 4711"));
	scene_keys(s, "i");
	assert_true(scene_shows(s, "/home/u/project/.git/hooks/x"));
	assert_true(scene_shows(s, "/usr/bin/vim.basic (pid 4711)"));
	scene_keys(s, "i");
	assert_false(scene_shows(s, "pid 4711"));
}

/* With the kernel's deadline on macOS the call ends, but not the question. */
TEST(a_call_that_cannot_wait)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.git/hooks/x");
	s->model.asks[0].timeout_s = 20;
	s->model.asks[0].call_only = true;
	open_dialog(s);
	assert_true(scene_shows(s, "Answer within 1"));
	assert_true(scene_shows(s, "or this call is denied"));
	scene_keys(s, "i");
	assert_false(scene_shows(s, "the call waits until you answer"));
	s->now_us += 21000000;
	scene_keys(s, "i");
	assert_true(scene_shows(s, "This call was denied: your answer is for the next try."));
	scene_keys(s, "d");
	assert_string_equal(s->said.data, "deny 7 once exact\n");
}

TEST(a_note_is_shown_before_it_is_sent)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.git/hooks/x");
	open_dialog(s);
	scene_keys(s, "w n o t - h e r e Enter");
	assert_true(scene_shows(s, "w note with it: not-here"));
	scene_wait(s, 600);
	scene_keys(s, "d");
	assert_string_equal(s->said.data, "deny 7 once exact\n");
	assert_string_equal(s->ui->note_ready, "Denied: write .git/hooks/x. not-here");
	scene_ask(s, 8, "/home/u/project/.git/hooks/y");
	open_dialog(s);
	assert_false(scene_shows(s, "note with it"));
}

/* After single answers the whole directory is offered: on keys of its own, and with its full
 * path. */
TEST(a_third_single_answer_offers_the_directory)
{
	static const char *const paths[] = {"/home/u/notes/a", "/home/u/other/b",
					    "/home/u/notes/c"};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		scene_read(s, 7 + i, paths[i]);
		open_dialog(s);
		assert_false(scene_shows(s, "A c"));
		scene_keys(s, "A c"); /* not offered yet */
		scene_wait(s, 600);
		assert_string_equal(s->said.data, "");
		scene_keys(s, "a");
	}
	scene_ask(s, 17, "/home/u/notes/w"); /* another kind of access */
	open_dialog(s);
	assert_false(scene_shows(s, "A c"));
	scene_keys(s, "d");
	scene_read(s, 20, "/home/u/notes/d");
	open_dialog(s);
	assert_true(scene_shows(s, "This program keeps asking about ~/notes."));
	assert_true(scene_shows(s, "a   + ALLOW reading ~/notes/d once"));
	assert_true(scene_shows(s, "A c + ALLOW reading everything in ~/notes and below, for this "
				   "session"));
	scene_keys(s, "A c");
	assert_string_equal(s->said.data, "allow 20 session tree\n");
}

TEST(no_directory_of_secrets_is_offered)
{
	struct scene *s = *state;

	for (uint64_t i = 0; i < 4; i++) {
		AUTO_FREE char *path = xasprintf("/home/u/.ssh/k%d", (int)i);

		scene_read(s, 7 + i, path);
		open_dialog(s);
		assert_false(scene_shows(s, "A c"));
		scene_keys(s, "a");
	}
}

TEST(a_whole_home_is_not_offered)
{
	static const struct {
		const char *path;
		bool dir, tree; /* offered */
	} t[] = {
		{"/home/u/x", false, false},
		{"/home/u/notes/x", true, true},
		{"/home/u/.config/x", false, false},
		{"/home/u/.config/app/x", true, true},
		{"/home/u/.ssh/config", false, false},
		{"/home/u/.aws/sso/cache", false, false},
		{"/home/u/.local/share/x", false, false},
		{"/home/v/x", false, false},
		{"/home/u/.local/state/cordon/x", false, false},
		{"/home/x", false, false},
		{"/opt/x", false, false},
		{"/opt/tool/x", true, true},
		{"/x", false, false},
		{"/home/u/a/.gnupg/x", false, false},
	};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(t); i++) {
		struct ask ask = {.path = (char *)(uintptr_t)t[i].path};
		struct answer a = {.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_DIR};

		if ((answers_refusal(&s->model, &ask, &a) == NULL) != t[i].dir)
			fail_msg("dir of %s", t[i].path);
		a.extent = EXTENT_TREE;
		if ((answers_refusal(&s->model, &ask, &a) == NULL) != t[i].tree)
			fail_msg("tree of %s", t[i].path);
		a.allow = false; /* the whole directory may be denied */
		assert_null(answers_refusal(&s->model, &ask, &a));
		a = (struct answer){.allow = true, .scope = SCOPE_SESSION};
		assert_null(answers_refusal(&s->model, &ask, &a));
	}
	scene_read(s, 7, "/home/u/x");
	open_dialog(s);
	scene_keys(s, "s");
	assert_false(scene_shows(s, "its directory"));
	scene_keys(s, "e");
	assert_true(scene_shows(s, "Exactly this, and no more: "));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 step exact\n");
}

TEST(a_directory_that_is_asked_for_is_meant_itself)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes");
	s->model.asks[0].is_dir = true;
	open_dialog(s);
	scene_keys(s, "s s e e");
	assert_true(scene_shows(s, "ALLOW reading everything in ~/notes and below"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 session tree\n");
}

TEST(no_step_is_not_offered_where_there_is_none)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	s->model.asks[0].has_step = false;
	s->model.persists = false;
	open_dialog(s);
	assert_true(scene_shows(s, "[once]  session"));
	assert_false(scene_shows(s, "always"));
	scene_keys(s, "s a");
	assert_string_equal(s->said.data, "allow 7 session exact\n");
}

/* To the widest allowed tree, one directory at a time, then back to the first. */
TEST(a_tree_is_widened_step_by_step)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/2026/05/a.md");
	s->model.asks[0].up = 2;
	open_dialog(s);
	scene_keys(s, "s e e");
	assert_true(scene_shows(s, "ALLOW reading everything in ~/notes/2026/05 and below"));
	scene_keys(s, "e");
	assert_true(scene_shows(s, "ALLOW reading everything in ~/notes/2026 and below"));
	assert_true(scene_shows(s, "[further up]"));
	scene_keys(s, "e");
	assert_true(scene_shows(s, "ALLOW reading everything in ~/notes and below"));
	scene_keys(s, "e");
	assert_true(scene_shows(s, "[exactly this]"));
	scene_keys(s, "e e e a");
	assert_string_equal(s->said.data, "allow 7 step tree 1\n");
}

/* ---- what a program keeps for itself ----------------------------------------------------------
 */

static void ask_bundle(struct scene *s, uint64_t id, const char *path)
{
	struct ask *a;

	scene_ask(s, id, path);
	a = &s->model.asks[s->model.n_asks - 1];
	free(a->bundle);
	free(a->places);
	a->bundle = xstrdup("claude's own settings");
	a->places = xstrdup("~/.claude.json, ~/.claude/settings.json");
	ui_changed(s->ui);
}

/* The sensible answer is the preselected one. */
TEST(a_bundle_is_one_question)
{
	struct scene *s = *state;

	ask_bundle(s, 7, "/home/u/.claude.json");
	open_dialog(s);
	assert_true(scene_shows(s, "save claude's own settings"));
	assert_false(scene_shows(s, "~/.claude.json, ~/.claude/settings.json"));
	scene_keys(s, "i");
	assert_true(scene_shows(s, "~/.claude.json, ~/.claude/settings.json"));
	assert_true(scene_shows(s, "[session]"));
	assert_true(scene_shows(s, "ALLOW writing all of claude's own settings, for this session"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 session bundle\n");
	ask_bundle(s, 8, "/home/u/.claude.json");
	buf_clear(&s->said);
	scene_keys(s, "C-] a s");
	assert_true(scene_shows(s, "claude's own settings, in all your sessions"));
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 8 user bundle\n");
	ask_bundle(s, 9, "/home/u/.claude.json"); /* and only this file, if the user wants that */
	buf_clear(&s->said);
	scene_keys(s, "C-] a e");
	scene_wait(s, 600);
	assert_true(scene_shows(s, "[exactly this]"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 9 session exact\n");
}

/* A question over an empty screen: it is shown in the middle, and no key is taken. */
TEST(a_black_screen_says_what_it_waits_for)
{
	struct scene *s = *state;

	term_feed(s->term, "\033[2J\033[H", 7);
	ask_bundle(s, 7, "/home/u/.claude.json");
	buf_clear(&s->said);
	free(s->model.command);
	s->model.command = xstrdup("claude --resume");
	assert_true(scene_shows(s, " claude (vim.basic) wants to save claude's own settings"));
	assert_true(scene_shows(s, "It waits for your answer: C-] a"));
	free(s->model.asks[0].program);
	s->model.asks[0].program = xstrdup("/opt/agent/bin/claude.exe");
	assert_true(scene_shows(s, " claude wants to save its own settings "));
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	assert_string_equal(s->to_agent.data, "a");
	term_feed(s->term, "$ ", 2);
	assert_false(scene_shows(s, "It waits for your answer"));
}

/* ---- one prompt for a directory -------------------------------------------------------------- */

TEST(a_directory_is_one_prompt)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	scene_read(s, 8, "/home/u/notes/b");
	scene_read(s, 9, "/home/u/other/c");
	scene_read(s, 10, "/home/u/notes/d");
	assert_int_equal(s->model.n_prompts, 2);
	open_dialog(s);
	assert_true(scene_shows(s, "ASK 1 of 2"));
	assert_true(scene_shows(s, "2 more of that directory: b, d"));
	assert_true(scene_shows(s, "notes/a once, and 2 more"));
	scene_read(s, 11, "/home/u/notes/late"); /* not the question that was read */
	assert_true(scene_shows(s, "1 came since"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data,
			    "bell\nallow 7 once exact\nallow 8 once exact\nallow 10 once exact\n");
	assert_true(scene_shows(s, "other/c"));
	assert_true(scene_shows(s, "+ Allowed:"));	 /* the answer */
	assert_true(scene_shows(s, "a allow   d deny")); /* and the keys of the next question */
	scene_wait(s, 600);
	scene_keys(s, "n");
	assert_true(scene_shows(s, "notes/late"));
	scene_keys(s, "a a"); /* it has just appeared */
	assert_int_equal(s->model.n_asks, 2);
}

TEST(a_tree_is_one_prompt)
{
	static const char *const paths[] = {"/home/u/p/c/HEAD", "/home/u/p/c/refs/heads/main",
					    "/home/u/p/c/objects/01/ab", "/home/u/other/x"};
	struct scene *s = *state;

	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		scene_read(s, 7 + i, paths[i]);
		s->model.asks[i].pid = 4712 + (int)i; /* processes of one program */
		s->model.asks[i].up = 0;
	}
	assert_int_equal(s->model.n_prompts, 4); /* no prompt includes the other */
	while (s->model.n_asks)
		model_remove_ask(&s->model, s->model.asks[0].id);
	for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
		struct ask a = {.id = 7 + i,
				.pid = 4712 + (int)i,
				.since_us = s->now_us + (int64_t)i * 1000,
				.kind = RULE_READ,
				.has_step = true,
				.up = 2,
				.op = (char *)(uintptr_t) "read",
				.path = (char *)(uintptr_t)paths[i],
				.program = (char *)(uintptr_t) "/usr/bin/git"};

		a.up = i == 0 ? 1 : 2;
		model_add_ask(&s->model, &a);
	}
	ui_changed(s->ui);
	assert_int_equal(s->model.n_prompts, 2);
	open_dialog(s);
	assert_true(scene_shows(s, "2 more of that directory: refs/heads/main, objects/01/ab") ||
		    scene_shows(s, "2 more"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data,
			    "allow 7 once exact\nallow 8 once exact\nallow 9 once exact\n");
}

/* A program opens one file after the other: the next question mentions the one before. */
TEST(asked_again_at_once_widens_at_once)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/p/c/HEAD");
	open_dialog(s);
	scene_keys(s, "a");
	scene_read(s, 8, "/home/u/p/c/refs/heads/main");
	s->model.asks[0].up = 3;
	s->model.asks[0].since_us = s->now_us;
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	assert_true(scene_shows(s, "This program keeps asking about ~/p/c."));
	assert_true(scene_shows(s, "A c + ALLOW reading everything in ~/p/c and below, for this "
				   "session"));
	scene_wait(s, 600);
	scene_keys(s, "A c");
	assert_string_equal(s->said.data, "allow 8 session tree 2\n");
}

/* One answer for the shown question: the rule decides the others by itself. */
TEST(a_rule_is_given_once)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	scene_read(s, 8, "/home/u/notes/b");
	open_dialog(s);
	scene_keys(s, "s s e a");
	assert_string_equal(s->said.data, "allow 7 session dir\n");
}

TEST(prompts_are_of_one_process_and_kind)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	scene_ask(s, 8, "/home/u/notes/b"); /* to write */
	scene_read(s, 9, "/home/u/notes/sub/c");
	assert_int_equal(s->model.n_prompts, 3);
	scene_read(s, 10, "/home/u/notes/d");
	assert_int_equal(s->model.n_prompts, 3);
	model_remove_ask(&s->model, 7); /* the next oldest one leads */
	assert_int_equal(s->model.n_prompts, 3);
	model_remove_ask(&s->model, 10);
	assert_int_equal(s->model.n_prompts, 2);
	model_remove_ask(&s->model, 9);
	model_remove_ask(&s->model, 8);
	assert_int_equal(s->model.n_prompts, 0);
}

/* ---- what cannot answer ---------------------------------------------------------------------- */

/* Keys that decide nothing count at once; deciding keys count after the text could be read. */
TEST(early_keys_choose_but_answer_nothing)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	buf_clear(&s->said);
	scene_keys(s, "C-] a s s e a");
	assert_true(scene_shows(s, "[session]"));
	assert_true(scene_shows(s, "[its directory]"));
	scene_wait(s, 600);
	assert_string_equal(s->said.data, "");
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 session dir\n");
}

/* A user who pressed d too early and then a has not seen that d did nothing. */
TEST(an_early_key_cancels_another_after_it)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	scene_draw(s);
	scene_keys(s, "d");
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	assert_true(scene_shows(s, "came too early"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 once exact\n");
}

static void to_size(struct scene *s, int w, int h)
{
	surface_resize(&s->surface, w, h);
	ui_resize(s->ui, w, h);
	scene_wait(s, 600);
}

/* Returns whether these letters are shown in order, on as many rows as needed. */
static bool shows_over_rows(struct scene *s, const char *letters)
{
	AUTO_BUF struct buf b = BUF_INIT;

	scene_draw(s);
	for (int y = 0; y < s->surface.h; y++) {
		for (int x = 0; x < s->surface.w; x++) {
			char c = *surface_cell(&s->surface, x, y)->text;

			if (c > ' ') /* no blank, and no frame */
				buf_ch(&b, c);
		}
	}
	return strstr(b.data, letters) != NULL;
}

/* The line that allows a path has the whole path, on as many rows as needed; without room for it
 * nothing can be allowed. */
TEST(what_is_allowed_is_never_cut)
{
	struct scene *s = *state;
	char path[600] = "/home/u/project/";

	scene_ask(s, 7, "/home/u/project/.config/some/where/deep/in/the/tree/of-a-name/hook");
	open_dialog(s);
	to_size(s, 40, 12);
	assert_true(shows_over_rows(s, "+ALLOWwriting~/project/.config/some/where/deep/in/the/tree/"
				       "of-a-name/hookonce"));
	to_size(s, 39, 12);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	assert_true(scene_shows(s, "Enlarge the window"));
	to_size(s, 40, 11);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	to_size(s, 40, 12);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 once exact\n");
	memset(path + strlen(path), 'x', sizeof(path) - strlen(path) - 1);
	scene_ask(s, 8, path);
	buf_clear(&s->said);
	scene_keys(s, "C-] a");
	to_size(s, 40, 12);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_keys(s, "d");
	scene_keys(s, "d");
	assert_string_equal(s->said.data, "deny 8 once exact\n");
}

/* A key that was refused is no answer: it is said where the question went. */
TEST(a_refused_key_is_no_answer)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.config/some/where/deep/in/the/tree/of-a-name/hook");
	open_dialog(s);
	to_size(s, 39, 12);
	scene_keys(s, "a");
	assert_true(scene_shows(s, "Enlarge the window"));
	model_remove_ask(&s->model, 7);
	ui_changed(s->ui);
	scene_draw(s);
	assert_true(scene_shows(s, "answered elsewhere"));
}

TEST(a_new_size_must_be_read_again)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	open_dialog(s);
	surface_resize(&s->surface, 80, 24);
	ui_resize(s->ui, 80, 24);
	scene_draw(s);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	surface_resize(&s->surface, 20, 5); /* too small for the path */
	ui_resize(s->ui, 20, 5);
	scene_draw(s);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
}

/* A question goes (its process has died) just as it is answered: the key must not answer the next
 * one, at any distance from the last frame and the next one. */
TEST(what_takes_its_place_must_be_read)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/notes/a");
	scene_read(s, 8, "/home/u/other/b");
	open_dialog(s);
	s->now_us += 900000;
	model_remove_ask(&s->model, 7);
	ui_changed(s->ui);
	assert_true(scene_shows(s, "other/b"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	scene_read(s, 9, "/home/u/more/c");
	buf_clear(&s->said);
	model_remove_ask(&s->model, 8);
	ui_changed(s->ui);
	s->now_us += 900000; /* no frame was painted for that time */
	assert_true(scene_shows(s, "more/c"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 9 once exact\n");
}

/* The prompt on the screen stays answerable, whatever follows. */
TEST(a_flood_moves_nothing)
{
	struct scene *s = *state;

	scene_read(s, 7, "/home/u/first/a");
	open_dialog(s);
	for (uint64_t i = 0; i < 3000; i++) {
		AUTO_FREE char *path = xasprintf("/home/u/flood%d/f%d", (int)i % 700, (int)i);

		scene_read(s, 100 + i, path);
		if (i % 500 == 0)
			scene_draw(s);
	}
	assert_int_equal(s->model.n_asks, MODEL_ASKS);
	assert_true(scene_shows(s, "read ~/first/a"));
	assert_true(scene_shows(s, "ASK 1 of 701"));
	buf_clear(&s->said);
	scene_keys(s, "G");
	assert_false(scene_shows(s, "read ~/first/a"));
	scene_wait(s, 600);
	scene_keys(s, "g");
	assert_true(scene_shows(s, "read ~/first/a"));
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "");
	scene_wait(s, 600);
	scene_keys(s, "a");
	assert_string_equal(s->said.data, "allow 7 once exact\n");
}

/* ---- answers that count ---------------------------------------------------------------------- */

TEST(an_answer_is_taken_back_by_one_key)
{
	struct scene *s = *state;

	scene_given(s);
	scene_keys(s, "C-] V");
	assert_true(scene_shows(s, "reading what lies in ~/notes"));
	assert_true(scene_shows(s, "removes an answer"));
	scene_keys(s, "j x");
	assert_string_equal(s->said.data, "revoke 41\n");
	s->model.given[0].over = true;
	ui_changed(s->ui);
	scene_keys(s, "x");
	assert_string_equal(s->said.data, "revoke 41\n");
	assert_true(scene_shows(s, "- over"));
	assert_true(scene_shows(s, "removes an answer"));
	assert_ptr_equal(model_set_left(&s->model, 41, "less\033[2J (pid 7) a file"),
			 &s->model.given[0]);
	ui_changed(s->ui);
	assert_true(scene_shows(s, "Stays open: less\\x1b[2J (pid 7) a file"));
	scene_keys(s, "k");
	assert_false(scene_shows(s, "Stays open:"));
	scene_keys(s, "q");
	assert_int_equal(s->ui->n_popups, 0);
}

TEST(a_lasting_answer_is_taken_out_of_its_file)
{
	struct scene *s = *state;

	scene_given(s);
	scene_keys(s, "C-] V j j x");
	assert_string_equal(s->said.data, "forget answer of 2026-01-02T03:04:05Z\n");
	assert_true(scene_shows(s, "- removed"));
	assert_true(scene_shows(s, "which is read again"));
	assert_null(model_set_left(&s->model, 0, "bash (pid 9) a directory"));
	ui_changed(s->ui);
	assert_true(scene_shows(s, "Stays open: bash (pid 9) a directory"));
	scene_keys(s, "x j x");
	assert_string_equal(s->said.data, "forget answer of 2026-01-02T03:04:05Z\n");
	assert_true(scene_shows(s, "edit /etc/cordon/config, line 3"));
}

/* Answers for the session, and only to the same question. */
TEST(answers_survive_a_restart)
{
	static const struct {
		const char *path;
		bool found;
	} asks[] = {{"/home/u/notes/2026/x/y", true},
		    {"/home/u/other", false},
		    {"/home/u/a\nb", true},
		    {"/home/u/step", false},
		    {"/home/u/late", false}};
	static const struct {
		const char *object;
		enum answer_extent extent;
		enum answer_scope scope;
		int64_t until;
	} given[] = {{"/home/u/notes/", EXTENT_TREE, SCOPE_SESSION, 0},
		     {"/home/u/a\nb", EXTENT_EXACT, SCOPE_SESSION, 0},
		     {"/home/u/step", EXTENT_EXACT, SCOPE_STEP, 0},
		     {"/home/u/late", EXTENT_EXACT, SCOPE_SESSION, 1}};
	struct scene *s = *state;
	struct answer a;
	struct kept_answers *before = kept_answers_open(), *k;

	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		model_add_given(&s->model,
				&(struct given){.rule = i + 1,
						.answer = {.allow = true,
							   .scope = given[i].scope,
							   .extent = given[i].extent,
							   .until = given[i].until},
						.object = (char *)(uintptr_t)given[i].object,
						.words = (char *)(uintptr_t) "x"});
	kept_answers_write(before, &s->model);
	kept_answers_leave(before);
	k = kept_answers_open();
	assert_null(getenv("CORDON_KEPT_ANSWERS")); /* read once */
	for (size_t i = 0; i < ARRAY_LEN(asks); i++) {
		struct ask ask = {.path = (char *)(uintptr_t)asks[i].path, .up = 3};

		if (kept_answers_find(k, &ask, &a) != asks[i].found)
			fail_msg("%s", asks[i].path);
		assert_true(!asks[i].found || (a.allow && a.scope == SCOPE_SESSION));
		ask.kind = RULE_WRITE; /* another question */
		assert_false(kept_answers_find(k, &ask, &a));
	}
	kept_answers_free(k);
	kept_answers_free(before);
}

/* A file with a name, or without a number, was made by another process. */
TEST(only_a_file_of_our_own_answers)
{
	AUTO_FREE char *path = xasprintf("%s/kept", getenv("TEST_TMP"));
	int fd = open(path, O_RDWR | O_CREAT, 0600);
	struct ask ask = {.path = (char *)(uintptr_t) "/etc/x"};
	AUTO_FREE char *number = xasprintf("%d", fd);
	const char *const numbers[] = {number, "1", "x"};
	struct answer a;

	assert_int_equal(write(fd, "0 1 0 0 /etc/x", 15), 15);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct kept_answers *k;

		setenv("CORDON_KEPT_ANSWERS", numbers[i], 1);
		k = kept_answers_open();
		assert_false(kept_answers_find(k, &ask, &a));
		kept_answers_free(k);
	}
	assert_int_equal(fcntl(fd, F_GETFD) < 0, 0); /* and it stays open */
	close(fd);
}

TEST(answers_are_bounded)
{
	struct scene *s = *state;
	char object[] = "/x", words[] = "allow x";

	for (uint64_t i = 1; i <= MODEL_GIVEN + 10; i++)
		model_add_given(&s->model, &(struct given){.rule = i,
							   .object = object,
							   .words = words,
							   .over = i == 5});
	assert_int_equal(s->model.n_given, MODEL_GIVEN);
	assert_int_equal(s->model.given[MODEL_GIVEN - 1].rule, MODEL_GIVEN + 10);
	for (size_t i = 0; i < s->model.n_given; i++)
		assert_int_not_equal(s->model.given[i].rule, 5);
}

/* ---- a question that goes while a key for it is on its way ------------------------------------
 */

static void goes(struct scene *s, uint64_t id)
{
	model_remove_ask(&s->model, id);
	ui_changed(s->ui);
}

/* Until a pause neither the agent nor the pane behind the dialog gets keys. */
TEST(keys_for_a_question_that_went_reach_nobody)
{
	static const char *const panes[] = {"C-] t", "C-] s"};
	struct scene *s = *state;

	for (uint64_t i = 0; i < ARRAY_LEN(panes); i++) {
		scene_keys(s, panes[i]);
		scene_ask(s, 7 + i, "/home/u/project/.git/hooks/x");
		open_dialog(s);
		s->now_us += 60000000; /* no frame was drawn for a while */
		goes(s, 7 + i);
		scene_keys(s, "s u d Enter");
		assert_true(scene_shows(s, "that key did nothing"));
		scene_wait(s, 400);
		scene_keys(s, "d");
		scene_wait(s, 400);
		scene_keys(s, "d");
		assert_string_equal(s->to_agent.data, "");
		assert_string_equal(s->said.data, "");
		if (i == 0)
			scene_wait(s, 600);
		else
			scene_keys(s, "C-] t"); /* who begins a command has seen it */
		scene_keys(s, "x");
		assert_string_equal(s->to_agent.data, "x");
		buf_clear(&s->to_agent);
	}
}

/* A question that was answered here is over: the next key is for the agent. */
TEST(only_a_question_that_went_by_itself_takes_keys)
{
	struct scene *s = *state;

	scene_ask(s, 5, "/home/u/project/.git/hooks/x");
	scene_ask(s, 6, "/home/u/project/.git/hooks/y");
	open_dialog(s);
	scene_keys(s, "d k"); /* both, which have one prompt */
	assert_string_equal(s->said.data, "deny 5 once exact\ndeny 6 once exact\n");
	assert_string_equal(s->to_agent.data, "k");
	scene_ask(s, 7, "/home/u/project/.git/hooks/x");
	scene_read(s, 8, "/home/u/notes/a");
	open_dialog(s);
	scene_keys(s, "d");
	goes(s, 8); /* at once, because the answer decided it, too */
	scene_keys(s, "k");
	assert_string_equal(s->to_agent.data, "kk");
	scene_ask(s, 9, "/home/u/project/.git/hooks/x");
	scene_read(s, 10, "/home/u/notes/a");
	open_dialog(s);
	scene_keys(s, "d");
	scene_wait(s, 600);
	goes(s, 10); /* it could be answered, but was not answered here */
	scene_keys(s, "d");
	assert_string_equal(s->to_agent.data, "kk");
}

/* It goes while its note is being typed, or before its dialog is opened. */
TEST(a_note_and_a_late_dialog_take_keys_too)
{
	struct scene *s = *state;

	scene_ask(s, 7, "/home/u/project/.git/hooks/x");
	open_dialog(s);
	scene_keys(s, "w n o");
	goes(s, 7);
	scene_wait(s, 600);
	scene_keys(s, "t Enter d");
	assert_string_equal(s->to_agent.data, "");
	assert_string_equal(s->ui->note, "");
	scene_wait(s, 600);
	scene_keys(s, "C-] a d");
	assert_string_equal(s->to_agent.data, "");
	scene_wait(s, 600);
	scene_keys(s, "k");
	assert_string_equal(s->to_agent.data, "k");
}

TESTS(scene_set_up, scene_tear_down)
