/* log_reader - reads a log from front to back without loading file contents. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/log/capture.h"
#include "core/journal/log/log_reader.h"
#include "core/journal/log/undo_log.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/log/undo_log_format.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

#define CHUNK	  ((size_t)64 << 10)
#define NAMES_MAX ((size_t)1 << 16) /* far more than two paths of PATH_MAX */
#define FETCH_MAX ((size_t)64 << 20)

int log_reader_open(struct log_reader *s, int dirfd, const char *name)
{
	struct head h;

	*s = (struct log_reader)LOG_READER_NONE;
	s->fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (s->fd < 0)
		return -errno;
	if (io_pread_full(s->fd, &h, sizeof(h), 0) != sizeof(h) ||
	    memcmp(h.magic, UNDO_LOG_MAGIC, sizeof(h.magic)) != 0 || h.tail < sizeof(h)) {
		log_reader_close(s);
		return -EBADMSG;
	}
	s->at = sizeof(h);
	s->tail = h.tail;
	return 0;
}

void log_reader_close(struct log_reader *s)
{
	util_close_fd(&s->fd);
	buf_done(&s->chunk);
	*s = (struct log_reader)LOG_READER_NONE;
}

/* Returns n bytes from the next record on, borrowed; NULL: the log is shorter. */
static const void *look(struct log_reader *s, size_t n)
{
	uint64_t left = s->tail - s->at;
	ssize_t got;

	if (n > left)
		return NULL;
	if (s->at < s->chunk_at || s->at + n > s->chunk_at + s->chunk.len) {
		size_t want = (size_t)MIN(left, (uint64_t)MAX(CHUNK, n));

		buf_clear(&s->chunk);
		buf_reserve(&s->chunk, want);
		got = io_pread_full(s->fd, s->chunk.data, want, (off_t)s->at);
		if (got < (ssize_t)n)
			return NULL;
		s->chunk.len = (size_t)got;
		s->chunk_at = s->at;
	}
	return s->chunk.data + (s->at - s->chunk_at);
}

int log_reader_next(struct log_reader *s, struct rec *r, uint64_t *ret_at)
{
	const struct log_rec *d;
	size_t names;

	if (s->at == s->tail)
		return 0;
	d = look(s, sizeof(*d));
	if (!d || !log_rec_fits(d, s->tail - s->at))
		return -EBADMSG;
	names = (size_t)d->path_len + d->path2_len + 2;
	if (names > NAMES_MAX)
		return -EBADMSG;
	d = look(s, sizeof(*d) + names);
	/* look() may have read the file again, after a session has written another record there. */
	if (!d || !log_rec_fits(d, s->tail - s->at) ||
	    (size_t)d->path_len + d->path2_len + 2 != names)
		return -EBADMSG;
	log_rec_read(d, r);
	if (r->path[d->path_len] || r->path2[d->path2_len])
		return -EBADMSG;
	r->meta.data = NULL;
	*ret_at = s->at;
	s->at += d->len;
	return 1;
}

int log_reader_last_seq(const struct log_reader *s, uint64_t *ret)
{
	struct log_rec d;
	uint64_t len;

	*ret = 0;
	if (s->tail == sizeof(struct head))
		return 0;
	if (io_pread_full(s->fd, &len, sizeof(len), (off_t)(s->tail - 8)) != sizeof(len) ||
	    len < sizeof(d) || len > s->tail - sizeof(struct head) ||
	    io_pread_full(s->fd, &d, sizeof(d), (off_t)(s->tail - len)) != sizeof(d) ||
	    d.len != len)
		return -EBADMSG;
	*ret = d.seq;
	return 0;
}

int log_reader_fetch(int fd, uint64_t at, struct buf *mem, struct rec *r)
{
	struct log_rec d;

	if (io_pread_full(fd, &d, sizeof(d), (off_t)at) != sizeof(d) ||
	    !log_rec_fits(&d, FETCH_MAX))
		return -EBADMSG;
	buf_clear(mem);
	buf_reserve(mem, d.len);
	if (io_pread_full(fd, mem->data, d.len, (off_t)at) != (ssize_t)d.len)
		return -EBADMSG;
	mem->len = d.len;
	if (memcmp(mem->data, &d, sizeof(d)) != 0) /* a session has written another record there */
		return -EBADMSG;
	if (log_rec_sum((const void *)mem->data) != d.sum)
		return -EBADMSG;
	log_rec_read((const void *)mem->data, r);
	return r->path[d.path_len] || r->path2[d.path2_len] ? -EBADMSG : 0;
}

void log_paths(const struct undo_log *log, struct path_set *to)
{
	struct rec r;
	size_t at = 0;

	while (undo_log_next(log, &at, &r)) {
		if (rec_is_quiet(r.type))
			continue;
		path_set_add(to, r.root, r.path);
		if (r.path2[0])
			path_set_add(to, r.root2, r.path2);
	}
}

void log_written(const struct undo_log *log, struct u64_set *to)
{
	struct rec r;
	size_t at = 0;

	while (undo_log_next(log, &at, &r))
		if (rec_is_in_place(&r))
			u64_set_add(to, r.ino);
}

/* Reads the record before the head's. Returns false at the front. */
static bool step_back(const struct undo_log *logs, struct undo_log_head *head)
{
	return undo_log_last(&logs[head->log], head->tail, &head->rec, &head->tail) &&
	       head->rec.type != REC_STEP;
}

/* Moves a head down to its place in the heap. */
static void sink(struct undo_log_back *walk, size_t i)
{
	struct undo_log_head *list = walk->heads;

	for (size_t child; (child = 2 * i + 1) < walk->n; i = child) {
		struct undo_log_head one = list[i];

		if (child + 1 < walk->n && list[child + 1].rec.seq > list[child].rec.seq)
			child++;
		if (one.rec.seq >= list[child].rec.seq)
			return;
		list[i] = list[child];
		list[child] = one;
	}
}

struct undo_log_back undo_log_back_begin(const struct undo_log *logs, size_t n)
{
	struct undo_log_back walk = {.logs = logs, .heads = xcalloc(n + 1, sizeof(*walk.heads))};

	for (size_t i = 0; i < n; i++) {
		struct undo_log_head *head = &walk.heads[walk.n];

		*head = (struct undo_log_head){.log = i, .tail = undo_log_tail(&logs[i])};
		walk.n += step_back(logs, head);
	}
	for (size_t i = walk.n / 2; i-- > 0;)
		sink(&walk, i);
	return walk;
}

bool undo_log_back(struct undo_log_back *walk, struct rec *r)
{
	struct undo_log_head *newest = walk->heads;

	if (!walk->n)
		return false;
	*r = newest->rec;
	walk->log = newest->log;
	if (!step_back(walk->logs, newest))
		*newest = walk->heads[--walk->n];
	sink(walk, 0);
	return true;
}

void undo_log_back_end(struct undo_log_back *walk)
{
	free(walk->heads);
}

int log_look(const struct journal *j, struct undo_log *log, int dirfd, const char *name)
{
	/* Without the lock, a session may cut the log while it is read. */
	return j->read_only ? undo_log_open(log, dirfd, name, false, false)
			    : undo_log_view(log, dirfd, name);
}
