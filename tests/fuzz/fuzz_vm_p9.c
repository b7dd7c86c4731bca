/* fuzz_vm_p9 - 9P2000.L messages of a hostile guest, in any order, while the keeper answers. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/p9.h"
#include "backends/vm/fs/p9_wire.h"
#include "tests/support/vmfuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A record is: type, how many bytes follow, these; its tag is its place in the input. */
static struct p9_session *p9;

static void on_answer(void *data, const void *message, size_t len)
{
	struct p9_in in = {.at = message};

	(void)data;
	in.end = in.at + len;
	if (len < P9_HEAD || p9_u32(&in) != len || len > p9_msize(p9))
		abort();
}

static bool send_message(const uint8_t *r, size_t len, uint16_t tag)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *message = NULL;

	p9_put_u32(&b, (uint32_t)(P9_HEAD + len));
	p9_put_u8(&b, r[0]);
	p9_put_u16(&b, tag);
	buf_add(&b, r + 2, len);
	message = xmalloc(b.len); /* the sanitizer sees its end */
	memcpy(message, b.data, b.len);
	return p9_serve(p9, message, b.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint16_t tag = 0;

	fuzz_begin();
	p9 = p9_new(&tree, on_answer, NULL);
	for (size_t at = 0; size - at >= 2;) {
		size_t len = MIN((size_t)data[at + 1], size - at - 2);

		if (!send_message(data + at, len, ++tag))
			break;
		answer_all(data[at] + data[at + 1]);
		at += 2 + len;
	}
	p9_free(p9);
	fuzz_end();
	return 0;
}
