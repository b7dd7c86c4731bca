/* recorder - writes a session's recording, and never makes the session wait. */
/* SPDX-License-Identifier: MIT */
#include "core/record/recorder.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/os/clock.h"
#include "core/record/cast.h"
#include "core/record/encoder.h"

#define FLUSH_US  1000000	      /* longest time until bytes are written */
#define WAKE_SIZE ((size_t)256 << 10) /* they are also written when so many wait */
#define KEY_BYTES ((size_t)256 << 10) /* bytes of output between two keys */
#define KEY_US	  20000000
#define THIN_US	  1000000 /* time between two keys of a thinned recording */
#define KEY_LEAST 2048	  /* less output is replayed faster than a key is read */

struct recorder {
	int64_t began_us, max_bytes;
	struct redact *redact;
	int cols, rows;

	/* for the main loop only */
	size_t since_key; /* bytes of output */
	int64_t key_us;
	bool gap; /* output was dropped: the next key is a new beginning */
	bool told, told_thin;
	unsigned told_waits;

	atomic_bool thin, full; /* by the thread: half, most of the bytes are written */
	atomic_uint waits;	/* by the thread: times at which the disk was full */
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	/* under the lock */
	struct buf queue;
	int64_t first_us; /* monotonic: when the queue got its first item */
	bool closing;
	char *failed;

	/* for the thread only */
	int fd;
	struct buf taken;
	struct encoder enc;
	struct packer *packer;
	struct seek_table table;
	int64_t written;
};

int64_t recorder_now(const struct recorder *r)
{
	return clock_mono_us() - r->began_us;
}

const struct redact *recorder_redact(const struct recorder *r)
{
	return r->redact;
}

bool recorder_secret(struct recorder *r, const char *text)
{
	return redact_secret(r->redact, text);
}

/* ---- the thread ------------------------------------------------------------------------------ */

/* Waits until this time or a signal. Returns false if it is this time. */
static bool wait_until(struct recorder *r, int64_t us)
{
	return os_cond_wait_until(&r->wake, &r->lock, us);
}

/* Waits a second for space on the disk. Returns false if the recorder is closed. */
static bool wait_for_space(struct recorder *r)
{
	int64_t until = clock_mono_us() + FLUSH_US;
	bool closing;

	pthread_mutex_lock(&r->lock);
	while (!r->closing && wait_until(r, until))
		;
	closing = r->closing;
	pthread_mutex_unlock(&r->lock);
	return !closing;
}

static bool is_full(int r)
{
	return r == -ENOSPC || r == -EDQUOT;
}

/* Writes a block behind the others, as soon as the disk has space for it: a part that was written
 * is written again. Tries once more at the end. A header is not waited for. */
static int write_bytes(struct recorder *r, const struct buf *out)
{
	bool again = r->written > 0, waited = false;
	int n;

	while (is_full(n = io_pwrite_all(r->fd, out->data, out->len, r->written)) && again) {
		r->waits += !waited;
		waited = true;
		again = wait_for_space(r);
	}
	if (n == 0)
		r->written += (int64_t)out->len;
	return n;
}

static int write_block(struct recorder *r)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct encoder *e = &r->enc;
	size_t head;
	int n;

	encoder_finish(e);
	n = block_write(r->packer, &out, &e->block, (struct span){e->text.data, e->text.len},
			(struct span){e->own.data, e->own.len},
			(struct span){e->key.data, e->key.len}, &head);

	if (n < 0)
		return n;
	seek_table_add(&r->table, head, 0);
	if (e->text.len)
		seek_table_add(&r->table, e->block.text_packed, e->text.len);
	if (e->own.len)
		seek_table_add(&r->table, e->block.own_packed, e->own.len);
	n = write_bytes(r, &out);
	encoder_next(e);
	r->thin = r->max_bytes && r->written > r->max_bytes / 2;
	r->full = r->max_bytes && r->written > r->max_bytes / 8 * 7;
	if (n == 0 && r->max_bytes && r->written > r->max_bytes)
		return -EFBIG;
	return n;
}

static int write_taken(struct recorder *r, bool end)
{
	size_t at = 0;
	int n = 0;

	while (n == 0 && encoder_feed(&r->enc, &r->taken, &at))
		n = encoder_has_block(&r->enc) ? write_block(r) : 0;
	buf_clear(&r->taken);
	if (n < 0)
		return n;
	encoder_flush(&r->enc, recorder_now(r), end);
	return encoder_has_block(&r->enc) ? write_block(r) : 0;
}

/* Waits for something to write, and then for more, under the lock. Returns true at the end. */
static bool wait_for_work(struct recorder *r)
{
	int64_t due = clock_mono_us() + FLUSH_US;
	bool holds = encoder_holds(&r->enc);

	while (!r->closing && !r->queue.len) {
		if (!holds)
			pthread_cond_wait(&r->wake, &r->lock);
		else if (!wait_until(r, due))
			return false;
	}
	while (!r->closing && r->queue.len < WAKE_SIZE && wait_until(r, r->first_us + FLUSH_US))
		;
	return r->closing;
}

static void fail(struct recorder *r, int why)
{
	pthread_mutex_lock(&r->lock);
	if (why == -EFBIG)
		r->failed = xasprintf("it has reached its size (record.size)");
	else
		r->failed = xasprintf("%s", strerror(-why));
	buf_done(&r->queue);
	pthread_mutex_unlock(&r->lock);
}

static void *work(void *arg)
{
	struct recorder *r = arg;
	bool end = false;
	int n = 0;

	while (n == 0 && !end) {
		struct buf empty;

		pthread_mutex_lock(&r->lock);
		end = wait_for_work(r);
		empty = r->taken;
		r->taken = r->queue;
		r->queue = empty;
		pthread_mutex_unlock(&r->lock);
		n = write_taken(r, end);
		if (r->taken.cap > 2 * WAKE_SIZE) /* frees the memory that a flood needed */
			buf_done(&r->taken);
	}
	if (n < 0)
		fail(r, n);
	return NULL;
}

static int start_thread(struct recorder *r)
{
	sigset_t all, old;
	int n;

	pthread_mutex_init(&r->lock, NULL);
	os_cond_init(&r->wake);
	sigfillset(&all); /* only the main loop gets signals */
	pthread_sigmask(SIG_BLOCK, &all, &old);
	n = pthread_create(&r->thread, NULL, work, r);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -n;
}

/* ---- life ------------------------------------------------------------------------------------ */

static void recorder_free(struct recorder *r)
{
	encoder_done(&r->enc);
	packer_free(r->packer);
	redact_free(r->redact);
	buf_done(&r->queue);
	buf_done(&r->taken);
	buf_done(&r->table.entries);
	util_close_fd(&r->fd);
	free(r->failed);
	free(r);
}

/* Writes the header as a frame of its own, so that it is there whatever happens later. */
static int write_header(struct recorder *r, const struct recorder_spec *spec)
{
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *command = xstrdup(spec->command);
	struct cast_header h = {.version = 2,
				.cols = spec->cols,
				.rows = spec->rows,
				.timestamp = clock_wall_us() / 1000000,
				.command = command,
				.session = (char *)(uintptr_t)spec->session,
				.folder = (char *)(uintptr_t)spec->folder};

	if (command)
		redact_text(r->redact, command, strlen(command));
	cast_header_format(&text, &h);
	buf_add(&r->enc.text, text.data, text.len);
	r->enc.any = true;
	return write_block(r);
}

int recorder_open(struct recorder **ret, const struct recorder_spec *spec, struct err *err)
{
	struct recorder *r = xcalloc(1, sizeof(*r));
	int n;

	r->fd = spec->fd;
	r->redact = spec->redact;
	r->max_bytes = spec->max_bytes;
	r->began_us = clock_mono_us();
	r->cols = spec->cols;
	r->rows = spec->rows;
	r->queue = r->taken = r->table.entries = (struct buf)BUF_INIT;
	r->packer = packer_new();
	encoder_init(&r->enc, r->redact);
	n = write_header(r, spec);
	if (n == 0)
		n = start_thread(r);
	if (n < 0) {
		recorder_free(r);
		return err_set(err, n, "write the recording");
	}
	*ret = r;
	return 0;
}

void recorder_close(struct recorder *r)
{
	AUTO_BUF struct buf table = BUF_INIT;

	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->closing = true;
	pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	pthread_join(r->thread, NULL);
	seek_table_write(&r->table, &table);
	if (!r->failed && io_pwrite_all(r->fd, table.data, table.len, r->written) < 0)
		r->told = false; /* readers can do without the table */
	pthread_cond_destroy(&r->wake);
	pthread_mutex_destroy(&r->lock);
	recorder_free(r);
}

char *recorder_failure(struct recorder *r)
{
	char *words = NULL;

	if (!r || r->told)
		return NULL;
	pthread_mutex_lock(&r->lock);
	if (r->failed)
		words = xstrdup(r->failed);
	pthread_mutex_unlock(&r->lock);
	r->told = words != NULL;
	return words;
}

bool recorder_is_thinned(struct recorder *r)
{
	bool first = r && r->thin && !r->told_thin;

	if (first)
		r->told_thin = true;
	return first;
}

bool recorder_is_waiting(struct recorder *r)
{
	unsigned n = r ? r->waits : 0;
	bool anew = r && n != r->told_waits;

	if (anew)
		r->told_waits = n;
	return anew;
}

/* ---- events ---------------------------------------------------------------------------------- */

/* Queues an event. Returns false if there is no room, or the recording has ended. */
static bool push(struct recorder *r, struct item it, const char *bytes, size_t len)
{
	bool room;

	it.t_us = recorder_now(r);
	it.len = (uint32_t)len;
	pthread_mutex_lock(&r->lock);
	room = !r->failed && len < RECORDER_QUEUE && r->queue.len + len < RECORDER_QUEUE;
	if (room && !r->queue.len) {
		r->first_us = it.t_us + r->began_us;
		pthread_cond_signal(&r->wake);
	}
	if (room)
		item_add(&r->queue, &it, bytes);
	if (room && r->queue.len >= WAKE_SIZE)
		pthread_cond_signal(&r->wake);
	pthread_mutex_unlock(&r->lock);
	return room;
}

void recorder_output(struct recorder *r, const char *bytes, size_t len)
{
	if (!r || r->told || !len || r->gap)
		return;
	r->since_key += len;
	if (r->thin) {
		r->gap = true;
		return;
	}
	r->gap = !push(r, (struct item){.code = CAST_OUTPUT}, bytes, len);
}

void recorder_input(struct recorder *r, const char *bytes, size_t len)
{
	if (r && !r->told && len)
		(void)push(r, (struct item){.code = CAST_INPUT}, bytes, len);
}

void recorder_resize(struct recorder *r, int cols, int rows)
{
	char size[32];
	int n = snprintf(size, sizeof(size), "%dx%d", cols, rows);

	if (!r || r->told || (cols == r->cols && rows == r->rows))
		return;
	r->cols = cols;
	r->rows = rows;
	if (!push(r, (struct item){.code = CAST_RESIZE}, size, (size_t)n))
		r->gap = true;
}

void recorder_mark(struct recorder *r, enum mark_kind kind, int64_t id, const char *words)
{
	if (r && !r->told)
		(void)push(r, (struct item){.code = CAST_MARK, .kind = (uint8_t)kind, .id = id},
			   words, strlen(words));
}

bool recorder_own(struct recorder *r, const char *json, size_t len, bool row)
{
	return r && !r->told && push(r, (struct item){.code = CAST_OWN, .row = row}, json, len);
}

bool recorder_wants_key(const struct recorder *r)
{
	if (!r || r->told)
		return false;
	if (r->thin)
		return r->gap && !r->full && recorder_now(r) - r->key_us >= THIN_US;
	return r->gap || r->since_key >= KEY_BYTES ||
	       (r->since_key >= KEY_LEAST && recorder_now(r) - r->key_us >= KEY_US);
}

void recorder_key(struct recorder *r, struct span key, struct span screen)
{
	AUTO_BUF struct buf anew = BUF_INIT;
	char size[32];
	int n = snprintf(size, sizeof(size), "%dx%d", r->cols, r->rows);

	if (!recorder_wants_key(r))
		return;
	buf_str(&anew, "\033c"); /* reset */
	buf_add(&anew, screen.data, screen.len);
	if (r->gap && (!push(r, (struct item){.code = CAST_RESIZE}, size, (size_t)n) ||
		       !push(r, (struct item){.code = CAST_OUTPUT}, anew.data, anew.len)))
		return;
	r->gap = false;
	if (!push(r, (struct item){.code = ITEM_KEY}, key.data, key.len))
		return;
	r->since_key = 0;
	r->key_us = recorder_now(r);
}
