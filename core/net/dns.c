/* dns - reads DNS questions; builds, walks and truncates DNS answers. */
/* SPDX-License-Identifier: MIT */
#include "core/net/dns.h"

#include <errno.h>
#include <string.h>

#define CLASS_IN       1
#define TYPE_OPT       41
#define OPTION_EDE     15
#define EDE_PROHIBITED 18
#define FLAG_QR	       0x8000u
#define FLAG_TC	       0x0200u
#define FLAG_RD	       0x0100u
#define FLAG_RA	       0x0080u
#define FLAG_CD	       0x0010u
#define TTL_DO	       0x8000u /* in the place of an OPT record's TTL */
#define OPCODE	       0x7800u
#define TTL_STAND_IN   1
#define TYPE_SOA       6
#define SVCB_V4HINT    4
#define SVCB_V6HINT    6
#define LIFE_NONE_MAX  30   /* seconds that "there is none" is kept */
#define LIFE_MAX       3600 /* and an answer */
#define CHAIN_MAX      16   /* CNAME records that are followed */

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* ---- names ----------------------------------------------------------------------------------- */

/*
 * The name at `at` as text, lower case, with a dot between labels; compression is followed towards
 * the head only, so it ends. Returns where the record goes on, 0: no name, or one with bytes that
 * no host has.
 */
static size_t read_name(const uint8_t *msg, size_t len, size_t at, char out[NET_NAME_MAX + 1])
{
	size_t after = 0, n = 0, limit = at;

	while (at < len) {
		size_t label = msg[at];

		if (label == 0) {
			out[n ? n - 1 : 0] = '\0';
			return after ? after : at + 1;
		}
		if ((label & 0xc0) == 0xc0) {
			size_t to;

			if (at + 2 > len)
				return 0;
			to = get16(msg + at) & 0x3fffu;
			if (to >= limit || to < DNS_HEADER)
				return 0;
			after = after ? after : at + 2;
			at = limit = to;
			continue;
		}
		if (label > 63 || at + 1 + label > len || n + label + 1 > NET_NAME_MAX + 1)
			return 0;
		for (size_t i = 1; i <= label; i++) {
			uint8_t c = msg[at + i];

			if (c <= ' ' || c >= 0x7f || c == '.')
				return 0;
			out[n++] = (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
		}
		out[n++] = '.';
		at += 1 + label;
	}
	return 0;
}

/* Where the record after a name goes on; for names that are of no interest, whatever is in them. */
static size_t skip_name(const uint8_t *msg, size_t len, size_t at)
{
	while (at < len) {
		if (msg[at] == 0)
			return at + 1;
		if ((msg[at] & 0xc0) == 0xc0)
			return at + 2 <= len ? at + 2 : 0;
		if (msg[at] > 63)
			return 0;
		at += 1u + msg[at];
	}
	return 0;
}

static size_t write_name(uint8_t *out, const char *name)
{
	size_t at = 0;

	while (*name) {
		size_t n = strcspn(name, ".");

		out[at++] = (uint8_t)n;
		memcpy(out + at, name, n);
		at += n;
		name += n + (name[n] == '.');
	}
	out[at++] = 0;
	return at;
}

/* ---- records --------------------------------------------------------------------------------- */

struct record {
	size_t name, data, end; /* offsets */
	uint16_t type, class, len;
	uint32_t ttl;
};

static bool read_record(const uint8_t *msg, size_t len, size_t at, struct record *ret)
{
	size_t head = skip_name(msg, len, at);

	if (head == 0 || head + 10 > len)
		return false;
	*ret = (struct record){.name = at,
			       .data = head + 10,
			       .type = get16(msg + head),
			       .class = get16(msg + head + 2),
			       .ttl = get32(msg + head + 4),
			       .len = get16(msg + head + 8)};
	ret->end = ret->data + ret->len;
	return ret->end <= len;
}

static unsigned count_of(const uint8_t *msg, size_t section)
{
	return get16(msg + 4 + 2 * section);
}

/* ---- questions ------------------------------------------------------------------------------- */

/* EDNS: how much the client takes. */
static bool read_extra(struct dns_question *q, const uint8_t *msg, size_t len)
{
	size_t at = q->end;

	for (unsigned i = 0, n = count_of(msg, 3); i < n; i++) {
		struct record r;

		if (!read_record(msg, len, at, &r))
			return false;
		at = r.end;
		if (r.type != TYPE_OPT)
			continue;
		q->edns = true;
		q->sec = r.ttl & TTL_DO;
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
	if (len < DNS_HEADER || get16(msg + 2) & FLAG_QR)
		return -EBADMSG;
	ret->id = get16(msg);
	ret->recurse = get16(msg + 2) & FLAG_RD;
	ret->unchecked = get16(msg + 2) & FLAG_CD;
	ret->end = DNS_HEADER;
	if (get16(msg + 2) & OPCODE || count_of(msg, 0) != 1 || count_of(msg, 1) ||
	    count_of(msg, 2))
		return -EINVAL;
	at = read_name(msg, len, DNS_HEADER, name);
	if (at == 0 || at + 4 > len || get16(msg + at + 2) != CLASS_IN)
		return -EINVAL;
	/* A name that is written like an address is none. */
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

	if (len < DNS_HEADER || get16(msg) != id || !(get16(msg + 2) & FLAG_QR) ||
	    count_of(msg, 0) != 1)
		return false;
	at = read_name(msg, len, DNS_HEADER, a);
	if (at == 0 || at + 4 > len || !read_name(query, q->end, DNS_HEADER, b))
		return false;
	return strcmp(a, b) == 0 && get16(msg + at) == q->type;
}

enum dns_rcode dns_code(const uint8_t *msg)
{
	return msg[3] & 0x0f;
}

bool dns_is_cut(const uint8_t *msg)
{
	return get16(msg + 2) & FLAG_TC;
}

void dns_set_id(uint8_t *msg, uint16_t id)
{
	put16(msg, id);
}

/* ---- answers --------------------------------------------------------------------------------- */

/* A list of addresses in an HTTPS or SVCB record (RFC 9460). */
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

static void tell_hints(const uint8_t *msg, const struct record *r, dns_on_addr on, void *data)
{
	size_t at = r->len < 3 ? 0 : skip_name(msg, r->end, r->data + 2);

	while (at && at + 4 <= r->end) {
		unsigned key = get16(msg + at);
		size_t len = get16(msg + at + 2);

		at += 4;
		if (at + len > r->end)
			return;
		if (key == SVCB_V4HINT || key == SVCB_V6HINT)
			tell_hint(msg + at, len, key == SVCB_V4HINT, r->ttl, on, data);
		at += len;
	}
}

static void tell_address(const uint8_t *msg, const struct record *r, dns_on_addr on, void *data)
{
	struct net_addr a;

	if (r->type == DNS_HTTPS || r->type == DNS_SVCB)
		tell_hints(msg, r, on, data);

	if (r->type == DNS_A && r->len == 4) {
		a = net_addr_v4(get32(msg + r->data));
		on(data, &a, r->ttl);
	} else if (r->type == DNS_AAAA && r->len == 16) {
		memcpy(a.b, msg + r->data, sizeof(a.b));
		on(data, &a, r->ttl);
	}
}

/* Addresses of this name; *next is its CNAME, where it has one. */
static int walk_one(const uint8_t *msg, size_t len, size_t from, char next[NET_NAME_MAX + 1],
		    dns_on_addr on, void *data)
{
	char want[NET_NAME_MAX + 1];
	size_t at = from;

	memcpy(want, next, sizeof(want));
	next[0] = '\0';
	for (unsigned i = 0, n = count_of(msg, 1); i < n; i++) {
		char owner[NET_NAME_MAX + 1] = "";
		struct record r;

		if (!read_record(msg, len, at, &r))
			return -EBADMSG;
		at = r.end;
		if (r.class != CLASS_IN || !read_name(msg, len, r.name, owner) ||
		    strcmp(owner, want) != 0)
			continue;
		if (r.type == DNS_CNAME && !read_name(msg, r.end, r.data, next))
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
	from = skip_name(msg, len, DNS_HEADER);
	if (from == 0 || from + 4 > len)
		return -EBADMSG;
	memcpy(name, q->name, sizeof(name));
	for (unsigned i = 0; r == 0 && i < CHAIN_MAX && name[0]; i++)
		r = walk_one(msg, len, from + 4, name, on, data);
	return r;
}

/* ---- time ------------------------------------------------------------------------------------ */

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

/* The next record of any section but the question; *left counts them. */
static bool next_record(const uint8_t *msg, size_t len, size_t *at, unsigned *left,
			struct record *ret)
{
	if (*left == 0 || !read_record(msg, len, *at, ret))
		return false;
	(*left)--;
	*at = ret->end;
	return true;
}

static size_t first_record(const uint8_t *msg, size_t len, unsigned *left)
{
	size_t at = len < DNS_HEADER ? 0 : skip_name(msg, len, DNS_HEADER);

	if (at == 0 || at + 4 > len || count_of(msg, 0) != 1)
		return 0;
	*left = count_of(msg, 1) + count_of(msg, 2) + count_of(msg, 3);
	return at + 4;
}

uint32_t dns_life(const uint8_t *msg, size_t len)
{
	unsigned left = 0;
	size_t at = first_record(msg, len, &left);
	uint32_t life = LIFE_MAX;
	bool soa = false, none;
	struct record r;

	if (!at || dns_is_cut(msg) || (dns_code(msg) != DNS_OK && dns_code(msg) != DNS_NO_NAME))
		return 0;
	none = count_of(msg, 1) == 0;
	while (next_record(msg, len, &at, &left, &r)) {
		if (r.type == TYPE_OPT)
			continue;
		soa |= r.type == TYPE_SOA;
		/* The last of an SOA's numbers says it, too. */
		if (r.type == TYPE_SOA && r.len >= 20)
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
	size_t at = first_record(msg, len, &left);
	struct record r;

	while (at && next_record(msg, len, &at, &left, &r))
		if (r.type != TYPE_OPT)
			put32(msg + r.data - 6, r.ttl - MIN(r.ttl, seconds));
}

/* ---- messages of ours ------------------------------------------------------------------------ */

static size_t add_edns(uint8_t *out, bool sec, const char *why)
{
	size_t n = why ? MIN(strlen(why), (size_t)120) : 0, at = 0;

	out[at++] = 0;
	put16(out + at, TYPE_OPT);
	put16(out + at + 2, DNS_UDP_MAX);
	put32(out + at + 4, sec ? TTL_DO : 0);
	put16(out + at + 8, why ? (unsigned)n + 6 : 0);
	at += 10;
	if (!why)
		return at;
	put16(out + at, OPTION_EDE);
	put16(out + at + 2, (unsigned)n + 2);
	put16(out + at + 4, EDE_PROHIBITED);
	memcpy(out + at + 6, why, n);
	return at + 6 + n;
}

size_t dns_answer(uint8_t *out, const uint8_t *query, const struct dns_question *q,
		  enum dns_rcode code, const struct net_addr *addr, const char *why)
{
	bool echo = q->end > DNS_HEADER;
	size_t at = q->end;

	/* At most a name, an A record and the reason: well below DNS_UDP_MIN. */
	memcpy(out, query, q->end);
	put16(out + 2, FLAG_QR | FLAG_RA | (q->recurse ? FLAG_RD : 0) | (unsigned)code);
	put16(out + 4, echo);
	put16(out + 6, addr ? 1 : 0);
	put16(out + 8, 0);
	put16(out + 10, q->edns ? 1 : 0);
	if (addr) {
		bool v4 = net_addr_is_v4(addr);
		size_t bytes = v4 ? 4 : 16;

		put16(out + at, 0xc000u | DNS_HEADER);
		put16(out + at + 2, v4 ? DNS_A : DNS_AAAA);
		put16(out + at + 4, CLASS_IN);
		put16(out + at + 6, 0);
		put16(out + at + 8, TTL_STAND_IN);
		put16(out + at + 10, (unsigned)bytes);
		memcpy(out + at + 12, addr->b + 16 - bytes, bytes);
		at += 12 + bytes;
	}
	if (q->edns)
		at += add_edns(out + at, q->sec, why);
	return at;
}

bool dns_is_asked(uint16_t type)
{
	static const uint16_t types[] = {
		DNS_A,	       2 /* NS */,     DNS_CNAME,    TYPE_SOA,
		DNS_PTR,       15 /* MX */,    16 /* TXT */, DNS_AAAA,
		33 /* SRV */,  35 /* NAPTR */, 43 /* DS */,  48 /* DNSKEY */,
		52 /* TLSA */, DNS_SVCB,       DNS_HTTPS,    257 /* CAA */};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (types[i] == type)
			return true;
	return false;
}

size_t dns_query_again(uint8_t *out, const struct dns_question *q)
{
	size_t at = DNS_HEADER;

	memset(out, 0, DNS_HEADER);
	put16(out, q->id);
	put16(out + 2, FLAG_RD | (q->unchecked ? FLAG_CD : 0));
	put16(out + 4, 1);
	put16(out + 10, 1);
	at += write_name(out + at, q->name);
	put16(out + at, q->type);
	put16(out + at + 2, CLASS_IN);
	at += 4;
	return at + add_edns(out + at, q->sec, NULL);
}

size_t dns_query(uint8_t *out, uint16_t id, const char *name, uint16_t type)
{
	struct dns_question q = {.id = id, .type = type};

	snprintf(q.name, sizeof(q.name), "%s", name);
	return dns_query_again(out, &q);
}

/* Without EDNS, where that is the last record. */
static size_t drop_edns(uint8_t *msg, size_t len)
{
	unsigned left = 0, extra = count_of(msg, 3);
	size_t at = first_record(msg, len, &left), from = at;
	struct record r = {0};

	while (at && left > 0) {
		from = at;
		if (!next_record(msg, len, &at, &left, &r))
			return len;
	}
	if (!extra || r.type != TYPE_OPT || r.end != len)
		return len;
	put16(msg + 10, extra - 1);
	return from;
}

size_t dns_answer_again(uint8_t *msg, size_t len, const uint8_t *query,
			const struct dns_question *q)
{
	char name[NET_NAME_MAX + 1] = "";
	size_t at = read_name(msg, len, DNS_HEADER, name);

	dns_set_id(msg, q->id);
	if (at && at + 4 == q->end) /* the same labels: read_name() has compared what they say */
		memcpy(msg + DNS_HEADER, query + DNS_HEADER, at - DNS_HEADER);
	return q->edns ? len : drop_edns(msg, len);
}

size_t dns_cut(uint8_t *msg, size_t len, size_t max)
{
	size_t at, fits;
	unsigned counts[4] = {1};

	if (len <= max || len < DNS_HEADER)
		return len;
	at = skip_name(msg, len, DNS_HEADER);
	if (at == 0 || at + 4 > max)
		return DNS_HEADER;
	fits = at + 4;
	for (size_t section = 1; section < 4; section++) {
		for (unsigned i = 0, n = count_of(msg, section); i < n; i++) {
			struct record r;

			if (!read_record(msg, len, fits, &r) || r.end > max)
				goto full;
			fits = r.end;
			counts[section]++;
		}
	}
full:
	for (size_t section = 1; section < 4; section++)
		put16(msg + 4 + 2 * section, counts[section]);
	put16(msg + 2, get16(msg + 2) | FLAG_TC);
	return fits;
}
