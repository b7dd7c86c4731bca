/* diff_rows - the lines of a review as rows of the screen: columns, wraps, folds, blanks. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/views/diff_rows.h"

#include <string.h>

#include "core/base/text.h"
#include "tui/console/views/diff_words.h"

#define TAB_COLS  8
#define BLOCK_MAX 40000 /* removed lines times added lines */
#define SIDES_MAX 4096	/* distance at which a line is searched in its block */

struct builder {
	struct diff_rows *rows;
	const struct review *r;
	struct diff_look look;
};

/* A run of removed lines, and the lines added in its place. */
struct block {
	size_t del, n_del, add, n_add;
};

void diff_rows_done(struct diff_rows *rows)
{
	free(rows->list);
	*rows = (struct diff_rows){0};
}

int diff_expand(const char *text, size_t len, int col, struct buf *out)
{
	size_t from = 0;

	for (size_t i = 0; i <= len; i++) {
		size_t had = out->len;

		if (i < len && text[i] != '\t')
			continue;
		text_escape(out, text + from, i - from);
		col += text_width(out->data + had);
		from = i + 1;
		if (i == len)
			break;
		do
			buf_ch(out, ' ');
		while (++col % TAB_COLS);
	}
	return col;
}

/* ---- wrapping ------------------------------------------------------------------------------- */

struct wrap { /* one side of a line while it is wrapped */
	struct buf text;
	size_t at;
	uint32_t col;
	bool any;
};

static void wrap_begin(struct wrap *w, const struct review *r, uint32_t line)
{
	const struct review_line *l = line ? &r->lines[line - 1] : NULL;

	*w = (struct wrap){.text = BUF_INIT, .any = line != 0};
	if (l)
		diff_expand(r->text.data + l->at, MIN(l->len, (uint32_t)REVIEW_COLS), 0, &w->text);
}

/* Returns the column of the next part; false at the end of the line. */
static bool wrap_next(struct wrap *w, int cols, uint32_t *ret_col)
{
	int used = 0;

	*ret_col = w->any ? w->col : COL_OVER;
	if (!w->any)
		return false;
	while (w->at < w->text.len) {
		int32_t cp;
		size_t n = text_decode(w->text.data + w->at, w->text.len - w->at, &cp);
		int width = MAX(text_cp_width(cp), 0);

		if (used + width > MAX(cols, 2))
			break;
		used += width;
		w->at += n;
	}
	w->col += (uint32_t)used;
	w->any = w->at < w->text.len;
	return true;
}

/* ---- rows ----------------------------------------------------------------------------------- */

static void put(struct builder *b, const struct diff_row *row)
{
	struct diff_rows *rows = b->rows;

	if (rows->n == rows->cap) {
		rows->cap = rows->cap ? rows->cap * 2 : 1024;
		rows->list = xrealloc(rows->list, rows->cap * sizeof(*rows->list));
	}
	rows->list[rows->n++] = *row;
}

static void emit(struct builder *b, enum diff_line_kind kind, uint32_t left, uint32_t right)
{
	bool body = kind == DIFF_ADD || kind == DIFF_DEL || kind == DIFF_CONTEXT;
	struct diff_row row = {
		.left = left, .right = right, .kind = (uint8_t)kind, .both = body && b->look.split};
	struct wrap l, r;
	bool more_l, more_r;

	if (!b->look.wrap || !body) {
		put(b, &row);
		return;
	}
	wrap_begin(&l, b->r, left);
	wrap_begin(&r, b->r, right);
	for (bool first = true;; first = false) {
		more_l = wrap_next(&l, b->look.cols, &row.left_col);
		more_r = wrap_next(&r, b->look.cols, &row.right_col);
		if (!first && !more_l && !more_r)
			break;
		put(b, &row);
	}
	buf_done(&l.text);
	buf_done(&r.text);
}

static void emit_change(struct builder *b, const struct block *k)
{
	if (!b->look.split) {
		for (size_t i = 0; i < k->n_del; i++)
			emit(b, DIFF_DEL, (uint32_t)(k->del + i + 1), 0);
		for (size_t i = 0; i < k->n_add; i++)
			emit(b, DIFF_ADD, 0, (uint32_t)(k->add + i + 1));
		return;
	}
	for (size_t i = 0; i < MAX(k->n_del, k->n_add); i++)
		emit(b, i < k->n_add ? DIFF_ADD : DIFF_DEL,
		     i < k->n_del ? (uint32_t)(k->del + i + 1) : 0,
		     i < k->n_add ? (uint32_t)(k->add + i + 1) : 0);
}

static void emit_same(struct builder *b, size_t old, size_t new)
{
	emit(b, DIFF_CONTEXT, b->look.split ? (uint32_t)(old + 1) : 0, (uint32_t)(new + 1));
}

/* ---- blanks --------------------------------------------------------------------------------- */

static bool same_blank(const struct review *r, size_t a, size_t b)
{
	const struct review_line *x = &r->lines[a], *y = &r->lines[b];

	return diff_same_blank(r->text.data + x->at, x->len, r->text.data + y->at, y->len);
}

/* Fills a table: for each pair of lines, the length of the longest common subsequence from there
 * on. Returns NULL if the block is too large. */
static uint16_t *common_lines(const struct review *r, const struct block *k)
{
	size_t row = k->n_add + 1;
	uint16_t *t;

	if (!k->n_del || !k->n_add || k->n_del * k->n_add > BLOCK_MAX)
		return NULL;
	t = xcalloc((k->n_del + 1) * row, sizeof(*t));
	for (size_t i = k->n_del; i-- > 0;)
		for (size_t j = k->n_add; j-- > 0;)
			t[i * row + j] = same_blank(r, k->del + i, k->add + j)
						 ? (uint16_t)(t[(i + 1) * row + j + 1] + 1)
						 : MAX(t[(i + 1) * row + j], t[i * row + j + 1]);
	return t;
}

/* Emits a block with lines that are equal except for blanks as unchanged. Returns the number of
 * changed lines. b NULL: only counts. */
static size_t emit_block(struct builder *b, const struct review *r, bool blank,
			 const struct block *k)
{
	AUTO_FREE uint16_t *t = blank ? common_lines(r, k) : NULL;
	size_t row = k->n_add + 1, i = 0, j = 0, left = 0;
	struct block part = *k;

	for (; t && i < k->n_del && j < k->n_add;) {
		if (!same_blank(r, k->del + i, k->add + j)) {
			if (t[(i + 1) * row + j] >= t[i * row + j + 1])
				i++;
			else
				j++;
			continue;
		}
		part.n_del = k->del + i - part.del;
		part.n_add = k->add + j - part.add;
		left += part.n_del + part.n_add;
		if (b) {
			emit_change(b, &part);
			emit_same(b, k->del + i, k->add + j);
		}
		i++, j++;
		part.del = k->del + i;
		part.add = k->add + j;
	}
	part.n_del = k->del + k->n_del - part.del;
	part.n_add = k->add + k->n_add - part.add;
	if (b)
		emit_change(b, &part);
	return left + part.n_del + part.n_add;
}

static bool is_change(const struct review *r, size_t i)
{
	return r->lines[i].kind == DIFF_DEL || r->lines[i].kind == DIFF_ADD;
}

static struct block block_at(const struct review *r, size_t at, size_t end)
{
	struct block k = {.del = at};

	while (k.del + k.n_del < end && r->lines[k.del + k.n_del].kind == DIFF_DEL)
		k.n_del++;
	k.add = k.del + k.n_del;
	while (k.add + k.n_add < end && r->lines[k.add + k.n_add].kind == DIFF_ADD)
		k.n_add++;
	return k;
}

/* ---- hunks and files ------------------------------------------------------------------------ */

static size_t hunk_end(const struct review *r, size_t at)
{
	uint32_t file = r->lines[at].file;

	for (at++; at < r->n_lines && r->lines[at].file == file; at++)
		if (r->lines[at].kind == DIFF_HUNK || r->lines[at].kind == DIFF_FILE)
			break;
	return at;
}

static size_t file_end(const struct review *r, size_t at)
{
	const struct review_file *f = &r->files[r->lines[at].file];

	return f->first_line + f->n_lines;
}

size_t diff_rows_below(const struct review *r, size_t line)
{
	if (r->lines[line].kind == DIFF_HUNK)
		return hunk_end(r, line) - line - 1;
	return r->lines[line].kind == DIFF_FILE ? file_end(r, line) - line - 1 : 0;
}

static bool hunk_is_quiet(const struct review *r, size_t at, size_t end)
{
	for (at++; at < end; at++) {
		struct block k = block_at(r, at, end);

		if (!is_change(r, at))
			continue;
		if (emit_block(NULL, r, true, &k) > 0)
			return false;
		at = k.add + k.n_add - 1;
	}
	return true;
}

/* Emits a line, or the block that begins there. Returns the next line. */
static size_t emit_at(struct builder *b, size_t at, size_t end)
{
	struct block k;

	if (!is_change(b->r, at)) {
		emit(b, b->r->lines[at].kind, (uint32_t)(at + 1),
		     b->r->lines[at].kind == DIFF_CONTEXT && b->look.split ? (uint32_t)(at + 1)
									   : 0);
		return at + 1;
	}
	k = block_at(b->r, at, end);
	emit_block(b, b->r, b->look.blank, &k);
	return k.add + k.n_add;
}

static size_t emit_hunk(struct builder *b, size_t at)
{
	size_t end = hunk_end(b->r, at);
	bool quiet = b->look.blank && hunk_is_quiet(b->r, at, end);

	emit(b, DIFF_HUNK, (uint32_t)(at + 1), 0);
	b->rows->list[b->rows->n - 1].quiet = quiet;
	if (b->r->lines[at].folded || quiet)
		return end;
	for (at++; at < end;)
		at = emit_at(b, at, end);
	return end;
}

/* Returns whether the line repeats the names of the heading: "--- a/x", "+++ b/x". */
static bool names_again(const struct review *r, size_t at)
{
	const struct review_line *l = &r->lines[at];
	const char *text = r->text.data + l->at;

	return l->kind == DIFF_FILE && at != r->files[l->file].first_line && l->len > 4 &&
	       (memcmp(text, "--- ", 4) == 0 || memcmp(text, "+++ ", 4) == 0);
}

bool diff_rows_build(struct diff_rows *rows, const struct review *r, const struct diff_look *look)
{
	struct builder b = {.rows = rows, .r = r, .look = *look};

	if (!rows->stale && rows->lines == r->n_lines && rows->look.split == look->split &&
	    rows->look.wrap == look->wrap && rows->look.blank == look->blank &&
	    (!look->wrap || rows->look.cols == look->cols))
		return false;
	rows->n = 0;
	for (size_t at = 0; at < r->n_lines;) {
		const struct review_line *l = &r->lines[at];

		if (l->kind == DIFF_HUNK) {
			at = emit_hunk(&b, at);
		} else if (names_again(r, at)) {
			at++;
		} else if (l->folded) {
			emit(&b, l->kind, (uint32_t)(at + 1), 0);
			at = file_end(r, at);
		} else {
			at = emit_at(&b, at, r->n_lines);
		}
	}
	rows->look = *look;
	rows->lines = r->n_lines;
	rows->stale = false;
	return true;
}

size_t diff_row_line(const struct diff_row *row)
{
	return (row->right ? row->right : row->left) - 1;
}

/* With two sides the rows of a block are not in the order of its lines. */
size_t diff_rows_find(const struct diff_rows *rows, size_t line)
{
	size_t low = 0, high = rows->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (MAX(rows->list[mid].left, rows->list[mid].right) <= line)
			low = mid + 1;
		else
			high = mid;
	}
	for (size_t i = low; i < rows->n && i - low < SIDES_MAX; i++)
		if (rows->list[i].left == line + 1 || rows->list[i].right == line + 1)
			return i;
	return low < rows->n ? low : rows->n ? rows->n - 1 : 0;
}
