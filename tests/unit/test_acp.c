/* test_acp - which lines of an agent reach its editor. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "core/api/acp/acp.h"
#include "core/api/request_line.h"
#include "tests/support/check.h"

struct seen {
	char what[256]; /* the newest question */
	size_t asked, refused;
	int permissions; /* number of requests so far, and the newest state */
	bool waits;
};

static void on_turn(void *data, const char *prompt)
{
	(void)data, (void)prompt;
}

static void on_permission(void *data, bool asks)
{
	struct seen *s = data;

	s->permissions += asks;
	s->waits = asks;
}

static void on_refused(void *data, const char *words)
{
	(void)words;
	((struct seen *)data)->refused++;
}

static enum acp_verdict on_asks(void *data, uint64_t id, enum acp_act act, const char *what)
{
	struct seen *s = data;

	(void)id, (void)act;
	s->asked++;
	snprintf(s->what, sizeof(s->what), "%s", what);
	return ACP_ALLOW;
}

static void on_withdrawn(void *data, uint64_t id)
{
	(void)data, (void)id;
}

static const struct acp_listener on = {.turn = on_turn,
				       .permission = on_permission,
				       .refused = on_refused,
				       .asks = on_asks,
				       .withdrawn = on_withdrawn};

/* The agent sends a line after the editor's hello; checks what the editor gets. */
static void says(enum acp_tools tools, const char *line, size_t len, struct seen *s,
		 struct buf *editor)
{
	static const char hello[] = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n";
	struct acp *a = acp_new(tools, &on, s);
	AUTO_BUF struct buf agent = BUF_INIT;

	*s = (struct seen){0};
	buf_clear(editor);
	acp_from_editor(a, hello, sizeof(hello) - 1, false, &agent, editor);
	acp_from_agent(a, line, len, true, editor, &agent);
	acp_free(a);
}

TEST(what_is_asked_about_has_one_reading)
{
	static const char *const unclear[] = {
		"\"command\":\"ls\",\"Args\":[\"-x\"]",
		"\"command\":\"ls\",\"args\":\"-x\"",
		"\"command\":\"ls\",\"args\":{\"0\":\"-x\"}",
		"\"command\":\"ls\",\"ENV\":[]",
		"\"command\":\"ls\",\"env\":\"A=b\"",
		"\"command\":\"ls\",\"CWD\":\"/\"",
		"\"command\":\"ls\",\"command\":\"id\"",
		"\"command\":\"l\xffs\"",
		"\"command\":\"l\xc0\xaes\"",
		"\"command\":[\"ls\"]",
		"\"command\":\"\"",
	};
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;
	char line[256];

	for (size_t i = 0; i < ARRAY_LEN(unclear); i++) {
		snprintf(line, sizeof(line),
			 "{\"id\":1,\"method\":\"terminal/create\",\"params\":{%s}}\n", unclear[i]);
		says(ACP_TOOLS_ASK, line, strlen(line), &s, &editor);
		assert_int_equal(s.asked, 0);
		assert_int_equal(s.refused, 1);
		assert_int_equal(editor.len, 0);
	}
	snprintf(line, sizeof(line),
		 "{\"id\":1,\"method\":\"terminal/create\",\"params\":{\"command\":\"ls\","
		 "\"args\":[\"-x\"],\"env\":null,\"cwd\":\"/\",\"_meta\":{}}}\n");
	says(ACP_TOOLS_ASK, line, strlen(line), &s, &editor);
	assert_string_equal(s.what, "cd / && ls -x");
	assert_non_null(strstr(editor.data, "terminal/create"));
}

/* Some readers end lines at other characters than a newline. */
TEST(a_control_character_is_no_json)
{
	static const char marks[] = "\v\f\x1c\x1d\x1e\x01";
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;
	char line[256];

	for (size_t i = 0; i < sizeof(marks); i++) { /* including the NUL */
		int n = snprintf(line, sizeof(line),
				 "{\"a\":1,\"b\":%c{\"id\":1,\"method\":\"fs/x\"}%c}\n", marks[i],
				 marks[i]);

		says(ACP_TOOLS_OFF, line, (size_t)n, &s, &editor);
		assert_int_equal(editor.len, 0);
	}
	says(ACP_TOOLS_OFF, "{\"a\":\t1}\r\n", 10, &s, &editor);
	assert_string_equal(editor.data, "{\"a\":\t1}\r\n");
}

TEST(a_line_of_too_many_values_is_not_parsed)
{
	AUTO_BUF struct buf line = BUF_INIT;
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;

	buf_str(&line, "{\"a\":[");
	for (size_t i = 0; i < REQUEST_VALUES; i++)
		buf_str(&line, "0,");
	buf_str(&line, "0]}\n");
	says(ACP_TOOLS_OFF, line.data, line.len, &s, &editor);
	assert_int_equal(s.refused, 1);
	assert_int_equal(editor.len, 0);
	assert_null(request_line_parse(line.data, line.len - 1));
	assert_true(request_line_is_modest("\",[{\\\",[{\"", 10));
}

static void tell(struct acp *a, bool editor, const char *line)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf back = BUF_INIT;

	(editor ? acp_from_editor : acp_from_agent)(a, line, strlen(line), false, &out, &back);
}

#define PERMISSION(id) "{\"id\":" #id ",\"method\":\"session/request_permission\"}\n"

TEST(a_permission_waits_until_it_is_answered)
{
	struct seen s = {0};
	struct acp *a = acp_new(ACP_TOOLS_OFF, &on, &s);

	tell(a, true, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}\n");
	tell(a, true, "{\"id\":1,\"method\":\"session/prompt\",\"params\":{}}\n");
	tell(a, false, PERMISSION(7));
	assert_true(s.waits);
	tell(a, true, "{\"id\":8,\"result\":{}}\n"); /* the answer to another request */
	tell(a, false, "{\"method\":\"session/update\"}\n");
	assert_true(s.waits);
	tell(a, true, "{\"id\":7,\"result\":{\"outcome\":\"selected\"}}\n");
	assert_false(s.waits);
	tell(a, false, PERMISSION(9));
	assert_true(s.waits);
	tell(a, false, "{\"id\":1,\"result\":{}}\n"); /* the turn is over */
	assert_false(s.waits);
	assert_int_equal(s.permissions, 2);
	acp_free(a);
}

#define PLAIN  "{\"id\":\"key\",\"name\":\"a key\"}"
#define ANSWER "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"protocolVersion\":1,\"authMethods\":["

TEST(a_login_that_the_editor_would_run_is_not_offered)
{
	static const char *const commands[] = {
		"{\"id\":\"x\",\"type\":\"terminal\",\"env\":{\"LD_PRELOAD\":\"/x\"}}",
		"{\"id\":\"x\",\"Type\":\"terminal\"}",
		"{\"id\":\"x\",\"type\":\"agent\",\"type\":\"term\\u0069nal\"}",
		"{\"id\":\"x\",\"_meta\":{\"terminal-auth\":{\"command\":\"/bin/sh\"}}}",
	};
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;
	char line[512];

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		int n = snprintf(line, sizeof(line), ANSWER "%s," PLAIN "]}}\n", commands[i]);

		says(ACP_TOOLS_OFF, line, (size_t)n, &s, &editor);
		assert_string_equal(editor.data, ANSWER PLAIN "]}}\n");
		assert_int_equal(s.refused, 1);
		says(ACP_TOOLS_ASK, line, (size_t)n, &s, &editor);
		assert_string_equal(editor.data, ANSWER PLAIN "]}}\n");
		says(ACP_TOOLS_ON, line, (size_t)n, &s, &editor);
		assert_string_equal(editor.data, line);
	}
	says(ACP_TOOLS_OFF, ANSWER PLAIN " ]}}\n", strlen(ANSWER PLAIN " ]}}\n"), &s, &editor);
	assert_string_equal(editor.data, ANSWER PLAIN " ]}}\n"); /* unchanged */
}

TEST(the_agent_is_told_that_no_such_login_is_run)
{
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
		"{\"clientCapabilities\":{\"terminal\":true,\"auth\":{\"terminal\":true},"
		"\"_meta\":{\"terminal-auth\":true,\"x\":1}}}}\n";
	static const char *const want[] = {
		[ACP_TOOLS_OFF] = "{\"auth\":{\"terminal\":false},\"_meta\":{\"x\":1},"
				  "\"terminal\":false}",
		[ACP_TOOLS_ASK] = "{\"terminal\":true,\"auth\":{\"terminal\":false},"
				  "\"_meta\":{\"x\":1}}",
		[ACP_TOOLS_ON] = "\"auth\":{\"terminal\":true}",
	};
	struct seen s = {0};

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct acp *a = acp_new((enum acp_tools)i, &on, &s);
		AUTO_BUF struct buf agent = BUF_INIT;
		AUTO_BUF struct buf editor = BUF_INIT;

		acp_from_editor(a, hello, sizeof(hello) - 1, false, &agent, &editor);
		assert_non_null(strstr(agent.data, want[i]));
		acp_free(a);
	}
}

TEST(a_name_that_folds_is_refused)
{
	static const char *const lines[] = {
		"{\"id\":1,\"method\":\"fs/read_text_file\",\"param\xc5\xbf\":{\"path\":\"/x\"}}\n",
		"{\"id\":1,\"method\":\"terminal/"
		"create\",\"params\":{\"command\":\"ls\",\"arg\\u017f\":[\"x\"]}}\n",
		"{\"id\":0,\"result\":{\"authMethod\\u017f\":[{\"type\":\"terminal\"}]}}\n",
		"{\"method\":\"session/update\",\"params\":{\"\xe2\x84\xaa\":1}}\n",
		"{\"id\":1,\"method\":\"session/"
		"request_permission\",\"params\":{\"\xc3\xb6\":1}}\n",
	};
	static const char shown[] =
		"{\"method\":\"session/update\",\"params\":{\"rawInput\":{\"gr\xc3\xb6\xc3\x9f"
		"e\":1}}}\n";
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;

	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		for (int tools = ACP_TOOLS_OFF; tools <= ACP_TOOLS_ASK; tools++) {
			says((enum acp_tools)tools, lines[i], strlen(lines[i]), &s, &editor);
			assert_int_equal(editor.len, 0);
			assert_int_equal(s.asked, 0);
			assert_int_equal(s.refused, 1);
		}
	says(ACP_TOOLS_OFF, shown, sizeof(shown) - 1, &s, &editor);
	assert_string_equal(editor.data, shown);
}

TEST(of_requests_only_known_ones_pass)
{
	static const char *const refused[] = {
		"{\"id\":1,\"method\":\"editor/open\",\"params\":{}}\n",
		"{\"id\":1,\"method\":\"_x.dev/run\",\"params\":{}}\n",
		"{\"id\":null,\"method\":\"mcp/connect\",\"params\":{}}\n",
		"{\"ID\":1,\"Method\":\"mcp/connect\",\"params\":{}}\n",
		"{\"id\":1,\"method\":\"session/request_permission\",\"METHOD\":\"editor/open\"}\n",
		"[{\"id\":1,\"method\":\"editor/open\",\"params\":{}}]\n",
		"{\"id\":1,\"method\":7}\n",
	};
	static const char *const passed[] = {
		"{\"id\":1,\"method\":\"session/request_permission\",\"params\":{}}\n",
		"{\"method\":\"session/update\",\"params\":{}}\n",
		"{\"id\":1,\"result\":{}}\n",
		"{\"id\":1,\"error\":{\"code\":1,\"message\":\"\"}}\n",
	};
	AUTO_BUF struct buf editor = BUF_INIT;
	struct seen s;

	for (int tools = ACP_TOOLS_OFF; tools <= ACP_TOOLS_ASK; tools++) {
		for (size_t i = 0; i < ARRAY_LEN(refused); i++) {
			says((enum acp_tools)tools, refused[i], strlen(refused[i]), &s, &editor);
			assert_int_equal(editor.len, 0);
			assert_int_equal(s.refused, 1);
		}
		for (size_t i = 0; i < ARRAY_LEN(passed); i++) {
			says((enum acp_tools)tools, passed[i], strlen(passed[i]), &s, &editor);
			assert_string_equal(editor.data, passed[i]);
		}
	}
	says(ACP_TOOLS_ON, refused[0], strlen(refused[0]), &s, &editor);
	assert_string_equal(editor.data, refused[0]);
}

static char *two_words(void *data)
{
	(void)data;
	return xstrdup("The user said \"no\"");
}

static char *no_words(void *data)
{
	(void)data;
	return NULL;
}

/* The first block is the user's: an agent looks for its own commands there. */
TEST(a_prompt_has_what_the_human_did_as_its_last_block)
{
	static const char prompt[] = "{\"id\":1,\"method\":\"session/prompt\",\"params\":{"
				     "\"prompt\":[{\"type\":\"text\",\"text\":\"/go\"}]}}\n";
	static const char told[] = "[{\"type\":\"text\",\"text\":\"/go\"},{\"type\":\"text\","
				   "\"text\":\"The user said \\\"no\\\"\"}]";
	struct acp_listener news = on;
	AUTO_BUF struct buf agent = BUF_INIT, editor = BUF_INIT;
	struct seen s = {0};
	struct acp *a;

	news.notices = two_words;
	a = acp_new(ACP_TOOLS_OFF, &news, &s);
	acp_from_editor(a, prompt, sizeof(prompt) - 1, false, &agent, &editor);
	assert_non_null(strstr(agent.data, told));
	assert_ptr_equal(strchr(agent.data, '\n'), agent.data + agent.len - 1);
	buf_clear(&agent);
	news.notices = no_words;
	acp_from_editor(a, prompt, sizeof(prompt) - 1, false, &agent, &editor);
	assert_string_equal(agent.data, prompt);
	acp_free(a);
}

TESTS(NULL, NULL)
