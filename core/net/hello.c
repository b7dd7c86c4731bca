/* hello - finds the host that a client names in the first bytes of a connection. */
/* SPDX-License-Identifier: MIT */
#include "core/net/hello.h"

#include <string.h>
#include <strings.h>

#include "core/base/buf.h"
#include "core/os/text.h"

#define TLS_CIPHER_CHANGE 20 /* the first of the types of records; then warnings */
#define TLS_HANDSHAKE	  22
#define TLS_MAJOR	  3
#define TLS_RECORD_HEAD	  5
#define TLS_CLIENT_HELLO  1
#define TLS_RANDOM	  34 /* bytes of version and random */
#define TLS_SERVER_NAME	  0  /* the extension, and the only type of name in it */

/* The search for name number `left`. */
struct search {
	unsigned left;
	char *name;
	bool known;	   /* the bytes are TLS or HTTP */
	bool found, named; /* named: they have a name, wanted or not */
};

/* Handles a host of the message. Returns true if it is the wanted one. */
static bool is_wanted(struct search *s, const char *text, size_t len)
{
	struct net_host host;
	bool ascii = true;

	for (size_t i = 0; i < len; i++)
		ascii = ascii && (unsigned char)text[i] < 0x80;
	if (len == 0)
		return false;
	if (!ascii || !net_host_parse(&host, text, len, NULL))
		snprintf(host.name, sizeof(host.name), HELLO_UNREADABLE);
	else if (host.is_addr)
		return false;
	s->named = true;
	s->found = s->left == 0;
	if (s->found)
		memcpy(s->name, host.name, sizeof(host.name));
	else
		s->left--;
	return s->found;
}

static enum hello unreadable(struct search *s)
{
	return is_wanted(s, HELLO_UNREADABLE, 1) ? HELLO_NAME : HELLO_OVER;
}

/* ---- TLS ------------------------------------------------------------------------------------- */

/* Reads the handshake message through the records that hold it. */
struct reader {
	const uint8_t *data;
	size_t len, at;
	size_t record, message; /* bytes left */
	bool more, bad;		/* the bytes end too early; they are malformed */
};

/* Goes to the next record of the handshake. Servers skip a warning before it. */
static void next_record(struct reader *r)
{
	const uint8_t *head = r->data + r->at;
	size_t left = r->len - r->at, len;

	if (left > 0)
		r->bad = head[0] < TLS_CIPHER_CHANGE || head[0] > TLS_HANDSHAKE ||
			 (left > 1 && head[1] != TLS_MAJOR);
	r->more = left < TLS_RECORD_HEAD;
	if (r->more || r->bad)
		return;
	len = (size_t)(head[3] << 8 | head[4]);
	r->at += TLS_RECORD_HEAD;
	if (head[0] == TLS_HANDSHAKE) {
		r->record = len;
	} else {
		r->more = len > r->len - r->at;
		r->at += MIN(len, r->len - r->at);
	}
}

/* Returns how many of the message's next n bytes lie together at r->at; 0: none, and why is set. */
static size_t together(struct reader *r, size_t n)
{
	if (n > r->message)
		r->bad = true;
	while (r->record == 0 && !r->more && !r->bad)
		next_record(r);
	n = MIN(n, MIN(r->record, r->len - r->at));
	r->more |= n == 0;
	return r->more || r->bad ? 0 : n;
}

/* Reads n bytes, to `to` if it is not NULL. Returns false if they are not there. */
static bool take(struct reader *r, size_t n, uint8_t *to)
{
	while (n > 0) {
		size_t part = together(r, n);

		if (part == 0)
			return false;
		if (to) {
			memcpy(to, r->data + r->at, part);
			to += part;
		}
		r->at += part;
		r->record -= part;
		r->message -= part;
		n -= part;
	}
	return true;
}

static size_t number(struct reader *r, size_t bytes)
{
	uint8_t b[3] = {0};
	size_t value = 0;

	if (!take(r, bytes, b))
		return 0;
	for (size_t i = 0; i < bytes; i++)
		value = value << 8 | b[i];
	return value;
}

/* Skips a field that begins with its length, a number of this many bytes. */
static void skip_field(struct reader *r, size_t bytes)
{
	(void)take(r, number(r, bytes), NULL);
}

/* Reads the extension with the server's name. Returns true at the wanted name. */
static bool read_server_name(struct reader *r, size_t len, struct search *s)
{
	char name[NET_NAME_MAX + 2]; /* one byte more than any name, with a dot at the end */

	(void)number(r, 2); /* length of the list, which has the extension for itself */
	for (len -= MIN(len, (size_t)2); len >= 3 && !r->more && !r->bad;) {
		size_t type = number(r, 1), n = number(r, 2);

		len -= 3;
		r->bad |= n > len;
		if (type != TLS_SERVER_NAME || n > sizeof(name)) {
			if (take(r, n, NULL) && type == TLS_SERVER_NAME &&
			    is_wanted(s, HELLO_UNREADABLE, 1))
				return true;
		} else if (take(r, n, (uint8_t *)name) && is_wanted(s, name, n)) {
			return true;
		}
		len -= MIN(len, n);
	}
	return false;
}

static void find_in_hello(struct reader *r, struct search *s)
{
	size_t left;

	(void)take(r, TLS_RANDOM, NULL);
	skip_field(r, 1); /* session */
	skip_field(r, 2); /* ciphers */
	skip_field(r, 1); /* compression */
	if (r->more || r->bad || r->message == 0)
		return; /* extensions are optional */
	for (left = number(r, 2); left >= 4 && !r->more && !r->bad;) {
		size_t type = number(r, 2), len = number(r, 2);

		left -= 4;
		r->bad |= len > left;
		if (type != TLS_SERVER_NAME)
			(void)take(r, len, NULL);
		else if (read_server_name(r, len, s))
			return;
		left -= MIN(left, len);
	}
}

static enum hello read_tls(const uint8_t *data, size_t len, struct search *s)
{
	struct reader r = {.data = data, .len = len, .message = 4};
	bool hello = number(&r, 1) == TLS_CLIENT_HELLO;

	if (r.bad || (!r.more && !hello))
		return HELLO_OVER; /* not TLS, or no client of it */
	s->known = true;
	r.message = number(&r, 3);
	if (!r.more && !r.bad)
		find_in_hello(&r, s);
	if (s->found)
		return HELLO_NAME;
	if (r.bad)
		return unreadable(s);
	return r.more ? HELLO_MORE : HELLO_OVER;
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

/* What separates words, for lenient servers (RFC 9112, 3). */
#define BLANKS " \t\v\f\r\n"

static bool is_blank(char c)
{
	return c && strchr(BLANKS, c);
}

static struct span trimmed(struct span s)
{
	while (s.len && is_blank(s.data[0])) {
		s.data++;
		s.len--;
	}
	while (s.len && is_blank(s.data[s.len - 1]))
		s.len--;
	return s;
}

/* Takes the text before the first of these characters; all if there is none. */
static struct span until(struct span s, const char *ends)
{
	size_t n = 0;

	while (n < s.len && !(s.data[n] && strchr(ends, s.data[n])))
		n++;
	return (struct span){s.data, n};
}

static struct span after(struct span s, size_t n)
{
	return (struct span){s.data + n, s.len - n};
}

/* Handles HOST[:PORT]. Servers may take something else than a port for the host. */
static bool is_wanted_host(struct search *s, struct span text)
{
	struct span host, port;

	text = trimmed(text);
	if (text.len && text.data[0] == '[')
		return false; /* an address */
	host = until(text, ":");
	port = after(text, MIN(text.len, host.len + 1));
	while (port.len && port.data[0] >= '0' && port.data[0] <= '9')
		port = after(port, 1);
	if (host.len && port.len)
		return is_wanted(s, HELLO_UNREADABLE, 1);
	return is_wanted(s, host.data, host.len);
}

/* Handles the target of a request, which names a host if it is a whole URL. */
static bool is_wanted_target(struct search *s, struct span target)
{
	const char *host = target.len ? memmem(target.data, target.len, "://", 3) : NULL;
	struct span text;
	const char *at;

	if (!host || target.data[0] == '/')
		return false;
	text = until(after(target, (size_t)(host - target.data) + 3), "/?#");
	at = text.len ? memrchr(text.data, '@', text.len) : NULL;
	return is_wanted_host(s, at ? after(text, (size_t)(at - text.data) + 1) : text);
}

static bool is_host_header(struct span name)
{
	name = trimmed(name);
	return name.len == 4 && strncasecmp(name.data, "Host", 4) == 0;
}

/* Handles a line of the head. A CR alone ends a line for some servers only. */
static bool is_wanted_in_header(struct search *s, struct span line)
{
	struct span name = until(line, ":");

	for (size_t i = 0; i + 1 < line.len; i++)
		if (line.data[i] == '\r' && line.data[i + 1] != '\n')
			return is_wanted(s, HELLO_UNREADABLE, 1);
	return is_host_header(name) && name.len < line.len &&
	       is_wanted_host(s, after(line, name.len + 1));
}

/* Reads the headers. `rest` begins with the first one. */
static enum hello read_headers(struct span rest, struct search *s)
{
	while (rest.len) {
		const char *lf = memchr(rest.data, '\n', rest.len);
		struct span line;

		/* A line that begins with a blank continues the one before. */
		while (lf && lf + 1 < rest.data + rest.len && (lf[1] == ' ' || lf[1] == '\t'))
			lf = memchr(lf + 1, '\n', rest.len - (size_t)(lf + 1 - rest.data));
		if (!lf)
			return HELLO_MORE;
		line = (struct span){rest.data, (size_t)(lf - rest.data)};
		rest = after(rest, line.len + 1);
		if (line.len == 0 || (line.len == 1 && line.data[0] == '\r'))
			return HELLO_OVER;
		if (rest.len == 0)
			return HELLO_MORE;
		if (is_wanted_in_header(s, line))
			return HELLO_NAME;
	}
	return HELLO_MORE;
}

static bool begins(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.len > n && strncasecmp(s.data, with, n) == 0;
}

/* Reads the request line. Returns false if it is none of HTTP. One without a version is of
 * HTTP/0.9: servers still serve the host of such a line. */
static bool read_request_line(struct span line, struct span *ret_method, struct span *ret_target)
{
	struct span rest;
	size_t end;

	line = trimmed(line);
	*ret_method = until(line, BLANKS);
	rest = trimmed(after(line, ret_method->len));
	for (end = rest.len; end > 0 && !is_blank(rest.data[end - 1]);)
		end--;
	*ret_target = trimmed((struct span){rest.data, end});
	if (begins(after(rest, end), "HTTP/"))
		return ret_target->len > 0;
	*ret_target = rest;
	return ret_method->len == 3 && memcmp(ret_method->data, "GET", 3) == 0 &&
	       (begins(rest, "http://") || begins(rest, "https://"));
}

/* Returns whether a method of HTTP can begin so (RFC 9110, token). */
static bool is_method(struct span text)
{
	static const char others[] = "!#$%&'*+-.^_`|~";
	struct span word = until(text, BLANKS);

	for (size_t i = 0; i < word.len; i++) {
		char c = word.data[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      (c && strchr(others, c))))
			return false;
	}
	return true;
}

static enum hello read_http(struct span text, struct search *s)
{
	struct span method, target;
	const char *lf;

	while (text.len && (text.data[0] == '\r' || text.data[0] == '\n'))
		text = after(text, 1); /* servers skip empty lines */
	if (!is_method(text))
		return HELLO_OVER;
	lf = text.len ? memchr(text.data, '\n', text.len) : NULL;
	if (!lf)
		return HELLO_MORE;
	if (!read_request_line((struct span){text.data, (size_t)(lf - text.data)}, &method,
			       &target) ||
	    (method.len == 7 && strncasecmp(method.data, "CONNECT", 7) == 0))
		return HELLO_OVER;
	s->known = true;
	if (is_wanted_target(s, target))
		return HELLO_NAME;
	return read_headers(after(text, (size_t)(lf - text.data) + 1), s);
}

enum hello hello_name(const uint8_t *data, size_t len, unsigned n, char name[NET_NAME_MAX + 1])
{
	struct search s = {.left = n, .name = name};
	enum hello got = HELLO_MORE;

	if (len > 0 && data[0] >= TLS_CIPHER_CHANGE && data[0] <= TLS_HANDSHAKE)
		got = read_tls(data, len, &s);
	else if (len > 0)
		got = read_http((struct span){(const char *)data, len}, &s);
	if (got == HELLO_MORE && len >= HELLO_MAX)
		return s.named || !s.known ? HELLO_OVER : unreadable(&s);
	return got;
}
