/* replay_print - prints a recording as lines: its events (--headless), or its text (--export
 * txt). */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/session/answers/answers.h"
#include "core/session/model.h"
#include "tui/commands/replay.h"
#include "tui/term/term.h"

/* ---- events -------------------------------------------------------------------------------------
 */

static void put_time(struct buf *out, int64_t t_us)
{
	int64_t s = t_us / 1000000;

	buf_fmt(out, "%2d:%02d:%02d.%03d  ", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60),
		(int)(t_us / 1000 % 1000));
}

static void put(struct buf *out, const char *words, const char *s)
{
	buf_str(out, words);
	text_escape(out, s, strlen(s));
}

static void put_row(struct buf *out, const struct audit_record *r)
{
	static const char *const kinds[] = {[ROW_TOUCH] = "",
					    [ROW_DENY] = "DENY ",
					    [ROW_EXEC] = "",
					    [ROW_ASK] = "ASK ",
					    [ROW_DECISION] = "",
					    [ROW_NOTE] = "",
					    [ROW_EXTERNAL] = "outside: "};
	size_t kind = strtoul(audit_record_text(r, "kind"), NULL, 10);

	put(out, kind < ARRAY_LEN(kinds) ? kinds[kind] : "",
	    answers_op(audit_record_text(r, "op")));
	put(out, " ", audit_record_text(r, "text"));
	if (*audit_record_text(r, "more"))
		put(out, "  ", audit_record_text(r, "more"));
}

static void put_step(struct buf *out, const struct audit_record *r)
{
	unsigned long state = strtoul(audit_record_text(r, "state"), NULL, 10);

	put(out, "step ", audit_record_text(r, "id"));
	buf_str(out, state & 2 ? " undone" : state & 1 ? " begins" : " ended");
	if (*audit_record_text(r, "status"))
		put(out, " with ", audit_record_text(r, "status"));
	put(out, ": ", audit_record_text(r, "command"));
}

/* Prints an event of cordon's own. Returns false if it has no line. */
static bool put_own(struct buf *out, struct audit_record *r, const struct moment *e)
{
	const char *what;

	if (audit_record_parse(r, e->data.data, e->data.len) < 0)
		return false;
	what = audit_record_text(r, "e");
	if (str_eq(what, "row"))
		put_row(out, r);
	else if (str_eq(what, "step"))
		put_step(out, r);
	else if (str_eq(what, "ask-gone"))
		put(out, "answered: request ", audit_record_text(r, "id"));
	else if (str_eq(what, "state") && str_eq(audit_record_text(r, "exited"), "1"))
		buf_str(out, "the agent has ended");
	else
		return false;
	return true;
}

/* Prints an event. Marks of steps are left out: the steps have lines. */
static bool put_event(struct buf *out, struct audit_record *r, const struct moment *e)
{
	size_t from = out->len;
	bool told = e->code == CAST_MARK;

	put_time(out, e->t_us);
	if (told)
		put(out, "# ", e->data.data);
	else if (e->code == CAST_OWN)
		told = put_own(out, r, e);
	else if (e->code == CAST_RESIZE || e->code == CAST_EXIT) {
		told = true;
		put(out, e->code == CAST_EXIT ? "exit " : "size ", e->data.data);
	}
	if (told)
		buf_ch(out, '\n');
	else
		buf_truncate(out, from);
	return told;
}

int replay_print_events(struct recording *rec)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct batch b = BATCH_INIT;
	struct audit_record r;
	int e = 0;

	audit_record_init(&r);
	for (size_t i = 0; e == 0 && i < recording_blocks(rec); i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; k < b.n; k++)
			put_event(&out, &r, &b.list[k]);
		e = io_write_all(STDOUT_FILENO, out.data, out.len);
		buf_clear(&out);
	}
	batch_done(&b);
	audit_record_done(&r);
	return e;
}

/* ---- text ---------------------------------------------------------------------------------------
 */

/* Prints the terminal's history, and its last screen. */
int replay_export_txt(struct recording *rec)
{
	const struct cast_header *h = recording_header(rec);
	struct term *t = term_new(h->rows, h->cols, NULL, NULL);
	AUTO_BUF struct buf out = BUF_INIT;
	struct batch b = BATCH_INIT;
	int e = 0, cols, rows;

	for (size_t i = 0; e == 0 && i < recording_blocks(rec); i++) {
		recording_batch(rec, i, false, &b);
		for (size_t k = 0; k < b.n; k++) {
			const struct moment *m = &b.list[k];

			if (m->code == CAST_OUTPUT)
				term_feed(t, m->data.data, m->data.len);
			else if (m->code == CAST_RESIZE &&
				 cast_size(m->data.data, m->data.len, &cols, &rows))
				term_resize(t, rows, cols);
			if (term_history(t) > TERM_SCROLLBACK_LINES / 4)
				term_take_history(t, &out);
		}
		e = io_write_all(STDOUT_FILENO, out.data, out.len);
		buf_clear(&out);
	}
	term_take_history(t, &out);
	term_text(t, &out);
	while (out.len > 1 && out.data[out.len - 1] == '\n' && out.data[out.len - 2] == '\n')
		buf_truncate(&out, out.len - 1);
	if (e == 0)
		e = io_write_all(STDOUT_FILENO, out.data, out.len);
	batch_done(&b);
	term_free(t);
	return e;
}
