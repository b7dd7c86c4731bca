/* foreign - asciicasts of other programs: versions 1, 2 and 3, plain, gzip or zstd. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "core/base/io.h"
#include "core/base/json.h"
#include "core/record/applier.h"
#include "core/record/gunzip.h"
#include "core/record/recording_priv.h"

#define BLOCK_TEXT ((size_t)64 << 10) /* bytes of lines in a block */
#define CHUNK	   ((size_t)256 << 10)

/* ---- the bytes --------------------------------------------------------------------------------
 */

static int read_whole(int fd, struct buf *out, bool *cut)
{
	for (;;) {
		ssize_t n;

		buf_reserve(out, CHUNK);
		n = io_read_full(fd, out->data + out->len, CHUNK);
		if (n < 0)
			return (int)n;
		out->len += (size_t)n;
		out->data[out->len] = '\0';
		*cut = out->len > RECORDING_MAX;
		if (n < (ssize_t)CHUNK || *cut)
			return 0;
	}
}

/* Unpacks zstd. Returns a positive number if the data is cut or damaged. */
static int unzstd(const struct buf *in, struct buf *out)
{
	ZSTD_DCtx *ctx = ZSTD_createDCtx();
	ZSTD_inBuffer from = {in->data, in->len, 0};
	size_t left = 1;

	while (ctx && from.pos < from.size && out->len < RECORDING_MAX) {
		ZSTD_outBuffer to;

		buf_reserve(out, CHUNK);
		to = (ZSTD_outBuffer){out->data + out->len, CHUNK, 0};
		left = ZSTD_decompressStream(ctx, &to, &from);
		out->len += to.pos;
		out->data[out->len] = '\0';
		if (ZSTD_isError(left))
			break;
	}
	ZSTD_freeDCtx(ctx);
	return left != 0 || from.pos < from.size;
}

static int unpack(struct recording *r, struct err *err)
{
	AUTO_BUF struct buf raw = BUF_INIT;
	const unsigned char *p;
	bool cut = false;
	int e = read_whole(r->fd, &raw, &cut);

	if (e < 0)
		return err_set(err, e, "read the recording");
	r->torn = cut;
	p = (const unsigned char *)raw.data;
	if (raw.len > 2 && p[0] == 0x1f && p[1] == 0x8b)
		e = gunzip(raw.data, raw.len, RECORDING_MAX, &r->text, err);
	else if (raw.len > 4 && p[1] == 0xb5 && p[2] == 0x2f && p[3] == 0xfd)
		e = unzstd(&raw, &r->text);
	else {
		r->text = raw;
		raw = (struct buf)BUF_INIT;
		return 0;
	}
	r->torn |= e > 0;
	return e < 0 ? e : 0;
}

/* ---- version 1: one object ---------------------------------------------------------------------
 */

static int from_v1(struct recording *r, struct err *err)
{
	cJSON *json = cJSON_ParseWithLength(r->text.data, r->text.len);
	const cJSON *list = json_get(json, "stdout"), *e;
	AUTO_BUF struct buf lines = BUF_INIT;
	double at = 0;

	if (!cJSON_IsArray(list)) {
		cJSON_Delete(json);
		return err_say(err, -EBADMSG, "not a recording: asciicast 1 without \"stdout\"");
	}
	cJSON_ArrayForEach(e, list)
	{
		const cJSON *delay = cJSON_GetArrayItem(e, 0), *data = cJSON_GetArrayItem(e, 1);

		if (!cJSON_IsNumber(delay) || !cJSON_IsString(data)) {
			r->bad++;
			continue;
		}
		if (delay->valuedouble > 0)
			at = MIN(at + delay->valuedouble, (double)CAST_MAX_US / 2e6);
		cast_format(&lines, (int64_t)(at * 1e6), CAST_OUTPUT, data->valuestring,
			    strlen(data->valuestring));
	}
	cJSON_Delete(json);
	buf_done(&r->text);
	r->text = lines;
	lines = (struct buf)BUF_INIT;
	return 0;
}

/* ---- lines -------------------------------------------------------------------------------------
 */

static void add_words(struct recording *r, int64_t t_us, const char *line, size_t len)
{
	AUTO_BUF struct buf text = BUF_INIT;
	struct cast_event e;

	if (cast_parse(line, len, &text, &e) < 0)
		return;
	recording_add_mark(r,
			   &(struct mark){.t_us = t_us,
					  .kind = MARK_OTHER,
					  .words = xstrndup(e.data.data,
							    MIN(e.data.len, (size_t)BLOCK_LABEL))});
}

/* Returns whether the line looks complete; it is parsed later, when it is needed. */
static bool is_whole(const char *line, size_t len)
{
	while (len && (line[len - 1] == ' ' || line[len - 1] == '\r'))
		len--;
	return len && line[len - 1] == ']';
}

static void add_line(struct recording *r, struct place **place, size_t from, size_t to)
{
	const char *line = r->text.data + from;
	int64_t t;
	char code;

	if (to == from || *line == '#')
		return;
	if (cast_peek(line, to - from, &t, &code) < 0 || !is_whole(line, to - from)) {
		r->bad++;
		return;
	}
	if (!*place || to - (*place)->from > BLOCK_TEXT) {
		*place = recording_add_place(r);
		(*place)->from = from;
		(*place)->base_us = r->duration_us;
		(*place)->block.first_us = INT64_MAX;
	}
	if (r->header.version == 3)
		t = MIN(r->duration_us + t, CAST_MAX_US);
	t = MAX(t, r->duration_us); /* time does not go back */
	r->duration_us = t;
	(*place)->block.first_us = MIN((*place)->block.first_us, t);
	(*place)->block.last_us = t;
	(*place)->to = to;
	r->own |= code == CAST_OWN;
	if (code == CAST_MARK)
		add_words(r, t, line, to - from);
}

static void add_lines(struct recording *r, size_t at)
{
	struct place *place = NULL;

	while (at < r->text.len) {
		const char *nl = memchr(r->text.data + at, '\n', r->text.len - at);
		size_t end = nl ? (size_t)(nl - r->text.data) : r->text.len;

		add_line(r, &place, at, end);
		at = end + 1;
	}
}

/* Counts the rows of cordon's own events that the cast was exported with. */
static void count_rows(struct recording *r)
{
	struct batch b = BATCH_INIT;

	for (size_t i = 0; r->own && i < r->n; i++) {
		recording_batch(r, i, true, &b);
		for (size_t k = 0; k < b.n; k++) {
			int64_t t;
			bool row = false;

			if (apply_peek(b.list[k].data.data, b.list[k].data.len, &t, &row) == 0)
				r->places[i].block.rows += row;
		}
	}
	batch_done(&b);
}

int foreign_read(struct recording *r, struct err *err)
{
	const char *nl;
	size_t head;
	int e = unpack(r, err);

	util_close_fd(&r->fd);
	r->fd = -1;
	if (e < 0)
		return e;
	nl = memchr(r->text.data, '\n', r->text.len);
	head = nl ? (size_t)(nl - r->text.data) : r->text.len;
	e = cast_header_parse(r->text.data, head, &r->header, err);
	if (e < 0 && r->text.len && *r->text.data == '{') /* version 1 may have many lines */
		e = cast_header_parse(r->text.data, r->text.len, &r->header, NULL) < 0 ||
				    r->header.version != 1
			    ? e
			    : 0;
	if (e < 0)
		return e;
	if (r->header.version == 1) {
		e = from_v1(r, err);
		head = 0;
	} else {
		head = MIN(head + 1, r->text.len);
	}
	if (e < 0)
		return e;
	add_lines(r, head);
	count_rows(r);
	return 0;
}
