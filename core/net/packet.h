/* packet - reads, builds and refuses IP packets of UDP, TCP and ICMP echo. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * Traffic of the agent other than TCP arrives as packets, and so do the first packets of its
 * connections. Every byte is the agent's: no function reads outside of the packet, and packets
 * other than plain UDP, TCP or an echo request (fragments, extension headers, other protocols) are
 * refused as a whole. Checksums of received packets are not verified: the sender is this machine's
 * kernel, which leaves them out.
 */
#define PACKET_MAX   65535
#define PACKET_ERROR (40 + 8 + 48) /* longest packet of packet_refuse() */
#define PACKET_SYN   60		   /* longest TCP segment without data */

/* Flags of a segment. */
#define PACKET_TCP_SYN 0x02
#define PACKET_TCP_RST 0x04
#define PACKET_TCP_ACK 0x10

struct packet {
	/* IPPROTO_UDP, IPPROTO_TCP, or IPPROTO_ICMP for an echo of either family. */
	uint8_t protocol;
	uint8_t flags; /* of a TCP segment */
	struct net_addr from, to;
	uint16_t from_port, to_port; /* of an echo: its id, 0 */
	uint16_t seq;		     /* of an echo */
	const uint8_t *data;	     /* not copied; TCP: the segment, with its header */
	size_t len;
};

/* Reads a packet. Returns 0; -EBADMSG: it is damaged; -EPROTONOSUPPORT: it seems well-formed, but
 * has another protocol. */
int packet_read(struct packet *ret, const uint8_t *bytes, size_t len) MUST_USE;
/* Builds a datagram, a TCP segment, or the reply to an echo request, with checksums. Returns its
 * length; 0: it is too long. out has PACKET_MAX bytes. */
size_t packet_write(uint8_t *out, const struct packet *p);

/* Why a packet is refused; the comments are the errors that the sender's kernel reports. */
enum packet_why {
	PACKET_FORBIDDEN, /* EHOSTUNREACH in IPv4, EACCES in IPv6 */
	PACKET_NO_HOST,	  /* EHOSTUNREACH */
	PACKET_NO_NET,	  /* ENETUNREACH */
	PACKET_NO_PORT,	  /* ECONNREFUSED */
	PACKET_TOO_LONG,  /* EMSGSIZE */
};
/* Builds the ICMP error, sent by p->to, about a packet from p->from to p->to. Quotes only headers.
 * mtu: for PACKET_TOO_LONG. Returns the length; out has PACKET_ERROR bytes. */
size_t packet_refuse(uint8_t *out, const struct packet *p, enum packet_why why, unsigned mtu);
