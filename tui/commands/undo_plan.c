/* undo_plan - prints the plan of `cordon undo`: paths, external edits, merges. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/diff/diff.h"
#include "tui/commands/undo_plan.h"

static const char *verb_of(char what)
{
	switch (what) {
	case 'A':
		return "comes back";
	case 'D':
		return "goes away";
	case 'R':
		return "is renamed";
	default:
		return "changes";
	}
}

static const char *beside_of(const struct undo_entry *e)
{
	switch (e->fate) {
	case FATE_KEPT:
		return "   changed by a step that ran at the same time: stays as it is";
	case FATE_MERGED:
		return "   changed by a step that ran at the same time: merged";
	case FATE_MARKED:
		return "   changed by a step that ran at the same time: merged with conflict "
		       "markers";
	case FATE_STOPS:
	case FATE_FORCED:
		break;
	}
	return "   CONFLICT: changed by a step that ran at the same time and stays";
}

static const char *fate_of(const struct undo_plan *p, const struct undo_entry *e)
{
	if (e->lost)
		return "   LOST: the content before the step is not kept; stays as it is";
	if (e->conflict && p->kind == UNDO_PATHS)
		return "   CONFLICT: changed since that step, and not by later steps alone";
	if (e->later)
		return "   what later steps changed goes, too";
	if (e->beside)
		return beside_of(e);
	if (undo_entry_elsewhere(p, e))
		return "   outside the folder: stays as it is (--all-places undoes it)";
	switch (e->fate) {
	case FATE_KEPT:
		return e->conflict
			       ? "   changed by someone else since: stays as it is"
			       : "   back already, or tied to a path that stays: stays as it is";
	case FATE_MERGED:
		return "   changed by someone else since: merged";
	case FATE_MARKED:
		return "   changed by someone else since: merged with conflict markers";
	case FATE_STOPS:
	case FATE_FORCED:
		break;
	}
	if (e->linked)
		return "   CONFLICT: changed by someone else since, by another name of the file";
	return e->conflict ? "   CONFLICT: changed by someone else since" : "";
}

static void print_entry(const struct undo_plan *p, const struct undo_entry *e)
{
	AUTO_BUF struct buf line = BUF_INIT;

	if (e->base) {
		text_escape(&line, e->base, strlen(e->base));
		buf_ch(&line, '/');
	}
	if (*e->path)
		text_escape(&line, e->path, strlen(e->path));
	else
		buf_ch(&line, '.'); /* the folder itself */
	if (e->other && *e->other) {
		buf_str(&line, " -> ");
		text_escape(&line, e->other, strlen(e->other));
	}
	printf("%c  %-11s %s%s%s%s\n", e->fate == FATE_KEPT ? '=' : e->what,
	       e->fate == FATE_KEPT ? "stays" : verb_of(e->what), line.data, fate_of(p, e),
	       e->why ? "; no merge: " : "", e->why ? e->why : "");
}

static void print_barrier(const struct barrier *b)
{
	char when[32];

	clock_iso(when, b->last_us);
	printf(b->own ? "!  step %" PRId64 " is your own, %s: %zu path%s\n"
		      : "!  edited from outside after step %" PRId64 ", %s: %zu path%s\n",
	       b->after, when, b->count, b->count == 1 ? "" : "s");
	for (size_t i = 0; i < b->n_paths; i++) {
		AUTO_BUF struct buf line = BUF_INIT;

		text_escape(&line, b->paths[i], strlen(b->paths[i]));
		printf("!    %s\n", line.data);
	}
	if (b->count > b->n_paths)
		printf("!    and %zu more\n", b->count - b->n_paths);
}

void print_plan(const struct undo_plan *p, size_t max)
{
	size_t shown = MIN(p->n_entries, max);

	for (size_t i = 0; i < p->n_barriers; i++)
		print_barrier(&p->barriers[i]);
	for (size_t i = 0; i < shown; i++)
		print_entry(p, &p->entries[i]);
	if (p->n_paths > shown)
		printf("   and %zu more paths%s\n", p->n_paths - shown,
		       shown < p->n_entries ? ": --dry-run lists them" : "");
}

static bool print_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		       int old_line, int new_line)
{
	AUTO_BUF struct buf line = BUF_INIT;

	(void)data;
	(void)old_line;
	(void)new_line;
	text_escape(&line, text, len);
	printf("%s%s\n",
	       kind == DIFF_ADD	      ? "+"
	       : kind == DIFF_DEL     ? "-"
	       : kind == DIFF_CONTEXT ? " "
				      : "",
	       line.data);
	return true;
}

int print_merges(struct journal *j, const struct undo_plan *p, struct err *err)
{
	struct undo_plan *whole = NULL;
	bool merges = false;
	int r;

	for (size_t i = 0; i < p->n_entries; i++)
		merges |= p->entries[i].fate == FATE_MERGED || p->entries[i].fate == FATE_MARKED;
	if (!merges)
		return 0;
	r = journal_plan(j, p->kind, p->n, p->flags, &whole, err);
	if (r == 0 && whole->seal != p->seal)
		r = err_say(err, -ESTALE, "a file has changed meanwhile: look again");
	for (size_t i = 0; r == 0 && i < whole->n_entries; i++) {
		const struct undo_entry *e = &whole->entries[i];
		const struct undo_merge *m = e->merge;

		if (m)
			r = diff_texts(e->path, (struct span){.data = m->now, .len = m->now_len},
				       (struct span){.data = m->then, .len = m->then_len},
				       print_line, NULL, err);
	}
	undo_plan_free(whole);
	return r;
}
