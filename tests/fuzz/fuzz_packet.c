/* fuzz_packet - IP packets of any bytes, as the agent may send them. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/net/packet.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t out[PACKET_MAX];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct packet p, again;
	size_t n;

	if (packet_read(&p, data, size) < 0)
		return 0;
	if (p.len && (p.data < data || p.data + p.len > data + size))
		abort();
	for (int why = PACKET_FORBIDDEN; why <= PACKET_TOO_LONG; why++)
		if (packet_refuse(out, &p, (enum packet_why)why, 1280) > PACKET_ERROR)
			abort();
	n = packet_write(out, &p);
	if (n == 0 || p.protocol == 1) /* too long with its headers; or a reply to an echo */
		return 0;
	if (packet_read(&again, out, n) < 0 || again.len != p.len || again.to_port != p.to_port ||
	    !net_addr_eq(&again.to, &p.to) ||
	    (p.protocol == 17 && p.len && memcmp(again.data, p.data, p.len) != 0))
		abort();
	return 0;
}
