/* fuzz_wal - a step's log of any bytes: opened, read from both ends, cut, appended to. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/log/undo_log.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t look_at(const struct rec *r)
{
	struct span meta = {0}, bytes = {0};

	if (r->type == REC_CONTENT)
		undo_log_content(r, &meta, &bytes);
	return strlen(r->path) + strlen(r->path2) + meta.len + bytes.len;
}

static void walk(const struct undo_log *log)
{
	size_t at = 0, tail = undo_log_tail(log), there = 0, back = 0;
	struct rec r;

	while (undo_log_next(log, &at, &r))
		there += look_at(&r);
	while (undo_log_last(log, tail, &r, &tail))
		back += look_at(&r);
	if (there != back)
		abort(); /* the two ways must agree */
}

static int scratch = -1; /* a directory */
static char scratch_name[] = "/tmp/cordon-fuzz-wal-XXXXXX";

static void remove_scratch(void)
{
	unlinkat(scratch, "log", 0);
	rmdir(scratch_name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rec rec = {.type = REC_NEW, .seq = 1, .path = "x", .path2 = ""};

	if (scratch < 0) {
		if (!mkdtemp(scratch_name))
			abort();
		scratch = open(scratch_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		atexit(remove_scratch);
	}
	for (int cut = 0; cut < 2; cut++) {
		struct undo_log log = UNDO_LOG_NONE;

		if (io_write_file(scratch, "log", 0600, data, size, false) < 0)
			abort();
		if (undo_log_open(&log, scratch, "log", cut, cut) < 0)
			continue;
		walk(&log);
		if (cut && undo_log_append(&log, &rec) == 0)
			walk(&log);
		undo_log_close(&log);
	}
	return 0;
}
