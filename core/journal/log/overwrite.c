/* overwrite - overwrites a file that other programs may write to, and loses nothing of theirs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"

#define BLOCK	   32768
#define LOOKS	   8 /* reads of a block that changes */
#define CUT_ROUNDS 8

struct overwrite {
	int src, dst, slot;
	off_t captured; /* bytes of the file when it was captured */
	off_t end;	/* of the slot's file; the bytes from `captured` on were added */
	off_t written;	/* bytes of dst from its beginning that are src's */
	bool added;
	char there[BLOCK], kept[BLOCK], fresh[BLOCK]; /* of one block: dst's, the slot's, src's */
};

/* Captures the n bytes of `there`. `kept` has the first `had` of them as they were before. */
static int keep_found(struct overwrite *o, off_t at, size_t n, size_t had)
{
	size_t known = (size_t)MIN(MAX(o->captured - at, 0), (off_t)n);
	size_t from = MAX(had, known);
	int e = 0;

	if (known > had || memcmp(o->there, o->kept, known) != 0)
		e = io_pwrite_all(o->slot, o->there, known, at);
	if (e == 0 && n > from) { /* appended after the capture */
		e = io_pwrite_all(o->slot, o->there + from, n - from, o->end);
		o->end += (off_t)(n - from);
	}
	memcpy(o->kept, o->there, n);
	o->added = true;
	return e;
}

/* Captures the bytes at `at` of the file, at most n, until a look finds them as they are kept.
 * Returns how many there are. */
static ssize_t keep_block(struct overwrite *o, off_t at, size_t n)
{
	off_t known = MIN(MAX(o->captured - at, 0), (off_t)n);
	ssize_t had = io_pread_full(o->slot, o->kept, (size_t)known, at), there = 0;
	int e = had < 0 ? (int)had : 0;

	for (int i = 0; e == 0 && i < LOOKS; i++) {
		there = io_pread_full(o->dst, o->there, n, at);
		if (there < 0)
			return there;
		if (there <= had && memcmp(o->there, o->kept, (size_t)there) == 0)
			break;
		e = keep_found(o, at, (size_t)there, (size_t)had);
		had = MAX(had, there);
	}
	return e < 0 ? e : there;
}

static int write_blocks(struct overwrite *o)
{
	for (;;) {
		ssize_t n = io_pread_full(o->src, o->fresh, BLOCK, o->written), there;
		int e;

		if (n <= 0)
			return (int)n;
		there = keep_block(o, o->written, (size_t)n);
		e = there < 0 ? (int)there : io_pwrite_all(o->dst, o->fresh, (size_t)n, o->written);
		if (e < 0)
			return e;
		o->written += n;
	}
}

/* Captures the bytes behind the new content, then cuts them. */
static int cut(struct overwrite *o)
{
	off_t at = o->written;
	struct stat st;

	for (int i = 0; i < CUT_ROUNDS; i++) {
		if (fstat(o->dst, &st) < 0)
			return -errno;
		if (st.st_size <= at)
			break;
		while (at < st.st_size) {
			ssize_t n = keep_block(o, at, (size_t)MIN(st.st_size - at, (off_t)BLOCK));

			if (n < 0)
				return (int)n;
			if (n == 0)
				break;
			at += n;
		}
	}
	return at > o->written && ftruncate(o->dst, o->written) < 0 ? -errno : 0;
}

static bool is_sparse(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_blocks * 512 < st.st_size;
}

int capture_overwrite(struct capture *s, int src, int dst)
{
	AUTO_CLOSE int slot = capture_open_last(s);
	AUTO_FREE struct overwrite *o = NULL;
	struct stat st;
	int e;

	if (slot < 0)
		return take_fd(&slot);
	if (is_sparse(src)) /* block by block, its holes would be filled */
		return MIN(object_copy_data(src, dst), 0);
	if (fstat(slot, &st) < 0)
		return -errno;
	o = xcalloc(1, sizeof(*o));
	o->src = src;
	o->dst = dst;
	o->slot = slot;
	o->captured = o->end = st.st_size;
	e = write_blocks(o);
	if (e == 0)
		e = cut(o);
	return e < 0 ? e : o->added;
}
