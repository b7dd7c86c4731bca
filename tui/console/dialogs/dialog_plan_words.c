/* dialog_plan_words - a plan in sentences, shorter ones on a narrow screen. */
/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "core/base/text.h"
#include "core/diff/diff.h"
#include "tui/console/dialogs/dialog_plan.h"

#define STEPS_NAMED 6
#define PHRASINGS   3 /* of a text: the first is the longest */

/* What the phrasings of a text are made from. */
struct about {
	const struct dialog_plan *d;
	const struct undo_plan *p;
};

static const char *plan_verb(const struct dialog_plan *d)
{
	static const char *const names[] = {
		[UNDO_BACK] = "undo", [UNDO_REDO] = "redo", [UNDO_PATHS] = "restore"};

	return names[d->kind];
}

/* Draws the longest phrasing that fits on the row, or as much of the shortest as does. */
static void draw_fitting(struct surface *s, struct rect in, int y, int role,
			 void (*put)(const struct about *a, struct buf *out, int phrasing),
			 const struct about *a)
{
	AUTO_BUF struct buf words = BUF_INIT;

	for (int i = 0; i < PHRASINGS; i++) {
		buf_clear(&words);
		put(a, &words, i);
		if (text_width(words.data) <= in.w)
			break;
	}
	surface_text(s, in.x, in.y + y, in.w, role, words.data);
}

bool plan_is_gits(const struct dialog_plan *d, const struct undo_entry *e)
{
	return !d->git && !e->conflict && diff_is_gits_own(e->path);
}

size_t plan_count_gits(const struct dialog_plan *d, const struct undo_plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_entries; i++)
		n += plan_is_gits(d, &p->entries[i]) && !undo_entry_elsewhere(p, &p->entries[i]);
	return n;
}

/* Appends "! 2 edited since by you or another program, 1 not kept: listed first". */
static void list_conflicts(struct buf *out, const struct undo_plan *p, bool brief)
{
	size_t lost = plan_lost(p), beside = 0, since;
	const char *comma = "! ";

	for (size_t i = 0; i < p->n_entries; i++)
		beside += p->entries[i].conflict && p->entries[i].beside;
	since = p->n_conflicts - lost - beside;
	if (since) {
		buf_fmt(out, "%s%zu edited since%s", comma, since,
			brief ? "" : " by you or another program");
		comma = ", ";
	}
	if (beside) {
		buf_fmt(out, "%s%zu changed by a step beside it", comma, beside);
		comma = ", ";
	}
	if (lost)
		buf_fmt(out, "%s%zu not kept", comma, lost);
	if (!brief)
		buf_str(out, ": listed first");
}

/* Appends a warning about conflicts, and the effect of the choice that was made. */
static void put_warning(const struct about *a, struct buf *out, int phrasing)
{
	char key[32];

	if (a->d->flags & UNDO_MERGE)
		buf_str(out, phrasing ? "merges both sides; Enter shows it"
				      : "merges what both sides changed, or leaves theirs; Enter "
					"shows it");
	else if (a->d->flags & UNDO_KEEP_MINE)
		buf_str(out, phrasing ? "leaves edited files as they are"
				      : "leaves files that you or another program edited as they "
					"are");
	else if (a->p->n_conflicts)
		list_conflicts(out, a->p, phrasing);
	else if (a->p->barriers[0].own)
		buf_fmt(out,
			phrasing
				? "! your own steps go, too: undo fewer, or %s"
				: "! steps of your own go with them: undo fewer, or %s takes them, "
				  "too",
			ui_keys(a->d->v.ui, PLACE_PLAN, ACTION_FORCE, key, sizeof(key)));
	else
		buf_str(out, phrasing ? "! paths were edited after the steps"
				      : "! you or another program edited these paths after the "
					"steps");
}

static void draw_warning(const struct about *a, struct surface *s, struct rect in)
{
	if (a->p->n_conflicts || a->p->n_barriers)
		draw_fitting(s, in, 1, ROLE_MODAL_DANGER, put_warning, a);
}

void plan_elsewhere_words(struct ui *ui, const struct undo_plan *p, struct buf *out)
{
	char keys[32];

	ui_keys(ui, PLACE_PLAN, ACTION_ALL_PLACES, keys, sizeof(keys));
	buf_fmt(out, "%s changed nothing in the project, only files elsewhere: %s undoes those",
		p->n_ids == 1 ? "This step" : "These steps", keys);
}

/* Sets ids to the plan's steps, without notes, unless their files go as well. Returns their number.
 */
static size_t named_steps(const struct dialog_plan *d, const struct undo_plan *p, int64_t **ids)
{
	*ids = xcalloc(p->n_ids + 1, sizeof(**ids));
	for (size_t i = 0; i < p->n_ids; i++)
		(*ids)[i] = p->ids[i];
	return d->places ? p->n_ids : model_drop_notes(d->v.ui->spec.model, *ids, p->n_ids);
}

size_t plan_count_steps(const struct dialog_plan *d, const struct undo_plan *p)
{
	AUTO_FREE int64_t *ids = NULL;

	return named_steps(d, p, &ids);
}

/* Appends "step 4", "3 steps (6, 5, 4)"; brief: "3 steps". */
static void put_steps(const struct dialog_plan *d, struct buf *out, const struct undo_plan *p,
		      bool brief)
{
	AUTO_FREE int64_t *ids = NULL;
	AUTO_BUF struct buf list = BUF_INIT;
	size_t n = named_steps(d, p, &ids);

	for (size_t i = 0; i < MIN(n, (size_t)STEPS_NAMED); i++)
		buf_fmt(&list, "%s%lld", i ? ", " : "", (long long)ids[i]);
	if (n == 1)
		buf_fmt(out, "step %s", list.data);
	else
		buf_fmt(out, brief ? "%zu steps" : "%zu steps (%s%s)", n, list.data,
			n > STEPS_NAMED ? ", ..." : "");
}

void plan_title(const struct dialog_plan *d, struct buf *out, const struct undo_plan *p, int cols)
{
	const struct model *m = d->v.ui->spec.model;
	AUTO_BUF struct buf words = BUF_INIT;
	AUTO_FREE int64_t *ids = NULL;
	const bool one = p && d->kind != UNDO_PATHS && named_steps(d, p, &ids) == 1;

	if (plan_is_alone(d))
		buf_fmt(&words, "undo: step %lld alone", (long long)d->step);
	else
		buf_str(&words, plan_verb(d));
	for (size_t i = 0; one && i < m->n_steps; i++) {
		const struct step_row *st = &m->steps[i];

		if (st->id != ids[0] || !st->command || !*st->command)
			continue;
		buf_str(&words, ": ");
		text_escape(&words, st->command, strlen(st->command));
	}
	text_fit_end(out, words.data, cols);
}

/* Appends what the plan does: "Rolls back 3 steps (6, 5, 4): 2 paths; 1 outside the folder stays".
 */
static void put_heading(const struct about *a, struct buf *out, int phrasing)
{
	const struct dialog_plan *d = a->d;
	const struct undo_plan *p = a->p;
	size_t elsewhere = 0, n;

	if (plan_is_alone(d)) {
		buf_fmt(out, "Undoes step %lld alone%s: %zu path%s", (long long)d->step,
			phrasing ? "" : ", as a new step", p->n_paths, p->n_paths == 1 ? "" : "s");
		return;
	}
	if (d->kind == UNDO_PATHS) {
		buf_fmt(out,
			phrasing ? "Restores %zu path%s as before step %lld"
				 : "Restores %zu path%s to the state before step %lld, as a new "
				   "step",
			p->n_paths, p->n_paths == 1 ? "" : "s", (long long)d->step);
		return;
	}
	buf_str(out, d->kind == UNDO_REDO ? "Brings back " : "Rolls back ");
	put_steps(d, out, p, phrasing > 0);
	for (size_t i = 0; i < p->n_entries; i++)
		elsewhere += undo_entry_elsewhere(p, &p->entries[i]);
	n = p->n_paths - elsewhere - plan_count_gits(d, p);
	if (n || !plan_count_gits(d, p))
		buf_fmt(out, ": %zu path%s", n, n == 1 ? "" : "s");
	if (elsewhere && phrasing > 1)
		buf_fmt(out, "; %zu not", elsewhere);
	else if (elsewhere)
		buf_fmt(out, "; %zu outside the folder %s", elsewhere,
			elsewhere == 1 ? "stays" : "stay");
}

static void put_elsewhere(const struct about *a, struct buf *out, int phrasing)
{
	char key[32];

	if (phrasing)
		buf_fmt(out, "Only files elsewhere: %s undoes those",
			ui_keys(a->d->v.ui, PLACE_PLAN, ACTION_ALL_PLACES, key, sizeof(key)));
	else
		plan_elsewhere_words(a->d->v.ui, a->p, out);
}

/* Appends how to take back less than all newer steps. */
static void put_others(const struct about *a, struct buf *out, int phrasing)
{
	struct ui *ui = a->d->v.ui;
	char alone[32], open[32], one[32], more[32];

	buf_fmt(out, "Step %lld alone: %s", (long long)a->d->step,
		ui_keys(ui, PLACE_PLAN, ACTION_STEP_ALONE, alone, sizeof(alone)));
	if (phrasing < 2)
		buf_fmt(out, ". One file: %s on the step, then %s",
			ui_keys(ui, PLACE_STEPS, ACTION_OPEN, open, sizeof(open)),
			ui_keys(ui, PLACE_STEP, ACTION_RESTORE, one, sizeof(one)));
	if (phrasing < 1)
		buf_fmt(out, " (%s lists directories, too)",
			ui_keys(ui, PLACE_STEP, ACTION_ALL_PLACES, more, sizeof(more)));
}

void plan_draw_words(const struct dialog_plan *d, const struct undo_plan *p, struct surface *s,
		     struct rect in)
{
	const struct about *a = &(struct about){d, p};

	if (plan_is_elsewhere(a->p) && a->d->kind != UNDO_PATHS) {
		draw_fitting(s, in, 0, ROLE_MODAL, put_elsewhere, a);
		return;
	}
	draw_fitting(s, in, 0, ROLE_MODAL, put_heading, a);
	draw_warning(a, s, in);
	if (a->d->kind == UNDO_BACK && plan_count_steps(a->d, a->p) > 1 && in.h > 4)
		draw_fitting(s, in, in.h - 2, ROLE_MODAL_LABEL, put_others, a);
}
