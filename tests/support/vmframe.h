/* vmframe - frames as a guest's kernel sends them, for tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <netinet/in.h>

#include "backends/linux/net/net_priv.h"
#include "backends/vm/net/frame.h"
#include "tests/support/check.h"

/* The last frame. */
static uint8_t bytes[FRAME_MAX + 64];

static struct net_addr addr(const char *text)
{
	struct net_addr a;

	assert_true(net_addr_parse(&a, text, strlen(text)));
	return a;
}

static void put16(size_t at, unsigned v)
{
	bytes[at] = (uint8_t)(v >> 8);
	bytes[at + 1] = (uint8_t)v;
}

#define IP   FRAME_HEAD
#define TCP4 (IP + 20)
#define TCP6 (IP + 40)

/* Makes a frame to `to` with `len` bytes of that protocol. Returns its length. */
static size_t make(const char *to, uint8_t protocol, size_t len)
{
	static const uint8_t mac[] = FRAME_MAC_OF;
	const struct net_addr a = addr(to), own = addr(NET_INSIDE_V6);
	bool v4 = net_addr_is_v4(&a);

	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes + 6, mac, 6);
	put16(12, v4 ? 0x0800 : 0x86dd);
	if (v4) {
		bytes[IP] = 0x45;
		put16(IP + 2, (unsigned)(20 + len));
		bytes[IP + 8] = 64;
		bytes[IP + 9] = protocol;
		put16(IP + 12, NET_INSIDE >> 16);
		put16(IP + 14, NET_INSIDE & 0xffff);
		memcpy(bytes + IP + 16, a.b + 12, 4);
		return TCP4 + len;
	}
	bytes[IP] = 0x60;
	put16(IP + 4, (unsigned)len);
	bytes[IP + 6] = protocol;
	memcpy(bytes + IP + 8, own.b, 16);
	memcpy(bytes + IP + 24, a.b, 16);
	return TCP6 + len;
}

static size_t segment(const char *to, uint8_t flags)
{
	size_t len = make(to, IPPROTO_TCP, 20), at = len - 20;

	put16(at, 40000);
	put16(at + 2, 443);
	put16(at + 4, 0x1234);
	put16(at + 6, 0x5678);
	bytes[at + 12] = 0x50;
	bytes[at + 13] = flags;
	return len;
}

static size_t datagram(const char *to, size_t len)
{
	size_t n = make(to, IPPROTO_UDP, 8 + len), at = n - 8 - len;

	put16(at, 40000);
	put16(at + 2, 53);
	put16(at + 4, (unsigned)(8 + len));
	return n;
}

/* Computes the checksum as in the textbook: 0 if it is right. */
static unsigned sum_of(const uint8_t *p, size_t n, uint32_t sum)
{
	for (size_t i = 0; i < n; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}
