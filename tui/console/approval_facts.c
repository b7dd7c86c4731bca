/* approval_facts - what is known about a request, in rows; and a copy of settings as an answer. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "tui/console/approval.h"

/* Bytes of text that a row takes: up to a space in its second half, else what fits. */
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

	for (const char *rest = f->text; *rest && rows < f->rows; rows++)
		rest += row_of(rest, cols);
	return rows;
}

/* One fact over as many rows as it may have; the last of them is cut in the middle. */
int approval_draw_fact(struct surface *s, struct rect r, int y, const struct fact *f, int rows)
{
	AUTO_BUF struct buf fit = BUF_INIT;
	int cols = r.w - LABEL_W;
	const char *rest = f->text;

	if (!*f->text || y >= r.y + r.h)
		return y;
	surface_text(s, r.x, y, LABEL_W, ROLE_MODAL_LABEL, f->label);
	for (; rows > 1 && text_width(rest) > cols; rows--) {
		AUTO_FREE char *head = xstrndup(rest, row_of(rest, cols));

		surface_text(s, r.x + LABEL_W, y++, cols, ROLE_MODAL, head);
		rest += strlen(head);
	}
	text_fit_middle(&fit, rest, cols);
	surface_text(s, r.x + LABEL_W, y, cols, ROLE_MODAL, fit.data);
	return y + 1;
}

/* ---- settings of its own --------------------------------------------------------------------- */

bool approval_offers_own(const struct ui *ui, const struct ask *ask)
{
	return ask->bundle && *ask->bundle && ui->spec.model->own_offer &&
	       ui->spec.verbs->own_settings;
}

char *approval_own_words(struct ui *ui, const struct ask *ask)
{
	const char *name = ui->spec.model->own_offer;
	char keys[32];

	if (!approval_offers_own(ui, ask))
		return NULL;
	ui_keys(ui, PLACE_APPROVALS, ACTION_OWN_SETTINGS, keys, sizeof(keys));
	return xasprintf(
		"%s keeps a copy for this folder only: %s starts again with settings of its "
		"own, yours stay as they are",
		keys, name);
}

void approval_choose_own(struct ui *ui, const struct ask *ask)
{
	struct err err = {0};

	if (ui->spec.verbs->own_settings(ui->spec.data, ask->id, &err) < 0)
		ui_say(ui, "Not possible: %s.", err.text);
}
