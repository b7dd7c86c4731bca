/* dns_build - makes DNS messages: queries, answers, and truncated ones. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/net/dns_record.h"

#define OPTION_EDE     15
#define EDE_PROHIBITED 18
#define FLAG_RA	       0x0080u
#define TTL_STAND_IN   1

/* Writes the name; its last label is empty. Returns the length. */
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

static size_t add_edns(uint8_t *out, bool sec, const char *why)
{
	size_t n = why ? MIN(strlen(why), (size_t)120) : 0, at = 0;

	out[at++] = 0;
	put16(out + at, DNS_OPT);
	put16(out + at + 2, DNS_UDP_MAX);
	put32(out + at + 4, sec ? DNS_TTL_DO : 0);
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
	put16(out + 2, DNS_FLAG_QR | FLAG_RA | (q->recurse ? DNS_FLAG_RD : 0) | (unsigned)code);
	put16(out + 4, echo);
	put16(out + 6, addr ? 1 : 0);
	put16(out + 8, 0);
	put16(out + 10, q->edns ? 1 : 0);
	if (addr) {
		bool v4 = net_addr_is_v4(addr);
		size_t bytes = v4 ? 4 : 16;

		put16(out + at, 0xc000u | DNS_HEADER);
		put16(out + at + 2, v4 ? DNS_A : DNS_AAAA);
		put16(out + at + 4, DNS_CLASS_IN);
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
		DNS_A,	       2 /* NS */,     DNS_CNAME,    DNS_SOA,
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
	put16(out + 2, DNS_FLAG_RD | (q->unchecked ? DNS_FLAG_CD : 0));
	put16(out + 4, 1);
	put16(out + 10, 1);
	at += write_name(out + at, q->name);
	put16(out + at, q->type);
	put16(out + at + 2, DNS_CLASS_IN);
	at += 4;
	return at + add_edns(out + at, q->sec, NULL);
}

size_t dns_query(uint8_t *out, uint16_t id, const char *name, uint16_t type)
{
	struct dns_question q = {.id = id, .type = type};

	snprintf(q.name, sizeof(q.name), "%s", name);
	return dns_query_again(out, &q);
}

/* Removes EDNS, if it is the last record. */
static size_t drop_edns(uint8_t *msg, size_t len)
{
	unsigned left = 0, extra = dns_count(msg, 3);
	size_t at = dns_first_record(msg, len, &left), from = at;
	struct dns_record r = {0};

	while (at && left > 0) {
		from = at;
		if (!dns_next_record(msg, len, &at, &left, &r))
			return len;
	}
	if (!extra || r.type != DNS_OPT || r.end != len)
		return len;
	put16(msg + 10, extra - 1);
	return from;
}

size_t dns_answer_again(uint8_t *msg, size_t len, const uint8_t *query,
			const struct dns_question *q)
{
	char name[NET_NAME_MAX + 1] = "";
	size_t at = dns_read_name(msg, len, DNS_HEADER, name);

	dns_set_id(msg, q->id);
	if (at && at + 4 == q->end) /* dns_is_answer() has found the labels equal */
		memcpy(msg + DNS_HEADER, query + DNS_HEADER, at - DNS_HEADER);
	return q->edns ? len : drop_edns(msg, len);
}

size_t dns_cut(uint8_t *msg, size_t len, size_t max)
{
	size_t at, fits;
	unsigned counts[4] = {1};

	if (len <= max || len < DNS_HEADER)
		return len;
	at = dns_skip_name(msg, len, DNS_HEADER);
	if (at == 0 || at + 4 > max)
		return DNS_HEADER;
	fits = at + 4;
	for (size_t section = 1; section < 4; section++) {
		for (unsigned i = 0, n = dns_count(msg, section); i < n; i++) {
			struct dns_record r;

			if (!dns_read_record(msg, len, fits, &r) || r.end > max)
				goto full;
			fits = r.end;
			counts[section]++;
		}
	}
full:
	for (size_t section = 1; section < 4; section++)
		put16(msg + 4 + 2 * section, counts[section]);
	put16(msg + 2, get16(msg + 2) | DNS_FLAG_TC);
	return fits;
}
