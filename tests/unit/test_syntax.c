/* test_syntax - colours in a line of code, and new words in a changed line. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tui/console/views/diff_words.h"
#include "tui/look/syntax.h"

/* One letter a byte: . plain, c comment, s string, n number, k keyword, t type. */
static uint8_t expect(const char *path, uint8_t state, const char *text, const char *want)
{
	uint8_t classes[256] = {0};
	char got[257] = "";
	const struct syntax *l = syntax_of(path);
	uint8_t quick;

	assert_non_null(l);
	quick = syntax_line(l, state, text, strlen(text), NULL);
	assert_int_equal(quick, syntax_line(l, state, text, strlen(text), classes));
	for (size_t i = 0; i < strlen(text); i++)
		got[i] = ".csnkt"[classes[i]];
	assert_string_equal(got, want);
	return quick;
}

TEST(lines_of_code)
{
	expect("a.c", 0, "int x = 0x1f; // y", "ttt.....nnnn..cccc");
	expect("a.c", 0, "return \"a\\\"b\" + c;", "kkkkkk.ssssss.....");
	expect("a.c", 0, "  #include <x>", "..kkkkkkkk....");
	expect("a.py", 0, "def f(x): # it", "kkk.......cccc");
	expect("a.py", 0, "a#b", "...");
	expect("Makefile", 0, "ifeq ($(X),1)", "kkkk.......n.");
	expect("b.SQL", 0, "SELECT a FROM t", "kkkkkk...kkkk..");
	expect("a.json", 0, "{\"a\": true, 1.5}", ".sss..tttt..nnn.");
	assert_null(syntax_of("a.bin"));
	assert_null(syntax_of(""));
}

TEST(what_goes_on_in_the_next_line)
{
	uint8_t s = expect("a.c", 0, "x /* y", "..cccc");

	s = expect("a.c", s, "if (1)", "cccccc");
	s = expect("a.c", s, "*/ if", "cc.kk");
	assert_int_equal(s, 0);
	s = expect("a.py", 0, "\"\"\"doc", "ssssss");
	s = expect("a.py", s, "if it's", "sssssss");
	assert_int_equal(expect("a.py", s, "\"\"\"", "sss"), 0);
	assert_int_equal(expect("a.go", 0, "`raw", "ssss"), expect("a.js", 0, "`raw", "ssss"));
}

TEST(anything_else)
{
	char text[64];

	srand(7);
	for (int i = 0; i < 20000; i++) {
		static const char *const names[] = {"a.c", "a.py", "a.lua", "a.html", "a.rs"};
		uint8_t classes[64];
		size_t n = (size_t)rand() % sizeof(text);

		for (size_t k = 0; k < n; k++)
			text[k] = "\"'/*-[]<!>#`\\a0 \t\xc3\xff"[rand() % 20];
		syntax_line(syntax_of(names[i % 5]), (uint8_t)(rand() % 6), text, n, classes);
		for (size_t k = 0; k < n; k++)
			assert_in_range(classes[k], SYNTAX_PLAIN, SYNTAX_TYPE);
	}
}

static void words(const char *a, const char *b, const char *want_a, const char *want_b)
{
	uint8_t x[128], y[128];
	char got[129] = "";

	diff_words(a, strlen(a), b, strlen(b), x, y);
	for (size_t i = 0; i < strlen(a); i++)
		got[i] = x[i] ? '^' : ' ';
	assert_string_equal(got, want_a);
	memset(got, 0, sizeof(got));
	for (size_t i = 0; i < strlen(b); i++)
		got[i] = y[i] ? '^' : ' ';
	assert_string_equal(got, want_b);
}

TEST(changed_words)
{
	words("foo(a, b)", "foo(a, bc)", "       ^ ", "       ^^ ");
	words("one", "two", "   ", "   "); /* with nothing in common, no words are marked */
	words("x = 1;", "long x = 1;", "      ", "^^^^^      ");
	words("", "a", "", " ");
	assert_true(diff_same_blank("a b", 3, "a\t  b ", 6));
	assert_false(diff_same_blank("ab", 2, "a", 1));
	assert_true(diff_same_blank("", 0, "  ", 2));
}

TESTS(NULL, NULL)
