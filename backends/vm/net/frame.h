/* frame - checks Ethernet frames of a guest, and builds frames for it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/net/addr.h"

/*
 * The guest has one neighbour and one address of each family. Its interface has no ARP and no
 * neighbour discovery (backends/vm/shim/network.c). So a valid frame is a plain IP packet from its
 * own address: TCP, a datagram or an echo request. All other frames are dropped: other Ethernet
 * types, VLAN tags, other senders, options and extension headers, fragments, wrong lengths,
 * addresses that no host outside can have.
 *
 * The guest controls every byte. The kernel, which gets the packet, verifies the checksums.
 */
#define FRAME_HEAD  14
#define FRAME_MAX   (FRAME_HEAD + 65535)
#define FRAME_RESET (FRAME_HEAD + 40 + 20) /* the longest frame_reset() */
#define FRAME_SYN   128			   /* the longest first packet that is held */
#define FRAME_GUEST "02:63:6f:72:64:01"	   /* its MAC address, also passed to QEMU */
#define FRAME_MAC_OF                                                                               \
	{                                                                                          \
		0x02, 0x63, 0x6f, 0x72, 0x64, 0x01                                                 \
	}

enum frame_kind {
	FRAME_DROPPED,
	FRAME_PACKET, /* forward it */
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
/* Returns whether a packet is for the guest. The kernel also sends packets that are not. */
bool frame_is_for_guest(const uint8_t *packet, size_t len);
/* Writes the Ethernet header of a packet to the guest. */
void frame_head(uint8_t out[FRAME_HEAD], const uint8_t *packet);
/* Writes "connection refused" (a reset) as the answer to a SYN. Returns the length. */
size_t frame_reset(uint8_t out[FRAME_RESET], const uint8_t *packet, size_t len);
