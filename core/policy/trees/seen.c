/* seen - the file of directories: a head, records in the order of their inodes, names. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/trees/seen.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/hash.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/statx.h"
#include "core/os/volume.h"

#define MAX_BYTES  (128u << 20)
#define SETTLED	   3   /* seconds; times of an old ext3 have whole seconds only */
#define FRESH_MIN  256 /* small directories that make a file worthwhile */
#define FRESH_PART 8   /* rewrites the file if this part of all directories is new */

struct head {
	char magic[8];
	char version[24]; /* of cordon, as another one may search for other names */
	uint64_t n;
};

struct record {
	struct seen_dir dir;
	uint64_t at, len; /* offset and length in the names */
	uint64_t hash;	  /* of the whole record: after a power cut it may be incomplete */
};

struct seen {
	char *data;
	const struct record *records;
	size_t n;
	struct span names;
};

static struct head head_of(size_t n)
{
	struct head h = {.magic = "cordonD", .n = n};

	snprintf(h.version, sizeof(h.version), "%s", CORDON_VERSION);
	return h;
}

static uint64_t hash_of(const struct record *r, const char *held)
{
	return XXH3_64bits_withSeed(held, r->len, XXH3_64bits(&r->dir, sizeof(r->dir)) ^ r->len);
}

static int compare(const void *a, const void *b)
{
	const struct seen_dir *x = a, *y = b;

	if (x->ino != y->ino)
		return x->ino < y->ino ? -1 : 1;
	return x->dev < y->dev ? -1 : x->dev > y->dev;
}

/* ---- reading ----------------------------------------------------------------------------------
 */

struct seen *seen_load(const char *path)
{
	struct seen *s = xcalloc(1, sizeof(*s));
	const struct head want = head_of(0);
	struct head h;
	size_t len;

	if (io_read_file(AT_FDCWD, path, MAX_BYTES, &s->data, &len) < 0 || len < sizeof(h)) {
		seen_free(s);
		return NULL;
	}
	memcpy(&h, s->data, sizeof(h));
	if (memcmp(&h, &want, offsetof(struct head, n)) != 0 ||
	    h.n > (len - sizeof(h)) / sizeof(struct record)) {
		seen_free(s);
		return NULL;
	}
	s->n = h.n;
	s->records = (const void *)(s->data + sizeof(h));
	s->names.data = s->data + sizeof(h) + s->n * sizeof(struct record);
	s->names.len = len - sizeof(h) - s->n * sizeof(struct record);
	return s;
}

void seen_free(struct seen *s)
{
	if (!s)
		return;
	free(s->data);
	free(s);
}

static bool device_tells(struct seen_part *p, int at, const char *path, uint64_t dev)
{
	AUTO_CLOSE int fd = -1;

	if (p->device_known && p->dev == dev)
		return p->device_tells;
	fd = openat(at, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	p->dev = dev;
	p->device_known = true;
	p->device_tells = fd >= 0 && os_ctime_tells(fd);
	return p->device_tells;
}

bool seen_identify(struct seen_part *p, int fd, const char *path, struct seen_dir *ret)
{
	const int flags = AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT | (*path ? 0 : AT_EMPTY_PATH);
	struct timespec now;
	struct statx x;

	if (statx(fd, path, flags, STATX_BASIC_STATS, &x) < 0 || !S_ISDIR(x.stx_mode) ||
	    x.stx_attributes & STATX_ATTR_ENCRYPTED)
		return false;
	*ret = (struct seen_dir){.dev = makedev(x.stx_dev_major, x.stx_dev_minor),
				 .ino = x.stx_ino,
				 .sec = (uint64_t)x.stx_ctime.tv_sec,
				 .nsec = x.stx_ctime.tv_nsec};
	clock_gettime(OS_CLOCK_OF_FILES, &now);
	return x.stx_ctime.tv_sec + SETTLED < now.tv_sec && device_tells(p, fd, path, ret->dev);
}

bool seen_find(const struct seen *s, const struct seen_dir *dir, struct span *ret)
{
	const struct record *r;

	if (!s)
		return false;
	r = bsearch(dir, s->records, s->n, sizeof(*r), compare);
	if (!r || memcmp(&r->dir, dir, sizeof(*dir)) != 0 || r->at > s->names.len ||
	    r->len > s->names.len - r->at || hash_of(r, s->names.data + r->at) != r->hash)
		return false;
	*ret = (struct span){s->names.data + r->at, r->len};
	return true;
}

/* ---- writing ----------------------------------------------------------------------------------
 */

void seen_part_add(struct seen_part *p, const struct seen_dir *dir, const char *held, size_t len)
{
	struct record r = {.dir = *dir, .at = p->names.len, .len = len};

	r.hash = hash_of(&r, held);
	buf_add(&p->records, &r, sizeof(r));
	buf_add(&p->names, held, len);
}

void seen_part_move(struct seen_part *to, struct seen_part *from)
{
	struct record r;

	for (size_t i = 0; i < from->records.len; i += sizeof(r)) {
		memcpy(&r, from->records.data + i, sizeof(r));
		r.at += to->names.len;
		buf_add(&to->records, &r, sizeof(r));
	}
	buf_add(&to->names, from->names.data, from->names.len);
	to->fresh += from->fresh;
	seen_part_done(from);
}

void seen_part_done(struct seen_part *p)
{
	buf_done(&p->records);
	buf_done(&p->names);
	*p = (struct seen_part)SEEN_PART_INIT;
}

/* A failure does no harm: without the file the next search reads all directories. */
void seen_save(const char *path, const struct seen_part *p)
{
	const size_t n = p->records.len / sizeof(struct record);
	const struct head h = head_of(n);
	AUTO_FREE struct record *sorted = NULL;
	AUTO_FREE char *dir = NULL;
	AUTO_BUF struct buf out = BUF_INIT;

	if (p->fresh < FRESH_MIN || p->fresh < n / FRESH_PART ||
	    sizeof(h) + p->records.len + p->names.len > MAX_BYTES)
		return;
	sorted = xmalloc(p->records.len);
	memcpy(sorted, p->records.data, p->records.len);
	qsort(sorted, n, sizeof(*sorted), compare);
	buf_add(&out, &h, sizeof(h));
	buf_add(&out, sorted, p->records.len);
	buf_add(&out, p->names.data, p->names.len);
	dir = path_dir(path);
	if (io_mkdir_p(AT_FDCWD, dir, 0700) == 0 &&
	    io_write_file(AT_FDCWD, path, 0600, out.data, out.len, false) < 0)
		unlink(path);
}
