/* fuzz_shim - any bytes as messages of a guest, QEMU or the host: parsed by both sides. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "backends/vm/guest/elf_sections.h"
#include "backends/vm/guest/lz4.h"
#include "backends/vm/monitor/last_words.h"
#include "backends/vm/monitor/shim_protocol.h"
#include "backends/vm/qemu/qmp.h"
#include "backends/vm/shim/wire.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Parses in place, like the guest. */
static void as_the_guest(const uint8_t *data, size_t size)
{
	AUTO_FREE char *line = xmalloc(size + 1);
	struct message m;

	memcpy(line, data, size);
	line[size] = '\0';
	if (wire_parse(&m, line, size))
		for (size_t i = 0; m.argv && m.argv[i]; i++)
			if (m.argv[i] < line || m.argv[i] + strlen(m.argv[i]) > line + size)
				abort();
}

/* The host must read what the guest's side makes of any bytes. */
static void there_and_back(const uint8_t *data, size_t size)
{
	AUTO_FREE char *out = xmalloc(OUTPUT_ROOM(size));
	size_t n = wire_output(out, 9, "stdout", data, size);
	struct shim_event e;

	if (n > SHIM_LINE)
		return;
	if (shim_parse(&e, out, n - 1) < 0 || e.id != 9 || e.len != size ||
	    memcmp(e.data, data, size) != 0)
		abort();
	shim_event_done(&e);
}

static void as_a_file(const uint8_t *data, size_t size)
{
	struct span file = {(const char *)data, size}, ret;
	AUTO_BUF struct buf out = BUF_INIT;

	elf_section(file, ".modinfo", &ret);
	elf_has_note(file, "Xen", 18);
	if (lz4_unpack(data, size, 1 << 16, &out) == 0 && out.len > 1 << 16)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct last_words w = {.text = BUF_INIT};
	struct qmp_message q;
	struct shim_event e;
	char tail[300];

	if (shim_parse(&e, (const char *)data, size) == 0)
		shim_event_done(&e);
	if (qmp_parse(&q, (const char *)data, size) == 0 && strlen(q.text) >= sizeof(q.text))
		abort();
	as_the_guest(data, size);
	there_and_back(data, size);
	as_a_file(data, size);
	last_words_add(&w, (const char *)data, size);
	last_words_format(&w, tail, sizeof(tail));
	buf_done(&w.text);
	return 0;
}
