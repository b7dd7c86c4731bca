/* test_net_proxy - heads of HTTP and messages of SOCKS that a proxy gets. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/net/http.h"
#include "core/net/socks.h"
#include "tests/support/check.h"

static int read_text(struct http_request *r, const char *text)
{
	const char *why;

	return http_read(r, text, strlen(text), &why);
}

static void target_is(const struct net_target *t, const char *want)
{
	char text[NET_TARGET_TEXT];

	net_target_format(t, text);
	assert_string_equal(text, want);
}

TEST(a_tunnel_names_a_host_and_a_port)
{
	struct http_request r;

	assert_int_equal(read_text(&r, "CONNECT Good.Example.:443 HTTP/1.1\r\n\r\nearly"), 38);
	assert_true(r.tunnel);
	target_is(&r.target, "good.example:443");
	assert_true(read_text(&r, "CONNECT [2001:db8::1]:80 HTTP/1.0\r\n\r\n") > 0);
	target_is(&r.target, "[2001:db8::1]:80");
	/* Other forms of an address mean that address. */
	assert_true(read_text(&r, "CONNECT 0x7f.1:80 HTTP/1.1\r\n\r\n") > 0);
	target_is(&r.target, "127.0.0.1:80");
	assert_true(read_text(&r, "CONNECT [::ffff:127.0.0.1]:80 HTTP/1.1\r\n\r\n") > 0);
	target_is(&r.target, "127.0.0.1:80");
}

TEST(a_request_is_rewritten_for_its_server)
{
	static const char text[] = "POST HTTP://good.example?q=1#f HTTP/1.1\r\n"
				   "Host: evil.example\r\n"
				   "Proxy-Authorization:  Basic YTpi \r\n"
				   "Connection: keep-alive, x-mine, content-length\r\n"
				   "X-Mine: 1\r\n"
				   "Content-Length: 12\r\n"
				   "Accept:\t*/*\r\n\r\n";
	AUTO_BUF struct buf out = BUF_INIT;
	struct http_request r;

	assert_int_equal(read_text(&r, text), (int)sizeof(text) - 1);
	assert_false(r.tunnel);
	assert_int_equal(r.body, 12);
	assert_int_equal(r.credentials.len, 4);
	assert_memory_equal(r.credentials.data, "YTpi", 4);
	target_is(&r.target, "good.example:80");
	http_forward(&r, &out);
	assert_string_equal(out.data, "POST /?q=1 HTTP/1.1\r\nHost: good.example\r\n"
				      "Content-Length: 12\r\nAccept:\t*/*\r\n"
				      "Connection: close\r\n\r\n");
}

TEST(what_two_could_read_differently_is_refused)
{
	static const char *const bad[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"GET https://a.example/ HTTP/1.1\r\n\r\n",
		"GET http://u:p@a.example/ HTTP/1.1\r\n\r\n",
		"GET http:///x HTTP/1.1\r\n\r\n",
		"GET http://a.example/ HTTP/2.0\r\n\r\n",
		"GET http://a.example/ HTTP/1.1 \r\n\r\n",
		"GET  http://a.example/ HTTP/1.1\r\n\r\n",
		"GET http://a.example/\nX: y HTTP/1.1\r\n\r\n",
		"GET http://a%2eexample/ HTTP/1.1\r\n\r\n",
		"CONNECT a.example HTTP/1.1\r\n\r\n",
		"CONNECT a.example:0 HTTP/1.1\r\n\r\n",
		"CONNECT a.example:65536 HTTP/1.1\r\n\r\n",
		"CONNECT a.example:443/x HTTP/1.1\r\n\r\n",
		"CONNECT http://a.example:443 HTTP/1.1\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nX : y\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nX: y\n z\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nX: y\r\n folded\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nX: a\rb\r\n\r\n",
		"GET http://a.example/ HTTP/1.1\r\nno colon\r\n\r\n",
		"PUT http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
		"PUT http://a.example/ HTTP/1.1\r\nContent-Length: +1\r\n\r\n",
		"PUT http://a.example/ HTTP/1.1\r\nContent-Length: 1, 1\r\n\r\n",
		"PUT http://a.example/ HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
		("PUT http://a.example/ HTTP/1.1\r\nContent-Length: 1\r\n"
		 "Transfer-Encoding: chunked\r\n\r\n"),
		"PUT http://a.example/ HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
		"get http://a.example/ HTTP/1.1\r\n\r\n",
		"\r\nGET http://a.example/ HTTP/1.1\r\n\r\n",
	};
	static const char nul[] = "GET http://a.example/ HTTP/1.1\r\nX: a\0b\r\n\r\n";
	struct http_request r;
	const char *why = NULL;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		if (read_text(&r, bad[i]) != -EBADMSG)
			fail_msg("taken: %s", bad[i]);
	}
	assert_int_equal(http_read(&r, nul, sizeof(nul) - 1, &why), -EBADMSG);
	assert_non_null(why);
}

TEST(a_head_is_whole_or_waited_for)
{
	static const char text[] = "CONNECT a.example:443 HTTP/1.1\r\nX: y\r\n\r\n";
	AUTO_BUF struct buf large = BUF_INIT;
	struct http_request r;
	const char *why;

	for (size_t i = 0; i < sizeof(text) - 1; i++)
		assert_int_equal(http_read(&r, text, i, &why), 0);
	assert_true(http_read(&r, text, sizeof(text) - 1, &why) > 0);
	buf_str(&large, "CONNECT a.example:443 HTTP/1.1\r\nX: ");
	while (large.len < HTTP_HEAD_MAX)
		buf_ch(&large, 'x');
	assert_int_equal(http_read(&r, large.data, large.len, &why), -E2BIG);
	buf_str(&large, "\r\n\r\n");
	assert_int_equal(http_read(&r, large.data, large.len, &why), -E2BIG);
}

TEST(a_refusal_says_why_in_one_line)
{
	AUTO_BUF struct buf out = BUF_INIT;

	http_answer(&out, 403, "no\r\nX-Evil: \x1b[2J");
	assert_string_equal(out.data, "HTTP/1.1 403 Forbidden\r\n"
				      "X-Cordon-Reason: no??X-Evil: ?[2J\r\n"
				      "Content-Type: text/plain\r\nContent-Length: 25\r\n"
				      "Connection: close\r\n\r\ncordon: no??X-Evil: ?[2J\n");
}

TEST(socks_is_read_message_by_message)
{
	static const uint8_t ways[] = {5, 2, 0, 2}, none[] = {5, 1, 0};
	static const uint8_t secret[] = {1, 1, 'u', 2, 'p', 'w'};
	static const uint8_t name[] = {5,   1,	 0,   3,   9,	'A', '.', 'e',
				       'x', 'a', 'm', 'p', 'l', 'e', 1,	  187};
	static const uint8_t v4[] = {5, 1, 0, 1, 10, 9, 9, 9, 0, 80};
	static const uint8_t v6[] = {5, 1, 0, 4,    0,	  0,  0, 0, 0, 0, 0,
				     0, 0, 0, 0xff, 0xff, 10, 9, 9, 9, 0, 80};
	struct span user, word;
	enum socks_reply reply;
	struct net_target t;
	bool knows;

	assert_int_equal(socks_read_ways(&knows, ways, sizeof(ways)), 4);
	assert_true(knows);
	assert_int_equal(socks_read_ways(&knows, none, sizeof(none)), 3);
	assert_false(knows);
	assert_int_equal(socks_read_secret(&user, &word, secret, sizeof(secret)), 6);
	assert_memory_equal(word.data, "pw", word.len);
	for (size_t i = 0; i < sizeof(name); i++)
		assert_int_equal(socks_read_request(&t, &reply, name, i), 0);
	assert_int_equal(socks_read_request(&t, &reply, name, sizeof(name)), (int)sizeof(name));
	assert_int_equal(reply, SOCKS_OK);
	target_is(&t, "a.example:443");
	assert_int_equal(socks_read_request(&t, &reply, v4, sizeof(v4)), (int)sizeof(v4));
	target_is(&t, "10.9.9.9:80");
	assert_int_equal(socks_read_request(&t, &reply, v6, sizeof(v6)), (int)sizeof(v6));
	target_is(&t, "10.9.9.9:80");
}

TEST(socks_that_is_none_is_refused)
{
	static const uint8_t four[] = {4, 1, 0, 80, 10, 9, 9, 9, 0}, kind[] = {5, 1, 0, 2, 0, 0, 0};
	static const uint8_t bind[] = {5, 2, 0, 1, 10, 9, 9, 9, 0, 80};
	static const uint8_t zero[] = {5, 1, 0, 3, 3, 'a', 0, 'b', 0, 80};
	static const uint8_t empty[] = {5, 1, 0, 3, 0, 0, 80};
	enum socks_reply reply;
	struct net_target t;
	bool knows;

	assert_int_equal(socks_read_ways(&knows, four, sizeof(four)), -EBADMSG);
	assert_int_equal(socks_read_request(&t, &reply, four, sizeof(four)), -EBADMSG);
	assert_int_equal(socks_read_request(&t, &reply, kind, sizeof(kind)), -EBADMSG);
	assert_true(socks_read_request(&t, &reply, bind, sizeof(bind)) > 0);
	assert_int_equal(reply, SOCKS_NO_COMMAND);
	assert_true(socks_read_request(&t, &reply, zero, sizeof(zero)) > 0);
	assert_int_equal(reply, SOCKS_NO_HOST);
	assert_true(socks_read_request(&t, &reply, empty, sizeof(empty)) > 0);
	assert_int_equal(reply, SOCKS_NO_HOST);
}

TESTS(NULL, NULL)
