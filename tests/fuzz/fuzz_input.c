/* fuzz_input - any bytes from the user's terminal: the same events whole and in pieces. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tui/look/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Decodes everything, with pastes joined, because reads divide them at random. */
static void decode(const char *data, size_t size, size_t step, struct buf *out)
{
	struct input in;
	struct event ev;

	input_init(&in);
	for (size_t i = 0; i < size; i += step) {
		input_feed(&in, data + i, step < size - i ? step : size - i);
		while (input_next(&in, &ev)) {
			if (ev.type == EVENT_PASTE)
				buf_add(out, ev.paste.data, ev.paste.len);
			else if (ev.type == EVENT_MOUSE)
				buf_fmt(out, "m%d,%d,%d ", ev.mouse.action, ev.mouse.x, ev.mouse.y);
			else
				buf_fmt(out, "k%u,%u ", ev.key.sym, ev.key.mods);
			if (ev.type == EVENT_KEY && ev.key.sym >= SYM_END_OF_LIST)
				abort();
		}
	}
	input_done(&in);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf whole = BUF_INIT, pieces = BUF_INIT;
	const char *bytes = (const char *)data;

	if (size == 0)
		return 0;
	decode(bytes, size, size, &whole);
	decode(bytes, size, 1 + data[0] % 7, &pieces);
	if (whole.len != pieces.len || memcmp(whole.data, pieces.data, whole.len) != 0)
		abort();
	buf_done(&whole);
	buf_done(&pieces);
	return 0;
}
