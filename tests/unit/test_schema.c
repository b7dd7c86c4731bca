/* test_schema - the shipped schemas: they list our errors, and values are checked by them. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>

#include "core/api/describe.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/base/base64.h"
#include "tests/support/check.h"

TEST(errors_are_those_of_the_document)
{
	static const struct {
		enum fault_code code;
		const char *name;
	} known[] = {
#define X(id, number, name) {FAULT_##id, name},
		FAULTS(X)
#undef X
	};
	const cJSON *errors = schema_find("protocol.json", "$defs/errors");

	assert_int_equal(cJSON_GetArraySize(errors), ARRAY_LEN(known));
	for (size_t i = 0; i < ARRAY_LEN(known); i++) {
		const cJSON *e = cJSON_GetObjectItemCaseSensitive(errors, known[i].name);

		assert_non_null(e);
		assert_int_equal(cJSON_GetObjectItem(e, "code")->valueint, known[i].code);
		assert_string_equal(fault_name(known[i].code), known[i].name);
	}
}

/* The path in the message is already JSON. */
static const char *message_path(const struct fault *f)
{
	static char path[128];
	const char *text = cJSON_GetObjectItem(f->data, "path")->valuestring;

	snprintf(path, sizeof(path), "%.*s", (int)strlen(text) - 2, text + 1);
	return path;
}

TEST(values_are_checked)
{
	static const struct {
		const char *operation, *payload, *path; /* NULL: valid */
	} cases[] = {
		{"fs.read", "{\"path\":\"a\"}", NULL},
		{"fs.read", "{}", "/payload/path"},
		{"fs.read", "[]", "/payload"},
		{"fs.read", "{\"path\":7}", "/payload/path"},
		{"fs.read", "{\"path\":\"\"}", "/payload/path"},
		{"fs.read", "{\"path\":\"a\",\"pth\":1}", "/payload/pth"},
		{"fs.read", "{\"path\":\"a\",\"offset\":0.5}", "/payload/offset"},
		{"fs.read", "{\"path\":\"a\",\"length\":8388609}", "/payload/length"},
		{"fs.read", "{\"path\":\"a\",\"encoding\":\"x\"}", "/payload/encoding"},
		{"session.start", "{\"working_directories\":[]}", "/payload/working_directories"},
		{"session.start", "{\"working_directories\":[{\"path\":\"a\"},{\"path\":1}]}",
		 "/payload/working_directories/1/path"},
		{"session.start",
		 "{\"working_directories\":[{\"path\":\"a\"}],\"settings\":{\"k\":1}}",
		 "/payload/settings/k"},
		{"approval.answer", "{\"id\":1,\"allow\":true,\"scope\":\"ever\"}",
		 "/payload/scope"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cJSON *v = cJSON_Parse(cases[i].payload);
		struct fault f = {0};
		int r = schema_check_payload(cases[i].operation, v, &f);

		assert_int_equal(r, cases[i].path ? -1 : 0);
		if (cases[i].path)
			assert_string_equal(message_path(&f), cases[i].path);
		fault_done(&f);
		cJSON_Delete(v);
	}
}

TEST(bytes_survive_a_line)
{
	char line[] = "{\"a\":\"x\\udcff\\ud83d\\ude00\\\\udc80\"}";
	char strict[] = "{\"a\":\"\\udcff\\\\udc80\"}", nul[] = "{\"a\":\"\\u0000\"}";
	char more[] = "{} {}";
	cJSON *o = request_line_parse(line, strlen(line));

	assert_non_null(o);
	assert_string_equal(cJSON_GetObjectItem(o, "a")->valuestring,
			    "x\xff\xf0\x9f\x98\x80\\udc80");
	cJSON_Delete(o);
	request_line_strict(strict);
	assert_string_equal(strict, "{\"a\":\"\\ufffd\\\\udc80\"}");
	assert_null(request_line_parse(nul, strlen(nul)));
	assert_null(request_line_parse(more, strlen(more)));
}

TEST(base64_is_whole)
{
	static const char *const wrong[] = {
		"a", "ab", "abc", "a===", "ab=c", "====", "abc\n", "ab c"};
	size_t n = 0;
	char *bytes = base64_decode("/wAQ", &n);

	assert_non_null(bytes);
	assert_int_equal(n, 3);
	assert_memory_equal(bytes, "\xff\0\x10", 3);
	free(bytes);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_null(base64_decode(wrong[i], &n));
}

TESTS(NULL, NULL)
