/* gunzip - unpacks gzip files; libz is opened when needed. */
/* SPDX-License-Identifier: MIT */
#include "core/record/gunzip.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
#include <zlib.h>

#define CHUNK ((size_t)256 << 10)
#define BITS  (15 + 16) /* the largest window; a gzip header */

/* libz, which is wherever libgit2 is; linked, it would cost each start of the program time. */
struct libz {
	int (*init)(z_streamp s, int bits, const char *version, int size);
	int (*inflate)(z_streamp s, int flush);
	int (*reset)(z_streamp s);
	int (*end)(z_streamp s);
};

static bool find(void *lib, const char *name, void *slot)
{
	void *sym = dlsym(lib, name);

	memcpy(slot, &sym, sizeof(sym));
	return sym != NULL;
}

static int open_libz(struct libz *z, struct err *err)
{
	void *lib = dlopen("libz.so.1", RTLD_NOW | RTLD_LOCAL);
	bool all = lib && find(lib, "inflateInit2_", &z->init) &&
		   find(lib, "inflate", &z->inflate) && find(lib, "inflateReset", &z->reset) &&
		   find(lib, "inflateEnd", &z->end);

	if (!all)
		return err_say(err, -ENOSYS, "a gzip file needs libz.so.1: install zlib");
	return 0;
}

/* Unpacks one of several members. Returns 0 at the end of the last one; positive before it. */
static int unpack(const struct libz *z, z_stream *s, size_t max, struct buf *out)
{
	for (;;) {
		size_t room = MIN(CHUNK, max - MIN(max, out->len));
		int r;

		if (!room)
			return 1;
		buf_reserve(out, room);
		s->next_out = (Bytef *)(void *)(out->data + out->len);
		s->avail_out = (uInt)room;
		r = z->inflate(s, Z_NO_FLUSH);
		out->len += room - s->avail_out;
		out->data[out->len] = '\0';
		if (r == Z_STREAM_END && !s->avail_in)
			return 0;
		if (r == Z_STREAM_END && z->reset(s) == Z_OK)
			continue;
		if (r != Z_OK || (!s->avail_in && s->avail_out))
			return 1;
	}
}

int gunzip(const char *s, size_t len, size_t max, struct buf *out, struct err *err)
{
	z_stream stream = {.next_in = (Bytef *)(uintptr_t)s,
			   .avail_in = (uInt)MIN(len, (size_t)UINT32_MAX)};
	struct libz z = {0};
	int r = open_libz(&z, err);

	if (r < 0)
		return r;
	assert(z.init && z.inflate && z.reset && z.end);
	if (z.init(&stream, BITS, ZLIB_VERSION, (int)sizeof(stream)) != Z_OK)
		return err_say(err, -ENOMEM, "unpack a gzip file: no memory");
	r = unpack(&z, &stream, max, out);
	z.end(&stream);
	return r;
}
