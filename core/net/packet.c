/* packet - reads, builds and refuses IP packets of UDP, TCP and ICMP echo. */
/* SPDX-License-Identifier: MIT */
#include "core/net/packet.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define V4_HEAD	       20
#define V6_HEAD	       40
#define NEXT_HEAD      8 /* header of UDP, of an echo and of an ICMP error */
#define TCP_HEAD       20
#define TCP_SUM	       16 /* offset of the checksum in it */
#define V4_FRAGMENT    0x3fffu
#define TTL	       64
#define V4_ECHO	       8
#define V4_ECHO_REPLY  0
#define V4_UNREACHABLE 3
#define V6_ECHO	       128
#define V6_ECHO_REPLY  129
#define V6_UNREACHABLE 1
#define V6_TOO_BIG     2

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* ---- reading --------------------------------------------------------------------------------- */

/* The content behind the IP header. */
struct inner {
	const uint8_t *at;
	size_t len;
	uint8_t protocol;
};

static int read_v4(struct packet *p, const uint8_t *b, size_t len, struct inner *ret)
{
	size_t head, total;

	if (len < V4_HEAD)
		return -EBADMSG;
	head = (b[0] & 0x0fu) * 4u;
	total = get16(b + 2);
	if (head < V4_HEAD || total < head || total > len)
		return -EBADMSG;
	if (get16(b + 6) & V4_FRAGMENT)
		return -EPROTONOSUPPORT;
	p->from = net_addr_v4((uint32_t)get16(b + 12) << 16 | get16(b + 14));
	p->to = net_addr_v4((uint32_t)get16(b + 16) << 16 | get16(b + 18));
	*ret = (struct inner){.at = b + head, .len = total - head, .protocol = b[9]};
	return 0;
}

static int read_v6(struct packet *p, const uint8_t *b, size_t len, struct inner *ret)
{
	size_t rest;

	if (len < V6_HEAD)
		return -EBADMSG;
	rest = get16(b + 4);
	if (rest > len - V6_HEAD)
		return -EBADMSG;
	memcpy(p->from.b, b + 8, sizeof(p->from.b));
	memcpy(p->to.b, b + 24, sizeof(p->to.b));
	/* An IPv4 address here would look as if it had come by IPv4. */
	if (net_addr_is_v4(&p->from) || net_addr_is_v4(&p->to))
		return -EBADMSG;
	*ret = (struct inner){.at = b + V6_HEAD, .len = rest, .protocol = b[6]};
	return 0;
}

static int read_udp(struct packet *p, const struct inner *in)
{
	size_t len;

	if (in->len < NEXT_HEAD)
		return -EBADMSG;
	len = get16(in->at + 4);
	if (len < NEXT_HEAD || len > in->len)
		return -EBADMSG;
	p->protocol = IPPROTO_UDP;
	p->from_port = get16(in->at);
	p->to_port = get16(in->at + 2);
	p->data = in->at + NEXT_HEAD;
	p->len = len - NEXT_HEAD;
	return p->to_port == 0 ? -EBADMSG : 0;
}

static int read_tcp(struct packet *p, const struct inner *in)
{
	size_t head;

	if (in->len < TCP_HEAD)
		return -EBADMSG;
	head = (in->at[12] >> 4) * 4u;
	if (head < TCP_HEAD || head > in->len)
		return -EBADMSG;
	p->protocol = IPPROTO_TCP;
	p->from_port = get16(in->at);
	p->to_port = get16(in->at + 2);
	p->flags = in->at[13];
	p->data = in->at;
	p->len = in->len;
	return p->to_port == 0 ? -EBADMSG : 0;
}

static int read_echo(struct packet *p, const struct inner *in, uint8_t type)
{
	if (in->len < NEXT_HEAD)
		return -EBADMSG;
	if (in->at[0] != type || in->at[1] != 0)
		return -EPROTONOSUPPORT;
	p->protocol = IPPROTO_ICMP;
	p->from_port = get16(in->at + 4);
	p->seq = get16(in->at + 6);
	p->data = in->at + NEXT_HEAD;
	p->len = in->len - NEXT_HEAD;
	return 0;
}

int packet_read(struct packet *ret, const uint8_t *bytes, size_t len)
{
	struct inner in = {0};
	bool v6 = len > 0 && bytes[0] >> 4 == 6;
	int r = -EBADMSG;

	*ret = (struct packet){0};
	if (v6)
		r = read_v6(ret, bytes, len, &in);
	else if (len > 0 && bytes[0] >> 4 == 4)
		r = read_v4(ret, bytes, len, &in);
	if (r < 0)
		return r;
	if (in.protocol == IPPROTO_UDP)
		return read_udp(ret, &in);
	if (in.protocol == IPPROTO_TCP)
		return read_tcp(ret, &in);
	if (in.protocol == (v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP))
		return read_echo(ret, &in, v6 ? V6_ECHO : V4_ECHO);
	return -EPROTONOSUPPORT;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Adds up for RFC 1071, 32 bits at a time in the machine's byte order; put_sum() folds the sum. */
static uint64_t add_bytes(uint64_t sum, const uint8_t *p, size_t n)
{
	uint32_t word;

	for (; n >= sizeof(word); n -= sizeof(word), p += sizeof(word)) {
		memcpy(&word, p, sizeof(word));
		sum += word;
	}
	word = 0;
	memcpy(&word, p, n);
	return sum + word;
}

static void put_sum(uint8_t *at, uint64_t sum)
{
	uint16_t folded;

	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	folded = (uint16_t)~sum;
	memcpy(at, &folded, sizeof(folded));
}

static uint64_t add_pseudo(uint64_t sum, const struct packet *p, uint8_t protocol, size_t len)
{
	uint8_t tail[8] = {[7] = protocol};
	bool v4 = net_addr_is_v4(&p->from);
	size_t skip = v4 ? 12 : 0;

	put16(tail + 2, len);
	sum = add_bytes(sum, p->from.b + skip, sizeof(p->from.b) - skip);
	sum = add_bytes(sum, p->to.b + skip, sizeof(p->to.b) - skip);
	return add_bytes(sum, tail, sizeof(tail));
}

/* Writes the IP header. Returns its length. */
static size_t put_ip(uint8_t *out, const struct packet *p, uint8_t protocol, size_t len)
{
	if (!net_addr_is_v4(&p->from)) {
		memset(out, 0, V6_HEAD);
		out[0] = 6 << 4;
		put16(out + 4, len);
		out[6] = protocol;
		out[7] = TTL;
		memcpy(out + 8, p->from.b, sizeof(p->from.b));
		memcpy(out + 24, p->to.b, sizeof(p->to.b));
		return V6_HEAD;
	}
	memset(out, 0, V4_HEAD);
	out[0] = 4 << 4 | V4_HEAD / 4;
	put16(out + 2, V4_HEAD + len);
	out[6] = 0x40; /* the flag "do not fragment" */
	out[8] = TTL;
	out[9] = protocol;
	memcpy(out + 12, p->from.b + 12, 4);
	memcpy(out + 16, p->to.b + 12, 4);
	put_sum(out + 10, add_bytes(0, out, V4_HEAD));
	return V4_HEAD;
}

static void put_udp(uint8_t *out, const struct packet *p)
{
	static const uint8_t none[2] = {0, 0};

	put16(out, p->from_port);
	put16(out + 2, p->to_port);
	put16(out + 4, NEXT_HEAD + p->len);
	put16(out + 6, 0);
	put_sum(out + 6, add_pseudo(add_bytes(0, out, NEXT_HEAD + p->len), p, IPPROTO_UDP,
				    NEXT_HEAD + p->len));
	if (memcmp(out + 6, none, sizeof(none)) == 0) /* 0 would mean "no checksum" */
		memset(out + 6, 0xff, 2);
}

static void put_icmp_sum(uint8_t *out, const struct packet *p, size_t len)
{
	uint64_t sum = add_bytes(0, out, len);

	if (!net_addr_is_v4(&p->from))
		sum = add_pseudo(sum, p, IPPROTO_ICMPV6, len);
	put_sum(out + 2, sum);
}

/* Returns the number for the IP header. */
static uint8_t protocol_of(const struct packet *p)
{
	if (p->protocol != IPPROTO_ICMP)
		return p->protocol;
	return net_addr_is_v4(&p->from) ? IPPROTO_ICMP : IPPROTO_ICMPV6;
}

static void put_tcp(uint8_t *out, const struct packet *p)
{
	memcpy(out, p->data, p->len);
	put16(out + TCP_SUM, 0);
	put_sum(out + TCP_SUM, add_pseudo(add_bytes(0, out, p->len), p, IPPROTO_TCP, p->len));
}

size_t packet_write(uint8_t *out, const struct packet *p)
{
	bool v4 = net_addr_is_v4(&p->from), tcp = p->protocol == IPPROTO_TCP;
	size_t head = v4 ? V4_HEAD : V6_HEAD, len = tcp ? p->len : NEXT_HEAD + p->len;
	uint8_t *at = out + head;

	if (p->len > PACKET_MAX || head + len > PACKET_MAX || v4 != net_addr_is_v4(&p->to) ||
	    (tcp && p->len < TCP_HEAD))
		return 0;
	put_ip(out, p, protocol_of(p), len);
	if (tcp) {
		put_tcp(at, p);
		return head + len;
	}
	if (p->len)
		memcpy(at + NEXT_HEAD, p->data, p->len);
	if (p->protocol == IPPROTO_UDP) {
		put_udp(at, p);
		return head + len;
	}
	memset(at, 0, NEXT_HEAD);
	at[0] = v4 ? V4_ECHO_REPLY : V6_ECHO_REPLY;
	put16(at + 4, p->from_port);
	put16(at + 6, p->seq);
	put_icmp_sum(at, p, len);
	return head + len;
}

/* ---- refusing -------------------------------------------------------------------------------- */

static void put_reason(uint8_t *out, bool v4, enum packet_why why, unsigned mtu)
{
	static const uint8_t v4_codes[] = {[PACKET_FORBIDDEN] = 13,
					   [PACKET_NO_HOST] = 1,
					   [PACKET_NO_NET] = 0,
					   [PACKET_NO_PORT] = 3,
					   [PACKET_TOO_LONG] = 4};
	static const uint8_t v6_codes[] = {[PACKET_FORBIDDEN] = 1,
					   [PACKET_NO_HOST] = 3,
					   [PACKET_NO_NET] = 0,
					   [PACKET_NO_PORT] = 4,
					   [PACKET_TOO_LONG] = 0};

	memset(out, 0, NEXT_HEAD);
	out[0] = v4 ? V4_UNREACHABLE : why == PACKET_TOO_LONG ? V6_TOO_BIG : V6_UNREACHABLE;
	out[1] = v4 ? v4_codes[why] : v6_codes[why];
	if (why == PACKET_TOO_LONG)
		put16(out + 6, mtu);
}

size_t packet_refuse(uint8_t *out, const struct packet *p, enum packet_why why, unsigned mtu)
{
	const struct packet back = {.from = p->to, .to = p->from};
	bool v4 = net_addr_is_v4(&p->from), tcp = p->protocol == IPPROTO_TCP;
	size_t head = v4 ? V4_HEAD : V6_HEAD, len = NEXT_HEAD + head + NEXT_HEAD;
	uint8_t *at = out + head, *quote = at + NEXT_HEAD, *next = quote + head;

	put_reason(at, v4, why, mtu);
	put_ip(quote, p, protocol_of(p), tcp ? p->len : NEXT_HEAD + p->len);
	memset(next, 0, NEXT_HEAD);
	if (tcp) { /* its ports and sequence number, by which its sender knows it */
		memcpy(next, p->data, MIN(p->len, (size_t)NEXT_HEAD));
	} else if (p->protocol == IPPROTO_ICMP) {
		next[0] = v4 ? V4_ECHO : V6_ECHO;
		put16(next + 4, p->from_port);
		put16(next + 6, p->seq);
	} else {
		put16(next, p->from_port);
		put16(next + 2, p->to_port);
		put16(next + 4, NEXT_HEAD + p->len);
	}
	put_ip(out, &back, v4 ? IPPROTO_ICMP : IPPROTO_ICMPV6, len);
	put_icmp_sum(at, &back, len);
	return head + len;
}
