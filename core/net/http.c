/* http - reads request heads at a proxy, and rewrites them for the server. */
/* SPDX-License-Identifier: MIT */
#include "core/net/http.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

/* ---- text ------------------------------------------------------------------------------------ */

/* Returns whether it is a token (RFC 9110, 5.6.2). */
static bool is_token(const char *s, size_t len)
{
	static const char chars[] = "!#$%&'*+-.^_`|~0123456789"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

	for (size_t i = 0; i < len; i++)
		if (!s[i] || !strchr(chars, s[i]))
			return false;
	return len > 0;
}

static bool is_word(struct span s, const char *word)
{
	return s.len == strlen(word) && strncasecmp(s.data, word, s.len) == 0;
}

static struct span trimmed(struct span s)
{
	while (s.len && (s.data[0] == ' ' || s.data[0] == '\t'))
		s = (struct span){s.data + 1, s.len - 1};
	while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t'))
		s.len--;
	return s;
}

/* Returns whether the text has no controls but tabs, and blanks only where they are allowed. */
static bool is_clean(struct span s, bool blanks)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.data[i];

		if (c == 0x7f || (c < ' ' && !(blanks && c == '\t')) || (c == ' ' && !blanks))
			return false;
	}
	return true;
}

/* Takes the next line up to its CR LF, which each line has. Returns false at the end. */
static bool next_line(struct span *rest, struct span *line)
{
	const char *end = rest->len ? memmem(rest->data, rest->len, "\r\n", 2) : NULL;

	if (!end)
		return false;
	*line = (struct span){rest->data, (size_t)(end - rest->data)};
	*rest = (struct span){end + 2, rest->len - line->len - 2};
	return true;
}

static bool split(struct span line, char at, struct span *head, struct span *tail)
{
	const char *c = line.len ? memchr(line.data, at, line.len) : NULL;

	if (!c)
		return false;
	*head = (struct span){line.data, (size_t)(c - line.data)};
	*tail = (struct span){c + 1, line.len - head->len - 1};
	return true;
}

/* ---- the first line -------------------------------------------------------------------------- */

static bool read_target(struct http_request *r, struct span authority, uint16_t port,
			const char **why)
{
	char text[NET_TARGET_TEXT];

	if (authority.len == 0 || authority.len >= sizeof(text) ||
	    memchr(authority.data, '\0', authority.len) ||
	    memchr(authority.data, '@', authority.len)) {
		*why = "the host is missing, too long, or has a user's name in front";
		return false;
	}
	memcpy(text, authority.data, authority.len);
	text[authority.len] = '\0';
	if (!net_target_parse(&r->target, text, why))
		return false;
	if (r->target.port == 0)
		r->target.port = port;
	*why = "the port is missing";
	return r->target.port != 0;
}

static bool read_url(struct http_request *r, struct span url, const char **why)
{
	static const char scheme[] = "http://";
	const size_t n = sizeof(scheme) - 1;
	size_t len = 0;

	if (url.len < n || strncasecmp(url.data, scheme, n) != 0) {
		*why = "a proxy is asked by CONNECT, or with a whole http:// address";
		return false;
	}
	url = (struct span){url.data + n, url.len - n};
	while (len < url.len && !strchr("/?#", url.data[len]))
		len++;
	r->path = (struct span){url.data + len, url.len - len};
	return read_target(r, (struct span){url.data, len}, 80, why);
}

static bool read_first(struct http_request *r, struct span line, const char **why)
{
	struct span url, version, rest;

	*why = "no request line";
	if (!split(line, ' ', &r->method, &rest) || !split(rest, ' ', &url, &version) ||
	    !is_token(r->method.data, r->method.len) || r->method.len > 32 || url.len == 0 ||
	    !is_clean(url, false))
		return false;
	if (version.len != 8 || memcmp(version.data, "HTTP/1.", 7) != 0 ||
	    (version.data[7] != '0' && version.data[7] != '1')) {
		*why = "only HTTP/1.0 and HTTP/1.1 are spoken here";
		return false;
	}
	r->tunnel = r->method.len == 7 && memcmp(r->method.data, "CONNECT", 7) == 0;
	return r->tunnel ? read_target(r, url, 0, why) : read_url(r, url, why);
}

/* ---- headers --------------------------------------------------------------------------------- */

static bool read_header(struct span line, struct span *name, struct span *value)
{
	if (!split(line, ':', name, value) || !is_token(name->data, name->len) ||
	    !is_clean(*value, true))
		return false;
	*value = trimmed(*value);
	return true;
}

static bool read_length(struct http_request *r, struct span value)
{
	uint64_t n = 0;

	for (size_t i = 0; i < value.len; i++) {
		if (value.data[i] < '0' || value.data[i] > '9' || i > 17)
			return false;
		n = n * 10 + (uint64_t)(value.data[i] - '0');
	}
	r->body = n;
	return value.len > 0;
}

static bool read_headers(struct http_request *r, const char **why)
{
	struct span rest = r->headers, line, name, value;
	bool has_length = false;
	int n = 0;

	while (next_line(&rest, &line)) {
		*why = "a header is malformed";
		if (++n > HTTP_HEADERS_MAX || !read_header(line, &name, &value))
			return false;
		if (is_word(name, "Content-Length")) {
			if (has_length || !read_length(r, value))
				return false;
			has_length = true;
		} else if (is_word(name, "Transfer-Encoding")) {
			if (r->chunked || !is_word(value, "chunked"))
				return false;
			r->chunked = true;
		} else if (is_word(name, "Proxy-Authorization") && value.len > 6 &&
			   strncasecmp(value.data, "Basic ", 6) == 0) {
			r->credentials = trimmed((struct span){value.data + 6, value.len - 6});
		}
	}
	*why = "a length beside a transfer coding";
	return !(has_length && r->chunked);
}

int http_read(struct http_request *ret, const char *data, size_t len, const char **why)
{
	const char *end = len ? memmem(data, len, "\r\n\r\n", 4) : NULL;
	struct span head, first;

	*ret = (struct http_request){0};
	*why = "no request of HTTP";
	if (len && (data[0] < 'A' || data[0] > 'Z'))
		return -EBADMSG;
	if (!end || (size_t)(end - data) + 4 > HTTP_HEAD_MAX) {
		*why = "the head of the request is too long";
		return end || len >= HTTP_HEAD_MAX ? -E2BIG : 0;
	}
	head = (struct span){data, (size_t)(end - data) + 2};
	if (!next_line(&head, &first) || !read_first(ret, first, why))
		return -EBADMSG;
	ret->headers = head;
	if (!read_headers(ret, why))
		return -EBADMSG;
	return (int)(end - data) + 4;
}

/* ---- output ---------------------------------------------------------------------------------- */

static bool is_named(struct span list, struct span name)
{
	struct span head, rest = list;

	while (rest.len) {
		if (!split(rest, ',', &head, &rest)) {
			head = rest;
			rest.len = 0;
		}
		head = trimmed(head);
		if (head.len == name.len && strncasecmp(head.data, name.data, name.len) == 0)
			return true;
	}
	return false;
}

/* Returns whether the header is only for the proxy, by its name or a Connection header. */
static bool is_for_us(const struct http_request *r, struct span name)
{
	static const char *const ours[] = {
		"Host", "Connection",	       "Keep-Alive", "Proxy-Connection",
		"TE",	"Proxy-Authorization", "Upgrade",    "Proxy-Authenticate"};
	struct span rest = r->headers, line, other, value;

	for (size_t i = 0; i < ARRAY_LEN(ours); i++)
		if (is_word(name, ours[i]))
			return true;
	if (is_word(name, "Content-Length") || is_word(name, "Transfer-Encoding"))
		return false; /* the client cannot remove the end of the body */
	while (next_line(&rest, &line))
		if (read_header(line, &other, &value) && is_word(other, "Connection") &&
		    is_named(value, name))
			return true;
	return false;
}

void http_forward(const struct http_request *r, struct buf *out)
{
	struct net_target host = r->target;
	struct span rest = r->headers, line, name, value;
	char text[NET_TARGET_TEXT];
	size_t path = 0;

	/* The part after # stays with the client. */
	while (path < r->path.len && r->path.data[path] != '#')
		path++;
	if (host.port == 80 && !(host.host.is_addr && !net_addr_is_v4(&host.host.addr)))
		host.port = 0;
	net_target_format(&host, text);
	buf_add(out, r->method.data, r->method.len);
	buf_str(out, path && r->path.data[0] == '/' ? " " : " /");
	buf_add(out, r->path.data, path);
	buf_fmt(out, " HTTP/1.1\r\nHost: %s\r\n", text);
	while (next_line(&rest, &line)) {
		if (!read_header(line, &name, &value) || is_for_us(r, name))
			continue;
		buf_add(out, line.data, line.len);
		buf_str(out, "\r\n");
	}
	buf_str(out, "Connection: close\r\n\r\n");
}

static const char *status_words(int status)
{
	switch (status) {
	case 200:
		return "Connection established";
	case 400:
		return "Bad Request";
	case 403:
		return "Forbidden";
	case 407:
		return "Proxy Authentication Required";
	case 408:
		return "Request Timeout";
	case 431:
		return "Request Header Fields Too Large";
	case 502:
		return "Bad Gateway";
	case 503:
		return "Service Unavailable";
	case 504:
		return "Gateway Timeout";
	default:
		return "Refused";
	}
}

void http_answer(struct buf *out, int status, const char *reason)
{
	AUTO_FREE char *plain = xstrdup(reason ? reason : status_words(status));

	/* A header has only printable ASCII. */
	for (char *c = plain; *c; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	buf_fmt(out, "HTTP/1.1 %d %s\r\n", status, status_words(status));
	if (status == 200) {
		buf_str(out, "\r\n");
		return;
	}
	if (status == 407)
		buf_str(out, "Proxy-Authenticate: Basic realm=\"cordon\"\r\n");
	buf_fmt(out,
		"X-Cordon-Reason: %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
		"Connection: close\r\n\r\ncordon: %s\n",
		plain, strlen(plain) + 9, plain);
}
