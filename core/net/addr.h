/* addr - parses, classifies and formats host addresses. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/socket.h>

#include "core/base/buf.h"

/*
 * IPv4 is kept as ::ffff:a.b.c.d, so one host has one form: 127.1, 0x7f000001, 2130706433 and
 * ::ffff:127.0.0.1 are equal.
 */
struct net_addr {
	uint8_t b[16];
};

#define NET_ADDR_TEXT 48 /* bytes of text, with the NUL */

/* Classes of addresses. All but NET_PUBLIC need a rule for the address itself. */
enum net_class {
	NET_PUBLIC,
	NET_LOOPBACK,
	NET_LINK_LOCAL,
	NET_METADATA, /* credentials of cloud machines */
	NET_PRIVATE,
	NET_OTHER, /* multicast, reserved, unspecified */
};

struct net_addr net_addr_v4(uint32_t host_order);
bool net_addr_is_v4(const struct net_addr *a);
uint32_t net_addr_as_v4(const struct net_addr *a); /* of an IPv4 address, in host order */
bool net_addr_eq(const struct net_addr *a, const struct net_addr *b);
/* Returns whether the first bits are equal. For IPv4, add 96 to bits. */
bool net_addr_in(const struct net_addr *a, const struct net_addr *net, unsigned bits);

/* Parses any form that inet_aton(3) or inet_pton(3) reads, without a zone. Returns false if the
 * text is not an address. */
bool net_addr_parse(struct net_addr *ret, const char *text, size_t len);
void net_addr_format(const struct net_addr *a, char out[NET_ADDR_TEXT]);

/* Returns the class of an address. IPv4 inside IPv6 (NAT64, 6to4, Teredo) is classified as IPv4. */
enum net_class net_addr_class(const struct net_addr *a);
/* Returns words for reasons, such as "a private address". */
const char *net_class_words(enum net_class c);

/* Reads a socket address. Returns false for another family, or if it is too short. */
bool net_addr_from_sock(struct net_addr *ret, uint16_t *ret_port, const struct sockaddr *sa,
			socklen_t len);
/* Fills in an address of family AF_INET or AF_INET6; returns the length. */
socklen_t net_addr_to_sock(const struct net_addr *a, uint16_t port, struct sockaddr_storage *ret);
