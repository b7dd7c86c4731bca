/* fuzz_wire - frames between cordon and the keeper, cut anywhere, filled with anything. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "core/keeper/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first byte of each field selects the next read: every order of reads must be safe. */
static void read_fields(struct wire_in *in)
{
	for (int i = 0; i < 64 && !in->bad; i++) {
		struct span s;

		switch (i % 6) {
		case 0:
			(void)wire_get_u8(in);
			break;
		case 1:
			s = wire_get_str(in);
			if (s.len && s.data[s.len - 1] == 'x')
				(void)wire_get_i64(in);
			break;
		case 2:
			(void)wire_get_u32(in);
			break;
		case 3:
			free(wire_get_cstr(in));
			break;
		case 4:
			(void)wire_get_u64(in);
			break;
		default:
			(void)wire_get_i64(in);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_BUF struct buf b = BUF_INIT;
	struct wire_in in;
	size_t used;

	buf_add(&b, data, size);
	while (wire_next(&b, &in, &used) == 1) {
		read_fields(&in);
		buf_drop_front(&b, used);
	}
	return 0;
}
