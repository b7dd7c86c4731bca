/* upstream - the proxies of the user's network, from the environment. */
/* SPDX-License-Identifier: MIT */
#include "core/net/upstream.h"

#include <ctype.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "core/base/base64.h"

enum use {
	USE_HTTPS,
	USE_HTTP,
	USE_ALL,
	USES,
};

static const struct {
	const char *name, *small;
} variables[USES] = {
	{"HTTPS_PROXY", "https_proxy"}, {"HTTP_PROXY", "http_proxy"}, {"ALL_PROXY", "all_proxy"}};

/* The proxies. upstream_load() writes them once; forked processes inherit them. */
static struct upstream found[USES];

/* ---- the environment ------------------------------------------------------------------------- */

static const char *value_of(const char *small, const char *name)
{
	const char *value = getenv(small);

	if (!value || !*value)
		value = getenv(name);
	return value && *value ? value : NULL;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, tolower(c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Decodes "user:p%40ss". */
static void decode(struct buf *out, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		int high = text[i] == '%' && i + 2 < len ? hex(text[i + 1]) : -1;
		int low = high >= 0 ? hex(text[i + 2]) : -1;

		if (low >= 0) {
			buf_ch(out, (char)(high << 4 | low));
			i += 2;
		} else {
			buf_ch(out, text[i]);
		}
	}
}

static void read_credentials(struct upstream *u, const char *text, size_t len)
{
	AUTO_BUF struct buf plain = BUF_INIT;
	AUTO_BUF struct buf coded = BUF_INIT;

	decode(&plain, text, len);
	if (!memchr(plain.data, ':', plain.len))
		buf_ch(&plain, ':');
	base64_encode(&coded, plain.data, plain.len);
	u->credentials = buf_take(&coded);
}

/* Returns NULL, or why the value cannot be used. */
static const char *parse(struct upstream *u, const char *value, struct net_target *ret)
{
	const char *rest = strstr(value, "://"), *why = NULL, *at;
	AUTO_FREE char *place = NULL;

	if (rest && strncasecmp(value, "http://", 7) != 0)
		return "only http:// proxies are used";
	rest = rest ? rest + 3 : value;
	place = xstrndup(rest, strcspn(rest, "/?#"));
	at = strrchr(place, '@');
	if (at)
		read_credentials(u, place, (size_t)(at - place));
	if (!net_target_parse(ret, at ? at + 1 : place, &why))
		return why;
	if (!ret->port)
		ret->port = 80;
	return NULL;
}

static void look_up(struct upstream *u, const struct net_host *host)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_ADDRCONFIG};
	struct addrinfo *list = NULL;
	uint16_t port;

	if (host->is_addr) {
		u->addr[u->n++] = host->addr;
		return;
	}
	if (getaddrinfo(host->name, NULL, &hints, &list) != 0)
		return;
	for (struct addrinfo *a = list; a && u->n < UPSTREAM_ADDRS; a = a->ai_next)
		u->n += net_addr_from_sock(&u->addr[u->n], &port, a->ai_addr, a->ai_addrlen);
	freeaddrinfo(list);
}

static void load_one(enum use use, struct buf *notes)
{
	const char *value = value_of(variables[use].small, variables[use].name);
	struct upstream *u = &found[use];
	struct net_target target = {0};
	const char *why;

	*u = (struct upstream){0};
	if (!value)
		return;
	why = parse(u, value, &target);
	if (why) {
		buf_fmt(notes, "%s is not used: %s; hosts are dialled directly\n",
			variables[use].name, why);
		return;
	}
	u->variable = variables[use].name;
	u->port = target.port;
	net_target_format(&target, u->name);
	look_up(u, &target.host);
	if (!u->n)
		buf_fmt(notes,
			"the proxy %s (%s) cannot be looked up: hosts behind it are out of "
			"reach\n",
			u->name, u->variable);
}

void upstream_load(struct buf *notes)
{
	for (enum use use = 0; use < USES; use++)
		load_one(use, notes);
}

/* ---- which one ------------------------------------------------------------------------------- */

static bool is_name_in(const char *name, const char *domain, size_t len)
{
	size_t n = strlen(name);

	return n >= len && strncasecmp(name + n - len, domain, len) == 0 &&
	       (n == len || name[n - len - 1] == '.');
}

/* Matches one word of NO_PROXY: "*", "corp", ".corp", "*.corp", "host:8080", "10.0.0.0/8". */
static bool exempts(const char *word, size_t len, const struct net_target *t)
{
	AUTO_FREE char *text = xstrndup(word, len);
	struct net_pattern pattern;
	const char *why;
	char *port;

	if (str_eq(text, "*"))
		return true;
	if (t->host.is_addr)
		return net_pattern_parse(&pattern, text, &why) && net_pattern_matches(&pattern, t);
	port = strchr(text, ':');
	if (port) {
		if (t->port && (unsigned)atoi(port + 1) != t->port)
			return false;
		*port = '\0';
	}
	word = text + strspn(text, "*.");
	return *word && is_name_in(t->host.name, word, strlen(word));
}

static bool is_exempt(const struct net_target *t)
{
	const char *at = value_of("no_proxy", "NO_PROXY");

	for (size_t n; at && *(at += strspn(at, ", \t")); at += n) {
		n = strcspn(at, ", \t");
		if (exempts(at, n, t))
			return true;
	}
	return false;
}

static bool is_near(const struct net_host *host)
{
	if (host->is_addr)
		return net_addr_class(&host->addr) != NET_PUBLIC;
	return is_name_in(host->name, "localhost", 9);
}

static const struct upstream *pick(enum use use)
{
	return found[use].variable ? &found[use] : found[USE_ALL].variable ? &found[USE_ALL] : NULL;
}

const struct upstream *upstream_for(const struct net_target *t)
{
	const struct upstream *u;

	switch (t->port) {
	case 443:
	case 8443:
		u = pick(USE_HTTPS);
		break;
	case 80:
	case 8080:
		u = pick(USE_HTTP);
		break;
	default:
		u = pick(USE_ALL);
		break;
	}
	return u && !is_near(&t->host) && !is_exempt(t) ? u : NULL;
}

bool upstream_knows(const char *name)
{
	struct net_target t = {0};

	if (!pick(USE_HTTPS) && !pick(USE_HTTP))
		return false;
	return net_host_parse(&t.host, name, strlen(name), NULL) && !is_near(&t.host) &&
	       !is_exempt(&t);
}

/* ---- protocol of the proxy ------------------------------------------------------------------- */

void upstream_request(const struct upstream *u, const struct net_target *t, struct buf *out)
{
	char text[NET_TARGET_TEXT];

	net_target_format(t, text);
	buf_fmt(out, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", text, text);
	if (u->credentials)
		buf_fmt(out, "Proxy-Authorization: Basic %s\r\n", u->credentials);
	buf_str(out, "\r\n");
}

int upstream_answer(const char *data, size_t len, int *ret_status)
{
	static const char version[] = "HTTP/1.";
	const size_t n = sizeof(version) - 1;
	const char *end = memmem(data, len, "\r\n\r\n", 4);
	int status = 0;

	if (memcmp(data, version, MIN(len, n)) != 0)
		return -EBADMSG;
	if (!end)
		return len < UPSTREAM_HEAD_MAX ? 0 : -EBADMSG;
	/* "HTTP/1.1 200 Connection established" */
	if (len < n + 5 || data[n + 1] != ' ')
		return -EBADMSG;
	for (size_t i = n + 2; i < n + 5; i++) {
		if (!isdigit((unsigned char)data[i]))
			return -EBADMSG;
		status = status * 10 + (data[i] - '0');
	}
	if (status < 100) /* RFC 9110, 15 */
		return -EBADMSG;
	*ret_status = status;
	return (int)(end - data) + 4;
}

void upstream_words(const struct upstream *u, const struct net_target *t, int code, struct buf *out)
{
	char to[NET_TARGET_TEXT];

	net_target_format(t, to);
	if (!u->n)
		buf_fmt(out, "the proxy %s (%s) cannot be looked up", u->name, u->variable);
	else if (code == -EBADMSG)
		buf_fmt(out, "what answers at %s (%s) is no HTTP proxy", u->name, u->variable);
	else if (code == -ECONNRESET || code == -EPIPE)
		buf_fmt(out, "the proxy %s (%s) closes the connection without an answer", u->name,
			u->variable);
	else if (code < 0)
		buf_fmt(out, "the proxy %s (%s) cannot be reached: %s", u->name, u->variable,
			strerror(-code));
	else if (code == 407 && u->credentials)
		buf_fmt(out, "the proxy %s refuses the user and password in %s", u->name,
			u->variable);
	else if (code == 407)
		buf_fmt(out,
			"the proxy %s wants a user and a password: set %s to "
			"http://USER:PASSWORD@%s",
			u->name, u->variable, u->name);
	else
		buf_fmt(out, "the proxy %s (%s) does not connect to %s: it answers %d", u->name,
			u->variable, to, code);
}

int upstream_code(int code)
{
	if (code < 0)
		return code == -EBADMSG ? -EPROTO : code;
	return code == 403 || code == 407 ? -EACCES : -EHOSTUNREACH;
}
