/* encoder - turns the queued events of a recording into the lines of a block. */
/* SPDX-License-Identifier: MIT */
#include "core/record/encoder.h"

#include <string.h>

#include "core/record/cast.h"

#define TEXT_FULL ((size_t)256 << 10) /* bytes that complete a block */
#define HOLD_US	  3000000	      /* longest wait of a word that may become a secret */
#define TYPED_MAX 1024

/* A part of e->out up to `end`; with a code other than CAST_OUTPUT, of e->words. */
struct piece {
	int64_t t_us;
	size_t end;
	char code;
};

void item_add(struct buf *queue, const struct item *head, const char *bytes)
{
	buf_add(queue, head, sizeof(*head));
	buf_add(queue, bytes, head->len);
}

void encoder_init(struct encoder *e, const struct redact *redact)
{
	struct buf *const bufs[] = {&e->text,	&e->own,   &e->key,   &e->out,
				    &e->pieces, &e->words, &e->typed, &e->events};

	*e = (struct encoder){.redact = redact};
	for (size_t i = 0; i < ARRAY_LEN(bufs); i++)
		*bufs[i] = (struct buf)BUF_INIT;
}

void encoder_done(struct encoder *e)
{
	struct buf *const bufs[] = {&e->text,	&e->own,   &e->key,   &e->out,
				    &e->pieces, &e->words, &e->typed, &e->events};

	for (size_t i = 0; i < ARRAY_LEN(bufs); i++)
		buf_done(bufs[i]);
	block_done(&e->block);
}

static void add_piece(struct encoder *e, int64_t t_us, char code)
{
	struct piece p = {.t_us = t_us, .code = code};

	p.end = code == CAST_OUTPUT ? e->out.len : e->words.len;
	buf_add(&e->pieces, &p, sizeof(p));
}

static void begin_block(struct encoder *e, int64_t t_us)
{
	if (!e->any)
		e->block.first_us = MAX(e->last_us, t_us);
	e->any = true;
}

static void line(struct encoder *e, int64_t t_us, char code, struct span data)
{
	begin_block(e, t_us);
	e->last_us = MAX(e->last_us, t_us);
	cast_format(&e->text, e->last_us, code, data.data, data.len);
}

/* ---- the pieces of the terminal ---------------------------------------------------------------
 */

/* Returns how many bytes of out may be written. */
static size_t writable(struct encoder *e, int64_t now_us, bool end)
{
	size_t len = e->out.len, hold = end ? 0 : redact_open(e->redact, e->out.data, len);
	size_t partial = end ? 0 : cast_partial(e->out.data, len);

	if (hold && !e->held_us)
		e->held_us = now_us;
	if (hold && now_us - e->held_us > HOLD_US)
		hold = 0;
	if (!hold)
		e->held_us = 0;
	return len - MAX(hold, partial);
}

/* Moves the bytes and pieces that were not written to the front. */
static void keep_rest(struct encoder *e, size_t written, size_t words, size_t pieces)
{
	struct piece *p;

	buf_drop_front(&e->out, written);
	buf_drop_front(&e->words, words);
	buf_drop_front(&e->pieces, pieces * sizeof(struct piece));
	p = (struct piece *)(void *)e->pieces.data;
	for (size_t i = 0; i < e->pieces.len / sizeof(*p); i++)
		p[i].end -= p[i].code == CAST_OUTPUT ? written : words;
}

static void write_pieces(struct encoder *e, int64_t now_us, bool end)
{
	size_t at = 0, words = 0, i = 0, n = e->pieces.len / sizeof(struct piece), ready;
	const struct piece *p = (const struct piece *)(const void *)e->pieces.data;

	redact_text(e->redact, e->out.data, e->out.len);
	ready = writable(e, now_us, end);
	for (; i < n; i++) {
		size_t to = p[i].end;

		if (p[i].code != CAST_OUTPUT) {
			line(e, p[i].t_us, p[i].code,
			     (struct span){e->words.data + words, to - words});
			words = to;
			continue;
		}
		to = MIN(to, ready);
		/* A character that two reads have split is written with the second. */
		if (to < e->out.len)
			to -= cast_partial(e->out.data + at, to - at);
		if (to > at)
			line(e, p[i].t_us, CAST_OUTPUT, (struct span){e->out.data + at, to - at});
		at = MAX(at, to);
		if (p[i].end > ready)
			break;
	}
	keep_rest(e, at, words, i);
}

static void write_typed(struct encoder *e)
{
	if (!e->typed.len)
		return;
	redact_text(e->redact, e->typed.data, e->typed.len);
	buf_add(&e->words, e->typed.data, e->typed.len);
	add_piece(e, e->typed_us, CAST_INPUT);
	buf_clear(&e->typed);
}

static void take_typed(struct encoder *e, const struct item *it, const char *bytes)
{
	if (!e->typed.len)
		e->typed_us = it->t_us;
	buf_add(&e->typed, bytes, it->len);
	if (memchr(bytes, '\r', it->len) || e->typed.len > TYPED_MAX)
		write_typed(e);
}

/* ---- the rest ---------------------------------------------------------------------------------
 */

static void take_mark(struct encoder *e, const struct item *it, const char *bytes)
{
	struct block *b = &e->block;
	struct mark m = {.t_us = it->t_us, .kind = (enum mark_kind)it->kind, .id = it->id};

	if (b->n_marks == BLOCK_MARKS)
		return;
	m.words = xstrndup(bytes, MIN((size_t)it->len, (size_t)BLOCK_LABEL));
	redact_text(e->redact, m.words, strlen(m.words));
	b->marks = xrealloc(b->marks, (b->n_marks + 1) * sizeof(*b->marks));
	b->marks[b->n_marks++] = m;
	buf_str(&e->words, m.words);
	add_piece(e, it->t_us, CAST_MARK);
}

/* Adds an event of cordon's own. These are stored behind the lines of the terminal, with their own
 * times. */
static void take_own(struct encoder *e, const struct item *it, const char *bytes)
{
	begin_block(e, it->t_us);
	e->own_us = MAX(e->own_us, it->t_us);
	buf_add(&e->events, bytes, it->len);
	buf_ch(&e->events, '\n'); /* JSON has none inside */
	e->block.rows += it->row;
}

static void take(struct encoder *e, const struct item *it, const char *bytes)
{
	switch (it->code) {
	case CAST_OUTPUT:
		buf_add(&e->out, bytes, it->len);
		add_piece(e, it->t_us, CAST_OUTPUT);
		break;
	case CAST_INPUT:
		take_typed(e, it, bytes);
		break;
	case CAST_MARK:
		take_mark(e, it, bytes);
		break;
	case CAST_OWN:
		take_own(e, it, bytes);
		break;
	default:
		buf_add(&e->words, bytes, it->len);
		add_piece(e, it->t_us, it->code);
		break;
	}
}

/* Adds the terminal after this block, unless earlier output still waits. */
static bool take_key(struct encoder *e, const struct item *it, const char *bytes)
{
	write_pieces(e, it->t_us, false);
	if (e->out.len || e->pieces.len)
		return false;
	buf_add(&e->key, bytes, it->len);
	begin_block(e, e->last_us); /* the block may have been written just before */
	return true;
}

bool encoder_feed(struct encoder *e, const struct buf *queue, size_t *at)
{
	while (*at + sizeof(struct item) <= queue->len) {
		const char *bytes = queue->data + *at + sizeof(struct item);
		struct item it;

		memcpy(&it, queue->data + *at, sizeof(it));
		*at += sizeof(it) + it.len;
		if (it.code == ITEM_KEY && take_key(e, &it, bytes))
			return true;
		if (it.code == ITEM_KEY)
			continue;
		take(e, &it, bytes);
		if (e->out.len + e->text.len + e->events.len > TEXT_FULL) {
			write_pieces(e, it.t_us, false);
			return true;
		}
	}
	return false;
}

void encoder_flush(struct encoder *e, int64_t now_us, bool end)
{
	if (end || now_us - e->typed_us > HOLD_US)
		write_typed(e);
	write_pieces(e, now_us, end);
}

bool encoder_has_block(const struct encoder *e)
{
	return e->any;
}

bool encoder_holds(const struct encoder *e)
{
	return e->pieces.len || e->typed.len;
}

void encoder_finish(struct encoder *e)
{
	const char *p = e->events.data, *end = p + e->events.len;

	e->last_us = MAX(MAX(e->last_us, e->own_us), e->block.first_us);
	e->block.last_us = e->last_us;
	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));

		cast_format(&e->own, e->last_us, CAST_OWN, p, (size_t)(nl - p));
		p = nl + 1;
	}
	buf_clear(&e->events);
}

void encoder_next(struct encoder *e)
{
	block_done(&e->block);
	buf_clear(&e->text);
	buf_clear(&e->own);
	buf_clear(&e->key);
	e->any = false;
}
