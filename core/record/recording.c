/* recording - reads what a recorder wrote, and asciicasts of other programs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/record/recording_priv.h"

#define HEAD_PEEK  16	/* bytes that contain the length of a head */
#define WINDOW	   4096 /* most heads are smaller */
#define BLOCKS_MAX ((size_t)1 << 20)

struct place *recording_add_place(struct recording *r)
{
	if (r->n == r->cap) {
		r->cap = r->cap ? 2 * r->cap : 64;
		r->places = xrealloc(r->places, r->cap * sizeof(*r->places));
	}
	r->places[r->n] = (struct place){0};
	return &r->places[r->n++];
}

/* Gives a turn its prompt: if it is only known after the turn has begun, a second mark has it. */
static bool name_turn(struct recording *r, const struct mark *m)
{
	size_t i = r->n_marks;

	if (m->kind != MARK_TURN || !m->id)
		return false;
	while (i > 0 && r->marks[i - 1].kind != MARK_TURN)
		i--;
	if (i == 0 || r->marks[i - 1].id != m->id)
		return false;
	free(r->marks[i - 1].words);
	r->marks[i - 1].words = m->words;
	return true;
}

void recording_add_mark(struct recording *r, const struct mark *m)
{
	if (name_turn(r, m))
		return;
	if (r->n_marks == r->cap_marks) {
		r->cap_marks = r->cap_marks ? 2 * r->cap_marks : 64;
		r->marks = xrealloc(r->marks, r->cap_marks * sizeof(*r->marks));
	}
	r->marks[r->n_marks++] = *m;
}

/* ---- cordon's own -----------------------------------------------------------------------------
 */

/* Returns the whole head at this place; NULL: there is none. */
static char *read_head(const struct recording *r, int64_t at, int64_t size, size_t *ret_len)
{
	AUTO_FREE char *head = xmalloc(WINDOW);
	ssize_t n = io_pread_full(r->fd, head, WINDOW, (off_t)at);
	ssize_t whole = n < HEAD_PEEK ? -1 : block_head_size(head, (size_t)n);

	if (whole < 0 || whole > size - at)
		return NULL;
	*ret_len = (size_t)whole;
	if (whole <= n)
		return take_ptr(&head);
	free(head);
	head = xmalloc((size_t)whole);
	if (io_pread_full(r->fd, head, (size_t)whole, (off_t)at) != whole)
		return NULL;
	return take_ptr(&head);
}

/* Returns the bytes of the block at this place; 0: it is not a whole block. */
static int64_t read_block(struct recording *r, int64_t at, int64_t size)
{
	size_t len, key;
	AUTO_FREE char *head = read_head(r, at, size, &len);
	struct block b;
	struct place *p;
	int64_t end;

	if (!head || block_read(head, len, &b, &key) < 0)
		return 0;
	end = at + (int64_t)len + b.text_packed + b.own_packed;
	if (end > size || r->n >= BLOCKS_MAX) {
		r->torn = true;
		block_done(&b);
		return 0;
	}
	for (size_t i = 0; i < b.n_marks; i++)
		recording_add_mark(r, &b.marks[i]);
	free(b.marks);
	b.marks = NULL;
	b.n_marks = 0;
	b.first_us = MAX(b.first_us, r->duration_us);
	b.last_us = MIN(MAX(b.last_us, b.first_us), CAST_MAX_US);
	r->duration_us = b.last_us;
	p = recording_add_place(r);
	*p = (struct place){.block = b, .at = at + (int64_t)len, .key_at = at + (int64_t)key};
	return end - at;
}

/* Returns where the next head may be, after damage. */
static int64_t find_head(const struct recording *r, int64_t at, int64_t size)
{
	static const char mark[] = "cordonR1"; /* 8 bytes after the start of a head */
	AUTO_FREE char *window = xmalloc(1 << 16);

	while (at < size) {
		ssize_t n = io_pread_full(r->fd, window, 1 << 16, (off_t)at);
		const char *hit = n > 16 ? memmem(window + 8, (size_t)n - 8, mark, 8) : NULL;

		if (hit)
			return at + (hit - window) - 8;
		if (n < 1 << 16)
			break;
		at += n - 32;
	}
	return size;
}

/* Returns whether this is the seek table of a closed recording. */
static bool is_table(const struct recording *r, int64_t at, int64_t size)
{
	static const unsigned char magic[] = {0x5e, 0x2a, 0x4d, 0x18};
	unsigned char got[8];

	return io_pread_full(r->fd, got, 8, (off_t)at) == 8 && memcmp(got, magic, 4) == 0 &&
	       at + 8 + (got[4] | got[5] << 8 | got[6] << 16 | (int64_t)got[7] << 24) == size;
}

static int read_blocks(struct recording *r, struct err *err)
{
	struct stat st;
	int64_t at = 0;

	if (fstat(r->fd, &st) < 0)
		return err_set(err, -errno, "read the recording");
	while (at < st.st_size) {
		int64_t n = read_block(r, at, st.st_size), next;

		if (n) {
			at += n;
			continue;
		}
		if (is_table(r, at, st.st_size))
			break;
		next = find_head(r, at + 1, st.st_size);
		r->torn |= next == st.st_size;
		r->bad += next == st.st_size ? 0 : (uint64_t)(next - at);
		at = next;
	}
	return 0;
}

/* Reads the header, which is a frame of its own. */
static int read_own_header(struct recording *r, struct err *err)
{
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *frame = NULL;
	const struct place *p = r->places;
	const char *nl;

	if (r->n && p->block.text_packed) {
		frame = xmalloc(p->block.text_packed);
		if (io_pread_full(r->fd, frame, p->block.text_packed, (off_t)p->at) ==
			    (ssize_t)p->block.text_packed &&
		    block_unpack(r->packer, frame, p->block.text_packed, p->block.text_len,
				 &text) == 0) {
			nl = memchr(text.data, '\n', text.len);
			if (cast_header_parse(text.data, nl ? (size_t)(nl - text.data) : text.len,
					      &r->header, err) == 0)
				return 0;
		}
	}
	if (!r->n)
		return err_say(err, -EBADMSG, "not a recording: nothing of it can be read");
	r->header = (struct cast_header){.version = 2, .cols = 80, .rows = 24};
	r->bad++;
	return 0;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void describe_trouble(struct recording *r)
{
	if (r->torn && r->fd >= 0)
		r->trouble = xstrdup("the recording ends in the middle of a block: what followed "
				     "is not there");
	else if (r->torn)
		r->trouble = xstrdup("the file is cut short or damaged: what can be read is shown");
	else if (r->bad && r->fd >= 0)
		r->trouble = xasprintf(
			"%" PRIu64 " bytes of the recording are damaged and left out", r->bad);
	else if (r->bad)
		r->trouble = xasprintf("%" PRIu64 " line%s of the recording could not be read",
				       r->bad, r->bad == 1 ? "" : "s");
}

int recording_open(struct recording **ret, int fd, struct err *err)
{
	struct recording *r = xcalloc(1, sizeof(*r));
	char head[HEAD_PEEK];
	int e;

	r->fd = fd;
	r->text = (struct buf)BUF_INIT;
	r->packer = packer_new();
	if (pread(fd, head, sizeof(head), 0) == (ssize_t)sizeof(head) &&
	    block_head_size(head, sizeof(head)) > 0) {
		r->own = true;
		e = read_blocks(r, err);
		if (e == 0)
			e = read_own_header(r, err);
	} else {
		e = foreign_read(r, err);
	}
	if (e < 0) {
		recording_free(r);
		return e;
	}
	describe_trouble(r);
	*ret = r;
	return 0;
}

void recording_free(struct recording *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n; i++)
		block_done(&r->places[i].block);
	for (size_t i = 0; i < r->n_marks; i++)
		free(r->marks[i].words);
	cast_header_done(&r->header);
	packer_free(r->packer);
	buf_done(&r->text);
	util_close_fd(&r->fd);
	free(r->places);
	free(r->marks);
	free(r->trouble);
	free(r);
}

const struct cast_header *recording_header(const struct recording *r)
{
	return &r->header;
}

bool recording_is_own(const struct recording *r)
{
	return r->own;
}

int64_t recording_duration(const struct recording *r)
{
	return r->duration_us;
}

const struct mark *recording_marks(const struct recording *r, size_t *ret_n)
{
	*ret_n = r->n_marks;
	return r->marks;
}

const char *recording_trouble(const struct recording *r)
{
	return r->trouble;
}

size_t recording_blocks(const struct recording *r)
{
	return r->n;
}

const struct block *recording_block(const struct recording *r, size_t i)
{
	return &r->places[i].block;
}

size_t recording_block_at(const struct recording *r, int64_t t_us)
{
	size_t low = 0, high = r->n;

	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (r->places[mid].block.first_us <= t_us)
			low = mid;
		else
			high = mid;
	}
	return low;
}
