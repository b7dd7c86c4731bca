/* fuzz_vm_frame - frames of any bytes, as a guest's root may send them. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "backends/vm/net/frame.h"
#include "backends/vm/net/syn_gate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct syn_gate *gate;
static int64_t now;

/* A forwarded packet is within the frame, and complete; a held one returns unchanged. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t reset[FRAME_RESET];
	uint64_t id = 0, gone = 0;
	const uint8_t *held;
	struct frame f;
	enum frame_kind kind = frame_read(&f, data, size);
	size_t len = 0;

	(void)frame_is_for_guest(data, size);
	if (kind == FRAME_DROPPED)
		return 0;
	if (f.packet != data + FRAME_HEAD || f.len < 20 || f.len > size - FRAME_HEAD)
		abort();
	if (kind != FRAME_OPENS)
		return 0;
	if (f.len > FRAME_SYN || net_addr_class(&f.to) == NET_LOOPBACK || !f.port)
		abort();
	if (!gate)
		gate = syn_gate_new();
	if (syn_gate_take(gate, &f, ++now, &id, &gone) != SYN_ASK)
		return 0;
	held = syn_gate_decide(gate, id, now % 2, &len);
	if (!held || len != f.len || memcmp(held, f.packet, len) != 0)
		abort();
	if (frame_reset(reset, held, len) > FRAME_RESET)
		abort();
	return 0;
}
