/* test_net_hello - the host in a client's first bytes is found, however they are cut. */
/* SPDX-License-Identifier: MIT */
#include "core/net/hello.h"
#include "core/base/buf.h"
#include "tests/support/check.h"

/* Adds a number of that many bytes. */
static void add_number(struct buf *b, size_t n, unsigned bytes)
{
	while (bytes-- > 0)
		buf_ch(b, (char)(n >> (8 * bytes)));
}

static void add_field(struct buf *b, const void *data, size_t len, unsigned bytes)
{
	add_number(b, len, bytes);
	buf_add(b, data, len);
}

/* Builds the extensions of a hello with these names, each in an extension of its own. */
static void add_extensions(struct buf *out, const char *const *names)
{
	AUTO_BUF struct buf all = BUF_INIT;

	buf_add(&all, "\0\x17\0\0", 4); /* extended_master_secret, which is empty */
	for (; *names; names++) {
		AUTO_BUF struct buf list = BUF_INIT, one = BUF_INIT;

		buf_ch(&one, 0);
		add_field(&one, *names, strlen(*names), 2);
		add_field(&list, one.data, one.len, 2);
		add_number(&all, 0, 2);
		add_field(&all, list.data, list.len, 2);
	}
	buf_add(&all, "\0\x10\0\5\0\3\2h2", 9); /* ALPN */
	add_field(out, all.data, all.len, 2);
}

/* Builds a ClientHello in records of `piece` bytes (RFC 8446, 4.1.2 and 5.1). */
static void hello(struct buf *out, const char *const *names, size_t piece)
{
	AUTO_BUF struct buf body = BUF_INIT, message = BUF_INIT;

	add_number(&body, 0x0303, 2);
	for (int i = 0; i < 32; i++)
		buf_ch(&body, (char)i);
	add_field(&body, "session", 7, 1);
	add_field(&body, "\x13\1\x13\2", 4, 2);
	add_field(&body, "", 1, 1);
	if (names)
		add_extensions(&body, names);
	buf_ch(&message, 1);
	add_field(&message, body.data, body.len, 3);
	for (size_t at = 0; at < message.len; at += piece) {
		buf_add(out, "\x16\3\1", 3);
		add_field(out, message.data + at, MIN(piece, message.len - at), 2);
	}
}

/* Checks the names of a message, as a text with blanks, for every length up to which it has come:
 * a name is found once and for ever, and no other before. */
static void names(const char *data, size_t len, const char *expected)
{
	AUTO_BUF struct buf seen = BUF_INIT;
	unsigned n = 0;

	for (size_t have = 0; have <= len; have++) {
		/* Exactly so many bytes, so that sanitizers see a read beyond. */
		AUTO_FREE uint8_t *part = xmalloc(MAX(have, (size_t)1));
		char name[NET_NAME_MAX + 1], again[NET_NAME_MAX + 1];

		memcpy(part, data, have);
		while (hello_name(part, have, n, name) == HELLO_NAME) {
			buf_fmt(&seen, "%s%s", n ? " " : "", name);
			assert_int_equal(hello_name(part, have, n, again), HELLO_NAME);
			assert_string_equal(name, again);
			n++;
		}
	}
	assert_string_equal(seen.data, expected);
}

static void is(const char *text, const char *expected)
{
	names(text, strlen(text), expected);
}

/* Returns what all bytes together give, apart from a name. */
static enum hello end_of(const void *data, size_t len)
{
	char name[NET_NAME_MAX + 1];
	unsigned n = 0;
	enum hello got;

	while ((got = hello_name(data, len, n, name)) == HELLO_NAME)
		n++;
	return got;
}

TEST(a_server_name_is_found_in_any_records)
{
	static const char *const one[] = {"Good.Example.", NULL},
				 *const two[] = {"a.example", "b", NULL},
				 *const odd[] = {"a b", NULL},
				 *const address[] = {"192.0.2.1", NULL}, *const none[] = {NULL};

	for (size_t piece = 1; piece < 300; piece += piece < 12 ? 1 : 37) {
		AUTO_BUF struct buf b = BUF_INIT, c = BUF_INIT, d = BUF_INIT, e = BUF_INIT,
				    f = BUF_INIT, g = BUF_INIT;

		hello(&b, one, piece);
		names(b.data, b.len, "good.example");
		assert_int_equal(end_of(b.data, b.len), HELLO_OVER);
		assert_int_equal(end_of(b.data, b.len - 1), HELLO_MORE);
		hello(&c, two, piece);
		names(c.data, c.len, "a.example b");
		hello(&d, odd, piece);
		names(d.data, d.len, HELLO_UNREADABLE);
		hello(&e, address, piece);
		names(e.data, e.len, "");
		hello(&f, none, piece);
		names(f.data, f.len, "");
		hello(&g, NULL, piece); /* no extensions at all */
		names(g.data, g.len, "");
		assert_int_equal(end_of(g.data, g.len), HELLO_OVER);
	}
}

TEST(a_warning_before_the_hello_hides_nothing)
{
	static const char *const one[] = {"good.example", NULL};
	AUTO_BUF struct buf b = BUF_INIT;

	buf_add(&b, "\x15\3\1\0\2\1\x5a\x14\3\1\0\1\1", 13);
	hello(&b, one, 50);
	names(b.data, b.len, "good.example");
}

TEST(a_damaged_hello_names_no_host)
{
	static const char *const one[] = {"good.example", NULL};
	AUTO_BUF struct buf b = BUF_INIT, c = BUF_INIT;
	AUTO_FREE uint8_t *large = xcalloc(1, HELLO_MAX);

	hello(&b, one, 40);
	b.data[45] = '\x17'; /* the second record is data */
	names(b.data, b.len, HELLO_UNREADABLE);
	hello(&c, one, 400);
	c.data[5 + 4 + 34] = '\xf0'; /* the session's length */
	assert_int_equal(end_of(c.data, c.len), HELLO_OVER);
	/* A hello that goes on for ever. */
	memcpy(large, "\x16\3\1\xff\xff\1\1\0\0", 9);
	names((char *)large, 100, "");
	large[5 + 4 + 34 + 1] = '\xff';
	assert_int_equal(end_of(large, HELLO_MAX - 1), HELLO_MORE);
	names((char *)large, HELLO_MAX - 1 > 200 ? 200 : 0, "");
	{
		char name[NET_NAME_MAX + 1];

		assert_int_equal(hello_name(large, HELLO_MAX, 0, name), HELLO_NAME);
		assert_string_equal(name, HELLO_UNREADABLE);
	}
}

TEST(hosts_of_requests_are_found)
{
	is("GET / HTTP/1.1\r\nHost: Good.Example:80\r\n\r\n", "good.example");
	is("\r\n\n\r\nget /a HTTP/1.0\nA: b\nhOST:\tgood.example \n\n", "good.example");
	is("POST http://u:p@a.example:81/b?c@d HTTP/1.1\r\nHost: b.example\r\n\r\n",
	   "a.example b.example");
	is("GET https://a.example HTTP/1.1\r\nHost : b.example.\r\n\r\n", "a.example b.example");
	is("GET / HTTP/1.1\r\nHost:\r\n b.example\r\nHost: a b\r\n\r\n", "b.example ?");
	is("GET /?u=http://x/ HTTP/1.1\r\nHost: [2001:db8::1]:80\r\nHost: "
	   "192.0.2.1\r\nHost:\r\n\r\n",
	   "");
	is("GET / HTTP/1.1\r\n\r\nHost: b.example\r\n\r\n", "");
	is("GET / HTTP/1.1\r\nHost: a_b.example\r\nX-Host: c\r\n\r\n", "a_b.example");
	is("GET / HTTP/1.1\r\nHost: b\xc3\xbc.example\r\n\r\n", HELLO_UNREADABLE);
}

/* Servers read these in ways of their own (RFC 9112, 2.2 and 3). */
TEST(lenient_servers_are_read_as_well)
{
	is("GET http://b.example/a\r\n", "b.example");
	is("GET https://b.example:443/a b\n", "b.example");
	is("get http://b.example/a\r\n", "");
	is("GET\v/\fHTTP/1.1\r\nHost: b.example\r\n\r\n", "b.example");
	is("GET\r/\rHTTP/1.1\r\nHost:\vb.example\r\n\r\n", "b.example");
	is("GET / HTTP/1.1\r\n \r\nHost: b.example\r\n\r\n", "b.example");
	is("GET / HTTP/1.1\r\nA: b\r\n\t\r\nHost: b.example\r\n\r\n", "b.example");
	is("GET / HTTP/1.1\r\nHost: a\r\nB: c\rHost: b.example\r\n\r\n", "a ?");
	is("GET / HTTP/1.1\r\nHost:\r b.example\r\nHost: a\r\r\n\r\n", "? ?");
	is("GET / HTTP/1.1\r\nHost: a:80@b.example\r\nHost: a:\r\nHost: a:b\r\n\r\n", "? a ?");
}

TEST(other_protocols_name_none)
{
	static const char *const others[] = {"SSH-2.0-OpenSSH_9.2\r\n",
					     "EHLO a.example\r\n",
					     "PING\r\n",
					     "*1\r\n",
					     "\r\n\r\nhelp\r\n",
					     "CONNECT b.example:443 HTTP/1.1\r\n",
					     "GET key\r\n",
					     "PRI * HTTP/2.0\r\n\r\n",
					     "OPTIONS rtsp://b.example/a RTSP/1.0\r\n",
					     "\x16\2",
					     "\x80\x2e\1\3\1",
					     "AMQP\x01",
					     "USER a\r\nHost: b.example\r\n\r\n"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		is(others[i], "");
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_int_equal(end_of(others[i], strlen(others[i])), HELLO_OVER);
	assert_int_equal(end_of("\x16\3\1\0\5\2", 6), HELLO_OVER); /* a server's hello */
	assert_int_equal(end_of("\0\0\0\x08", 4), HELLO_OVER);
}

TEST(a_long_head_must_have_named_its_host)
{
	AUTO_FREE char *text = xmalloc(HELLO_MAX);
	char name[NET_NAME_MAX + 1];

	memset(text, 'a', HELLO_MAX);
	assert_int_equal(end_of(text, HELLO_MAX - 1), HELLO_MORE);
	assert_int_equal(end_of(text, HELLO_MAX), HELLO_OVER); /* no server reads such a line */
	memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
	assert_int_equal(hello_name((uint8_t *)text, HELLO_MAX, 0, name), HELLO_NAME);
	assert_string_equal(name, HELLO_UNREADABLE);
	memcpy(text, "GET / HTTP/1.1\r\nHost: a\r\nB: ", 28);
	assert_int_equal(hello_name((uint8_t *)text, HELLO_MAX, 0, name), HELLO_NAME);
	assert_string_equal(name, "a");
	assert_int_equal(hello_name((uint8_t *)text, HELLO_MAX, 1, name), HELLO_OVER);
}

TESTS(NULL, NULL)
