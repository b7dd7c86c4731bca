/* test_term_input - keys, pastes, mouse and focus become the bytes that the agent expects. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/term_fixture.h"

static const struct rect at = {5, 2, 10, 4};

static const char *key(struct pane *p, uint32_t sym, uint32_t mods)
{
	struct event ev = {.type = EVENT_KEY, .key = {.sym = sym, .mods = mods}};

	term_input(p->t, &ev, at);
	return pane_answers(p);
}

static const char *mouse(struct pane *p, enum mouse_action action, int button, int x, int y,
			 uint32_t mods)
{
	struct event ev = {.type = EVENT_MOUSE, .mouse = {action, button, x, y, mods, false}};
	bool sent = term_input(p->t, &ev, at);
	const char *bytes = pane_answers(p);

	assert_int_equal(sent, *bytes != '\0');
	return bytes;
}

static const char *paste(struct pane *p, const char *text)
{
	struct event ev = {.type = EVENT_PASTE, .paste = {text, strlen(text)}};

	ev.paste_begins = ev.paste_ends = true;
	term_input(p->t, &ev, at);
	return pane_answers(p);
}

TEST(characters)
{
	struct pane *p = *state;

	assert_string_equal(key(p, 'a', 0), "a");
	assert_string_equal(key(p, 0xe9, 0), "\xc3\xa9");
	assert_string_equal(key(p, 0x1f916, 0), "\xf0\x9f\xa4\x96");
	assert_string_equal(key(p, 'x', MOD_ALT), "\033x");
	assert_string_equal(key(p, 'c', MOD_CTRL), "\003");
	assert_string_equal(key(p, 'j', MOD_CTRL), "\n");
	assert_string_equal(key(p, ']', MOD_CTRL), "\035");
	assert_string_equal(key(p, 'c', MOD_CTRL | MOD_ALT), "\033\003");
	assert_string_equal(key(p, '/', MOD_CTRL), "\037");
	assert_string_equal(key(p, ';', MOD_CTRL), ";");
	key(p, ' ', MOD_CTRL);
	assert_int_equal(
		term_input(p->t, &(struct event){.type = EVENT_KEY, .key = {' ', MOD_CTRL}}, at),
		true);
	assert_int_equal(p->out.len, 1);
	assert_int_equal(p->out.data[0], 0);
}

TEST(named_keys)
{
	struct pane *p = *state;

	assert_string_equal(key(p, SYM_ENTER, 0), "\r");
	assert_string_equal(key(p, SYM_ENTER, MOD_ALT), "\033\r");
	assert_string_equal(key(p, SYM_ENTER, MOD_SHIFT), "\033\r");
	assert_string_equal(key(p, SYM_TAB, 0), "\t");
	assert_string_equal(key(p, SYM_TAB, MOD_SHIFT), "\033[Z");
	assert_string_equal(key(p, SYM_ESC, 0), "\033");
	assert_string_equal(key(p, SYM_BACKSPACE, 0), "\177");
	assert_string_equal(key(p, SYM_BACKSPACE, MOD_CTRL), "\b");
	assert_string_equal(key(p, SYM_BACKSPACE, MOD_ALT), "\033\177");
	assert_string_equal(key(p, SYM_UP, 0), "\033[A");
	assert_string_equal(key(p, SYM_LEFT, MOD_CTRL), "\033[1;5D");
	assert_string_equal(key(p, SYM_HOME, MOD_SHIFT), "\033[1;2H");
	assert_string_equal(key(p, SYM_DELETE, 0), "\033[3~");
	assert_string_equal(key(p, SYM_PAGE_UP, MOD_ALT), "\033[5;3~");
	assert_string_equal(key(p, SYM_F1, 0), "\033OP");
	assert_string_equal(key(p, SYM_F1 + 4, 0), "\033[15~");
	assert_string_equal(key(p, SYM_F12, MOD_SHIFT), "\033[24;2~");
	pane_feed(p, "\033[?1h");
	assert_string_equal(key(p, SYM_UP, 0), "\033OA");
	assert_string_equal(key(p, SYM_UP, MOD_CTRL), "\033[1;5A");
}

static const char *asked(struct pane *p, const char *bytes)
{
	pane_feed(p, bytes);
	return pane_answers(p);
}

TEST(keys_without_ambiguity)
{
	struct pane *p = *state;

	assert_string_equal(asked(p, "\033[?u"), "\033[?0u");
	assert_string_equal(asked(p, "\033[>1u\033[?u"), "\033[?1u");
	assert_string_equal(key(p, SYM_ENTER, MOD_SHIFT), "\033[13;2u");
	assert_string_equal(key(p, SYM_ENTER, 0), "\r");
	assert_string_equal(key(p, SYM_TAB, 0), "\t");
	assert_string_equal(key(p, SYM_TAB, MOD_SHIFT), "\033[9;2u");
	assert_string_equal(key(p, SYM_BACKSPACE, 0), "\177");
	assert_string_equal(key(p, SYM_ESC, 0), "\033[27u");
	assert_string_equal(key(p, 'c', MOD_CTRL), "\033[99;5u");
	assert_string_equal(key(p, 'X', MOD_ALT), "\033[120;4u");
	assert_string_equal(key(p, 'X', 0), "X");
	assert_string_equal(key(p, 0xe9, 0), "\xc3\xa9");
	assert_string_equal(key(p, SYM_UP, MOD_CTRL), "\033[1;5A");
	/* The alternate screen has flags of its own, which stay there. */
	assert_string_equal(asked(p, "\033[?1049h\033[?u"), "\033[?0u");
	assert_string_equal(key(p, SYM_ESC, 0), "\033");
	assert_string_equal(asked(p, "\033[=5;1u\033[?u"), "\033[?1u"); /* of 5 cordon supports 1 */
	assert_string_equal(asked(p, "\033[=1;3u\033[?u"), "\033[?0u");
	assert_string_equal(asked(p, "\033[=1;2u\033[?u"), "\033[?1u");
	assert_string_equal(asked(p, "\033[?1049l\033[?u"), "\033[?1u");
	assert_string_equal(asked(p, "\033[>0u\033[?u"), "\033[?0u");
	assert_string_equal(asked(p, "\033[<u\033[?u"), "\033[?1u");
	assert_string_equal(asked(p, "\033[<9u\033[?u"), "\033[?0u");
	for (int i = 0; i < 40; i++) /* more than are stored */
		pane_feed(p, "\033[>1u");
	assert_string_equal(asked(p, "\033[<15u\033[?u"), "\033[?1u");
	assert_string_equal(asked(p, "\033[<u\033[?u"), "\033[?0u");
	assert_string_equal(asked(p, "\033[>1u\033c\033[?u"), "\033[?0u"); /* RIS */
	assert_string_equal(key(p, SYM_ESC, 0), "\033");
}

TEST(pastes)
{
	struct pane *p = *state;

	assert_string_equal(paste(p, "a\nb\r\nc\td"), "a\rb\rc\td");
	pane_feed(p, "\033[?2004h");
	assert_string_equal(paste(p, "x"), "\033[200~x\033[201~");
	/* A text that tries to end the paste. */
	assert_string_equal(paste(p, "a\033[201~rm\x03\xc2\x9b"
				     "201~\177"),
			    "\033[200~a[201~rm201~\033[201~");
	assert_string_equal(paste(p, "\xc3\xa9\xc2\xa0"), "\033[200~\xc3\xa9\xc2\xa0\033[201~");
}

TEST(mouse_only_when_asked)
{
	struct pane *p = *state;

	assert_string_equal(mouse(p, MOUSE_PRESS, 1, 6, 3, 0), "");
	pane_feed(p, "\033[?1000;1006h");
	assert_string_equal(mouse(p, MOUSE_PRESS, 1, 6, 3, 0), "\033[<0;2;2M");
	assert_string_equal(mouse(p, MOUSE_DRAG, 1, 7, 3, 0), "");
	assert_string_equal(mouse(p, MOUSE_RELEASE, 1, 7, 3, 0), "\033[<0;3;2m");
	assert_string_equal(mouse(p, MOUSE_WHEEL_UP, 0, 7, 3, 0), "\033[<64;3;2M");
	assert_string_equal(mouse(p, MOUSE_WHEEL_DOWN, 0, 7, 3, MOD_CTRL), "\033[<81;3;2M");
	assert_string_equal(mouse(p, MOUSE_PRESS, 1, 4, 3, 0), "");
	assert_string_equal(mouse(p, MOUSE_PRESS, 1, 6, 6, 0), "");
	pane_feed(p, "\033[?1002h");
	mouse(p, MOUSE_PRESS, 3, 6, 3, 0);
	assert_string_equal(mouse(p, MOUSE_DRAG, 3, 100, 100, 0), "\033[<34;10;4M");
	assert_string_equal(mouse(p, MOUSE_RELEASE, 0, 100, 100, 0), "\033[<2;10;4m");
	assert_string_equal(mouse(p, MOUSE_MOVE, 0, 6, 3, 0), "");
	pane_feed(p, "\033[?1003h");
	assert_string_equal(mouse(p, MOUSE_MOVE, 0, 7, 3, 0), "\033[<35;3;2M");
	pane_feed(p, "\033[?1006l");
	assert_string_equal(mouse(p, MOUSE_PRESS, 1, 7, 3, 0), "\033[M #\"");
}

TEST(focus_only_when_asked)
{
	struct pane *p = *state;
	struct event in = {.type = EVENT_FOCUS, .focused = true}, out = {.type = EVENT_FOCUS};

	assert_false(term_input(p->t, &in, at));
	pane_feed(p, "\033[?1004h");
	assert_true(term_input(p->t, &in, at));
	assert_true(term_input(p->t, &out, at));
	assert_string_equal(pane_answers(p), "\033[I\033[O");
}

TESTS(pane_setup, pane_teardown)
