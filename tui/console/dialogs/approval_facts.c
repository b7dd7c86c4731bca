/* approval_facts - rows and words of a question; and a copy of settings as an answer. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/dialogs/approval.h"

/* Returns how many bytes of text a row takes: up to a space in its second half, else all that
 * fit. */
static size_t row_of(const char *text, int cols)
{
	AUTO_BUF struct buf row = BUF_INIT;
	size_t space = 0, n;

	for (const char *p = text; *p; p += n) {
		int32_t cp;

		n = text_decode(p, strlen(p), &cp);
		buf_add(&row, p, n);
		if (text_width(row.data) > cols)
			return space ? space : MAX(row.len - n, n);
		if (*p == ' ' && text_width(row.data) > cols / 2)
			space = row.len;
	}
	return row.len;
}

int approval_fact_rows(const struct fact *f, int cols)
{
	int rows = 0;

	cols -= f->label ? LABEL_W : 0;
	for (const char *rest = f->text; *rest && rows < f->rows; rows++)
		rest += row_of(rest, cols);
	return rows;
}

int approval_draw_fact(struct surface *s, struct rect r, int y, const struct fact *f, int rows)
{
	AUTO_BUF struct buf fit = BUF_INIT;
	int left = f->label ? LABEL_W : 0, cols = r.w - left;
	const char *rest = f->text;

	if (!*f->text || y >= r.y + r.h)
		return y;
	surface_text(s, r.x, y, left, ROLE_MODAL_LABEL, f->label ? f->label : "");
	for (; rows > 1 && text_width(rest) > cols; rows--) {
		AUTO_FREE char *head = xstrndup(rest, row_of(rest, cols));

		surface_text(s, r.x + left, y++, cols, f->role, head);
		rest += strlen(head);
	}
	text_fit_middle(&fit, rest, cols);
	surface_text(s, r.x + left, y, cols, f->role, fit.data);
	return y + 1;
}

/* ---- words ----------------------------------------------------------------------------------- */

char *approval_sentence(const char *raw)
{
	struct buf b = BUF_INIT;

	text_escape(&b, raw ? raw : "", raw ? strlen(raw) : 0);
	if (b.len && b.data[0] >= 'a' && b.data[0] <= 'z')
		b.data[0] = (char)(b.data[0] - 'a' + 'A');
	if (b.len && !strchr(".!?", b.data[b.len - 1]))
		buf_ch(&b, '.');
	return buf_take(&b);
}

/* ---- settings of its own --------------------------------------------------------------------- */

bool approval_offers_own(const struct ui *ui, const struct ask *ask)
{
	return ask->bundle && *ask->bundle && ui->spec.model->own_offer &&
	       ui->spec.verbs->own_settings;
}

char *approval_own_words(const struct ui *ui, const struct ask *ask)
{
	const char *name = ui->spec.model->own_offer;

	if (!approval_offers_own(ui, ask))
		return NULL;
	return xasprintf("Use separate settings in this folder. %s restarts with a copy; your own "
			 "are not touched.",
			 name);
}

void approval_choose_own(struct ui *ui, const struct ask *ask)
{
	struct err err = {0};

	if (ui->spec.verbs->own_settings(ui->spec.data, ask->id, &err) < 0)
		ui_say(ui, "Not possible: %s.", err.text);
}
