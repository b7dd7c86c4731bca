/* test_upstream - the proxy for each target, and a proxy's answers. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/net/upstream.h"
#include "tests/support/check.h"

static const char *via(const char *target)
{
	const char *why;
	struct net_target t;
	const struct upstream *u;

	assert_true(net_target_parse(&t, target, &why));
	u = upstream_for(&t);
	return u ? u->name : "direct";
}

static void load(const char *https, const char *http, const char *all, const char *none, char **ret)
{
	AUTO_BUF struct buf notes = BUF_INIT;

	setenv("HTTPS_PROXY", https, 1);
	setenv("HTTP_PROXY", http, 1);
	setenv("ALL_PROXY", all, 1);
	setenv("NO_PROXY", none, 1);
	upstream_load(&notes);
	if (ret)
		*ret = buf_take(&notes);
	else
		assert_string_equal(notes.data, "");
}

TEST(test_ports)
{
	load("http://127.0.0.1:3128", "127.0.0.1:3129/", "", "", NULL);
	assert_string_equal(via("a.example:443"), "127.0.0.1:3128");
	assert_string_equal(via("a.example:80"), "127.0.0.1:3129");
	assert_string_equal(via("a.example:22"), "direct");
	assert_true(upstream_knows("a.example"));
	load("", "", "http://127.0.0.1:3130", "", NULL);
	assert_string_equal(via("a.example:443"), "127.0.0.1:3130");
	assert_string_equal(via("a.example:22"), "127.0.0.1:3130");
	load("", "", "", "", NULL);
	assert_string_equal(via("a.example:443"), "direct");
	assert_false(upstream_knows("a.example"));
}

TEST(test_direct)
{
	static const char *const direct[] = {
		"localhost:443",   "a.localhost:443", "127.0.0.1:443",	  "10.1.2.3:443",
		"192.168.1.1:443", "[::1]:443",	      "corp.example:443", "x.corp.example:443",
		"deep.y.test:443", "only.test:8443",  "203.0.113.9:443"};
	static const char *const not [] = {"xcorp.example:443", "only.test:443", "203.0.114.9:443",
					   "example:443"};

	load("http://127.0.0.1:3128", "", "",
	     "corp.example, *.y.test only.test:8443,203.0.113.0/24", NULL);
	for (size_t i = 0; i < ARRAY_LEN(direct); i++)
		assert_string_equal(via(direct[i]), "direct");
	for (size_t i = 0; i < ARRAY_LEN(not ); i++)
		assert_string_equal(via(not [i]), "127.0.0.1:3128");
	load("http://127.0.0.1:3128", "", "", "*", NULL);
	assert_string_equal(via("a.example:443"), "direct");
}

TEST(test_values)
{
	static const char *const bad[] = {"socks5://127.0.0.1:1080", "https://127.0.0.1:3128",
					  "http://", "http://a b:1", "http://127.0.0.1:99999"};
	AUTO_BUF struct buf text = BUF_INIT;
	struct net_target t;
	const char *why;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		AUTO_FREE char *notes = NULL;

		load(bad[i], "", "", "", &notes);
		assert_non_null(strstr(notes, "HTTPS_PROXY is not used: "));
		assert_string_equal(via("a.example:443"), "direct");
	}
	load("http://us%65r:p%40s%zz@127.0.0.1:3128", "", "", "", NULL);
	assert_true(net_target_parse(&t, "a.example:443", &why));
	upstream_request(upstream_for(&t), &t, &text);
	assert_string_equal(text.data, "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n"
				       "Proxy-Authorization: Basic dXNlcjpwQHMleno=\r\n\r\n");
}

TEST(test_answers)
{
	static const struct {
		const char *text;
		int r, status;
	} cases[] = {{"HTTP/1.1 200 OK\r\n\r\nSSH", 19, 200},
		     {"HTTP/1.0 407 x\r\nA: b\r\n\r\n", 24, 407},
		     {"HTTP/1.1 200 OK\r\n", 0, 0},
		     {"", 0, 0},
		     {"HT", 0, 0},
		     {"SSH-2.0", -EBADMSG, 0},
		     {"HTTP/1.1 2x0 OK\r\n\r\n", -EBADMSG, 0},
		     {"HTTP/1.1 001 OK\r\n\r\n", -EBADMSG, 0},
		     {"HTTP/1.1 000 OK\r\n\r\n", -EBADMSG, 0},
		     {"HTTP/1.\r\n\r\n", -EBADMSG, 0},
		     {"HTTP/2 200\r\n\r\n", -EBADMSG, 0}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int status = 0;

		assert_int_equal(upstream_answer(cases[i].text, strlen(cases[i].text), &status),
				 cases[i].r);
		assert_int_equal(status, cases[i].status);
	}
}

TESTS(NULL, NULL)
