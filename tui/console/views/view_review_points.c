/* view_review_points - the comments of a review: written, reopened, sent to the agent. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tui/console/views/view_review.h"

void review_comment(struct view_review *p)
{
	const struct review_row *r = review_row_at(p);
	struct ui *ui = p->v.ui;

	if (!r)
		return;
	p->commented = r->hunk + 1;
	p->commented_line = r->kind == REVIEW_ROW_LINE	 ? p->hunks.lines[r->at].new_line
			    : r->kind == REVIEW_ROW_HUNK ? p->hunks.list[r->hunk].line
							 : 0;
	ui->prompt = (struct prompt){.active = true, .what = QUERY_COMMENT, .view = &p->v};
	ui->dirty = true;
}

void review_commented(struct view_review *p, const char *text)
{
	const struct ui_spec *spec = &p->v.ui->spec;

	if (*text && p->commented && p->commented <= p->hunks.n)
		spec->verbs->comment(spec->data, &p->hunks.list[p->commented - 1],
				     p->commented_line, text);
	p->commented = 0;
	review_build(p);
}

/* Pastes the message into the agent's prompt, where the user presses Enter. An agent without a
 * terminal receives it with the next answer to its hook, its editor or its MCP client. Returns
 * false if it cannot be sent. */
static bool deliver(struct view_review *p)
{
	struct ui *ui = p->v.ui;
	const struct ui_spec *spec = &ui->spec;
	AUTO_FREE char *text = NULL;

	if (spec->headless && !spec->verbs->tell(spec->data, p->message.data)) {
		ui_say(ui, "The agent has ended, or this is too long for an agent without a "
			   "terminal.");
		return false;
	}
	if (!spec->headless && !note_can_paste(ui))
		return false;
	text = buf_take(&p->message);
	spec->verbs->review_sent(spec->data);
	ui_say(ui, spec->headless ? "The agent gets it with its next answer or prompt."
				  : "Pasted into the agent's prompt: Enter sends it.");
	if (spec->headless)
		review_build(p);
	else
		note_paste(ui, text); /* this view is freed */
	return true;
}

/* Shows the message first; sends it the second time. */
bool review_send(struct view_review *p)
{
	struct ui *ui = p->v.ui;
	const struct reviewed *v = ui->spec.model->reviewed;

	if (p->message.len)
		return !deliver(p);
	if (v)
		reviewed_message(v, &p->message);
	if (!p->message.len)
		ui_say(ui, "There is nothing to tell: no comment, nothing taken back.");
	else if (ui->spec.headless)
		ui_say(ui, "s tells the agent this; q goes back.");
	else
		ui_say(ui, "s pastes this into the agent's prompt; q goes back.");
	return p->message.len > 0;
}

/* ---- sent comments --------------------------------------------------------------------------- */

const struct point *review_point_at(const struct view_review *p)
{
	const struct review_row *r = review_row_at(p);

	return r && r->kind == REVIEW_ROW_POINT ? &p->v.ui->spec.model->reviewed->points[r->at]
						: NULL;
}

/* Returns false if the cursor is on no handled comment. */
bool review_reopen(struct view_review *p)
{
	const struct ui_spec *spec = &p->v.ui->spec;
	const struct point *q = review_point_at(p);

	if (!q || !q->done)
		return false;
	ui_say(p->v.ui, "%u.%u is open again.", q->round, q->number);
	spec->verbs->reopen(spec->data, q->round, q->number);
	review_build(p);
	return true;
}
