/* replay_diffs - the diffs of a recording's steps, from the history of its folder. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/replay_diffs.h"

#include <stdlib.h>
#include <string.h>

#include "core/diff/diff.h"
#include "core/record/redact.h"

#define TEXT_MAX  ((size_t)4 << 20) /* for all steps */
#define WIDTH_MAX 2000		    /* bytes of a line */
#define CLOCK_US  2000000 /* cordon and the keeper note the start of a step at different times */

struct replay_diffs {
	struct journal *journal;
	struct redact *redact;
	struct step_info *kept, *undone;
	size_t n_kept, n_undone;
	size_t left; /* rest of TEXT_MAX */
	struct step_diff *into;
};

void replay_diffs_close(struct replay_diffs *d)
{
	if (!d)
		return;
	step_info_free(d->kept, d->n_kept);
	step_info_free(d->undone, d->n_undone);
	journal_close(d->journal);
	redact_free(d->redact);
	free(d);
}

struct replay_diffs *replay_diffs_open(struct recording *rec, const char *state_dir,
				       const struct config *config)
{
	const struct cast_header *h = recording_header(rec);
	const struct journal_spec spec = {
		.folder = h->folder, .state_dir = state_dir, .read_only = true};
	const char *const *patterns = NULL;
	struct replay_diffs *d;
	struct err err = {0};

	if (!recording_is_own(rec) || !h->folder)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->left = TEXT_MAX;
	config_list(config, "record.redact", &patterns);
	if (redact_new(&d->redact, patterns, &err) < 0 ||
	    journal_open(&d->journal, &spec, NULL, &err) < 0 ||
	    journal_list(d->journal, false, &d->kept, &d->n_kept, &err) < 0 ||
	    journal_list(d->journal, true, &d->undone, &d->n_undone, &err) < 0) {
		replay_diffs_close(d);
		return NULL;
	}
	return d;
}

static bool has(const struct step_info *list, size_t n, const struct step_row *step)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].id == step->id && llabs(list[i].began_us - step->began_us) < CLOCK_US)
			return true;
	return false;
}

static bool is_wanted(void *data, const char *old_path, const char *new_path)
{
	(void)data;
	return !diff_is_gits_own(old_path) || !diff_is_gits_own(new_path);
}

static bool on_line(void *data, enum diff_line_kind kind, const char *text, size_t len,
		    int old_line, int new_line)
{
	static const char signs[] = {
		[DIFF_FILE] = '=', [DIFF_HUNK] = '@', [DIFF_CONTEXT] = ' ',
		[DIFF_ADD] = '+',  [DIFF_DEL] = '-',  [DIFF_META] = '.',
	};
	struct replay_diffs *d = data;
	struct step_diff *to = d->into;
	size_t n = MIN(len, WIDTH_MAX);
	char *line;

	(void)old_line, (void)new_line;
	to->added += kind == DIFF_ADD;
	to->deleted += kind == DIFF_DEL;
	if (to->n == DIFF_LINES_MAX || d->left < n) {
		to->cut = true;
		return true;
	}
	line = xasprintf("%c%.*s", signs[kind], (int)len, text);
	redact_text(d->redact, line, strlen(line)); /* before the cut: no part of a secret stays */
	line[MIN(strlen(line), n + 1)] = '\0';
	d->left -= n;
	to->lines = xrealloc(to->lines, (to->n + 1) * sizeof(*to->lines));
	to->lines[to->n++] = line;
	return true;
}

void replay_diffs_step(struct replay_diffs *d, const struct step_row *step, struct step_diff *ret)
{
	struct err err = {0};

	*ret = (struct step_diff){0};
	if (!d || (!has(d->kept, d->n_kept, step) && !has(d->undone, d->n_undone, step)))
		return;
	d->into = ret;
	ret->known =
		diff_range_paths(d->journal, step->id, step->id, is_wanted, on_line, d, &err) == 0;
}

void step_diff_done(struct step_diff *diff)
{
	for (size_t i = 0; i < diff->n; i++)
		free(diff->lines[i]);
	free(diff->lines);
	*diff = (struct step_diff){0};
}
