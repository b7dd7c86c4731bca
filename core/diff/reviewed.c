/* reviewed - the review of the history by the user: pieces kept or reverted, and comments. */
/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "core/diff/reviewed.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/text.h"
#include "core/journal/note.h"

/*
 * The note has a line for each: "rounds N", "is VERDICT STEP NUMBER BY TOLD PATH" and "point ROUND
 * NUMBER DONE STEP HUNK LINE PATH TEXT". In a path and a text, blanks, control characters and '%'
 * are written as %XX.
 */
#define NOTE_NAME	  "review"
#define NOTE_OF_COMMITTED "committed" /* a line for each: "STEP NUMBER PATH" */

static void add_word(struct buf *out, const char *s)
{
	if (!*s)
		buf_str(out, "%");
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c <= ' ' || c == '%' || c == 0x7f)
			buf_fmt(out, "%%%02X", c);
		else
			buf_ch(out, (char)c);
	}
}

/* In place. */
static char *read_word(char *word)
{
	char *to = word;

	for (const char *from = word; *from; to++) {
		unsigned byte;

		if (*from == '%' && sscanf(from + 1, "%2X", &byte) == 1 && byte) {
			*to = (char)byte;
			from += 3;
		} else if (*from == '%') {
			break;
		} else {
			*to = *from++;
		}
	}
	*to = '\0';
	return word;
}

/* ---- entries by path ------------------------------------------------------------------------- */

struct review_path {
	char *path;
	size_t newest; /* index + 1 */
	UT_hash_handle hh;
};

static void forget_paths(struct reviewed *v)
{
	struct review_path *p, *next;

	HASH_ITER (hh, v->paths, p, next) {
		HASH_DEL(v->paths, p);
		free(p->path);
		free(p);
	}
}

/* Returns the newest entry of the path, or NULL. */
static struct review_entry *newest_of(const struct reviewed *v, const char *path)
{
	struct review_path *p;

	HASH_FIND_STR(v->paths, path, p);
	return p ? &v->list[p->newest - 1] : NULL;
}

static struct review_entry *older_than(const struct reviewed *v, const struct review_entry *e)
{
	return e->older ? &v->list[e->older - 1] : NULL;
}

/* Makes an entry the newest one of its path. */
static void index_entry(struct reviewed *v, struct review_entry *e)
{
	struct review_path *p;

	HASH_FIND_STR(v->paths, e->path, p);
	if (!p) {
		p = xcalloc(1, sizeof(*p));
		p->path = xstrdup(e->path);
		HASH_ADD_KEYPTR(hh, v->paths, p->path, strlen(p->path), p);
	}
	e->older = p->newest;
	p->newest = (size_t)(e - v->list) + 1;
}

void reviewed_done(struct reviewed *v)
{
	forget_paths(v);
	for (size_t i = 0; i < v->n; i++)
		free(v->list[i].path);
	for (size_t i = 0; i < v->n_points; i++) {
		free(v->points[i].path);
		free(v->points[i].text);
	}
	free(v->list);
	free(v->points);
	*v = (struct reviewed){0};
}

/* ---- reading and writing --------------------------------------------------------------------- */

static void make_room(struct reviewed *v)
{
	const size_t gone = REVIEWED_MAX / 4;

	for (size_t i = 0; i < gone; i++)
		free(v->list[i].path);
	v->n -= gone;
	memmove(v->list, v->list + gone, v->n * sizeof(*v->list));
	forget_paths(v);
	for (size_t i = 0; i < v->n; i++)
		index_entry(v, &v->list[i]);
}

/* Adds an entry, and takes ownership of the path of e. */
static struct review_entry *add_entry(struct reviewed *v, const struct review_entry *e)
{
	if (v->n == REVIEWED_MAX)
		make_room(v);
	if (!v->list)
		v->list = xcalloc(REVIEWED_MAX, sizeof(*v->list));
	v->list[v->n] = *e;
	index_entry(v, &v->list[v->n]);
	return &v->list[v->n++];
}

static void read_entry(struct reviewed *v, char *line)
{
	struct review_entry e = {0};
	int is, told, at = 0;

	if (sscanf(line, "is %d %" SCNd64 " %u %" SCNd64 " %d %n", &is, &e.step, &e.number, &e.by,
		   &told, &at) != 5 ||
	    !at || (is != PIECE_KEPT && is != PIECE_TAKEN))
		return;
	e.is = (enum review_state)is;
	e.told = told != 0;
	e.path = xstrdup(read_word(line + at));
	add_entry(v, &e);
}

static void read_point(struct reviewed *v, char *line)
{
	struct point p = {0}, *to;
	int done, at = 0;
	char *text;

	if (sscanf(line, "point %u %u %d %" SCNd64 " %u %d %n", &p.round, &p.number, &done, &p.step,
		   &p.hunk, &p.line, &at) != 6 ||
	    !at)
		return;
	text = strchr(line + at, ' ');
	to = text ? point_add(v) : NULL;
	if (!to)
		return;
	*text++ = '\0';
	p.done = done != 0;
	p.path = xstrdup(read_word(line + at));
	p.text = xstrdup(read_word(text));
	*to = p;
}

void reviewed_load(struct reviewed *v, const struct journal *j)
{
	AUTO_FREE char *text = NULL;
	char *save = NULL;

	*v = (struct reviewed){0};
	if (journal_note_read(j, NOTE_NAME, REVIEWED_BYTES, &text) < 0)
		return;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (sscanf(line, "rounds %u", &v->rounds) == 1)
			continue;
		read_entry(v, line);
		read_point(v, line);
	}
	reviewed_load_committed(v, j);
}

static bool is_saved(const struct review_entry *e)
{
	return e->is == PIECE_KEPT || e->is == PIECE_TAKEN;
}

static void write_entry(struct buf *out, const struct review_entry *e)
{
	buf_fmt(out, "is %d %" PRId64 " %u %" PRId64 " %d ", (int)e->is, e->step, e->number, e->by,
		e->told);
	add_word(out, e->path);
	buf_ch(out, '\n');
}

static void write_points(struct buf *out, const struct reviewed *v)
{
	for (size_t i = 0; i < v->n_points; i++) {
		const struct point *p = &v->points[i];

		buf_fmt(out, "point %u %u %d %" PRId64 " %u %d ", p->round, p->number, p->done,
			p->step, p->hunk, p->line);
		add_word(out, p->path);
		buf_ch(out, ' ');
		add_word(out, p->text);
		buf_ch(out, '\n');
	}
}

/* Returns the first of the newest entries that fit into so many bytes. */
static size_t first_that_fits(const struct reviewed *v, size_t bytes)
{
	AUTO_BUF struct buf line = BUF_INIT;
	size_t i = v->n;

	for (; i > 0; i--) {
		buf_clear(&line);
		if (is_saved(&v->list[i - 1]))
			write_entry(&line, &v->list[i - 1]);
		if (line.len > bytes)
			break;
		bytes -= line.len;
	}
	return i;
}

int reviewed_save(const struct reviewed *v, const struct journal *j)
{
	AUTO_BUF struct buf out = BUF_INIT, points = BUF_INIT;
	const size_t room = REVIEWED_BYTES - 64;

	write_points(&points, v);
	buf_fmt(&out, "rounds %u\n", v->rounds);
	for (size_t i = first_that_fits(v, room - MIN(points.len, room)); i < v->n; i++)
		if (is_saved(&v->list[i]))
			write_entry(&out, &v->list[i]);
	buf_add(&out, points.data, points.len);
	return journal_note_write(j, NOTE_NAME, out.data, out.len);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static struct review_entry *find(const struct reviewed *v, int64_t step, const char *path,
				 unsigned number)
{
	struct review_entry *e = newest_of(v, path);

	while (e && (e->step != step || e->number != number))
		e = older_than(v, e);
	return e;
}

/* Returns the state of a piece. It is open again if the step that reverted it was undone. */
static enum review_state state_of(const struct review_entry *e)
{
	return !e || (e->is == PIECE_TAKEN && e->reverted) ? PIECE_OPEN : e->is;
}

static bool is_later(int64_t step, int64_t than)
{
	return llabs(step) > llabs(than);
}

const struct review_entry *reviewed_taken(const struct reviewed *v, int64_t step, const char *path,
					  unsigned number)
{
	const struct review_entry *e = newest_of(v, path);

	for (; e; e = older_than(v, e)) {
		bool own = e->step == step && e->number == number;
		bool whole = e->number == 0 && is_later(step, e->step) && is_later(e->by, step);

		if (state_of(e) == PIECE_TAKEN && (own || whole))
			return e;
	}
	return NULL;
}

bool reviewed_kept_later(const struct reviewed *v, int64_t step, const char *path)
{
	const struct review_entry *e = newest_of(v, path);

	while (e && (e->is != PIECE_KEPT || !is_later(e->step, step)))
		e = older_than(v, e);
	return e != NULL;
}

enum review_state reviewed_state(const struct reviewed *v, int64_t step, const char *path,
				 unsigned number)
{
	return reviewed_taken(v, step, path, number) ? PIECE_TAKEN
						     : state_of(find(v, step, path, number));
}

void reviewed_settle(struct reviewed *v, bool (*is_undone)(void *data, int64_t step), void *data)
{
	for (size_t i = 0; i < v->n; i++)
		v->list[i].reverted =
			v->list[i].is == PIECE_TAKEN && is_undone(data, v->list[i].by);
}

void reviewed_set(struct reviewed *v, int64_t step, const char *path, unsigned number,
		  enum review_state is, int64_t by)
{
	struct review_entry *e = find(v, step, path, number);

	if (!e)
		e = add_entry(v, &(struct review_entry){
					 .step = step, .number = number, .path = xstrdup(path)});
	e->told = e->told && is == e->is;
	e->is = is;
	e->by = by;
	e->reverted = false;
}

/* ---- commits --------------------------------------------------------------------------------- */

bool reviewed_load_committed(struct reviewed *v, const struct journal *j)
{
	AUTO_FREE char *text = NULL;
	bool more = false;
	char *save = NULL;

	if (!v->n || journal_note_read(j, NOTE_OF_COMMITTED, REVIEWED_BYTES, &text) < 0)
		return false;
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		struct review_entry *e;
		unsigned number;
		int64_t step;
		int at = 0;

		if (sscanf(line, "%" SCNd64 " %u %n", &step, &number, &at) != 2 || !at)
			continue;
		e = find(v, step, read_word(line + at), number);
		more |= e && !e->committed;
		if (e)
			e->committed = true;
	}
	return more;
}

int reviewed_save_committed(const struct reviewed *v, const struct journal *j)
{
	AUTO_BUF struct buf out = BUF_INIT;

	for (size_t i = first_that_fits(v, REVIEWED_BYTES); i < v->n; i++) {
		const struct review_entry *e = &v->list[i];

		if (!e->committed || e->is != PIECE_KEPT)
			continue;
		buf_fmt(&out, "%" PRId64 " %u ", e->step, e->number);
		add_word(&out, e->path);
		buf_ch(&out, '\n');
	}
	return journal_note_write(j, NOTE_OF_COMMITTED, out.data, out.len);
}

bool reviewed_committed(const struct reviewed *v, int64_t step, const char *path, unsigned number)
{
	const struct review_entry *e = find(v, step, path, number);

	return e && e->committed && e->is == PIECE_KEPT;
}

/* ---- the message ----------------------------------------------------------------------------- */

static void add_place(struct buf *out, const char *path, int line)
{
	text_escape(out, path, strlen(path));
	if (line > 0)
		buf_fmt(out, ":%d", line);
}

/* Adds "I took back what you changed in tests/cases, src/a.c (2 hunks)." */
static void add_taken(const struct reviewed *v, struct buf *out)
{
	size_t files = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct review_entry *e = &v->list[i];
		size_t same = 0;
		bool first = true;

		if (state_of(e) != PIECE_TAKEN || e->told)
			continue;
		for (const struct review_entry *o = newest_of(v, e->path); o;
		     o = older_than(v, o)) {
			if (state_of(o) != PIECE_TAKEN || o->told)
				continue;
			first = first && o >= e;
			same++;
		}
		if (!first)
			continue;
		buf_str(out, files++ ? ", " : "I took back what you changed in ");
		add_place(out, e->path, 0);
		if (same > 1)
			buf_fmt(out, " (%zu hunks)", same);
	}
	if (files)
		buf_str(out, ": read these files again and do not write that again.\n");
}

void reviewed_message(const struct reviewed *v, struct buf *out)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_points; i++) {
		const struct point *p = &v->points[i];

		if (p->round)
			continue;
		buf_fmt(out, "%u.%u ", v->rounds + 1, ++n);
		add_place(out, p->path, p->line);
		buf_str(out, ": ");
		text_escape(out, p->text, strlen(p->text));
		buf_ch(out, '\n');
	}
	if (n)
		buf_fmt(out, "When a point is handled, run: cordon review done %u.%s\n",
			v->rounds + 1, n == 1 ? "1" : "N");
	add_taken(v, out);
}

void reviewed_sent(struct reviewed *v)
{
	unsigned n = 0;

	for (size_t i = 0; i < v->n_points; i++) {
		if (v->points[i].round)
			continue;
		v->points[i].round = v->rounds + 1;
		v->points[i].number = ++n;
	}
	v->rounds += n > 0;
	for (size_t i = 0; i < v->n; i++)
		v->list[i].told |= state_of(&v->list[i]) == PIECE_TAKEN;
}
