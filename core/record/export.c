/* export - a recording as an asciicast of version 2 or 3. */
/* SPDX-License-Identifier: MIT */
#include "core/record/export.h"

#define PIECE ((size_t)64 << 10)

struct exporter {
	struct buf out;
	int version;
	int64_t last_us;
	int64_t at_us; /* v3: rounded time of the previous line */
};

static void put(struct exporter *x, const struct moment *e)
{
	int64_t ms = 1000, delta, t = MAX(e->t_us, x->last_us);

	x->last_us = t; /* time does not go back between blocks, either */
	if (x->version == 2) {
		cast_format(&x->out, t, e->code, e->data.data, e->data.len);
		return;
	}
	/* Milliseconds; the next one makes up for the rounding. */
	delta = (MAX(t - x->at_us, (int64_t)0) + ms / 2) / ms * ms;
	x->at_us += delta;
	cast_format(&x->out, delta, e->code, e->data.data, e->data.len);
}

static int flush(struct exporter *x, export_sink sink, void *data)
{
	int r = x->out.len ? sink(data, x->out.data, x->out.len) : 0;

	buf_clear(&x->out);
	return r;
}

int export_cast(struct recording *r, int version, export_sink sink, void *data)
{
	struct exporter x = {.out = BUF_INIT, .version = version};
	struct cast_header h = *recording_header(r);
	struct batch b = BATCH_INIT;
	int e = 0;

	h.version = version;
	cast_header_format(&x.out, &h);
	for (size_t i = 0; e >= 0 && i < recording_blocks(r); i++) {
		recording_batch(r, i, false, &b);
		for (size_t k = 0; k < b.n; k++)
			put(&x, &b.list[k]);
		if (x.out.len > PIECE)
			e = flush(&x, sink, data);
	}
	if (e >= 0)
		e = flush(&x, sink, data);
	batch_done(&b);
	buf_done(&x.out);
	return e < 0 ? e : 0;
}
