/* dns - reads DNS questions, and the addresses and lifetimes of answers. */
/* SPDX-License-Identifier: MIT */
#include "core/net/dns.h"

#include <errno.h>
#include <string.h>

#include "core/net/dns_record.h"

#define OPCODE	      0x7800u
#define SVCB_V4HINT   4
#define SVCB_V6HINT   6
#define SVCB_ECH      5
#define LIFE_NONE_MAX 30   /* longest time that "there is none" is kept, in seconds */
#define LIFE_MAX      3600 /* longest time that an answer is kept */
#define CHAIN_MAX     16   /* most CNAME records that are followed */

/* ---- questions ------------------------------------------------------------------------------- */

/* Reads EDNS: the size that the client accepts. */
static bool read_extra(struct dns_question *q, const uint8_t *msg, size_t len)
{
	size_t at = q->end;

	for (unsigned i = 0, n = dns_count(msg, 3); i < n; i++) {
		struct dns_record r;

		if (!dns_read_record(msg, len, at, &r))
			return false;
		at = r.end;
		if (r.type != DNS_OPT)
			continue;
		q->edns = true;
		q->sec = r.ttl & DNS_TTL_DO;
		q->room = MIN(MAX(r.class, DNS_UDP_MIN), DNS_UDP_MAX);
	}
	return true;
}

int dns_read_question(struct dns_question *ret, const uint8_t *msg, size_t len)
{
	struct net_host host;
	char name[NET_NAME_MAX + 1] = "";
	size_t at;

	*ret = (struct dns_question){.room = DNS_UDP_MIN};
	if (len < DNS_HEADER || get16(msg + 2) & DNS_FLAG_QR)
		return -EBADMSG;
	ret->id = get16(msg);
	ret->recurse = get16(msg + 2) & DNS_FLAG_RD;
	ret->unchecked = get16(msg + 2) & DNS_FLAG_CD;
	ret->end = DNS_HEADER;
	if (get16(msg + 2) & OPCODE || dns_count(msg, 0) != 1 || dns_count(msg, 1) ||
	    dns_count(msg, 2))
		return -EINVAL;
	at = dns_read_name(msg, len, DNS_HEADER, name);
	if (at == 0 || at + 4 > len || get16(msg + at + 2) != DNS_CLASS_IN)
		return -EINVAL;
	/* A name that looks like an address is not a name. */
	if (!net_host_parse(&host, name, strlen(name), NULL) || host.is_addr)
		return -EINVAL;
	memcpy(ret->name, host.name, sizeof(ret->name));
	ret->type = get16(msg + at);
	ret->end = at + 4;
	return read_extra(ret, msg, len) ? 0 : -EINVAL;
}

bool dns_is_answer(const uint8_t *msg, size_t len, const uint8_t *query,
		   const struct dns_question *q, uint16_t id)
{
	char a[NET_NAME_MAX + 1] = "", b[NET_NAME_MAX + 1] = "";
	size_t at;

	if (len < DNS_HEADER || get16(msg) != id || !(get16(msg + 2) & DNS_FLAG_QR) ||
	    dns_count(msg, 0) != 1)
		return false;
	at = dns_read_name(msg, len, DNS_HEADER, a);
	if (at == 0 || at + 4 > len || !dns_read_name(query, q->end, DNS_HEADER, b))
		return false;
	return strcmp(a, b) == 0 && get16(msg + at) == q->type;
}

enum dns_rcode dns_code(const uint8_t *msg)
{
	return msg[3] & 0x0f;
}

bool dns_is_cut(const uint8_t *msg)
{
	return get16(msg + 2) & DNS_FLAG_TC;
}

void dns_set_id(uint8_t *msg, uint16_t id)
{
	put16(msg, id);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Reports the addresses in a hint of an HTTPS or SVCB record (RFC 9460). */
static void tell_hint(const uint8_t *p, size_t len, bool v4, uint32_t ttl, dns_on_addr on,
		      void *data)
{
	size_t one = v4 ? 4 : 16;

	for (; len >= one; len -= one, p += one) {
		struct net_addr a;

		if (v4)
			a = net_addr_v4(get32(p));
		else
			memcpy(a.b, p, sizeof(a.b));
		on(data, &a, ttl);
	}
}

/* A parameter of an HTTPS or SVCB record; `data` is an offset. */
struct param {
	unsigned key;
	size_t data, len;
};

static bool has_params(const struct dns_record *r)
{
	return r->type == DNS_HTTPS || r->type == DNS_SVCB;
}

/* Reads the next parameter. *at: 0 for the first one. */
static bool next_param(const uint8_t *msg, const struct dns_record *r, size_t *at,
		       struct param *ret)
{
	if (*at == 0)
		*at = r->len < 3 ? 0 : dns_skip_name(msg, r->end, r->data + 2);
	if (*at == 0 || *at + 4 > r->end)
		return false;
	*ret = (struct param){get16(msg + *at), *at + 4, get16(msg + *at + 2)};
	*at = ret->data + ret->len;
	return *at <= r->end;
}

static void tell_hints(const uint8_t *msg, const struct dns_record *r, dns_on_addr on, void *data)
{
	struct param p;

	for (size_t at = 0; next_param(msg, r, &at, &p);)
		if (p.key == SVCB_V4HINT || p.key == SVCB_V6HINT)
			tell_hint(msg + p.data, p.len, p.key == SVCB_V4HINT, r->ttl, on, data);
}

/* Gives each configuration a version that no client knows. list: its length, then configurations.
 * Each begins with its version and its length. */
static void hide_configurations(uint8_t *list, size_t len)
{
	for (size_t at = 2; at + 4 <= len; at += 4 + get16(list + at + 2))
		put16(list + at, 0);
}

void dns_hide_ech(uint8_t *msg, size_t len)
{
	unsigned left = 0;
	size_t from = dns_first_record(msg, len, &left);
	struct dns_record r;
	struct param p;

	while (from && dns_next_record(msg, len, &from, &left, &r))
		for (size_t at = 0; has_params(&r) && next_param(msg, &r, &at, &p);)
			if (p.key == SVCB_ECH)
				hide_configurations(msg + p.data, p.len);
}

static void tell_address(const uint8_t *msg, const struct dns_record *r, dns_on_addr on, void *data)
{
	struct net_addr a;

	if (has_params(r))
		tell_hints(msg, r, on, data);

	if (r->type == DNS_A && r->len == 4) {
		a = net_addr_v4(get32(msg + r->data));
		on(data, &a, r->ttl);
	} else if (r->type == DNS_AAAA && r->len == 16) {
		memcpy(a.b, msg + r->data, sizeof(a.b));
		on(data, &a, r->ttl);
	}
}

/* Reports the addresses of this name; *next is its CNAME, if it has one. */
static int walk_one(const uint8_t *msg, size_t len, size_t from, char next[NET_NAME_MAX + 1],
		    dns_on_addr on, void *data)
{
	char want[NET_NAME_MAX + 1];
	size_t at = from;

	memcpy(want, next, sizeof(want));
	next[0] = '\0';
	for (unsigned i = 0, n = dns_count(msg, 1); i < n; i++) {
		char owner[NET_NAME_MAX + 1] = "";
		struct dns_record r;

		if (!dns_read_record(msg, len, at, &r))
			return -EBADMSG;
		at = r.end;
		if (r.class != DNS_CLASS_IN || !dns_read_name(msg, len, r.name, owner) ||
		    strcmp(owner, want) != 0)
			continue;
		if (r.type == DNS_CNAME && !dns_read_name(msg, r.end, r.data, next))
			return -EBADMSG;
		tell_address(msg, &r, on, data);
	}
	return 0;
}

int dns_walk(const uint8_t *msg, size_t len, const struct dns_question *q, dns_on_addr on,
	     void *data)
{
	char name[NET_NAME_MAX + 1];
	size_t from;
	int r = 0;

	if (len < DNS_HEADER)
		return -EBADMSG;
	from = dns_skip_name(msg, len, DNS_HEADER);
	if (from == 0 || from + 4 > len)
		return -EBADMSG;
	memcpy(name, q->name, sizeof(name));
	for (unsigned i = 0; r == 0 && i < CHAIN_MAX && name[0]; i++)
		r = walk_one(msg, len, from + 4, name, on, data);
	return r;
}

/* ---- time ------------------------------------------------------------------------------------ */

uint32_t dns_life(const uint8_t *msg, size_t len)
{
	unsigned left = 0;
	size_t at = dns_first_record(msg, len, &left);
	uint32_t life = LIFE_MAX;
	bool soa = false, none;
	struct dns_record r;

	if (!at || dns_is_cut(msg) || (dns_code(msg) != DNS_OK && dns_code(msg) != DNS_NO_NAME))
		return 0;
	none = dns_count(msg, 1) == 0;
	while (dns_next_record(msg, len, &at, &left, &r)) {
		if (r.type == DNS_OPT)
			continue;
		soa |= r.type == DNS_SOA;
		/* The last number of an SOA record is also a limit. */
		if (r.type == DNS_SOA && r.len >= 20)
			life = MIN(life, get32(msg + r.end - 4));
		life = MIN(life, r.ttl);
	}
	if (left || (none && !soa))
		return 0;
	return none ? MIN(life, LIFE_NONE_MAX) : life;
}

void dns_age(uint8_t *msg, size_t len, uint32_t seconds)
{
	unsigned left = 0;
	size_t at = dns_first_record(msg, len, &left);
	struct dns_record r;

	while (at && dns_next_record(msg, len, &at, &left, &r))
		if (r.type != DNS_OPT)
			put32(msg + r.data - 6, r.ttl - MIN(r.ttl, seconds));
}
