/* test_vm_windows - names, paths and metadata of a Windows host. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "backends/vm/fs/windows_names.h"
#include "backends/vm/fs/windows_overlay.h"

static void names_that_windows_cannot_have(void **state)
{
	static const struct {
		const char *name;
		enum windows_fault fault;
	} cases[] = {
		{"a", WINDOWS_FINE},
		{"node_modules", WINDOWS_FINE},
		{".gitignore", WINDOWS_FINE},
		{"a b", WINDOWS_FINE},
		{"\xc3\xa9t\xc3\xa9", WINDOWS_FINE},
		{"console", WINDOWS_FINE},
		{"COM", WINDOWS_FINE},
		{"com10", WINDOWS_FINE},
		{"xCON", WINDOWS_FINE},
		{"CON", WINDOWS_RESERVED},
		{"con", WINDOWS_RESERVED},
		{"Nul.txt", WINDOWS_RESERVED},
		{"aux .c", WINDOWS_RESERVED},
		{"prn.tar.gz", WINDOWS_RESERVED},
		{"COM0", WINDOWS_RESERVED},
		{"lpt9.x", WINDOWS_RESERVED},
		{"COM\xc2\xb9", WINDOWS_RESERVED},
		{"conin$", WINDOWS_RESERVED},
		{"a:b", WINDOWS_CHARACTER},
		{"a?", WINDOWS_CHARACTER},
		{"a\\b", WINDOWS_CHARACTER},
		{"a\nb", WINDOWS_CHARACTER},
		{"a<b", WINDOWS_CHARACTER},
		{"a.", WINDOWS_TRAILING},
		{"a ", WINDOWS_TRAILING},
		{"..", WINDOWS_TRAILING},
		{"", WINDOWS_LENGTH},
		{"a\xff", WINDOWS_ENCODING},
		{"\xed\xa0\x80", WINDOWS_ENCODING}, /* a surrogate */
	};
	char longest[257];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		enum windows_fault got = windows_name_check(cases[i].name);

		if (got != cases[i].fault)
			fail_msg("'%s': %s", cases[i].name, windows_fault_words(got));
		assert_int_equal(windows_fault_errno(got) == 0, got == WINDOWS_FINE);
	}
	memset(longest, 'x', sizeof(longest));
	longest[256] = '\0';
	assert_int_equal(windows_name_check(longest), WINDOWS_LENGTH);
	longest[255] = '\0';
	assert_int_equal(windows_name_check(longest), WINDOWS_FINE);
}

static void names_that_collide(void **state)
{
	(void)state;
	assert_true(windows_same_name("README", "readme"));
	assert_true(windows_same_name("\xc3\x89t", "\xc3\xa9T"));
	assert_false(windows_same_name("a", "b"));
	assert_false(windows_same_name("a", "a "));
	/* One letter for one: no name is two letters longer than its other case. */
	assert_false(windows_same_name("stra\xc3\x9f"
				       "e",
				       "STRASSE"));
	assert_true(windows_same_name("\xff", "\xff"));
	assert_false(windows_same_name("\xff", "\xfe"));
}

static void paths_stay_below_the_root(void **state)
{
	AUTO_FREE char *path = windows_path("C:\\work\\", "a/b"), *top = windows_path("C:\\w", "");

	(void)state;
	assert_string_equal(path, "\\\\?\\C:\\work\\a\\b");
	assert_string_equal(top, "\\\\?\\C:\\w");
	assert_true(windows_is_contained("C:\\work", path));
	assert_true(windows_is_contained("c:\\WORK\\", "\\\\?\\C:\\work"));
	assert_false(windows_is_contained("C:\\work", "C:\\workshop\\x"));
	assert_false(windows_is_contained("C:\\work", "D:\\work\\x"));
	assert_false(windows_is_contained("C:\\work", "C:\\Users\\secret"));
	assert_false(windows_is_contained("", "C:\\x"));
	assert_false(windows_is_contained("C:\\work", "C:\\work\\\xff"));
}

static void modes_that_nobody_has_set(void **state)
{
	(void)state;
	assert_int_equal(windows_default_mode("src", true), 0755);
	assert_int_equal(windows_default_mode("main.c", false), 0644);
	assert_int_equal(windows_default_mode("run.SH", false), 0755);
	assert_int_equal(windows_default_mode("a.exe", false), 0755);
	assert_int_equal(windows_default_mode("sh", false), 0644);
}

static void an_overlay_remembers(void **state)
{
	struct windows_overlay o = {0}, again = {0};
	AUTO_BUF struct buf text = BUF_INIT, second = BUF_INIT;
	size_t line;

	(void)state;
	assert_null(windows_overlay_get(&o, "bin/tool"));
	assert_int_equal(windows_overlay_set(&o, "bin/tool", 0755, NULL), 0);
	assert_int_equal(windows_overlay_set(&o, "lib/now", 0777, "v 2 > 100%"), 0);
	assert_int_equal(windows_overlay_set(&o, "BIN/TOOL", 0700, NULL), 0);
	assert_int_equal(o.n, 2);
	assert_int_equal(windows_overlay_get(&o, "bin/Tool")->mode, 0700);
	assert_string_equal(windows_overlay_get(&o, "lib/now")->target, "v 2 > 100%");
	assert_int_equal(windows_overlay_set(&o, "\xff", 0, NULL), -EILSEQ);
	windows_overlay_format(&o, &text);
	assert_int_equal(windows_overlay_parse(&again, text.data, &line), 0);
	windows_overlay_format(&again, &second);
	assert_string_equal(text.data, second.data);
	windows_overlay_done(&o);
	windows_overlay_done(&again);
}

static void an_overlay_follows_renames(void **state)
{
	struct windows_overlay o = {0};

	(void)state;
	windows_overlay_set(&o, "dir", 0700, NULL);
	windows_overlay_set(&o, "dir/a", 0755, NULL);
	windows_overlay_set(&o, "directory", 0711, NULL);
	windows_overlay_set(&o, "to/a", 0600, NULL);
	assert_int_equal(windows_overlay_rename(&o, "DIR", "to"), 0);
	assert_null(windows_overlay_get(&o, "dir/a"));
	assert_int_equal(windows_overlay_get(&o, "to/a")->mode, 0755);
	assert_int_equal(windows_overlay_get(&o, "to")->mode, 0700);
	assert_int_equal(windows_overlay_get(&o, "directory")->mode, 0711);
	assert_int_equal(windows_overlay_rename(&o, "to", "to/below"), -EINVAL);
	assert_int_equal(windows_overlay_rename(&o, "to", "TO"), 0); /* another case */
	assert_string_equal(windows_overlay_get(&o, "to/a")->path, "TO/a");
	windows_overlay_remove(&o, "to");
	assert_int_equal(o.n, 1);
	windows_overlay_done(&o);
}

static void bad_lines_are_named(void **state)
{
	static const char *const bad[] = {"x 0755 a\n",	     "m 0955 a\n",    "m 0755 \n",
					  "m 0755 a",	     "m 755 a\n",     "l 0777 a\n",
					  "l 0777 a -> \n",  "m 0755 a%\n",   "m 0755 a%00\n",
					  "m 0755 a -> b\n", "m 0755 a%zz\n", "\n"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_FREE char *text = xasprintf("m 0644 fine\n%s", bad[i]);
		struct windows_overlay o = {0};
		size_t line = 0;

		if (windows_overlay_parse(&o, text, &line) != -EBADMSG || line != 2)
			fail_msg("'%s' is taken", bad[i]);
		windows_overlay_done(&o);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_that_windows_cannot_have),
		cmocka_unit_test(names_that_collide),
		cmocka_unit_test(paths_stay_below_the_root),
		cmocka_unit_test(modes_that_nobody_has_set),
		cmocka_unit_test(an_overlay_remembers),
		cmocka_unit_test(an_overlay_follows_renames),
		cmocka_unit_test(bad_lines_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
