/* unpack - unpacks kernels and modules: gzip, xz, zstd, lz4, or not packed. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/guest/unpack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "backends/vm/guest/lz4.h"
#include "core/base/io.h"
#include "core/base/external.h"
#include "core/record/gunzip.h"

static int unpack_zstd(const void *data, size_t len, struct buf *out, struct err *err)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_inBuffer in = {.src = data, .size = len};
	size_t left = 1;

	while (z && left && !ZSTD_isError(left)) {
		ZSTD_outBuffer to;
		size_t before = in.pos;

		if (out->len > UNPACK_MAX)
			break;
		buf_reserve(out, (size_t)1 << 20);
		to = (ZSTD_outBuffer){.dst = out->data + out->len, .size = (size_t)1 << 20};
		left = ZSTD_decompressStream(z, &to, &in);
		out->len += to.pos;
		if (!to.pos && before == in.pos)
			break; /* truncated */
	}
	ZSTD_freeDStream(z);
	buf_reserve(out, 1);
	out->data[out->len] = '\0';
	return left ? err_say(err, -EINVAL, "zstd: the data is damaged") : 0;
}

static int unpack_lz4(const void *data, size_t len, struct buf *out, struct err *err)
{
	int r = lz4_unpack(data, len, UNPACK_MAX, out);

	return r < 0 ? err_say(err, r, "lz4: the data is damaged") : 0;
}

static int unpack_gzip(const void *data, size_t len, struct buf *out, struct err *err)
{
	size_t before = out->len;
	int r = gunzip(data, len, UNPACK_MAX, out, err);

	/* A kernel's payload is followed by its size, which is no further gzip member. */
	return r < 0 || out->len > before ? MIN(r, 0)
					  : err_say(err, -EINVAL, "gzip: the data is damaged");
}

/* Runs xz(1) on memfds, which never block and which no other process can open. */
static int run_xz(int in, int to, struct err *err)
{
	static const char *const argv[] = {"xz", "--single-stream", "-dc", NULL};
	int r = external_run(
		&(struct external){.argv = argv, .in = in, .out = to, .err = EXTERNAL_NULL}, err);

	if (r == -ENOENT)
		return err_say(err, r, "xz is not here: install xz-utils");
	return r > 0 ? err_say(err, -EINVAL, "xz: the data is damaged") : r;
}

static int unpack_xz(const void *data, size_t len, struct buf *out, struct err *err)
{
	AUTO_CLOSE int in = memfd_create("packed", MFD_CLOEXEC);
	AUTO_CLOSE int to = memfd_create("unpacked", MFD_CLOEXEC);
	AUTO_FREE char *text = NULL;
	size_t text_len = 0;
	int r;

	if (in < 0 || to < 0)
		return err_set(err, -errno, "make a memory file");
	r = io_pwrite_all(in, data, len, 0);
	if (r < 0)
		return err_set(err, r, "write a memory file");
	r = run_xz(in, to, err);
	if (r < 0)
		return r;
	if (lseek(to, 0, SEEK_SET) < 0)
		return err_set(err, -errno, "read what xz wrote");
	r = io_read_all(to, UNPACK_MAX, &text, &text_len);
	if (r < 0)
		return err_set(err, r, "read what xz wrote");
	buf_add(out, text, text_len);
	return 0;
}

int unpack(const void *data, size_t len, struct buf *out, struct err *err)
{
	static const struct {
		const char *magic;
		size_t len;
		int (*unpack)(const void *data, size_t len, struct buf *out, struct err *err);
	} kinds[] = {
		{"\xfd"
		 "7zXZ",
		 6, unpack_xz},
		{"\x28\xb5\x2f\xfd", 4, unpack_zstd},
		{"\x02\x21\x4c\x18", 4, unpack_lz4},
		{"\x1f\x8b", 2, unpack_gzip},
	};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (len >= kinds[i].len && memcmp(data, kinds[i].magic, kinds[i].len) == 0)
			return kinds[i].unpack(data, len, out, err);
	buf_add(out, data, len);
	return 0;
}
