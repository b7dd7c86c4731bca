/* record - the cost of recording, and the time of a seek in three hours: record DIR */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/record/cast.h"
#include "core/record/encoder.h"
#include "core/record/recorder.h"
#include "tui/console/replay/replay.h"
#include "tui/term/snapshot.h"

#define MEGABYTES 48
#define HOURS_US  ((int64_t)3 * 3600 * 1000000)
#define SEEKS	  200

/* Returns output like an agent's: lines of text, and a status that is painted again and again. */
static size_t some_output(char *out, size_t size, unsigned n)
{
	size_t len = 0;

	if (n % 4)
		return (size_t)snprintf(out, size,
					"\033[38;2;215;119;87m*\033[39m Working... (%us, %u tokens)"
					"\033[2K\r\033[1A\033[2K\033[G\033[?25l\r\n",
					n / 10, n * 7);
	for (int i = 0; i < 6; i++)
		len += (size_t)snprintf(out + len, size - len,
					"\033[32m+%5u\033[m  static int line_%u(struct thing *t); "
					"/* \xe2\x80\x9cquoted\xe2\x80\x9d %x */\r\n",
					n + (unsigned)i, n, n * 2654435761u);
	return len;
}

static double cpu_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void feed(struct term *t, struct recorder *rec)
{
	size_t total = 0;
	char piece[4096];

	for (unsigned n = 0; total < (size_t)MEGABYTES << 20; n++) {
		size_t len = some_output(piece, sizeof(piece), n);
		AUTO_BUF struct buf key = BUF_INIT;
		AUTO_BUF struct buf screen = BUF_INIT;

		total += len;
		term_feed(t, piece, len);
		if (!rec)
			continue;
		recorder_output(rec, piece, len);
		if (recorder_wants_key(rec) && term_snapshot(t, &key, &screen))
			recorder_key(rec, (struct span){key.data, key.len},
				     (struct span){screen.data, screen.len});
	}
}

/* Returns milliseconds of processor time for a megabyte: at 1 MB a second ten are 1 % of a core. */
static double cost(int dirfd, bool with)
{
	struct term *t = term_new(50, 120, NULL, NULL);
	struct recorder *rec = NULL;
	struct redact *redact = NULL;
	struct err err = {0};
	double before;

	if (with &&
	    (redact_new(&redact, NULL, &err) < 0 ||
	     recorder_open(&rec,
			   &(struct recorder_spec){
				   .fd = openat(dirfd, "r", O_RDWR | O_CREAT | O_TRUNC, 0600),
				   .cols = 120,
				   .rows = 50,
				   .session = "bench",
				   .redact = redact},
			   &err) < 0))
		abort();
	if (with)
		term_snapshots(t, NULL);
	before = cpu_s();
	feed(t, rec);
	recorder_close(rec);
	before = cpu_s() - before;
	term_free(t);
	return before * 1000 / MEGABYTES;
}

static void put_block(struct encoder *e, struct packer *p, int fd)
{
	AUTO_BUF struct buf out = BUF_INIT;
	size_t head;

	encoder_finish(e);
	if (block_write(p, &out, &e->block, (struct span){e->text.data, e->text.len},
			(struct span){e->own.data, e->own.len},
			(struct span){e->key.data, e->key.len}, &head) < 0 ||
	    io_write_all(fd, out.data, out.len) < 0)
		abort();
	encoder_next(e);
}

static void put_step(struct buf *queue, int64_t t_us, unsigned id)
{
	char text[256];
	int len = snprintf(text, sizeof(text),
			   "{\"t\":%lld,\"e\":\"step\",\"id\":%u,\"began\":%lld,\"paths\":3,"
			   "\"command\":\"make target_%u\"}",
			   (long long)t_us, id, (long long)t_us, id);

	item_add(queue, &(struct item){.t_us = t_us, .code = CAST_OWN, .len = (uint32_t)len}, text);
	len = snprintf(text, sizeof(text), "step %u: make", id);
	item_add(queue,
		 &(struct item){.t_us = t_us,
				.code = CAST_MARK,
				.kind = MARK_STEP,
				.id = id,
				.len = (uint32_t)len},
		 text);
}

static void put_second(struct buf *queue, struct term *t, int64_t t_us, unsigned n)
{
	char text[4096];

	for (unsigned i = 0; i < 10; i++) {
		size_t len = some_output(text, sizeof(text), n * 10 + i);
		int64_t at = t_us + i * 100000;

		term_feed(t, text, len);
		item_add(queue,
			 &(struct item){.t_us = at, .code = CAST_OUTPUT, .len = (uint32_t)len},
			 text);
		if (i % 3)
			continue;
		len = (size_t)snprintf(
			text, sizeof(text),
			"{\"t\":%lld,\"e\":\"row\",\"wall\":%lld,\"step\":%u,\"pid\":7,"
			"\"op\":\"openat\",\"text\":\"/w/src/file_%u.c\"}",
			(long long)at, (long long)at, n / 5, n + i);
		item_add(queue,
			 &(struct item){
				 .t_us = at, .code = CAST_OWN, .row = true, .len = (uint32_t)len},
			 text);
	}
	if (n % 5 == 0)
		put_step(queue, t_us, n / 5);
}

/* Writes three hours: 10 repaints and 4 rows a second, a step every five seconds, a key every 256
 * KiB. */
static void make_long(int fd)
{
	struct term *t = term_new(50, 120, NULL, NULL);
	struct packer *p = packer_new();
	struct redact *redact = NULL;
	struct err err = {0};
	struct encoder e;
	size_t since = 0;
	AUTO_BUF struct buf head = BUF_INIT;

	if (redact_new(&redact, NULL, &err) < 0)
		abort();
	encoder_init(&e, redact);
	term_snapshots(t, NULL);
	cast_header_format(&head, &(struct cast_header){
					  .version = 2, .cols = 120, .rows = 50, .session = NULL});
	buf_add(&e.text, head.data, head.len);
	e.any = true;
	put_block(&e, p, fd);
	for (int64_t at = 0; at < HOURS_US; at += 1000000) {
		AUTO_BUF struct buf queue = BUF_INIT;
		AUTO_BUF struct buf key = BUF_INIT;
		AUTO_BUF struct buf screen = BUF_INIT;
		size_t from = 0;

		put_second(&queue, t, at, (unsigned)(at / 1000000));
		since += queue.len;
		if (since > (size_t)256 << 10 && term_snapshot(t, &key, &screen)) {
			item_add(&queue,
				 &(struct item){.t_us = at + 950000,
						.code = ITEM_KEY,
						.len = (uint32_t)key.len},
				 key.data);
			since = 0;
		}
		while (encoder_feed(&e, &queue, &from))
			put_block(&e, p, fd);
		encoder_flush(&e, at + 999999, true);
		if (encoder_has_block(&e))
			put_block(&e, p, fd);
	}
	encoder_done(&e);
	redact_free(redact);
	packer_free(p);
	term_free(t);
}

static int by_size(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void seeks(int dirfd)
{
	int fd = openat(dirfd, "long", O_RDWR | O_CREAT | O_TRUNC, 0600);
	int64_t took[SEEKS], began;
	struct recording *rec;
	struct replay *r;
	struct err err = {0};
	struct stat st;
	unsigned seed = 1;

	make_long(fd);
	if (fstat(fd, &st) < 0)
		abort();
	began = clock_mono_us();
	if (recording_open(&rec, fd, &err) < 0)
		abort();
	r = replay_new(rec);
	printf("open %.1f\n", (double)(clock_mono_us() - began) / 1000);
	for (int i = 0; i < SEEKS; i++) {
		int64_t to = (int64_t)(rand_r(&seed) / (double)RAND_MAX * (double)HOURS_US);

		began = (int64_t)(cpu_s() * 1e6); /* other processes do not count */
		replay_seek(r, to, clock_mono_us());
		took[i] = (int64_t)(cpu_s() * 1e6) - began;
	}
	qsort(took, SEEKS, sizeof(*took), by_size);
	printf("seek %.1f\nworst %.1f\nsize %.1f\n", (double)took[SEEKS / 2] / 1000,
	       (double)took[SEEKS - 1] / 1000, (double)st.st_size / 1048576);
	replay_free(r);
}

int main(int argc, char **argv)
{
	int dirfd = argc > 1 ? open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	double plain, with;

	if (dirfd < 0)
		return 2;
	cost(dirfd, false);
	plain = cost(dirfd, false);
	with = cost(dirfd, true);
	printf("cost %.2f\n", (with - plain) / 10);
	seeks(dirfd);
	return 0;
}
