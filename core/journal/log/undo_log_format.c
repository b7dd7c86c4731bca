/* undo_log_format - encodes and decodes one log record and its metadata. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <xxhash.h>

#include "core/journal/log/undo_log.h"
#include "core/journal/log/undo_log_format.h"

bool disk_rec_fits(const struct disk_rec *d, uint64_t space)
{
	uint64_t body = (uint64_t)d->path_len + d->path2_len + d->meta_len + 2;

	return d->len <= space && d->len % 8 == 0 && d->len >= sizeof(*d) + 8 &&
	       body <= d->len - sizeof(*d) - 8 && d->type != 0 && d->type < REC_TYPES;
}

void disk_rec_read(const struct disk_rec *d, struct rec *r)
{
	const char *p = (const char *)(d + 1);

	*r = (struct rec){.type = d->type,
			  .flags = d->flags,
			  .root = (int)d->root,
			  .root2 = (int)d->root2,
			  .seq = d->seq,
			  .src = d->src,
			  .slot = d->slot,
			  .ino = d->ino,
			  .ino2 = d->ino2,
			  .path = p,
			  .path2 = p + d->path_len + 1};
	r->meta.data = r->path2 + d->path2_len + 1;
	r->meta.len = d->meta_len;
}

uint64_t disk_rec_sum(const struct disk_rec *d)
{
	return XXH3_64bits(&d->seq, d->len - offsetof(struct disk_rec, seq) - 8) ^
	       ((uint64_t)d->type << 48 | (uint64_t)d->flags << 32 | d->len);
}

void wal_content(const struct rec *r, struct span *meta, struct span *bytes)
{
	struct get g = {.p = r->meta.data, .end = r->meta.data + r->meta.len};

	*bytes = (struct span){.data = ""};
	*meta = r->meta;
	if (!(r->flags & REC_INLINE))
		return;
	*meta = get_str(&g);
	bytes->data = g.p;
	bytes->len = (size_t)(g.end - g.p);
}

void put_u32(struct buf *b, uint32_t v)
{
	buf_add(b, &v, sizeof(v));
}

void put_u64(struct buf *b, uint64_t v)
{
	buf_add(b, &v, sizeof(v));
}

void put_str(struct buf *b, const char *s, size_t len)
{
	put_u32(b, (uint32_t)len);
	buf_add(b, s, len);
	buf_ch(b, '\0');
}

static const char *take(struct get *g, size_t n)
{
	const char *p = g->p;

	if (g->bad || (size_t)(g->end - g->p) < n) {
		g->bad = true;
		return NULL;
	}
	g->p += n;
	return p;
}

uint32_t get_u32(struct get *g)
{
	const char *p = take(g, sizeof(uint32_t));
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t get_u64(struct get *g)
{
	const char *p = take(g, sizeof(uint64_t));
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return v;
}

struct span get_str(struct get *g)
{
	size_t len = get_u32(g);
	const char *p = take(g, len + 1);

	if (!p || p[len] != '\0') {
		g->bad = true;
		return (struct span){.data = "", .len = 0};
	}
	return (struct span){.data = p, .len = len};
}
