/* test_api_message - lines of the session's protocol: which are accepted, refused, and sent. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>

#include "core/api/socket/api_priv.h"
#include "core/audit/reader.h"
#include "tests/support/check.h"

static int parse(const char *line, struct command_in *c)
{
	struct err err = {0};
	int r = message_parse(line, strlen(line), c, &err);

	assert_true(r == 0 || err.text[0]);
	return r;
}

TEST(commands_have_their_answers)
{
	static const struct {
		const char *line;
		struct answer answer;
	} good[] = {
		{"{\"type\":\"cmd.approve\",\"id\":7}", {.allow = true}},
		{"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"session\"}",
		 {.allow = true, .scope = SCOPE_SESSION}},
		{"{\"id\":7,\"extent\":\"tree\",\"scope\":\"step\",\"type\":\"cmd.approve\"}",
		 {.allow = true, .scope = SCOPE_STEP, .extent = EXTENT_TREE}},
		{"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"user\",\"extent\":\"dir\","
		 "\"until\":1800000000}",
		 {.allow = true, .scope = SCOPE_USER, .extent = EXTENT_DIR, .until = 1800000000}},
		{"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"org\",\"persist\":true}",
		 {.allow = true, .scope = SCOPE_ORG}},
		{"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"project\",\"persist\":false}",
		 {.allow = true, .scope = SCOPE_SESSION}},
		{"{\"type\":\"cmd.deny\",\"id\":7,\"more\":[1,{}]}", {.allow = false}},
		{"{\"type\":\"cmd.deny\",\"id\":7,\"scope\":\"session\"}",
		 {.scope = SCOPE_SESSION}},
	};
	struct command_in c;

	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		assert_int_equal(parse(good[i].line, &c), 0);
		assert_int_equal(c.does, COMMAND_ANSWER);
		assert_int_equal(c.id, 7);
		assert_int_equal(c.answer.allow, good[i].answer.allow);
		assert_int_equal(c.answer.scope, good[i].answer.scope);
		assert_int_equal(c.answer.extent, good[i].answer.extent);
		assert_int_equal(c.answer.until, good[i].answer.until);
	}
	assert_int_equal(parse("{\"type\":\"cmd.revoke\",\"rule\":\"9223372036854775809\"}", &c),
			 0);
	assert_int_equal(c.does, COMMAND_REVOKE);
	assert_true(c.id == UINT64_C(9223372036854775809));
	assert_int_equal(parse("{\"type\":\"cmd.console\"}", &c), 0);
	assert_int_equal(c.does, COMMAND_CONSOLE);
	assert_int_equal(parse("{\"type\":\"cmd.own_settings\",\"id\":7}", &c), 0);
	assert_int_equal(c.does, COMMAND_OWN_SETTINGS);
	assert_int_equal(c.id, 7);
	assert_int_equal(parse("{\"type\":\"cmd.own_settings\"}", &c), -EINVAL);
}

TEST(in_doubt_nothing_is_allowed)
{
	static const char *const bad[] = {
		"",
		"null",
		"7",
		"[]",
		"{}",
		"{\"type\":\"cmd.approve\"}",
		"{\"type\":\"cmd.approve\",\"id\":\"7\"}",
		"{\"type\":\"cmd.approve\",\"id\":0}",
		"{\"type\":\"cmd.approve\",\"id\":-7}",
		"{\"type\":\"cmd.approve\",\"id\":1e99}",
		"{\"type\":\"CMD.APPROVE\",\"id\":7}",
		"{\"type\":[\"cmd.approve\"],\"id\":7}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"\"}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":null}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"ever\"}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"session\",\"extent\":\"all\"}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"session\",\"until\":\"now\"}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"session\",\"until\":-1}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"session\",\"persist\":true}",
		"{\"type\":\"cmd.approve\",\"id\":7,\"scope\":\"user\",\"persist\":1}",
		"{\"type\":\"cmd.revoke\"}",
		"{\"type\":\"cmd.revoke\",\"rule\":7}",
		"{\"type\":\"cmd.revoke\",\"rule\":\"-7\"}",
		"{\"type\":\"cmd.revoke\",\"rule\":\"7x\"}",
		"{\"type\":\"cmd.publish\",\"port\":80}",
		"{\"type\":\"cmd.undo\",\"request\":1}",
		"{\"type\":\"cmd.approve\",\"id\":7",
		"{\"type\":\"cmd.approve\",\"id\":7}{\"type\":\"cmd.approve\",\"id\":8}",
	};
	struct command_in c;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (parse(bad[i], &c) == 0)
			fail_msg("taken: %s", bad[i]);
}

/* With any bytes in a path, the line stays one line, and both kinds of reader get the bytes
 * back. */
TEST(any_bytes_survive)
{
	char path[] = "/w/\x01\n\"\\\xc3\xa9\xff\x7f {}";
	struct ask a = {.id = 3, .step = -1, .pid = 12, .path = path};
	AUTO_BUF struct buf out = BUF_INIT;
	struct audit_record r;
	size_t len = 0;

	message_request(&out, &a);
	assert_ptr_equal(strchr(out.data, '\n'), out.data + out.len - 1);
	audit_record_init(&r);
	assert_int_equal(audit_record_parse(&r, out.data, out.len - 1), 0);
	assert_string_equal(audit_record_get(&r, "path", &len), path);
	assert_string_equal(audit_record_get(&r, "program", NULL), "null");
	assert_string_equal(audit_record_get(&r, "step", NULL), "-1");
	audit_record_done(&r);
}

TEST(connections_have_addresses)
{
	static const struct {
		enum rule_kind kind;
		const char *path, *via, *members; /* NULL: not a connection */
	} list[] = {
		{RULE_CONNECT, "203.0.113.7:443", "good.example:443",
		 "\"id\":3,\"pid\":12,\"port\":443,\"is_loopback\":false,\"op\":\"connect\","
		 "\"addr\":\"203.0.113.7\",\"host\":\"good.example\""},
		{RULE_CONNECT, "good.example:443", "2001:db8::1",
		 "\"id\":3,\"pid\":12,\"port\":443,\"is_loopback\":false,\"op\":\"connect\","
		 "\"addr\":\"2001:db8::1\",\"host\":\"good.example\""},
		{RULE_CONNECT, "good.example", NULL,
		 "\"id\":3,\"pid\":12,\"port\":0,\"is_loopback\":false,\"op\":\"resolve\","
		 "\"addr\":\"\",\"host\":\"good.example\""},
		{RULE_BIND, "127.0.0.1:80", "",
		 "\"id\":3,\"pid\":12,\"port\":80,\"is_loopback\":true,\"op\":\"bind\","
		 "\"addr\":\"127.0.0.1\""},
		{RULE_WRITE, "/w/127.0.0.1:80", "", NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_FREE char *path = xstrdup(list[i].path);
		AUTO_FREE char *via = list[i].via ? xstrdup(list[i].via) : NULL;
		const struct ask a = {
			.id = 3, .pid = 12, .kind = list[i].kind, .path = path, .via = via};
		AUTO_BUF struct buf out = BUF_INIT;

		assert_int_equal(message_connection_members(&out, &a), list[i].members != NULL);
		assert_string_equal(out.data, list[i].members ? list[i].members : "");
	}
}

TEST(replies_are_json)
{
	AUTO_BUF struct buf out = BUF_INIT;
	cJSON *yes, *no;

	message_reply(&out, 5, NULL);
	yes = cJSON_Parse(out.data);
	buf_clear(&out);
	message_reply(&out, 6, "no \"such\"\n thing");
	no = cJSON_Parse(out.data);
	assert_true(cJSON_IsTrue(cJSON_GetObjectItem(yes, "ok")));
	assert_true(cJSON_IsNull(cJSON_GetObjectItem(yes, "error")));
	assert_true(cJSON_IsFalse(cJSON_GetObjectItem(no, "ok")));
	assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(no, "error")),
			    "no \"such\"\n thing");
	cJSON_Delete(yes);
	cJSON_Delete(no);
}

TESTS(NULL, NULL)
