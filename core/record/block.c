/* block - a second of a recording on the disk: a head that players skip, and zstd frames. */
/* SPDX-License-Identifier: MIT */
#include "core/record/block.h"

#include <errno.h>
#include <string.h>
#include <xxhash.h>
#include <zstd.h>

#include "core/os/endian.h"

#define SKIP_MAGIC  0x184D2A5Cu /* one of zstd's magic numbers for skippable frames */
#define TABLE_MAGIC 0x184D2A5Eu /* zstd's seekable format: the frame, and its end */
#define TABLE_END   0x8F92EAB1u
#define SIGNATURE   "cordonR1"
#define LEVEL	    1
#define FIXED	    (8 + 8 + 8 * 4 + 2 * 8) /* signature, sum, numbers, times */
#define MARK_FIXED  (8 + 8 + 1 + 2)

void block_done(struct block *b)
{
	for (size_t i = 0; i < b->n_marks; i++)
		free(b->marks[i].words);
	free(b->marks);
	*b = (struct block){0};
}

struct packer {
	ZSTD_CCtx *pack;
	ZSTD_DCtx *unpack;
};

struct packer *packer_new(void)
{
	return xcalloc(1, sizeof(struct packer));
}

void packer_free(struct packer *p)
{
	if (!p)
		return;
	ZSTD_freeCCtx(p->pack);
	ZSTD_freeDCtx(p->unpack);
	free(p);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void put(struct buf *out, uint64_t v, size_t bytes)
{
	v = htole64(v);
	buf_add(out, &v, bytes);
}

struct in {
	const char *p, *end;
	bool bad;
};

static uint64_t get(struct in *in, size_t bytes)
{
	uint64_t v = 0;

	if ((size_t)(in->end - in->p) < bytes) {
		in->bad = true;
		return 0;
	}
	memcpy(&v, in->p, bytes);
	in->p += bytes;
	return le64toh(v);
}

/* ---- writing --------------------------------------------------------------------------------- */

static int pack(struct packer *p, struct span from, struct buf *out, uint32_t *ret)
{
	size_t n, bound = ZSTD_compressBound(from.len);

	*ret = 0;
	if (!from.len)
		return 0;
	if (!p->pack) {
		p->pack = ZSTD_createCCtx();
		if (!p->pack)
			return -ENOMEM;
		ZSTD_CCtx_setParameter(p->pack, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(p->pack, ZSTD_c_checksumFlag, 1);
	}
	buf_reserve(out, bound);
	n = ZSTD_compress2(p->pack, out->data + out->len, bound, from.data, from.len);
	if (ZSTD_isError(n))
		return -EIO;
	*ret = (uint32_t)n;
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

static void put_mark(struct buf *out, const struct mark *m)
{
	size_t len = MIN(m->words ? strlen(m->words) : 0, (size_t)BLOCK_LABEL);

	put(out, (uint64_t)m->t_us, 8);
	put(out, (uint64_t)m->id, 8);
	put(out, (uint64_t)m->kind, 1);
	put(out, len, 2);
	buf_add(out, m->words, len);
}

static void put_head(struct buf *out, const struct block *b, struct span key)
{
	size_t at = out->len, sum_at;
	uint32_t size;
	uint64_t sum;

	put(out, SKIP_MAGIC, 4);
	put(out, 0, 4);
	buf_str(out, SIGNATURE);
	sum_at = out->len;
	put(out, 0, 8);
	put(out, b->text_packed, 4);
	put(out, b->text_len, 4);
	put(out, b->own_packed, 4);
	put(out, b->own_len, 4);
	put(out, b->key_packed, 4);
	put(out, b->key_len, 4);
	put(out, b->rows, 4);
	put(out, b->n_marks, 4);
	put(out, (uint64_t)b->first_us, 8);
	put(out, (uint64_t)b->last_us, 8);
	for (size_t i = 0; i < b->n_marks; i++)
		put_mark(out, &b->marks[i]);
	buf_add(out, key.data, key.len);
	sum = htole64(XXH3_64bits(out->data + sum_at + 8, out->len - sum_at - 8));
	memcpy(out->data + sum_at, &sum, 8);
	size = htole32((uint32_t)(out->len - at - 8));
	memcpy(out->data + at + 4, &size, 4);
}

int block_write(struct packer *p, struct buf *out, struct block *b, struct span text,
		struct span own, struct span key, size_t *ret_head)
{
	AUTO_BUF struct buf frames = BUF_INIT;
	AUTO_BUF struct buf packed = BUF_INIT;
	size_t from = out->len;
	int r;

	if (text.len > BLOCK_MAX || own.len > BLOCK_MAX || key.len > BLOCK_MAX ||
	    b->n_marks > BLOCK_MARKS)
		return -EFBIG;
	b->text_len = (uint32_t)text.len;
	b->own_len = (uint32_t)own.len;
	b->key_len = (uint32_t)key.len;
	r = pack(p, text, &frames, &b->text_packed);
	if (r == 0)
		r = pack(p, own, &frames, &b->own_packed);
	if (r == 0)
		r = pack(p, key, &packed, &b->key_packed);
	if (r < 0)
		return r;
	put_head(out, b, (struct span){packed.data, packed.len});
	*ret_head = out->len - from;
	buf_add(out, frames.data, frames.len);
	return 0;
}

void seek_table_add(struct seek_table *t, size_t packed, size_t len)
{
	put(&t->entries, packed, 4);
	put(&t->entries, len, 4);
	t->n++;
}

void seek_table_write(struct seek_table *t, struct buf *out)
{
	put(out, TABLE_MAGIC, 4);
	put(out, t->entries.len + 9, 4);
	buf_add(out, t->entries.data, t->entries.len);
	put(out, t->n, 4);
	put(out, 0, 1); /* no checksums: the frames have their own */
	put(out, TABLE_END, 4);
}

/* ---- reading --------------------------------------------------------------------------------- */

ssize_t block_head_size(const char *p, size_t len)
{
	struct in in = {.p = p, .end = p + len};
	uint64_t magic = get(&in, 4), size = get(&in, 4);

	if (in.bad || magic != SKIP_MAGIC || size < FIXED || size > BLOCK_MAX ||
	    len < 8 + strlen(SIGNATURE) || memcmp(in.p, SIGNATURE, strlen(SIGNATURE)) != 0)
		return -EBADMSG;
	return (ssize_t)(8 + size);
}

static void get_marks(struct in *in, struct block *b, size_t n)
{
	b->marks = xcalloc(n + 1, sizeof(*b->marks));
	while (!in->bad && b->n_marks < n) {
		struct mark *m = &b->marks[b->n_marks];
		uint64_t kind;
		size_t len;

		m->t_us = (int64_t)get(in, 8);
		m->id = (int64_t)get(in, 8);
		kind = get(in, 1);
		m->kind = kind < MARK_KINDS ? (enum mark_kind)kind : MARK_OTHER;
		len = get(in, 2);
		in->bad |= len > (size_t)(in->end - in->p);
		if (in->bad)
			return;
		m->words = xstrndup(in->p, len);
		in->p += len;
		b->n_marks++;
	}
}

static bool is_sane(const struct block *b)
{
	const uint32_t sizes[] = {b->text_packed, b->text_len,	 b->own_packed,
				  b->own_len,	  b->key_packed, b->key_len};

	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		if (sizes[i] > BLOCK_MAX)
			return false;
	return b->first_us >= 0 && b->first_us <= b->last_us;
}

int block_read(const char *p, size_t len, struct block *ret, size_t *ret_key)
{
	struct in in = {.p = p, .end = p + len};
	uint64_t sum, marks;

	*ret = (struct block){0};
	if (block_head_size(p, len) != (ssize_t)len)
		return -EBADMSG;
	in.p += 8 + strlen(SIGNATURE);
	sum = get(&in, 8);
	if (in.bad || sum != XXH3_64bits(in.p, (size_t)(in.end - in.p)))
		return -EBADMSG;
	ret->text_packed = (uint32_t)get(&in, 4);
	ret->text_len = (uint32_t)get(&in, 4);
	ret->own_packed = (uint32_t)get(&in, 4);
	ret->own_len = (uint32_t)get(&in, 4);
	ret->key_packed = (uint32_t)get(&in, 4);
	ret->key_len = (uint32_t)get(&in, 4);
	ret->rows = (uint32_t)get(&in, 4);
	marks = get(&in, 4);
	ret->first_us = (int64_t)get(&in, 8);
	ret->last_us = (int64_t)get(&in, 8);
	if (!in.bad && marks <= (size_t)(in.end - in.p) / MARK_FIXED)
		get_marks(&in, ret, marks);
	else
		in.bad = true;
	if (in.bad || !is_sane(ret) || (size_t)(in.end - in.p) != ret->key_packed) {
		block_done(ret);
		return -EBADMSG;
	}
	*ret_key = (size_t)(in.p - p);
	return 0;
}

int block_unpack(struct packer *p, const char *from, size_t packed, size_t want, struct buf *out)
{
	size_t n;

	if (want > BLOCK_MAX)
		return -EBADMSG;
	if (!p->unpack)
		p->unpack = ZSTD_createDCtx();
	if (!p->unpack)
		return -ENOMEM;
	buf_reserve(out, want);
	n = ZSTD_decompressDCtx(p->unpack, out->data + out->len, want, from, packed);
	if (ZSTD_isError(n) || n != want)
		return -EBADMSG;
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}
