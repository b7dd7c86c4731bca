/* test_input - bytes from terminals of all kinds become keys, pastes and mouse events. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tui/look/keymap.h"

/* Events as words: "C-x", "paste(text)", "press1@3,4". */
static void describe(const struct event *ev, struct buf *out)
{
	static const char *const mouse[] = {"press", "release", "drag", "move", "up", "down"};
	struct keys one = {.n = 1, .key = {ev->key}};
	char keys[32];

	switch (ev->type) {
	case EVENT_KEY:
		keys_format(&one, keys, sizeof(keys));
		buf_fmt(out, "%s ", keys);
		break;
	case EVENT_PASTE:
		buf_fmt(out, "%spaste(%.*s)%s ", ev->paste_begins ? "<" : "", (int)ev->paste.len,
			ev->paste.data, ev->paste_ends ? ">" : "");
		break;
	case EVENT_MOUSE:
		buf_fmt(out, "%s%d@%d,%d ", mouse[ev->mouse.action], ev->mouse.button, ev->mouse.x,
			ev->mouse.y);
		break;
	case EVENT_FOCUS:
		buf_fmt(out, "%s ", ev->focused ? "in" : "out");
		break;
	case EVENT_COLOR:
		buf_fmt(out, "%s#%06x ", ev->background ? "back" : "text", ev->color & 0xffffff);
		break;
	}
}

static void drain(struct input *in, struct buf *out)
{
	struct event ev;

	while (input_next(in, &ev))
		describe(&ev, out);
}

static void expect(const char *bytes, size_t len, const char *want)
{
	/* Whole, and byte by byte: the division must not matter. */
	for (int split = 0; split < 2; split++) {
		AUTO_BUF struct buf got = BUF_INIT;
		struct input in;

		input_init(&in);
		for (size_t i = 0; i < len; i += split ? 1 : len) {
			input_feed(&in, bytes + i, split ? 1 : len);
			drain(&in, &got);
		}
		if (input_pending(&in)) {
			input_flush(&in);
			drain(&in, &got);
		}
		if (!split || !strstr(want, "paste"))
			assert_string_equal(got.data, want);
		input_done(&in);
	}
}
#define EXPECT(bytes, want) expect(bytes, sizeof(bytes) - 1, want)

TEST(plain_and_control_keys)
{
	EXPECT("aZ \r\t\177\003\035\0", "a Z Space Enter Tab Backspace C-c C-] C-Space ");
	EXPECT("\303\244\346\227\245", "\303\244 \346\227\245 ");
	EXPECT("\n", "C-j ");
}

TEST(named_keys_of_several_terminals)
{
	EXPECT("\033[A\033OB\033[H\033[F\033OH\033[1~\033[7~\033[5~\033[6~\033[3~",
	       "Up Down Home End Home Home Home PageUp PageDown Delete ");
	EXPECT("\033OP\033[11~\033[[A\033[15~\033[24~\033[[E", "F1 F1 F1 F5 F12 F5 ");
	EXPECT("\033[1;5A\033[1;3D\033[1;2C\033[5;5~\033[Z", "C-Up M-Left S-Right C-PageUp S-Tab ");
	EXPECT("\033[3$\033[3^", "S-Delete C-Delete ");
}

TEST(alt_and_escape)
{
	EXPECT("\033x\033\r\033\001", "M-x M-Enter C-M-a ");
	EXPECT("\033", "Esc ");
	EXPECT("\033[", "M-[ ");
	EXPECT("\033O", "M-O ");
	EXPECT("\033\033", "Esc Esc ");
}

TEST(extended_keys)
{
	EXPECT("\033[97;5u\033[27;5;46~\033[13;2u\033[65;2u", "C-a C-. S-Enter A ");
}

TEST(mouse_and_focus)
{
	EXPECT("\033[<0;4;5M\033[<0;4;5m\033[<32;9;9M\033[<64;1;1M\033[<65;1;1M",
	       "press1@3,4 release1@3,4 drag1@8,8 up0@0,0 down0@0,0 ");
	EXPECT("\033[I\033[O", "in out ");
}

TEST(colors_that_were_asked_for)
{
	EXPECT("\033]11;rgb:ffff/8080/0000\033\\a\033]10;rgb:f/00/12c\a",
	       "back#ff8000 a text#ff0013 ");
	EXPECT("\033]11;rgb:1/2\a\033]11;rgb:1/2/3/4\a\033]11;rgb://\a", "");
	EXPECT("\033]", "M-] ");
	EXPECT("\033]1a", "M-] 1 a ");
	EXPECT("\033]12;", "M-] 1 2 ; ");
	EXPECT("\033]11;rgb:1/2/3a\033x", "M-] 1 1 ; r g b : 1 / 2 / 3 a M-x ");
}

/* On a slow line no letter of the answer may count as a key, least of all as one that decides. */
TEST(the_late_rest_of_a_color_is_no_keys)
{
	static const char *const rest[] = {"aaaa/dddd/aaaa\a", "aaaa/dddd/aaaa\033\\", "dd",
					   "dd\a"};
	AUTO_BUF struct buf got = BUF_INIT;
	struct input in;

	input_init(&in);
	for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
		if (i < 3) { /* the third comes in two parts */
			input_feed(&in, "\033]11;rgb:", 9);
			drain(&in, &got);
			input_flush(&in);
			drain(&in, &got);
		}
		input_feed(&in, rest[i], strlen(rest[i]));
		drain(&in, &got);
	}
	input_feed(&in, "x", 1);
	drain(&in, &got);
	assert_string_equal(got.data, "x ");
	input_done(&in);
}

TEST(pastes_are_no_keys)
{
	EXPECT("\033[200~a\rq\033[A\033[201~x", "<paste(a\rq\033[A)> x ");
	EXPECT("\033[200~\033[201~", "<paste()> ");
}

TEST(a_paste_in_pieces_ends_once)
{
	AUTO_BUF struct buf got = BUF_INIT;
	struct input in;

	input_init(&in);
	input_feed(&in, "\033[200~ab\033[20", 12);
	drain(&in, &got);
	input_flush(&in); /* a pause in the middle does not end it */
	drain(&in, &got);
	input_feed(&in, "1~c", 3);
	drain(&in, &got);
	assert_string_equal(got.data, "<paste(ab) paste()> c ");
	input_done(&in);
}

TEST(noise_is_dropped)
{
	char noise[4096];
	AUTO_BUF struct buf got = BUF_INIT;
	struct input in;

	EXPECT("\033[?1;2c\033[>0;276;0c\033[99~a", "a ");
	EXPECT("\377\376a", "a ");
	input_init(&in);
	for (unsigned seed = 1; seed < 200; seed++) {
		for (size_t i = 0; i < sizeof(noise); i++)
			noise[i] = (char)((i * seed * 2654435761u) >> 13);
		for (size_t i = 0; i + 3 < sizeof(noise); i += 37)
			memcpy(noise + i, "\033[<", 3);
		input_feed(&in, noise, sizeof(noise));
		drain(&in, &got);
		buf_clear(&got);
	}
	input_done(&in);
}

TESTS(NULL, NULL)
