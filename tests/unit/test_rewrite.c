/* test_rewrite - placeholders become secrets in one header, and no request has two readings. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>

#include "core/net/rewrite.h"
#include "tests/support/check.h"

static struct rewrite_rule rules[] = {
	{"x-api-key", "cordon-11", "S3CRET"},
	{"Authorization", "cordon-22", "other-secret-that-is-long"},
};

/* Feeds the text in pieces of this size. */
static int run(const char *text, size_t len, size_t piece, struct buf *out)
{
	struct rewriter w;
	const char *why = NULL;
	int r = 0;

	rewriter_init(&w, "api.example", rules, ARRAY_LEN(rules));
	for (size_t at = 0; r == 0 && at < len; at += piece)
		r = rewriter_feed(&w, text + at, MIN(piece, len - at), out, &why);
	if (r == 0)
		assert_int_equal(w.in.len, 0);
	else
		assert_non_null(why);
	rewriter_done(&w);
	return r;
}

static void becomes(const char *text, const char *expected)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		AUTO_BUF struct buf out = BUF_INIT;

		assert_int_equal(run(text, strlen(text), piece, &out), 0);
		assert_string_equal(out.data, expected);
	}
}

/* Splits it at each byte; no byte of it is passed on. */
static void refused(const char *text)
{
	for (size_t piece = 1; piece <= strlen(text); piece++) {
		AUTO_BUF struct buf out = BUF_INIT;

		assert_int_equal(run(text, strlen(text), piece, &out), -EBADMSG);
		assert_int_equal(out.len, 0);
	}
}

#define GET "GET /v1 HTTP/1.1\r\nHost: api.example\r\n"

TEST(the_placeholder_is_replaced_in_its_header_alone)
{
	becomes(GET "X-Api-Key: cordon-11\r\n\r\n", GET "X-Api-Key: S3CRET\r\n\r\n");
	becomes(GET "x-api-key:cordon-11\t\r\nA: b\r\n\r\n",
		GET "x-api-key:S3CRET\t\r\nA: b\r\n\r\n");
	becomes(GET "authorization: Bearer cordon-22\r\nx-api-key: cordon-11\r\n\r\n",
		GET "authorization: Bearer other-secret-that-is-long\r\nx-api-key: S3CRET\r\n\r\n");
	becomes(GET "X-Api-Key2: cordon-11\r\nauthorization: cordon-11\r\n\r\n",
		GET "X-Api-Key2: cordon-11\r\nauthorization: cordon-11\r\n\r\n");
	becomes("GET /cordon-11 HTTP/1.1\r\nhost: API.example:443\r\n\r\n",
		"GET /cordon-11 HTTP/1.1\r\nhost: API.example:443\r\n\r\n");
}

/* A server must not be made to repeat a secret with text of the agent around it, or several
 * times. */
TEST(a_part_of_a_value_is_not_replaced)
{
	static const char *const same[] = {
		GET "x-api-key: cordon-11,cordon-11\r\n\r\n",
		GET "x-api-key: a=cordon-11\r\n\r\n",
		GET "x-api-key: cordon-11 b\r\n\r\n",
		GET "x-api-key: a b cordon-11\r\n\r\n",
		GET "x-api-key: a\tcordon-11\r\n\r\n",
		GET "x-api-key: a  cordon-11\r\n\r\n",
		GET "x-api-key: xcordon-11\r\n\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(same); i++)
		becomes(same[i], same[i]);
	becomes(GET "x-api-key: cordon-11\r\nx-api-key: cordon-11\r\n\r\n",
		GET "x-api-key: S3CRET\r\nx-api-key: cordon-11\r\n\r\n");
	becomes(GET "Accept-Encoding: gzip\r\nTe: gzip\r\nx-api-key: cordon-11\r\n\r\n",
		GET "x-api-key: S3CRET\r\n\r\n");
}

TEST(bodies_pass_and_the_next_request_is_read)
{
	static const char length[] =
		"POST /a HTTP/1.1\r\nHost: api.example\r\nContent-Length: 30\r\n\r\n"
		"x-api-key: cordon-11\r\n\r\nGET / ";
	static const char chunks[] =
		"POST /b HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: Chunked\r\n\r\n"
		"9;a=b\r\ncordon-11\r\n1A\r\nx-api-key: cordon-11\r\n\r\n!!\r\n0\r\n"
		"x-api-key: cordon-11\r\n\r\n";
	AUTO_BUF struct buf text = BUF_INIT, expected = BUF_INIT;

	buf_fmt(&text, "%s%s" GET "x-api-key: cordon-11\r\n\r\n", length, chunks);
	buf_fmt(&expected, "%s%s" GET "x-api-key: S3CRET\r\n\r\n", length, chunks);
	becomes(text.data, expected.data);
}

TEST(what_is_read_in_two_ways_is_refused)
{
	static const char *const list[] = {
		GET "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
		GET "Content-Length: 1, 1\r\n\r\n",
		GET "Content-Length: +1\r\n\r\n",
		GET "Content-Length: 0x1\r\n\r\n",
		GET "Content-Length:\r\n\r\n",
		GET "Content-Length: 9999999999999999999\r\n\r\n",
		GET "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
		GET "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n",
		GET "Transfer-Encoding: gzip, chunked\r\n\r\n",
		GET "Transfer-Encoding: identity\r\n\r\n",
		GET "Transfer-Encoding : chunked\r\n\r\n",
		GET "A: b\r\n x-api-key: cordon-11\r\n\r\n",
		GET "A: b\r\n\tc\r\n\r\n",
		" " GET "\r\n",
		GET "A: b\nx-api-key: cordon-11\r\n\r\n",
		"GET / HTTP/1.1\nHost: api.example\n\n",
		GET "A: b\rc\r\n\r\n",
		GET "A: b\r\r\n\r\n",
		GET "A: b\001c\r\n\r\n",
		GET "no colon\r\n\r\n",
		GET ": no name\r\n\r\n",
		"\r\n" GET "\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		refused(list[i]);
	for (size_t piece = 1; piece < 20; piece++) {
		static const char nul[] = GET "A: b\0c\r\n\r\n";
		AUTO_BUF struct buf out = BUF_INIT;

		assert_int_equal(run(nul, sizeof(nul) - 1, piece, &out), -EBADMSG);
	}
}

TEST(another_host_or_protocol_is_refused)
{
	static const char *const list[] = {
		"GET / HTTP/1.1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: other.example\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: api.example.evil\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: api.example:80\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: api.example\r\nHost: api.example\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: \r\n\r\n",
		"GET https://other.example/ HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"CONNECT other.example:443 HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"TRACE / HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"CONNECT /x HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"GET / HTTP/1.0\r\nHost: api.example\r\n\r\n",
		"GET /\r\n\r\n",
		"GET / x HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"GET  HTTP/1.1\r\nHost: api.example\r\n\r\n",
		"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
		GET "Upgrade: websocket\r\nConnection: keep-alive\r\n\r\n",
		GET "Connection: keep-alive, UPGRADE\r\n\r\n",
	};

	for (size_t i = 0; i < ARRAY_LEN(list); i++)
		refused(list[i]);
}

TEST(chunks_that_lie_are_refused)
{
	static const char head[] =
		"POST / HTTP/1.1\r\nHost: api.example\r\nTransfer-Encoding: chunked\r\n\r\n";
	static const char *const list[] = {"5\r\nabcdeX\r\n",
					   "5\nabcde\n",
					   "\r\n",
					   "g\r\n",
					   "0x5\r\nabcde\r\n",
					   " 5\r\nabcde\r\n",
					   "1234567890123456\r\n",
					   "0\r\nA: b\n\r\n",
					   "0\r\n A: b\r\n\r\n"};

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		AUTO_BUF struct buf text = BUF_INIT, out = BUF_INIT;

		buf_fmt(&text, "%s%s", head, list[i]);
		assert_int_equal(run(text.data, text.len, 3, &out), -EBADMSG);
	}
}

TEST(a_head_has_a_limit)
{
	for (size_t extra = 0; extra < 2; extra++) {
		AUTO_BUF struct buf text = BUF_INIT, out = BUF_INIT;

		(void)state;
		buf_str(&text, GET "A: ");
		while (text.len + 4 < REWRITE_HEAD_MAX + extra)
			buf_ch(&text, 'a');
		buf_str(&text, "\r\n\r\n");
		assert_int_equal(run(text.data, text.len, 4096, &out), extra ? -E2BIG : 0);
		assert_int_equal(out.len, extra ? 0 : text.len);
	}
}

TEST(it_waits_for_a_value)
{
	struct rewrite_rule late[] = {{"a", "cordon-1", NULL}, {"b", "cordon-2", NULL}};
	AUTO_BUF struct buf out = BUF_INIT;
	struct rewriter w;
	const char *why;

	rewriter_init(&w, "api.example", late, ARRAY_LEN(late));
	assert_int_equal(rewriter_feed(&w, GET "\r\n", sizeof(GET) + 1, &out, &why), 0);
	buf_clear(&out);
	assert_int_equal(rewriter_feed(&w, GET "b: cordon-2\r\na: cordon-1\r\n\r\nGE",
				       sizeof(GET) + 29, &out, &why),
			 1);
	assert_int_equal(w.needs, 1);
	assert_int_equal(out.len, 0);
	late[1].value = "two";
	assert_int_equal(rewriter_feed(&w, "", 0, &out, &why), 1);
	assert_int_equal(w.needs, 0);
	assert_int_equal(out.len, 0);
	late[0].value = "one";
	assert_int_equal(rewriter_feed(&w, "", 0, &out, &why), 0);
	assert_string_equal(out.data, GET "b: two\r\na: one\r\n\r\n");
	rewriter_done(&w);
}

TESTS(NULL, NULL)
