/* fuzz_cast - any bytes as a recording: opened, read completely, with seeks. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/io.h"
#include "core/record/past.h"
#include "tui/term/snapshot.h"
#include "tui/term/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void drop(void *data, const void *bytes, size_t len)
{
	(void)data;
	(void)bytes;
	(void)len;
}

static const struct term_events mute = {.output = drop};

/* Corrects the checksums of the blocks' heads, so that the content is read, too. */
static void mend(uint8_t *p, size_t len)
{
	for (size_t at = 0; at + 24 <= len;) {
		ssize_t head = block_head_size((char *)p + at, len - at);
		uint64_t sum;

		if (head < 24 || (size_t)head > len - at) {
			at++;
			continue;
		}
		sum = XXH3_64bits(p + at + 24, (size_t)head - 24);
		memcpy(p + at + 16, &sum, 8);
		at += (size_t)head;
	}
}

static void look(struct recording *r)
{
	struct batch b = BATCH_INIT;
	struct past *p = past_new(r);
	struct model m;
	int64_t before = -1;

	model_init(&m);
	for (size_t i = 0; i < recording_blocks(r); i++) {
		AUTO_BUF struct buf key = BUF_INIT;

		recording_batch(r, i, false, &b);
		for (size_t k = 0; k < b.n; k++) {
			if (b.list[k].t_us < 0 || strlen(b.list[k].data.data) > b.list[k].data.len)
				abort();
			before = b.list[k].t_us;
		}
		if (recording_key(r, i, &key))
			term_free(term_from_snapshot(key.data, key.len, &mute, NULL));
	}
	past_seek(p, &m, before / 2);
	past_seek(p, &m, before);
	model_done(&m);
	past_free(p);
	batch_done(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE uint8_t *copy = xmalloc(size + 1);
	int fd = memfd_create("cast", MFD_CLOEXEC);
	struct recording *r = NULL;
	struct err err = {0};

	if (size)
		memcpy(copy, data, size);
	mend(copy, size);
	if (fd < 0 || io_write_all(fd, copy, size) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		abort();
	if (recording_open(&r, fd, &err) == 0) {
		look(r);
		recording_free(r);
	}
	term_free(term_from_snapshot((const char *)copy, size, &mute, NULL));
	return 0;
}
