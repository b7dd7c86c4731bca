/* dialog_plan_draw - draws a plan: its paths, conflicts, git, keys. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/diff.h"
#include "tui/console/dialogs/dialog_plan.h"
#include "tui/console/views/step_stats.h"

#define VERB_COLS 14
#define VERB_W	  60 /* a narrower row has no verb */
#define NARROW_W  38 /* a narrower row has one blank between two keys */

/* Returns words for a letter: what the undo does to the path. */
static const char *verb_of(char what)
{
	switch (what) {
	case 'A':
		return "comes back";
	case 'D':
		return "goes away";
	case 'R':
		return "renamed to";
	default:
		return "changes back";
	}
}

static const char *note_of(const struct undo_entry *e)
{
	if (e->lost)
		return "not kept: stays";
	switch (e->fate) {
	case FATE_KEPT:
		return e->why ? "no merge: stays" : "stays as it is";
	case FATE_MERGED:
		return "merged";
	case FATE_MARKED:
		return "merged, with conflict markers";
	case FATE_STOPS:
	case FATE_FORCED:
		break;
	}
	if (e->linked)
		return "changed since by another name";
	return e->beside ? "changed by a step beside it" : "changed since";
}

static void draw_entry(struct dialog_plan *d, struct surface *s, struct rect line,
		       const struct undo_plan *p, const struct undo_entry *e)
{
	int role = e->conflict	    ? ROLE_MODAL_DANGER
		   : e->what == 'A' ? ROLE_EVENT_ALLOW
		   : e->what == 'D' ? ROLE_EVENT_DENY
				    : ROLE_MODAL;
	AUTO_FREE char *whole = e->base ? path_join(e->base, e->path)
					: xstrdup(*e->path ? e->path : "."); /* the folder itself */
	const char *path = e->base ? ui_path(d->v.ui, whole) : whole;
	bool stays = undo_entry_elsewhere(p, e);
	int x = line.x, end = line.x + line.w;
	char letter[2] = {stays ? '=' : e->what, '\0'};

	x += ui_modal_text(s, x, line.y, 1, role, e->conflict ? "!" : " ") + 1;
	x += ui_modal_text(s, x, line.y, 1, role, letter) + 2;
	if (line.w >= VERB_W && e->what != 'R') {
		surface_text(s, x, line.y, VERB_COLS - 2, ROLE_MODAL_LABEL,
			     stays				      ? "stays"
			     : d->kind == UNDO_REDO && e->what == 'M' ? "changes"
								      : verb_of(e->what));
		x += VERB_COLS;
	}
	if (e->what == 'R' && e->other) {
		x += surface_hostile(s, x, line.y, (end - x) / 2 - 2, ROLE_MODAL, path);
		x += surface_text(s, x, line.y, 4, ROLE_MODAL_LABEL, " -> ");
		surface_hostile(s, x, line.y, end - x, ROLE_MODAL, e->other);
	} else {
		x += surface_hostile(s, x, line.y, end - x,
				     e->conflict ? ROLE_MODAL_DANGER : ROLE_MODAL, path);
		if (e->conflict)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     note_of(e));
		else if (e->later)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     "with what later steps did");
		else if (stays)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     "outside the folder");
		else if (e->fate == FATE_KEPT)
			surface_text(s, x + 2, line.y, MAX(0, end - x - 2), ROLE_MODAL_LABEL,
				     "stays as well");
	}
}

/* ---- external edits -------------------------------------------------------------------------- */

/* Counts the paths of the edit that are in conflict with this undo. */
static size_t in_conflict(const struct undo_plan *p, const struct barrier *b)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_entries; i++) {
		const struct undo_entry *e = &p->entries[i];
		AUTO_FREE char *whole = e->base ? path_join(e->base, e->path) : NULL;

		for (size_t k = 0; e->conflict && k < b->n_paths; k++)
			n += str_eq(b->paths[k], whole ? whole : e->path);
	}
	return n;
}

/* Draws "! 12:03:11 after step 4: README.md, src/a.c", and what happens to the edit. */
static void draw_barrier(struct surface *s, struct rect line, const struct undo_plan *p,
			 const struct barrier *b)
{
	const char *then = b->own ? "goes, too" : in_conflict(p, b) ? "see below" : "stays";
	int w = (int)strlen(then), x = line.x;
	AUTO_BUF struct buf words = BUF_INIT;
	char hms[16];

	clock_hms(hms, b->last_us);
	x += surface_text(s, x, line.y, line.w, ROLE_MODAL_DANGER, "! ");
	if (line.w >= 60)
		x += surface_fmt(s, x, line.y, line.w, ROLE_MODAL_DANGER,
				 b->own ? "%s your step %lld: " : "%s after step %lld: ", hms,
				 (long long)b->after);
	for (size_t i = 0; i < MIN(b->n_paths, (size_t)3); i++)
		buf_fmt(&words, "%s%s", i ? ", " : "", b->paths[i]);
	if (b->count > 3)
		buf_fmt(&words, " and %zu more", b->count - 3);
	surface_hostile_end(s, x, line.y, line.x + line.w - x - w - 2, ROLE_MODAL, words.data);
	surface_text(s, line.x + line.w - w, line.y, w, ROLE_MODAL_LABEL, then);
}

/* Returns the n-th change of git, "main: 622a4c8 -> 57acaea, 1 commit: licence"; NULL: there is
 * none. */
static const char *git_change(const struct dialog_plan *d, const struct undo_plan *p, size_t n)
{
	for (size_t i = 0; i < p->n_ids; i++) {
		const struct step_stat *s = view_steps_stat(d->v.ui->panes[PANE_STEPS], p->ids[i]);

		if (s && n < s->git.n)
			return s->git.list[n];
		n -= s ? s->git.n : 0;
	}
	return NULL;
}

static size_t git_rows(const struct dialog_plan *d, const struct undo_plan *p)
{
	size_t n = 0;

	if (!plan_count_gits(d, p))
		return 0;
	while (n < GIT_WORDS_MAX && git_change(d, p, n))
		n++;
	return n + 1;
}

/* Draws a change of git; in the last row the number of files behind the changes. */
static void draw_git(struct dialog_plan *d, struct surface *s, struct rect line,
		     const struct undo_plan *p, size_t row)
{
	const char *words = row + 1 < git_rows(d, p) ? git_change(d, p, row) : NULL;
	size_t n = plan_count_gits(d, p);
	int x = line.x + 1, end = line.x + line.w, verb;
	char keys[32];

	x += surface_text(s, x, line.y, 3, ROLE_MODAL_LABEL, "git") + 1;
	if (words) {
		verb = surface_text(s, x, line.y, end - x, ROLE_MODAL_LABEL,
				    d->kind == UNDO_REDO ? "brings back" : "takes back");
		x += line.w >= VERB_W ? VERB_COLS : verb + 1;
		surface_hostile_end(s, x, line.y, end - x, ROLE_MODAL, words);
		return;
	}
	ui_keys(d->v.ui, PLACE_PLAN, ACTION_DETAILS, keys, sizeof(keys));
	surface_fmt(s, x, line.y, end - x, ROLE_MODAL_LABEL, "%zu file%s of git's own: %s lists %s",
		    n, n == 1 ? "" : "s", keys, n == 1 ? "it" : "them");
}

/* Returns whether an entry has a row. Files outside the folders that stay are only counted in the
 * heading. */
static bool has_row(const struct dialog_plan *d, const struct undo_plan *p,
		    const struct undo_entry *e, bool all)
{
	return all || e->conflict || !(undo_entry_elsewhere(p, e) || plan_is_gits(d, e));
}

/* Returns the entry of a row: conflicts first, then the plan's order. */
static const struct undo_entry *entry_at(const struct dialog_plan *d, const struct undo_plan *p,
					 size_t row)
{
	bool conflicts = row < p->n_conflicts, all = plan_is_elsewhere(p);

	if (!conflicts)
		row -= p->n_conflicts;
	for (size_t i = 0; i < p->n_entries; i++) {
		const struct undo_entry *e = &p->entries[i];

		if (e->conflict == conflicts && has_row(d, p, e, all) && row-- == 0)
			return e;
	}
	return NULL;
}

static int draw_key(const struct dialog_plan *d, struct surface *s, struct rect in, int x,
		    enum action a, const char *words)
{
	int role = d->armed || a == ACTION_BACK ? ROLE_MODAL_KEY : ROLE_MODAL_LABEL;
	int y = in.y + in.h - 1, end = in.x + in.w;
	char keys[32];

	ui_keys(d->v.ui, PLACE_PLAN, a, keys, sizeof(keys));
	x += surface_text(s, x, y, MAX(0, end - x), role, keys) + 1;
	x += surface_text(s, x, y, MAX(0, end - x), ROLE_MODAL, words);
	return x + (in.w < NARROW_W ? 1 : in.w < VERB_W ? 2 : 3);
}

/* Draws the key that comes after a choice: "then U". It is no key of this plan. */
static int draw_then(const struct dialog_plan *d, struct surface *s, struct rect in, int x)
{
	int y = in.y + in.h - 1, end = in.x + in.w;
	char keys[32];

	ui_keys(d->v.ui, PLACE_PLAN, ACTION_CONFIRM, keys, sizeof(keys));
	return x + surface_fmt(s, x, y, MAX(0, end - x), ROLE_MODAL_LABEL, "then %s", keys) + 3;
}

static void draw_keys(struct dialog_plan *d, struct surface *s, struct rect in,
		      const struct undo_plan *p)
{
	bool choice = plan_has_choice(d, p), narrow = in.w < VERB_W;
	int x = in.x;

	if (!plan_stops(d, p) && !plan_is_elsewhere(p))
		x = draw_key(d, s, in, x, ACTION_CONFIRM, "do it");
	if (choice) {
		x = draw_key(d, s, in, x, ACTION_KEEP_MINE, narrow ? "mine" : "keep mine");
		x = draw_key(d, s, in, x, ACTION_MERGE, "merge");
	}
	if (choice && plan_stops(d, p) && !narrow)
		x = draw_then(d, s, in, x);
	if (plan_stops(d, p) && !plan_is_in_vain(d, p))
		x = draw_key(d, s, in, x, ACTION_FORCE,
			     choice ? narrow ? "overwrite" : "overwrite (redo has mine)"
			     : plan_lost(p) && plan_lost(p) == p->n_conflicts
				     ? "bring back the rest"
				     : "do it anyway (theirs is kept for redo)");
	if (plan_has_places(d, p))
		x = draw_key(d, s, in, x, ACTION_ALL_PLACES,
			     d->places ? "leave other places" : "other places too");
	draw_key(d, s, in, x, ACTION_BACK, "cancel");
}

/* Draws the keeper's refusal, or that the plan is not here yet. */
static void draw_no_plan(struct dialog_plan *d, struct surface *s, struct rect in)
{
	const char *refused = d->v.ui->spec.model->plan_refused;

	if (refused)
		surface_hostile_end(s, in.x, in.y, in.w, ROLE_MODAL_DANGER, refused);
	else
		surface_text(s, in.x, in.y, in.w, ROLE_MODAL_LABEL,
			     "Working out what would change...");
}

size_t plan_rows(const struct dialog_plan *d, const struct undo_plan *p)
{
	size_t rows = p->n_barriers + (p->n_paths > p->n_entries) + git_rows(d, p);
	bool all = plan_is_elsewhere(p);

	for (size_t i = 0; i < p->n_entries; i++)
		rows += has_row(d, p, &p->entries[i], all);
	return rows;
}

static void draw_at(struct dialog_plan *d, struct surface *s, struct rect line,
		    const struct undo_plan *p, size_t row)
{
	const struct undo_entry *e;

	if (row < p->n_barriers) {
		draw_barrier(s, line, p, &p->barriers[row]);
		return;
	}
	row -= p->n_barriers;
	e = entry_at(d, p, row);
	for (size_t i = 0; !e && i < p->n_entries; i++)
		row -= has_row(d, p, &p->entries[i], plan_is_elsewhere(p));
	if (e)
		draw_entry(d, s, line, p, e);
	else if (row < git_rows(d, p))
		draw_git(d, s, line, p, row);
	else
		surface_fmt(s, line.x, line.y, line.w, ROLE_MODAL_LABEL, "    and %zu more paths",
			    p->n_paths - p->n_entries);
}

void plan_draw(struct dialog_plan *d, struct surface *s, struct rect r)
{
	const struct undo_plan *p = plan_of(d);
	AUTO_BUF struct buf title = BUF_INIT;
	size_t n = p ? plan_rows(d, p) : 0;
	struct rect in, rows;

	plan_title(d, &title, p, MAX(8, r.w - 8));
	in = ui_modal(s, r, title.data, p && p->n_conflicts > 0);
	if (!p) {
		draw_no_plan(d, s, in);
		return;
	}
	plan_draw_words(d, p, s, in);
	rows = (struct rect){in.x, in.y + 2, in.w, MAX(0, in.h - 4)};
	if (rows.h == 0)
		rows = (struct rect){in.x, in.y + 1, in.w, MAX(0, in.h - 2)};
	d->list.page = (size_t)MAX(rows.h, 1);
	d->list.top = MIN(d->list.top, n > d->list.page ? n - d->list.page : 0);
	for (int y = 0; y < rows.h && d->list.top + (size_t)y < n; y++)
		draw_at(d, s, (struct rect){rows.x, rows.y + y, rows.w, 1}, p,
			d->list.top + (size_t)y);
	if (n == 0)
		surface_text(s, rows.x, rows.y, rows.w, ROLE_MODAL_LABEL,
			     d->kind == UNDO_REDO && p->n_ids == 0 ? "There is nothing to redo."
								   : "No file would change.");
	draw_keys(d, s, in, p);
}
