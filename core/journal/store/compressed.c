/* compressed - a file of the store in compressed form: NAME.z instead of NAME. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/compressed.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/base/io.h"
#include "core/os/file.h"

/*
 * NAME.z: head, extents, then one zstd frame with the bytes of all extents in a row. The window is
 * small, so that neither direction takes more than a few MiB whatever the file's size.
 */
#define MAGIC	    "cordonZ1"
#define LEVEL	    3
#define WINDOW_LOG  20
#define BLOCK	    ((size_t)128 << 10)
#define EXTENTS_MAX 65536u
#define PACK_MIN    ((off_t)32 << 10)

struct extent {
	uint64_t at, len;
};

struct head {
	char magic[8];
	uint64_t size, n, sum; /* of the extents, XXH3 */
};

struct map {
	struct head head;
	struct extent *list;
};

static void map_done(struct map *m)
{
	free(m->list);
}

#define AUTO_MAP CLEANUP(map_done)

static void packed_name(char out[NAME_MAX + 1], const char *name, const char *end)
{
	snprintf(out, NAME_MAX + 1, "%s%s", name, end);
}

/* ---- extents ----------------------------------------------------------------------------------
 */

static int map_read_file(int fd, struct map *m)
{
	struct stat st;
	off_t at = 0;

	if (fstat(fd, &st) < 0)
		return -errno;
	memcpy(m->head.magic, MAGIC, 8);
	m->head.size = (uint64_t)st.st_size;
	while (at < st.st_size) {
		off_t data = lseek(fd, at, SEEK_DATA), hole;

		if (data < 0 && errno == ENXIO)
			break;
		if (data < 0)
			return -errno;
		hole = lseek(fd, data, SEEK_HOLE);
		if (hole < 0)
			return -errno;
		if (m->head.n == EXTENTS_MAX)
			return -E2BIG;
		if (m->head.n % 64 == 0)
			m->list = xrealloc(m->list, (m->head.n + 64) * sizeof(*m->list));
		m->list[m->head.n++] =
			(struct extent){(uint64_t)data, (uint64_t)(MIN(hole, st.st_size) - data)};
		at = hole;
	}
	m->head.sum = XXH3_64bits(m->list, m->head.n * sizeof(*m->list));
	return 0;
}

static int map_load(int fd, struct map *m)
{
	uint64_t at = 0;
	size_t len;

	if (io_read_full(fd, &m->head, sizeof(m->head)) != sizeof(m->head) ||
	    memcmp(m->head.magic, MAGIC, 8) != 0 || m->head.n > EXTENTS_MAX ||
	    m->head.size > INT64_MAX)
		return -EBADMSG;
	len = m->head.n * sizeof(*m->list);
	m->list = xmalloc(len + 1);
	if (io_read_full(fd, m->list, len) != (ssize_t)len ||
	    XXH3_64bits(m->list, len) != m->head.sum)
		return -EBADMSG;
	for (size_t i = 0; i < m->head.n; i++) {
		if (m->list[i].at < at || m->list[i].len > m->head.size ||
		    m->list[i].at > m->head.size - m->list[i].len)
			return -EBADMSG;
		at = m->list[i].at + m->list[i].len;
	}
	return 0;
}

/* ---- compressing ------------------------------------------------------------------------------
 */

struct squeeze {
	ZSTD_CCtx *z;
	int in, out;
	char *raw, *packed;
	size_t packed_size;
	uint64_t written, most; /* more is not worth it */
	const struct compressed_gate *gate;
};

static int feed(struct squeeze *s, size_t len, ZSTD_EndDirective end)
{
	ZSTD_inBuffer in = {.src = s->raw, .size = len};
	size_t left;

	do {
		ZSTD_outBuffer out = {.dst = s->packed, .size = s->packed_size};
		int r;

		left = ZSTD_compressStream2(s->z, &out, &in, end);
		if (ZSTD_isError(left))
			return -EIO;
		s->written += out.pos;
		if (s->written > s->most)
			return -E2BIG;
		r = io_write_all(s->out, s->packed, out.pos);
		if (r < 0)
			return r;
	} while (end == ZSTD_e_end ? left : in.pos < in.size);
	return 0;
}

static int squeeze_extents(struct squeeze *s, const struct map *m)
{
	int r = 0;

	for (size_t i = 0; i < m->head.n; i++) {
		uint64_t at = m->list[i].at, end = at + m->list[i].len;

		while (r == 0 && at < end) {
			size_t want = (size_t)MIN(end - at, (uint64_t)BLOCK);
			ssize_t n = io_pread_full(s->in, s->raw, want, (off_t)at);

			if (atomic_load(s->gate->stop))
				return -ECANCELED;
			if (n != (ssize_t)want)
				return n < 0 ? (int)n : -EIO;
			r = feed(s, want, ZSTD_e_continue);
			at += want;
		}
	}
	return r < 0 ? r : feed(s, 0, ZSTD_e_end);
}

static int squeeze_file(int in, int out, const struct compressed_gate *gate)
{
	AUTO_MAP struct map m = {0};
	struct squeeze s = {.in = in, .out = out, .gate = gate};
	struct stat st = {0};
	int r = map_read_file(in, &m);

	if (r == 0 && fstat(in, &st) < 0)
		r = -errno;
	if (r == 0)
		r = io_write_all(out, &m.head, sizeof(m.head));
	if (r == 0)
		r = io_write_all(out, m.list, m.head.n * sizeof(*m.list));
	if (r < 0)
		return r;
	s.most = (uint64_t)st.st_blocks * 512 / 8 * 7;
	s.packed_size = ZSTD_CStreamOutSize();
	s.raw = xmalloc(BLOCK);
	s.packed = xmalloc(s.packed_size);
	s.z = ZSTD_createCCtx();
	if (!s.z || ZSTD_isError(ZSTD_CCtx_setParameter(s.z, ZSTD_c_compressionLevel, LEVEL)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s.z, ZSTD_c_windowLog, WINDOW_LOG)) ||
	    ZSTD_isError(ZSTD_CCtx_setParameter(s.z, ZSTD_c_checksumFlag, 1)))
		r = -ENOMEM;
	if (r == 0)
		r = squeeze_extents(&s, &m);
	ZSTD_freeCCtx(s.z);
	free(s.raw);
	free(s.packed);
	return r;
}

/* Replaces the plain form by the packed one. */
static int put_in_place(int dirfd, const char *name, const char *tmp, const char *packed,
			const struct compressed_gate *gate)
{
	int r = 0;

	gate->lock(gate->data);
	if (atomic_load(gate->stop))
		r = -ECANCELED;
	else if (renameat(dirfd, tmp, dirfd, packed) < 0)
		r = -errno;
	else if (unlinkat(dirfd, name, 0) < 0)
		r = -errno;
	gate->unlock(gate->data);
	return r;
}

int compressed_make(int dirfd, const char *name, const struct compressed_gate *gate)
{
	char tmp[NAME_MAX + 1], packed[NAME_MAX + 1];
	AUTO_CLOSE int in = -1, out = -1;
	struct stat st;
	int r;

	packed_name(tmp, name, ".z~");
	packed_name(packed, name, ".z");
	in = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOATIME);
	if (in < 0 || fstat(in, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	/* A file with another hard link is in the folder, too, or is about to be. */
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_size < PACK_MIN)
		return 0;
	out = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	/* The umask is the whole process's and may be an agent's. */
	if (out < 0 || fchmod(out, 0600) < 0)
		return -errno;
	r = squeeze_file(in, out, gate);
	if (r == 0)
		r = put_in_place(dirfd, name, tmp, packed, gate);
	if (r < 0 && unlinkat(dirfd, tmp, 0) < 0 && errno != ENOENT)
		return -errno;
	if (r == -E2BIG || r == -ECANCELED)
		return 0;
	return r < 0 ? r : 1;
}

/* ---- decompressing ----------------------------------------------------------------------------
 */

struct swell {
	const struct map *m;
	size_t extent;
	uint64_t done; /* of that extent */
	int out;       /* -1: only look */
};

static int spread(struct swell *s, const char *data, size_t len)
{
	while (len) {
		const struct extent *e = &s->m->list[s->extent];
		size_t n;

		if (s->extent == s->m->head.n)
			return -EBADMSG;
		n = (size_t)MIN((uint64_t)len, e->len - s->done);
		if (s->out >= 0) {
			int r = io_pwrite_all(s->out, data, n, (off_t)(e->at + s->done));

			if (r < 0)
				return r;
		}
		data += n;
		len -= n;
		s->done += n;
		if (s->done == e->len) {
			s->extent++;
			s->done = 0;
		}
	}
	return 0;
}

static int swell_stream(struct swell *s, int in, ZSTD_DCtx *z, char *packed, char *raw)
{
	size_t left = 1;

	while (left) {
		ssize_t n = io_read_full(in, packed, BLOCK);
		ZSTD_inBuffer from = {.src = packed, .size = (size_t)MAX(n, 0)};

		if (n <= 0)
			return n < 0 ? (int)n : -EBADMSG;
		while (from.pos < from.size && left) {
			ZSTD_outBuffer to = {.dst = raw, .size = BLOCK};
			int r;

			left = ZSTD_decompressStream(z, &to, &from);
			if (ZSTD_isError(left))
				return -EBADMSG;
			r = spread(s, raw, to.pos);
			if (r < 0)
				return r;
		}
	}
	return s->extent == s->m->head.n ? 0 : -EBADMSG;
}

/* Decompresses `in` to `out`. out -1: only checks whether that is possible. */
static int swell_file(int in, int out)
{
	AUTO_MAP struct map m = {0};
	struct swell s = {.m = &m, .out = out};
	AUTO_FREE char *packed = xmalloc(BLOCK), *raw = xmalloc(BLOCK);
	ZSTD_DCtx *z;
	int r = map_load(in, &m);

	if (r < 0)
		return r;
	z = ZSTD_createDCtx();
	if (!z || ZSTD_isError(ZSTD_DCtx_setParameter(z, ZSTD_d_windowLogMax, WINDOW_LOG)))
		r = -ENOMEM;
	if (r == 0)
		r = swell_stream(&s, in, z, packed, raw);
	ZSTD_freeDCtx(z);
	if (r == 0 && out >= 0 && ftruncate(out, (off_t)m.head.size) < 0)
		r = -errno;
	return r;
}

static int open_packed(int dirfd, const char *name)
{
	char packed[NAME_MAX + 1];
	int fd;

	packed_name(packed, name, ".z");
	fd = openat(dirfd, packed, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int open_plain(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int compressed_open(int dirfd, const char *name)
{
	AUTO_CLOSE int in = -1, out = -1;
	int r = open_plain(dirfd, name);

	if (r != -ENOENT)
		return r;
	in = open_packed(dirfd, name);
	if (in == -ENOENT) /* an undo in another process has unpacked it meanwhile */
		return open_plain(dirfd, name);
	if (in < 0)
		return take_fd(&in);
	out = os_memory_file("cordon-unpacked");
	if (out < 0)
		return take_fd(&out);
	r = swell_file(in, out);
	if (r == 0 && lseek(out, 0, SEEK_SET) < 0)
		r = -errno;
	return r < 0 ? r : take_fd(&out);
}

int compressed_size(int dirfd, const char *name, uint64_t *ret)
{
	AUTO_CLOSE int in = open_packed(dirfd, name);
	AUTO_MAP struct map m = {0};
	int r = in < 0 ? in : map_load(in, &m);

	if (r == 0)
		*ret = m.head.size;
	return r;
}

int compressed_restore(int dirfd, const char *name)
{
	char packed[NAME_MAX + 1], tmp[NAME_MAX + 1];
	AUTO_CLOSE int in = open_packed(dirfd, name);
	AUTO_CLOSE int out = -1;
	int r = 0;

	if (in < 0)
		return in == -ENOENT ? 0 : in;
	packed_name(packed, name, ".z");
	packed_name(tmp, name, "~");
	if (faccessat(dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
		out = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
			     0600);
		if (out < 0 || fchmod(out, 0600) < 0)
			return -errno;
		r = swell_file(in, out);
		if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
			r = -errno;
		if (r < 0 && unlinkat(dirfd, tmp, 0) < 0)
			return r; /* the rest only takes space */
	}
	if (r == 0 && unlinkat(dirfd, packed, 0) < 0)
		r = -errno;
	return r;
}

int compressed_check(int dirfd, const char *name)
{
	AUTO_CLOSE int in = open_packed(dirfd, name);

	return in < 0 ? in : swell_file(in, -1);
}
