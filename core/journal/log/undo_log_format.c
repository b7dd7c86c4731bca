/* undo_log_format - encodes and decodes one log record and its metadata. */
/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <xxhash.h>

#include "core/base/path.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/log/undo_log_format.h"
#include "core/journal/util/codec.h"

bool log_rec_fits(const struct log_rec *d, uint64_t space)
{
	uint64_t body = (uint64_t)d->path_len + d->path2_len + d->meta_len + 2;

	return d->len <= space && d->len % 8 == 0 && d->len >= sizeof(*d) + 8 &&
	       body <= d->len - sizeof(*d) - 8 && d->type != 0 && d->type < REC_TYPES;
}

void log_rec_read(const struct log_rec *d, struct rec *r)
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

uint64_t log_rec_sum(const struct log_rec *d)
{
	return XXH3_64bits(&d->seq, d->len - offsetof(struct log_rec, seq) - 8) ^
	       ((uint64_t)d->type << 48 | (uint64_t)d->flags << 32 | d->len);
}

bool rec_carry(const struct rec *r, int *root, char **path)
{
	if (r->type != REC_RENAME && r->type != REC_XCHG)
		return false;
	if (r->root == *root && path_carry(path, r->path, r->path2)) {
		*root = r->root2;
		return true;
	}
	if (r->type != REC_XCHG || r->root2 != *root || !path_carry(path, r->path2, r->path))
		return false;
	*root = r->root;
	return true;
}

void undo_log_content(const struct rec *r, struct span *meta, struct span *bytes)
{
	struct codec_reader g = {.p = r->meta.data, .end = r->meta.data + r->meta.len};

	*bytes = (struct span){.data = ""};
	*meta = r->meta;
	if (!(r->flags & REC_INLINE))
		return;
	*meta = codec_get_str(&g);
	bytes->data = g.p;
	bytes->len = (size_t)(g.end - g.p);
}
