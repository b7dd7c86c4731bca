/* host - host names, targets (host and port) and the patterns of rules for them. */
/* SPDX-License-Identifier: MIT */
#include "core/net/host.h"

#include <string.h>

#define LABEL_MAX 63

static bool fail(const char **why, const char *words)
{
	if (why)
		*why = words;
	return false;
}

/* ---- names ----------------------------------------------------------------------------------- */

static bool is_name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

/* Checks the characters and the length of labels of a folded name. */
static bool check_labels(const char *name, const char **why)
{
	size_t label = 0;

	for (const char *c = name;; c++) {
		if (*c && *c != '.') {
			if (!is_name_char(*c))
				return fail(why, "a host name has letters, digits, - and dots");
			label++;
			continue;
		}
		if (label == 0 || label > LABEL_MAX)
			return fail(why, "each part of a host name has 1 to 63 characters");
		label = 0;
		if (!*c)
			return true;
	}
}

static bool fold_name(char out[NET_NAME_MAX + 1], const char *text, size_t len, const char **why)
{
	char whole[NET_NAME_MAX * 4 + 1];
	bool ascii = true;

	if (len > 0 && text[len - 1] == '.')
		len--;
	if (len == 0 || len >= sizeof(whole))
		return fail(why, len ? "too long for a host name" : "no host is named");
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (!c)
			return fail(why, "a host name has letters, digits, - and dots");
		ascii = ascii && (unsigned char)c < 0x80;
		whole[i] = c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
	}
	whole[len] = '\0';
	if (ascii && len > NET_NAME_MAX)
		return fail(why, "too long for a host name");
	if (ascii)
		memcpy(out, whole, len + 1);
	else if (!net_idn_to_ascii(whole, out))
		return fail(why, "no international name, or libidn2 is missing: write it as xn--");
	return check_labels(out, why);
}

bool net_host_parse(struct net_host *ret, const char *text, size_t len, const char **why)
{
	*ret = (struct net_host){0};
	if (net_addr_parse(&ret->addr, text, len)) {
		ret->is_addr = true;
		return true;
	}
	if (!fold_name(ret->name, text, len, why))
		return false;
	/* Other digits and dots can become an address when folded. Some programs take "1.2.3.4."
	 * for one. */
	if (net_addr_parse(&ret->addr, ret->name, strlen(ret->name))) {
		ret->is_addr = true;
		ret->name[0] = '\0';
	}
	return true;
}

void net_host_from_addr(struct net_host *ret, const struct net_addr *a)
{
	*ret = (struct net_host){.is_addr = true, .addr = *a};
}

/* ---- host and port --------------------------------------------------------------------------- */

struct parts {
	const char *host;
	size_t host_len;
	const char *ports; /* NULL: none */
};

/* Splits "[v6]:P", "host:P"; and "v6", "v6/bits" without ports. */
static bool split(struct parts *ret, const char *text, const char **why)
{
	const char *colon = strchr(text, ':');

	*ret = (struct parts){.host = text, .host_len = strlen(text)};
	if (text[0] == '[') {
		const char *end = strchr(text, ']');

		if (!end || (end[1] && end[1] != ':'))
			return fail(why, "say [ADDRESS]:PORT");
		ret->host = text + 1;
		ret->host_len = (size_t)(end - text - 1);
		ret->ports = end[1] ? end + 2 : NULL;
		return true;
	}
	if (colon && !strchr(colon + 1, ':')) {
		ret->host_len = (size_t)(colon - text);
		ret->ports = colon + 1;
	}
	return true;
}

/* Reads a port, 1 to 65535; sets *end behind it. */
static bool parse_port(const char *text, const char **end, uint16_t *ret)
{
	unsigned long n = 0;
	const char *c = text;

	for (; *c >= '0' && *c <= '9' && c - text < 6; c++)
		n = n * 10 + (unsigned long)(*c - '0');
	*end = c;
	*ret = (uint16_t)n;
	return c > text && n > 0 && n <= UINT16_MAX;
}

bool net_target_parse(struct net_target *ret, const char *text, const char **why)
{
	const char *end;
	struct parts p;

	*ret = (struct net_target){0};
	if (!split(&p, text, why) || !net_host_parse(&ret->host, p.host, p.host_len, why))
		return false;
	if (p.ports && (!parse_port(p.ports, &end, &ret->port) || *end))
		return fail(why, "a port is a number from 1 to 65535");
	return true;
}

void net_target_format(const struct net_target *t, char out[NET_TARGET_TEXT])
{
	char text[NET_ADDR_TEXT];
	const char *host = t->host.name;
	bool bracket = false;

	if (t->host.is_addr) {
		net_addr_format(&t->host.addr, text);
		host = text;
		bracket = t->port && strchr(text, ':');
	}
	if (t->port)
		snprintf(out, NET_TARGET_TEXT, "%s%s%s:%u", bracket ? "[" : "", host,
			 bracket ? "]" : "", t->port);
	else
		snprintf(out, NET_TARGET_TEXT, "%s", host);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static bool parse_ports(struct net_pattern *ret, const char *text, const char **why)
{
	static const char words[] = "ports are a number, FROM-TO, or *";
	const char *end;

	ret->from = 1;
	ret->to = UINT16_MAX;
	if (!text || strcmp(text, "*") == 0)
		return true;
	if (!parse_port(text, &end, &ret->from))
		return fail(why, words);
	ret->to = ret->from;
	if (*end == '-' && !parse_port(end + 1, &end, &ret->to))
		return fail(why, words);
	return (!*end && ret->from <= ret->to) || fail(why, words);
}

static bool parse_bits(struct net_pattern *ret, const char *text, size_t len, const char **why)
{
	unsigned most = net_addr_is_v4(&ret->addr) ? 32 : 128, n = 0;

	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9' || len > 3)
			return fail(why, "say ADDRESS/BITS");
		n = n * 10 + (unsigned)(text[i] - '0');
	}
	if (!len || n > most)
		return fail(why, "more bits than the address has");
	ret->bits = 128 - most + n;
	/* Clear the bits after the prefix. */
	for (unsigned i = ret->bits; i < 128; i++)
		ret->addr.b[i / 8] &= (uint8_t) ~(0x80u >> i % 8);
	return true;
}

static bool parse_host(struct net_pattern *ret, const char *text, size_t len, const char **why)
{
	const char *slash = memchr(text, '/', len);
	struct net_host host;

	if (len == 1 && text[0] == '*') {
		ret->kind = NET_ANY;
		return true;
	}
	if (slash) {
		ret->kind = NET_ADDRS;
		if (!net_addr_parse(&ret->addr, text, (size_t)(slash - text)))
			return fail(why, "say ADDRESS/BITS");
		return parse_bits(ret, slash + 1, len - (size_t)(slash + 1 - text), why);
	}
	if (len > 2 && text[0] == '*' && text[1] == '.') {
		ret->kind = NET_DOMAIN;
		if (!net_host_parse(&host, text + 2, len - 2, why))
			return false;
		if (host.is_addr)
			return fail(why, "an address has no sub-domains: say ADDRESS/BITS");
		memcpy(ret->name, host.name, sizeof(ret->name));
		return true;
	}
	if (memchr(text, '*', len))
		return fail(why, "a * stands for a whole host, or as *. before a domain");
	if (!net_host_parse(&host, text, len, why))
		return false;
	ret->kind = host.is_addr ? NET_ADDRS : NET_NAME;
	ret->addr = host.addr;
	ret->bits = 128;
	memcpy(ret->name, host.name, sizeof(ret->name));
	return true;
}

bool net_pattern_parse(struct net_pattern *ret, const char *text, const char **why)
{
	struct parts p;

	*ret = (struct net_pattern){0};
	return split(&p, text, why) && parse_host(ret, p.host, p.host_len, why) &&
	       parse_ports(ret, p.ports, why);
}

static bool is_beneath(const char *name, const char *domain)
{
	size_t n = strlen(name), d = strlen(domain);

	return n > d + 1 && name[n - d - 1] == '.' && memcmp(name + n - d, domain, d) == 0;
}

bool net_pattern_matches(const struct net_pattern *p, const struct net_target *t)
{
	const struct net_host *h = &t->host;

	if (t->port && (t->port < p->from || t->port > p->to))
		return false;
	switch (p->kind) {
	case NET_ANY:
		return true;
	case NET_NAME:
		return !h->is_addr && strcmp(p->name, h->name) == 0;
	case NET_DOMAIN:
		return !h->is_addr && is_beneath(h->name, p->name);
	case NET_ADDRS:
		return h->is_addr && net_addr_in(&h->addr, &p->addr, p->bits);
	}
	return false;
}

unsigned net_pattern_depth(const struct net_pattern *p)
{
	unsigned labels = 1;

	switch (p->kind) {
	case NET_ANY:
		return 0;
	case NET_NAME:
		return 1000;
	case NET_DOMAIN:
		for (const char *c = p->name; *c; c++)
			labels += *c == '.';
		return labels;
	case NET_ADDRS:
		return 1 + p->bits;
	}
	return 0;
}

unsigned net_pattern_ports(const struct net_pattern *p)
{
	return 65536 - (unsigned)(p->to - p->from + 1);
}
