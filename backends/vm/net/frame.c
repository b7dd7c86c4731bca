/* frame - checks Ethernet frames of a guest, and builds frames for it. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/net/frame.h"

#include <net/ethernet.h>
#include <netinet/in.h>
#include <string.h>

#include "backends/linux/net/net_priv.h"

#define V4_HEAD	 20
#define V6_HEAD	 40
#define TCP_HEAD 20
#define UDP_HEAD 8
#define V4_MOVED 0x3fffu /* more fragments, or not the first one */
#define V4_ECHO	 8
#define V6_ECHO	 128
#define TCP_FIN	 0x01
#define TCP_SYN	 0x02
#define TCP_RST	 0x04
#define TCP_ACK	 0x10

static const uint8_t guest_mac[6] = FRAME_MAC_OF, own_mac[6] = {0x02, 0x63, 0x6f, 0x72, 0x64, 0x02};
/* Equals NET_INSIDE_V6, which a test checks. */
static const uint8_t inside_v6[16] = {0xfd, 0xc0, 0x07, 0xd0, [15] = 2};

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v & 0xffff);
}

/* ---- from the guest -------------------------------------------------------------------------- */

/* The packet without its IP header. */
struct inner {
	const uint8_t *at;
	size_t len;
	uint8_t protocol;
	bool v6;
};

/* Returns whether the address is a single host outside this machine, or the router. */
static bool leads_somewhere(const struct net_addr *to)
{
	uint32_t v4 = net_addr_is_v4(to) ? net_addr_as_v4(to) : 0;

	if (net_addr_class(to) == NET_LOOPBACK)
		return false;
	if (net_addr_is_v4(to)) /* refuses 0/8, multicast, reserved, broadcast, and the guest's
				 * own */
		return v4 >> 24 != 0 && v4 < 0xe0000000u && v4 != NET_INSIDE;
	return to->b[0] != 0xff && memcmp(to->b, (uint8_t[16]){0}, 16) != 0 &&
	       memcmp(to->b, inside_v6, 16) != 0 && net_addr_class(to) != NET_LINK_LOCAL;
}

static bool read_v4(struct frame *f, struct inner *ret)
{
	const uint8_t *b = f->packet;
	size_t total;

	if (f->len < V4_HEAD || b[0] != 0x45) /* version 4, no options */
		return false;
	total = get16(b + 2);
	if (total < V4_HEAD || total > f->len || (get16(b + 6) & V4_MOVED) ||
	    get32(b + 12) != NET_INSIDE)
		return false;
	f->len = total;
	f->to = net_addr_v4(get32(b + 16));
	*ret = (struct inner){.at = b + V4_HEAD, .len = total - V4_HEAD, .protocol = b[9]};
	return true;
}

static bool read_v6(struct frame *f, struct inner *ret)
{
	const uint8_t *b = f->packet;
	size_t rest;

	if (f->len < V6_HEAD || b[0] >> 4 != 6)
		return false;
	rest = get16(b + 4);
	if (rest > f->len - V6_HEAD || memcmp(b + 8, inside_v6, sizeof(inside_v6)) != 0)
		return false;
	f->len = V6_HEAD + rest;
	memcpy(f->to.b, b + 24, sizeof(f->to.b));
	if (net_addr_is_v4(&f->to)) /* a mapped address would pass for IPv4 */
		return false;
	*ret = (struct inner){.at = b + V6_HEAD, .len = rest, .protocol = b[6], .v6 = true};
	return true;
}

static bool is_router(const struct net_addr *a)
{
	return net_addr_is_v4(a) && net_addr_as_v4(a) == NET_ROUTER;
}

static enum frame_kind read_tcp(struct frame *f, const struct inner *in)
{
	size_t head;
	uint8_t flags;

	if (in->len < TCP_HEAD)
		return FRAME_DROPPED;
	head = (size_t)(in->at[12] >> 4) * 4;
	flags = in->at[13];
	f->from_port = get16(in->at);
	f->port = get16(in->at + 2);
	if (head < TCP_HEAD || head > in->len || !f->from_port || !f->port)
		return FRAME_DROPPED;
	if (!(flags & TCP_SYN) || (flags & TCP_ACK))
		return FRAME_PACKET; /* of an open connection; otherwise the kernel drops it */
	/* Accept only a SYN without data: data would be lost, or would need memory while it is
	 * held. */
	if ((flags & (TCP_FIN | TCP_RST)) || in->len != head || f->len > FRAME_SYN)
		return FRAME_DROPPED;
	f->seq = get32(in->at + 4);
	return is_router(&f->to) ? FRAME_PACKET : FRAME_OPENS;
}

static bool is_datagram(const struct inner *in)
{
	return in->protocol == IPPROTO_UDP && in->len >= UDP_HEAD && get16(in->at + 4) == in->len;
}

static bool is_echo(const struct inner *in)
{
	return in->protocol == (in->v6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP) && in->len >= 8 &&
	       in->at[0] == (in->v6 ? V6_ECHO : V4_ECHO) && in->at[1] == 0;
}

enum frame_kind frame_read(struct frame *ret, const uint8_t *bytes, size_t len)
{
	struct inner in = {0};
	uint16_t type;

	*ret = (struct frame){0};
	if (len < FRAME_HEAD || len > FRAME_MAX || memcmp(bytes + 6, guest_mac, 6) != 0)
		return FRAME_DROPPED;
	type = get16(bytes + 12);
	ret->packet = bytes + FRAME_HEAD;
	ret->len = len - FRAME_HEAD;
	if (!(type == ETHERTYPE_IP     ? read_v4(ret, &in)
	      : type == ETHERTYPE_IPV6 ? read_v6(ret, &in)
				       : false) ||
	    !leads_somewhere(&ret->to))
		return FRAME_DROPPED;
	if (in.protocol == IPPROTO_TCP)
		return read_tcp(ret, &in);
	return is_datagram(&in) || is_echo(&in) ? FRAME_PACKET : FRAME_DROPPED;
}

/* ---- to the guest ---------------------------------------------------------------------------- */

bool frame_is_for_guest(const uint8_t *packet, size_t len)
{
	if (len >= V4_HEAD && packet[0] >> 4 == 4)
		return get32(packet + 16) == NET_INSIDE;
	return len >= V6_HEAD && packet[0] >> 4 == 6 &&
	       memcmp(packet + 24, inside_v6, sizeof(inside_v6)) == 0;
}

void frame_head(uint8_t out[FRAME_HEAD], const uint8_t *packet)
{
	memcpy(out, guest_mac, 6);
	memcpy(out + 6, own_mac, 6);
	put16(out + 12, packet[0] >> 4 == 6 ? ETHERTYPE_IPV6 : ETHERTYPE_IP);
}

static uint16_t checksum(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i + 1 < n; i += 2)
		sum += get16(p + i);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

size_t frame_reset(uint8_t out[FRAME_RESET], const uint8_t *packet, size_t len)
{
	bool v6 = packet[0] >> 4 == 6;
	size_t head = v6 ? V6_HEAD : V4_HEAD, addr = v6 ? 16 : 4, at = v6 ? 8 : 12;
	uint8_t *ip = out + FRAME_HEAD, *tcp = ip + head;
	const uint8_t *syn = packet + head;

	if (len < head + TCP_HEAD)
		return 0;
	memset(out, 0, FRAME_RESET);
	frame_head(out, packet);
	ip[0] = v6 ? 0x60 : 0x45;
	if (v6) {
		put16(ip + 4, TCP_HEAD);
		ip[6] = IPPROTO_TCP;
		ip[7] = 64;
	} else {
		put16(ip + 2, V4_HEAD + TCP_HEAD);
		ip[8] = 64;
		ip[9] = IPPROTO_TCP;
	}
	memcpy(ip + at, packet + at + addr, addr);
	memcpy(ip + at + addr, packet + at, addr);
	if (!v6)
		put16(ip + 10, checksum(ip, V4_HEAD, 0));
	memcpy(tcp, syn + 2, 2);
	memcpy(tcp + 2, syn, 2);
	put32(tcp + 8, get32(syn + 4) + 1);
	tcp[12] = TCP_HEAD / 4 << 4;
	tcp[13] = TCP_RST | TCP_ACK;
	/* The addresses precede the segment: with two numbers they are its pseudo header. */
	put16(tcp + 16, checksum(ip + at, 2 * addr + TCP_HEAD, IPPROTO_TCP + TCP_HEAD));
	return FRAME_HEAD + head + TCP_HEAD;
}
