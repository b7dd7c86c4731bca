/* batch - the events of one block of a recording. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/io.h"
#include "core/record/applier.h"
#include "core/record/recording_priv.h"

void batch_done(struct batch *b)
{
	buf_done(&b->bytes);
	free(b->list);
	*b = (struct batch)BATCH_INIT;
}

/* Unpacks one frame of the file. */
static int read_frame(struct recording *r, int64_t at, size_t packed, size_t len, struct buf *out)
{
	AUTO_FREE char *frame = NULL;

	if (!packed)
		return 0;
	frame = xmalloc(packed);
	if (io_pread_full(r->fd, frame, packed, (off_t)at) != (ssize_t)packed)
		return -EBADMSG;
	return block_unpack(r->packer, frame, packed, len, out);
}

struct lines {
	struct batch *to;
	size_t cap;
	struct buf text; /* text of one line */
	bool own_only, relative;
	int64_t at_us;
};

static void add_moment(struct lines *l, int64_t t_us, char code, struct span data)
{
	struct batch *b = l->to;

	if (b->n == l->cap) {
		l->cap = l->cap ? 2 * l->cap : 64;
		b->list = xrealloc(b->list, l->cap * sizeof(*b->list));
	}
	/* Offsets until all events are read, as the buffer may move. */
	b->list[b->n++] =
		(struct moment){.t_us = t_us,
				.code = code,
				.data = {(const char *)(uintptr_t)b->bytes.len, data.len}};
	buf_add(&b->bytes, data.data, data.len);
	buf_ch(&b->bytes, '\0');
}

static void read_line(struct lines *l, const char *line, size_t len)
{
	struct cast_event e;
	int64_t t;
	bool row;

	if (!len || *line == '#' || cast_peek(line, len, &e.t_us, &e.code) < 0)
		return;
	l->at_us = MIN(l->relative ? l->at_us + e.t_us : MAX(l->at_us, e.t_us), CAST_MAX_US);
	if ((l->own_only && e.code != CAST_OWN) || cast_parse(line, len, &l->text, &e) < 0)
		return;
	t = l->at_us;
	if (e.code == CAST_OWN && apply_peek(e.data.data, e.data.len, &t, &row) < 0)
		t = l->at_us;
	add_moment(l, MIN(t, CAST_MAX_US), e.code, e.data);
}

static void read_lines(struct lines *l, const char *text, size_t len)
{
	for (size_t at = 0; at < len;) {
		const char *nl = memchr(text + at, '\n', len - at);
		size_t end = nl ? (size_t)(nl - text) : len;

		read_line(l, text + at, end - at);
		at = end + 1;
	}
}

/* Sorts by time: cordon's own events are stored behind the terminal's. */
static void sort(struct batch *b)
{
	struct moment *sorted = xcalloc(b->n + 1, sizeof(*sorted));
	size_t own = 0, other = 0, n = 0;

	while (n < b->n) {
		while (own < b->n && b->list[own].code != CAST_OWN)
			own++;
		while (other < b->n && b->list[other].code == CAST_OWN)
			other++;
		if (other == b->n || (own < b->n && b->list[own].t_us <= b->list[other].t_us))
			sorted[n++] = b->list[own++];
		else
			sorted[n++] = b->list[other++];
	}
	free(b->list);
	b->list = sorted;
}

void recording_batch(struct recording *r, size_t i, bool own_only, struct batch *ret)
{
	const struct place *p = &r->places[i];
	struct lines l = {.to = ret, .text = BUF_INIT, .own_only = own_only};
	AUTO_BUF struct buf text = BUF_INIT;

	batch_done(ret);
	if (r->fd < 0) {
		l.relative = r->header.version == 3;
		l.at_us = p->base_us;
		read_lines(&l, r->text.data + p->from, p->to - p->from);
	} else {
		if (!own_only)
			(void)!read_frame(r, p->at, p->block.text_packed, p->block.text_len, &text);
		(void)!read_frame(r, p->at + p->block.text_packed, p->block.own_packed,
				  p->block.own_len, &text);
		read_lines(&l, text.data, text.len);
	}
	buf_done(&l.text);
	for (size_t k = 0; k < ret->n; k++)
		ret->list[k].data.data = ret->bytes.data + (uintptr_t)ret->list[k].data.data;
	sort(ret);
}

bool recording_key(struct recording *r, size_t i, struct buf *ret)
{
	const struct place *p = &r->places[i];

	return r->fd >= 0 && p->block.key_len &&
	       read_frame(r, p->key_at, p->block.key_packed, p->block.key_len, ret) == 0;
}
