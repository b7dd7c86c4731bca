/* packet - IP packets with a datagram, an echo request or a segment of TCP: read, built, refused.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * What the agent sends apart from TCP arrives as packets, and so do the first packets of its
 * connections. Every byte is the agent's: nothing is read outside of the packet, and what is not
 * plain UDP, TCP or an echo request (fragments, extension headers, other protocols) is refused as a
 * whole. Checksums of what is read are not looked at: the
 * sender is this machine's kernel, which leaves them out.
 */
#define PACKET_MAX   65535
#define PACKET_HEADS 48		   /* bytes of IP and UDP or ICMP headers, at most */
#define PACKET_ERROR (40 + 8 + 48) /* bytes of a packet_refuse() */
#define PACKET_SYN   60		   /* bytes of a segment of TCP that has no data, at most */

/* Flags of a segment. */
#define PACKET_TCP_SYN 0x02
#define PACKET_TCP_RST 0x04
#define PACKET_TCP_ACK 0x10

struct packet {
	uint8_t protocol; /* IPPROTO_UDP, IPPROTO_TCP, or IPPROTO_ICMP for an echo of either family
			   */
	uint8_t flags;	  /* of a segment of TCP */
	struct net_addr from, to;
	uint16_t from_port, to_port; /* of an echo: its id, 0 */
	uint16_t seq;		     /* of an echo */
	const uint8_t *data;	     /* borrowed; of TCP: the segment, its header first */
	size_t len;
};

/* 0; -EBADMSG: damaged; -EPROTONOSUPPORT: well-formed as far as was looked, but nothing for us. */
int packet_read(struct packet *ret, const uint8_t *bytes, size_t len) MUST_USE;
/* A datagram, a segment of TCP, or the reply to an echo request, with its checksums. Returns its
 * length; 0: it is too long. out has PACKET_MAX bytes. */
size_t packet_write(uint8_t *out, const struct packet *p);

/* Why nothing comes of a packet, as its sender's kernel will say it. */
enum packet_why {
	PACKET_FORBIDDEN, /* EHOSTUNREACH in IPv4, EACCES in IPv6 */
	PACKET_NO_HOST,	  /* EHOSTUNREACH */
	PACKET_NO_NET,	  /* ENETUNREACH */
	PACKET_NO_PORT,	  /* ECONNREFUSED */
	PACKET_TOO_LONG,  /* EMSGSIZE */
};
/* The ICMP error about a packet from p->from to p->to, from the address that it was sent to. Quotes
 * headers alone. mtu: for PACKET_TOO_LONG. out has PACKET_ERROR bytes. */
size_t packet_refuse(uint8_t *out, const struct packet *p, enum packet_why why, unsigned mtu);
