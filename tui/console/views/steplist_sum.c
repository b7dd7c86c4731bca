/* steplist_sum - counts the changes of a session, in a line, and of a turn: each file once. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/base/hash.h"
#include "tui/console/views/steplist.h"

#define SUM_STEPS 300  /* files are not counted in a session with more steps */
#define SUM_FILES 4000 /* in a turn with more files, a file of two steps counts twice */

struct seen { /* a counted file */
	char *name;
	UT_hash_handle hh;
};

struct sum {
	size_t steps, added, deleted;
	bool partly; /* a step is not read yet */
	struct seen *files;
};

/* Returns whether the step is of this session, in effect, and about the project. */
static bool counts(const struct step_row *st)
{
	return !st->earlier && !st->undone && !st->elsewhere;
}

static void add_file(struct sum *sum, char *name)
{
	struct seen *seen = NULL;

	HASH_FIND_STR(sum->files, name, seen);
	if (seen)
		return;
	seen = xcalloc(1, sizeof(*seen));
	seen->name = name; /* borrowed from the step */
	HASH_ADD_KEYPTR(hh, sum->files, seen->name, strlen(seen->name), seen);
}

static void add_step(struct sum *sum, const struct step_stat *stat)
{
	sum->partly |= !stat || stat->many;
	sum->added += stat ? stat->added : 0;
	sum->deleted += stat ? stat->deleted : 0;
	for (size_t i = 0; stat && i < stat->n; i++)
		add_file(sum, stat->list[i].name);
}

void steplist_read_all(struct view_steps *p)
{
	const struct model *m = p->v.ui->spec.model;

	for (size_t i = m->n_steps; i > 0 && m->n_steps - i < SUM_STEPS; i--)
		if (counts(&m->steps[i - 1]))
			steplist_stat(p, &m->steps[i - 1]);
}

/* Returns the number of distinct files, and clears the set. */
static size_t count_files(struct sum *sum)
{
	size_t files = HASH_COUNT(sum->files);
	struct seen *seen, *next;

	HASH_ITER (hh, sum->files, seen, next) {
		HASH_DEL(sum->files, seen);
		free(seen);
	}
	return files;
}

bool view_steps_sum(struct view *steps, struct buf *out)
{
	const struct model *m = steps->ui->spec.model;
	struct sum sum = {0};
	size_t files;

	for (size_t i = 0; i < m->n_steps; i++) {
		if (!counts(&m->steps[i]))
			continue;
		sum.steps++;
		if (sum.steps <= SUM_STEPS)
			add_step(&sum, steplist_stat((struct view_steps *)steps, &m->steps[i]));
	}
	files = count_files(&sum);
	if (!sum.steps)
		return false;
	buf_fmt(out, "%zu step%s", sum.steps, sum.steps == 1 ? "" : "s");
	if (files && !sum.partly && sum.steps <= SUM_STEPS)
		buf_fmt(out, ", %zu file%s changed", files, files == 1 ? "" : "s");
	else
		return true;
	if (sum.added || sum.deleted) /* else binary, empty, or a mode alone */
		buf_fmt(out, " (+%zu -%zu)", sum.added, sum.deleted);
	return true;
}

/* Returns false for an undo as well: the user made it. */
static bool is_agents(const struct step_row *st)
{
	return !st->undone && !st->elsewhere && !step_is_restore(st->kind, st->command);
}

size_t view_steps_turn(struct view *steps, int64_t *ret_newest)
{
	const struct model *m = steps->ui->spec.model;
	const struct turn_mark *turn = m->n_turns ? &m->turns[m->n_turns - 1] : NULL;
	struct sum sum = {0};
	size_t files;

	*ret_newest = 0;
	for (size_t i = m->n_steps; turn && i-- > 0 && sum.steps < SUM_STEPS;) {
		const struct step_row *st = &m->steps[i];

		if (turn_mark_of(m->turns, m->n_turns, st->id) != turn)
			break;
		if (st->earlier || !is_agents(st))
			continue;
		if (!sum.steps++)
			*ret_newest = llabs(st->id);
		add_step(&sum, st->running ? NULL : steplist_stat((struct view_steps *)steps, st));
	}
	files = count_files(&sum);
	return sum.partly ? 0 : files;
}

struct turn_sum steplist_turn_sum(const struct view_steps *p, size_t first)
{
	const struct model *m = p->v.ui->spec.model;
	struct turn_sum ret = {0};
	struct sum sum = {0};
	size_t named = 0, work = 0, undone = 0, end = steplist_turn_end(m, first);

	for (size_t i = first; i < end; i++) {
		const struct step_stat *stat =
			is_agents(&m->steps[i]) ? steplist_stat(p, &m->steps[i]) : NULL;

		work += !step_row_is_note(&m->steps[i]);
		undone += !step_row_is_note(&m->steps[i]) && m->steps[i].undone;
		if (!stat)
			continue;
		ret.added += stat->added;
		ret.deleted += stat->deleted;
		ret.commits |= git_files_commit(&stat->own);
		if (stat->many || named + stat->n > SUM_FILES) {
			ret.files += stat->files;
			continue;
		}
		named += stat->n;
		add_step(&sum, stat);
	}
	ret.files += count_files(&sum);
	ret.undone = work && undone == work;
	return ret;
}
