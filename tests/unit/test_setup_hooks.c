/* test_setup_hooks - cordon's hook in an agent's settings: added once, removed completely. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/setup/hooks.h"
#include "tests/support/check.h"

static const struct setup_hook hook = {"a hook", "PreToolUse", "Bash", "cordon hook", 5, NULL};

static const char alone[] =
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n"
	"        \"matcher\": \"Bash\",\n        \"hooks\": [\n          {\n"
	"            \"type\": \"command\",\n            \"command\": \"cordon hook\",\n"
	"            \"timeout\": 5\n          }\n        ]\n      }\n    ]\n  }\n}\n";

TEST(into_nothing)
{
	AUTO_FREE char *text = NULL, *again = NULL, *without = NULL;
	struct err err = {0};

	assert_int_equal(hooks_merge(&text, NULL, &hook, &err), 0);
	assert_string_equal(text, alone);
	assert_int_equal(hooks_merge(&again, text, &hook, &err), 0);
	assert_null(again);
	assert_int_equal(hooks_remove(&without, text, &err), 0);
	assert_string_equal(without, "{}\n");
}

/* Other settings keep their order and layout, and are restored byte for byte. */
TEST(beside_others)
{
	static const char *const before[] = {
		"{\n  \"model\": \"x\"\n}\n",
		"{\n  \"z\": [\n    1,\n    2.5,\n    {\n      \"a\": null\n    }\n  ],\n  "
		"\"hooks\": {\n"
		"    \"Stop\": []\n  },\n  \"b\": \"\\u00e9\\\"\"\n}\n",
		"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\n        \"matcher\": "
		"\"Edit\",\n"
		"        \"hooks\": [\n          {\n            \"type\": \"command\",\n"
		"            \"command\": \"mine\"\n          }\n        ]\n      }\n    ]\n  "
		"}\n}\n",
		"{\n\t\"model\": \"x\",\n\t\"list\": [\n\t\t1\n\t]\n}",
		"{\n    \"model\": {\n        \"a\": 1\n    }\n}\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(before); i++) {
		AUTO_FREE char *with = NULL, *without = NULL, *none = NULL;
		struct err err = {0};

		assert_int_equal(hooks_remove(&none, before[i], &err), 0);
		assert_null(none);
		assert_int_equal(hooks_merge(&with, before[i], &hook, &err), 0);
		assert_non_null(strstr(with, "cordon hook"));
		if (i > 2) /* the old text is unchanged, up to its last line */
			assert_memory_equal(with, before[i], strlen(before[i]) - strlen("\n}\n"));
		assert_int_equal(hooks_remove(&without, with, &err), 0);
		if (i != 1) /* its é stays as written */
			assert_string_equal(without, before[i]);
		assert_null(strstr(without, "cordon"));
	}
}

TEST(what_is_not_its_form)
{
	static const char *const texts[] = {"",
					    "[]",
					    "{\n// x\n}",
					    "{\"a\":1,}",
					    "{} {}",
					    "{\"hooks\":[]}",
					    "{\"hooks\":{\"PreToolUse\":{}}}"};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_FREE char *text = NULL;
		struct err err = {0};

		assert_int_equal(hooks_merge(&text, texts[i], &hook, &err), -EINVAL);
		assert_null(text);
		assert_null(strchr(err.text, '\n'));
	}
}

TESTS(NULL, NULL)
