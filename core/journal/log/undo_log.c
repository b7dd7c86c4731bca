/* undo_log - a step's log file: append, read from both ends, verify. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/undo_log.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/fs/in_place.h"
#include "core/journal/log/undo_log_format.h"
#include "core/journal/store/siblings.h"
#include "core/os/file.h"
#include "core/os/map.h"
#include "core/os/volume.h"

#define UNDO_LOG_CHUNK	((size_t)64 << 10)
#define UNDO_LOG_MAX	((size_t)4 << 30)
#define UNDO_LOG_WINDOW ((size_t)256 << 10) /* up to twice this stays mapped in */

static struct head *head_of(const struct undo_log *log)
{
	return (struct head *)(void *)log->map;
}

static int put(const struct undo_log *log, size_t at, const void *data, size_t len)
{
	if (!log->stores)
		return io_pwrite_all(log->fd, data, len, (off_t)at);
	assert(log->map);
	memcpy(log->map + at, data, len);
	return 0;
}

/* Stores the part of the header that must come last. */
static int put_ends(struct undo_log *log)
{
	const uint64_t ends[2] = {log->tail, log->next_slot};

	_Static_assert(offsetof(struct head, next_slot) == offsetof(struct head, tail) + 8,
		       "both at once");
	if (!log->stores)
		return put(log, offsetof(struct head, tail), ends, sizeof(ends));
	head_of(log)->next_slot = log->next_slot;
	atomic_store_explicit(&head_of(log)->tail, log->tail, memory_order_release);
	return 0;
}

size_t undo_log_tail(const struct undo_log *log)
{
	if (log->writable || !log->mapped)
		return log->tail;
	return atomic_load_explicit(&head_of(log)->tail, memory_order_acquire);
}

int undo_log_cut(struct undo_log *log, size_t tail)
{
	int r;

	log->tail = tail;
	r = put_ends(log);
	log->behind = r < 0;
	return r;
}

int undo_log_catch_up(struct undo_log *log)
{
	return log->behind ? undo_log_cut(log, log->tail) : 0;
}

void undo_log_take_back(struct undo_log *log, size_t tail)
{
	if (undo_log_cut(log, tail) < 0)
		return; /* the next record stores the new tail */
}

bool undo_log_empty(const struct undo_log *log)
{
	return undo_log_tail(log) == sizeof(struct head);
}

int undo_log_set_roll(struct undo_log *log, const struct roll *roll)
{
	return put(log, offsetof(struct head, roll), roll, sizeof(*roll));
}

int undo_log_peek_roll(int dirfd, const char *name, struct roll *ret)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct head h;

	if (fd < 0)
		return -errno;
	if (io_pread_full(fd, &h, sizeof(h), 0) != sizeof(h) ||
	    memcmp(h.magic, UNDO_LOG_MAGIC, 8) != 0)
		return -EBADMSG;
	*ret = h.roll;
	return 0;
}

int undo_log_peek_first(int dirfd, const char *name, uint64_t *ret)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct {
		struct head head;
		struct log_rec rec;
	} at;

	if (fd < 0)
		return -errno;
	if (io_pread_full(fd, &at, sizeof(at), 0) != sizeof(at) ||
	    memcmp(at.head.magic, UNDO_LOG_MAGIC, 8) != 0 || at.head.tail < sizeof(at) ||
	    at.rec.type != REC_STEP)
		return -EBADMSG;
	*ret = at.rec.seq;
	return 0;
}

uint64_t undo_log_slot(struct undo_log *log)
{
	uint64_t n = log->next_slot;

	log->next_slot = n + 2;
	if (put_ends(log) < 0)
		return n; /* the next record stores the new number */
	return n;
}

/*
 * Only the used part of a long log stays mapped in. Pages behind it go back to the page cache,
 * dirty or not, and are mapped again when they are read.
 */
static void leave(const struct undo_log *log, size_t from, size_t to)
{
	if (log->mapped && to > from)
		madvise(log->map + from, to - from, MADV_DONTNEED);
}

static void leave_forward(const struct undo_log *log, size_t from, size_t to)
{
	leave(log, from / UNDO_LOG_WINDOW * UNDO_LOG_WINDOW,
	      to / UNDO_LOG_WINDOW * UNDO_LOG_WINDOW);
}

static void leave_backward(const struct undo_log *log, size_t from, size_t to)
{
	if (to / UNDO_LOG_WINDOW < from / UNDO_LOG_WINDOW)
		leave(log, (from / UNDO_LOG_WINDOW + 1) * UNDO_LOG_WINDOW, log->cap);
}

void undo_log_close(struct undo_log *log)
{
	if (log->map && log->mapped)
		munmap(log->map, log->cap);
	else
		free(log->map);
	util_close_fd(&log->fd);
	*log = (struct undo_log)UNDO_LOG_NONE;
}

/* Allocates the file's blocks. Without fallocate, glibc writes a byte into every block. */
static int allocate(const struct undo_log *log, size_t cap)
{
	int r;

	do {
		r = posix_fallocate(log->fd, 0, (off_t)cap);
	} while (r == EINTR);
	/* On some file systems a failed call keeps the blocks that it got. */
	if (r && log->cap && ftruncate(log->fd, (off_t)log->cap) < 0)
		return -errno;
	return -r;
}

static int map_to(struct undo_log *log, size_t cap)
{
	int prot = log->writable && log->stores ? PROT_READ | PROT_WRITE : PROT_READ;
	void *map;

	if (log->map)
		map = os_remap(log->map, log->cap, cap, prot, log->fd);
	else
		map = mmap(NULL, cap, prot, MAP_SHARED, log->fd, 0);
	if (map == MAP_FAILED)
		return -errno;
	log->map = map;
	log->cap = cap;
	return 0;
}

static int grow(struct undo_log *log, size_t need)
{
	size_t least = (need + UNDO_LOG_CHUNK - 1) / UNDO_LOG_CHUNK * UNDO_LOG_CHUNK, cap = least;
	int r;

	if (cap < log->cap * 2)
		cap = MIN(log->cap * 2, log->cap + ((size_t)4 << 20));
	if (cap > UNDO_LOG_MAX)
		return -EFBIG;
	r = allocate(log, cap);
	if (r < 0 && cap > least) /* a disk that is nearly full */
		r = allocate(log, cap = least);
	if (r < 0)
		return r;
	return map_to(log, cap);
}

int undo_log_create(struct undo_log *log, int dirfd, const char *name)
{
	struct undo_log new = {.fd = -1, .writable = true, .mapped = true};
	struct head h = {.tail = sizeof(h), .next_slot = str_eq(name, "redo") ? 1 : 2};
	int r;

	new.fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (new.fd < 0)
		return -errno;
	in_place_keep(new.fd);
	new.stores = in_place_writes(new.fd);
	new.tail = h.tail;
	new.next_slot = h.next_slot;
	r = grow(&new, UNDO_LOG_CHUNK);
	if (r == 0)
		r = put(&new, 0, &h, sizeof(h));
	if (r == 0) /* last: a log without it never began */
		r = put(&new, 0, UNDO_LOG_MAGIC, sizeof(h.magic));
	if (r < 0) {
		undo_log_close(&new);
		unlinkat(dirfd, name, 0);
		return r;
	}
	*log = new;
	return 0;
}

/* Decodes the record at off. Returns false unless it is whole and ends before `end`. */
static bool decode(const struct undo_log *log, size_t off, size_t end, struct rec *r,
		   size_t *ret_end)
{
	const struct log_rec *d = (const void *)(log->map + off);

	if (end - off < sizeof(*d) + 8 || !log_rec_fits(d, end - off))
		return false;
	log_rec_read(d, r);
	*ret_end = off + d->len;
	return !r->path[d->path_len] && !r->path2[d->path2_len];
}

static int verify(struct undo_log *log, bool cut)
{
	size_t off = sizeof(struct head), tail = undo_log_tail(log), end = off;
	struct rec r = {0};

	if (tail < off || tail > log->cap) {
		if (!cut)
			return -EBADMSG;
		tail = tail < off ? off : log->cap;
	}
	while (off < tail) {
		const struct log_rec *d = (const void *)(log->map + off);
		uint64_t len;

		if (!decode(log, off, tail, &r, &end) || d->sum != log_rec_sum(d))
			break;
		memcpy(&len, log->map + end - 8, 8);
		if (len != d->len)
			break;
		/* After power loss the header may be older than the records. */
		if (cut && log->writable && r.slot >= log->next_slot &&
		    (r.slot ^ log->next_slot) % 2 == 0)
			log->next_slot = r.slot + 2;
		leave_forward(log, off, end);
		off = end;
	}
	if (off == undo_log_tail(log))
		return 0;
	if (!cut)
		return -EBADMSG;
	undo_log_take_back(log, off);
	return 0;
}

/* Maps the log. A log that is only emptied needs no further space: a full disk is no error. */
static int map_all(struct undo_log *log, size_t size)
{
	int r = log->writable ? grow(log, size) : -ENOSPC;

	return r == -ENOSPC || r == -EDQUOT ? map_to(log, size) : r;
}

/*
 * The writer of the log may add records, and free the space behind the last one. Bytes before the
 * tail do not change, so the tail is read first, and then only the bytes before it.
 */
static int copy_all(struct undo_log *log)
{
	size_t at = sizeof(struct head);
	struct stat st;
	ssize_t n;

	log->map = xrealloc(log->map, at);
	n = io_pread_full(log->fd, log->map, at, 0);
	if (n < (ssize_t)at)
		return n < 0 ? (int)n : -ENODATA;
	if (fstat(log->fd, &st) < 0)
		return -errno;
	log->cap = MAX((size_t)MIN(head_of(log)->tail, (uint64_t)st.st_size), at);
	if (log->cap > UNDO_LOG_MAX)
		return -EBADMSG;
	log->map = xrealloc(log->map, log->cap);
	n = io_pread_full(log->fd, log->map + at, log->cap - at, (off_t)at);
	return n < 0 ? (int)n : (size_t)n == log->cap - at ? 0 : -EBADMSG;
}

bool undo_log_has_changed(const struct undo_log *log)
{
	const struct head *was = head_of(log);
	struct head now;

	return !log->mapped && io_pread_full(log->fd, &now, sizeof(now), 0) == sizeof(now) &&
	       (now.tail != was->tail || now.next_slot != was->next_slot ||
		now.roll.number != was->roll.number);
}

static int map_whole(struct undo_log *log)
{
	struct stat st;

	if (fstat(log->fd, &st) < 0)
		return -errno;
	if (st.st_size > (off_t)UNDO_LOG_MAX)
		return -EBADMSG;
	if (st.st_size < (off_t)sizeof(struct head))
		return -ENODATA;
	log->stores = in_place_writes(log->fd);
	return map_all(log, (size_t)st.st_size);
}

static int check(struct undo_log *log, bool cut)
{
	assert(log->map); /* there is a header at least */
	if (memcmp(log->map, UNDO_LOG_MAGIC, 8) != 0)
		return log->map[0] ? -EBADMSG : -ENODATA;
	log->tail = head_of(log)->tail;
	log->next_slot = head_of(log)->next_slot;
	return verify(log, cut);
}

static int open_as(struct undo_log *new, int dirfd, const char *name, bool cut)
{
	int r;

	new->fd = openat(dirfd, name, (new->writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW);
	if (new->fd < 0)
		return -errno;
	new->stores = !new->mapped; /* into the copy */
	do {
		r = new->mapped ? map_whole(new) : copy_all(new);
		if (r == 0)
			r = check(new, cut);
		/* A rollback may have removed records during the read, and a redo added others. */
	} while (r == -EBADMSG && undo_log_has_changed(new));
	if (r < 0)
		undo_log_close(new);
	return r;
}

int undo_log_open(struct undo_log *log, int dirfd, const char *name, bool writable, bool cut)
{
	struct undo_log new = {.fd = -1, .writable = writable, .mapped = writable};
	int r = open_as(&new, dirfd, name, cut);

	if (r == 0)
		*log = new;
	return r;
}

int undo_log_view(struct undo_log *log, int dirfd, const char *name)
{
	struct undo_log new = {.fd = -1, .mapped = true};
	int r = open_as(&new, dirfd, name, false);

	if (r == 0)
		*log = new;
	return r;
}

void undo_log_trim(struct undo_log *log)
{
	/* The mapping keeps its length; nothing behind the last page of the tail is touched again.
	 */
	if (ftruncate(log->fd, (off_t)undo_log_tail(log)) < 0)
		return;
}

/* Encodes the record at d, where there is room for len bytes. */
static void encode(struct log_rec *d, size_t len, const struct rec *r)
{
	size_t path_len = strlen(r->path), path2_len = r->path2 ? strlen(r->path2) : 0;
	uint64_t total = len;
	char *p = (char *)(d + 1);

	memset(d, 0, len);
	d->len = (uint32_t)len;
	d->type = (uint16_t)r->type;
	d->flags = (uint16_t)r->flags;
	d->seq = r->seq;
	d->src = r->src;
	d->slot = r->slot;
	d->ino = r->ino;
	d->ino2 = r->ino2;
	d->root = (uint32_t)r->root;
	d->root2 = (uint32_t)r->root2;
	d->path_len = (uint32_t)path_len;
	d->path2_len = (uint32_t)path2_len;
	d->meta_len = (uint32_t)r->meta.len;
	memcpy(p, r->path, path_len);
	if (path2_len)
		memcpy(p + path_len + 1, r->path2, path2_len);
	if (r->meta.len)
		memcpy(p + path_len + 1 + path2_len + 1, r->meta.data, r->meta.len);
	memcpy((char *)d + len - 8, &total, 8);
	d->sum = log_rec_sum(d);
}

int undo_log_append(struct undo_log *log, const struct rec *r)
{
	size_t len = sizeof(struct log_rec) + strlen(r->path) + (r->path2 ? strlen(r->path2) : 0) +
		     2 + r->meta.len;
	AUTO_FREE struct log_rec *own = NULL;
	size_t tail = log->tail;
	bool behind = log->behind;
	int e = 0;

	len = (len + 7) / 8 * 8 + 8;
	if (tail + len > log->cap)
		e = grow(log, tail + len);
	if (e < 0)
		return e;
	if (log->stores) {
		encode((void *)(log->map + tail), len, r);
	} else {
		own = xmalloc(len);
		encode(own, len, r);
		e = put(log, tail, own, len);
	}
	if (e == 0 && (e = undo_log_cut(log, tail + len)) < 0) {
		log->tail = tail;
		log->behind = behind;
	}
	if (e == 0)
		leave_forward(log, tail, tail + len);
	return e;
}

bool undo_log_last(const struct undo_log *log, size_t tail, struct rec *r, size_t *start)
{
	uint64_t len;
	size_t end;

	for (; tail > sizeof(struct head); tail = *start) {
		memcpy(&len, log->map + tail - 8, 8);
		*start = tail - len;
		leave_backward(log, tail, *start);
		if (!decode(log, *start, tail, r, &end))
			return false;
		if (r->type != REC_INTENT)
			return true;
	}
	return false;
}

static bool next_any(const struct undo_log *log, size_t *at, struct rec *r)
{
	size_t tail = undo_log_tail(log), from;

	if (*at == 0)
		*at = sizeof(struct head);
	if (*at >= tail)
		return false;
	from = *at;
	if (!decode(log, from, tail, r, at))
		return false;
	leave_forward(log, from, *at);
	return true;
}

bool undo_log_next(const struct undo_log *log, size_t *at, struct rec *r)
{
	while (next_any(log, at, r))
		if (r->type != REC_INTENT)
			return true;
	return false;
}

bool undo_log_walk(const struct undo_log *logs, size_t n, struct undo_log_walk *walk, struct rec *r)
{
	for (; walk->log < n; walk->log++, walk->at = 0)
		if (undo_log_next(&logs[walk->log], &walk->at, r))
			return true;
	return false;
}
