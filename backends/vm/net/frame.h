/* frame - Ethernet frames of a guest: read, refused, and built for it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * The guest has one neighbour and one address of each family, and asks for none: its interface has
 * no ARP and no neighbour discovery (backends/vm/shim/network.c). So a frame is a plain IP packet
 * from its own address: TCP, a datagram or an echo request. All other frames are dropped: other
 * Ethernet types, VLAN tags, other senders, options and extension headers, fragments, lengths that
 * do not fit, destinations that no host outside can have.
 *
 * Every byte is the guest's. The kernel, which gets the packet, checks the checksums.
 */
#define FRAME_HEAD  14
#define FRAME_MAX   (FRAME_HEAD + 65535)
#define FRAME_RESET (FRAME_HEAD + 40 + 20) /* bytes of a frame_reset(), at most */
#define FRAME_SYN   128			   /* bytes of the longest first packet that is held */
#define FRAME_GUEST "02:63:6f:72:64:01"	   /* its address on the wire, as QEMU is told */
#define FRAME_MAC_OF                                                                               \
	{                                                                                          \
		0x02, 0x63, 0x6f, 0x72, 0x64, 0x01                                                 \
	}

enum frame_kind {
	FRAME_DROPPED,
	FRAME_PACKET, /* goes on */
	FRAME_OPENS,  /* the first packet of a connection to an outside host */
};

struct frame {
	const uint8_t *packet; /* borrowed: from the IP header on */
	size_t len;	       /* of the packet, without the frame's padding */
	/* FRAME_OPENS: */
	struct net_addr to;
	uint16_t from_port, port;
	uint32_t seq;
};

enum frame_kind frame_read(struct frame *ret, const uint8_t *bytes, size_t len);
/* Returns whether a packet is for the guest; the kernel sends others of its own. */
bool frame_is_for_guest(const uint8_t *packet, size_t len);
/* Writes the Ethernet header of a packet to the guest. */
void frame_head(uint8_t out[FRAME_HEAD], const uint8_t *packet);
/* Writes "connection refused" (a reset) as the answer to a SYN. Returns the length. */
size_t frame_reset(uint8_t out[FRAME_RESET], const uint8_t *packet, size_t len);
