/* model - the state of one session as the user sees it: read-only for views, fed by session.c. */
/* SPDX-License-Identifier: MIT */
#include "core/session/model.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/path.h"

void model_init(struct model *m)
{
	*m = (struct model){.began_us = clock_mono_us()};
	m->rows = xcalloc(MODEL_ROWS, sizeof(*m->rows));
}

static void row_done(struct row *r)
{
	free(r->op);
	free(r->text);
	free(r->more);
}

static void ask_done(struct ask *a)
{
	free(a->op);
	free(a->path);
	free(a->program);
	free(a->command);
	free(a->reason);
	free(a->via);
	free(a->label);
	free(a->bundle);
	free(a->places);
	guard_report_free(a->held);
}

static void given_done(struct given *g)
{
	free(g->object);
	free(g->words);
	free(g->left);
}

static void step_row_done(struct step_row *s)
{
	free(s->command);
	free(s->undone_in);
}

void model_done(struct model *m)
{
	free(m->samples);
	for (size_t i = 0; i < m->row_count; i++)
		row_done(&m->rows[(m->row_head + i) % MODEL_ROWS]);
	for (size_t i = 0; i < m->n_steps; i++)
		step_row_done(&m->steps[i]);
	for (size_t i = 0; i < m->n_asks; i++)
		ask_done(&m->asks[i]);
	free(m->rows);
	free(m->steps);
	free(m->asks);
	for (size_t i = 0; i < m->n_given; i++)
		given_done(&m->given[i]);
	free(m->given);
	for (size_t i = 0; i < m->n_lasting; i++) {
		free(m->lasting[i].words);
		free(m->lasting[i].file);
		free(m->lasting[i].name);
	}
	free(m->lasting);
	free(m->hosts);
	model_connections_done(m);
	free(m->left);
	free(m->home);
	free(m->command);
	free(m->line);
	free(m->own_offer);
	free(m->job.words);
	free(m->plan_refused);
	free(m->stopped);
	free(m->notices);
	free(m->review_words);
	undo_plan_free(m->plan);
	barrier_free(m->edits, m->n_edits);
	turn_marks_free(m->turns, m->n_turns);
	free(m->prompt);
	*m = (struct model){0};
}

const struct row *model_row(const struct model *m, size_t i)
{
	return i < m->row_count ? &m->rows[(m->row_head + i) % MODEL_ROWS] : NULL;
}

struct row *model_add_row(struct model *m, enum row_kind kind, int64_t step, int pid, int result,
			  const char *op, const char *text, const char *more)
{
	struct row *r = &m->rows[(m->row_head + m->row_count) % MODEL_ROWS];

	if (m->row_count == MODEL_ROWS) {
		row_done(r);
		m->row_head = (m->row_head + 1) % MODEL_ROWS;
		m->rows_dropped++;
	} else {
		m->row_count++;
	}
	*r = (struct row){
		.seq = ++m->row_seq,
		.kind = kind,
		.wall_us = clock_wall_us(),
		.step = step,
		.pid = pid,
		.result = result,
		.op = xstrdup(op),
		.text = xstrdup(text ? text : ""),
		.more = more && *more ? xstrdup(more) : NULL,
	};
	m->version++;
	return r;
}

void model_add_sample(struct model *m, const struct usage_sample *s)
{
	if (!m->samples)
		m->samples = xcalloc(MODEL_SAMPLES, sizeof(*m->samples));
	m->samples[m->n_samples++ % MODEL_SAMPLES] = *s;
	m->cpu_percent = s->cpu;
	m->memory = s->memory;
	m->version++;
}

const struct usage_sample *model_sample(const struct model *m, size_t i)
{
	if (i >= MODEL_SAMPLES || i >= m->n_samples)
		return NULL;
	return &m->samples[(m->n_samples - 1 - i) % MODEL_SAMPLES];
}

static bool is_tried_again(const struct row *r, int pid, const char *command, const char *path)
{
	return r && r->kind == ROW_EXEC && r->pid == pid && str_eq(r->text, command) && r->more &&
	       path && str_eq(path_base(r->more), path_base(path));
}

struct row *model_add_exec(struct model *m, int64_t step, int pid, const char *command,
			   const char *path)
{
	struct row *r =
		m->row_count ? &m->rows[(m->row_head + m->row_count - 1) % MODEL_ROWS] : NULL;

	if (!is_tried_again(r, pid, command, path))
		return model_add_row(m, ROW_EXEC, step, pid, 0, "exec", command, path);
	free(r->more);
	r->more = xstrdup(path);
	m->version++;
	return r;
}

/* Newest first: an event is nearly always about one of the last steps. */
struct step_row *model_step(struct model *m, int64_t id)
{
	for (size_t i = m->n_steps; i-- > 0;)
		if (m->steps[i].id == id)
			return &m->steps[i];
	return NULL;
}

struct step_row *model_add_step(struct model *m, int64_t id, enum step_kind kind,
				const char *command, int64_t wall_us)
{
	struct step_row *s;

	if (m->n_steps == m->cap_steps) {
		m->cap_steps = m->cap_steps ? 2 * m->cap_steps : 64;
		m->steps = xrealloc(m->steps, m->cap_steps * sizeof(*m->steps));
	}
	s = &m->steps[m->n_steps++];
	*s = (struct step_row){
		.id = id,
		.kind = kind,
		.running = true,
		.began_us = wall_us,
		.command = xstrdup(command ? command : ""),
	};
	m->version++;
	return s;
}

static int by_number(const void *a, const void *b)
{
	long long x = llabs(((const struct step_row *)a)->id);
	long long y = llabs(((const struct step_row *)b)->id);

	return (x > y) - (x < y);
}

void model_sort_steps(struct model *m)
{
	if (m->n_steps)
		qsort(m->steps, m->n_steps, sizeof(*m->steps), by_number);
}

const struct step_row *model_newest_restore(const struct model *m)
{
	const struct step_row *newest = NULL;

	for (size_t i = 0; i < m->n_steps; i++) {
		const struct step_row *row = &m->steps[i];

		if (row->kind == STEP_API && !row->undone && (!newest || row->id > newest->id))
			newest = row;
	}
	return newest;
}

void model_add_earlier(struct model *m, const struct step_info *list, size_t n, bool undone)
{
	for (size_t i = n; i-- > 0;) {
		const struct step_info *from = &list[i];
		struct step_row *s = model_step(m, from->id);

		if (s && s->earlier)
			s->undone &= undone; /* in one folder only */
		if (s)
			continue;
		s = model_add_step(m, from->id, from->kind, from->command, from->began_us);
		s->running = false;
		s->earlier = true;
		s->undone = undone;
		s->incomplete = from->incomplete;
		s->elsewhere = from->elsewhere;
		s->ended_us = from->ended_us;
		s->exit_status = from->exit_status;
		s->paths = from->created + from->modified + from->deleted + from->renamed;
	}
	model_set_counts(m, list, n);
	model_sort_steps(m);
}

void model_set_turns(struct model *m, struct turn_mark *list, size_t n)
{
	turn_marks_free(m->turns, m->n_turns);
	m->turns = list;
	m->n_turns = n;
	m->version++;
}

void model_remove_step(struct model *m, int64_t id)
{
	struct step_row *s = model_step(m, id);

	if (!s)
		return;
	step_row_done(s);
	memmove(s, s + 1, (size_t)(&m->steps[m->n_steps] - (s + 1)) * sizeof(*s));
	m->n_steps--;
	m->version++;
}

/* What the history does not have any more is no news of an earlier session. */
static void drop_earlier(struct model *m, const struct step_info *redo, size_t n_redo,
			 const struct step_info *kept, size_t n_kept)
{
	for (size_t i = m->n_steps; i-- > 0;) {
		const struct step_row *s = &m->steps[i];

		if (s->earlier && !step_info_has(redo, n_redo, s->id) &&
		    !step_info_has(kept, n_kept, s->id))
			model_remove_step(m, s->id);
	}
}

void model_set_undone(struct model *m, const struct step_info *redo, size_t n_redo,
		      const struct step_info *kept, size_t n_kept)
{
	int64_t oldest = 0; /* the newest come first */

	if (n_kept)
		oldest = llabs(kept[n_kept - 1].id);
	drop_earlier(m, redo, n_redo, kept, n_kept);
	for (size_t i = 0; i < m->n_steps; i++) {
		struct step_row *s = &m->steps[i];
		bool again = step_info_has(redo, n_redo, s->id);

		s->undone = (s->undone || again) && !step_info_has(kept, n_kept, s->id);
		s->over = s->undone && !again;
		s->gone = !s->running && !s->undone && llabs(s->id) < oldest;
	}
	m->version++;
}

void model_set_undone_in(struct model *m, int64_t id, const char *folders)
{
	struct step_row *s = model_step(m, id);

	if (!s)
		return;
	free(s->undone_in);
	s->undone_in = folders ? xstrdup(folders) : NULL;
}

void model_set_counts(struct model *m, const struct step_info *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct step_row *row = model_step(m, list[i].id);

		if (!row || row->running)
			continue;
		row->created = list[i].created;
		row->modified = list[i].modified;
		row->deleted = list[i].deleted;
		row->renamed = list[i].renamed;
	}
}

void model_end_redo(struct model *m)
{
	for (size_t i = 0; i < m->n_steps; i++)
		m->steps[i].over = m->steps[i].undone;
	m->version++;
}

void model_set_edits(struct model *m, struct barrier *list, size_t n)
{
	barrier_free(m->edits, m->n_edits);
	m->edits = list;
	m->n_edits = n;
	m->version++;
}

/* Its newest output or row is not older than that. */
static bool was_active(const struct model *m, int64_t us)
{
	const struct row *newest = m->row_count ? model_row(m, m->row_count - 1) : NULL;

	return (m->printed_us && clock_mono_us() - m->printed_us < us) ||
	       (newest && clock_wall_us() - newest->wall_us < us);
}

const char *model_state(const struct model *m)
{
	if (m->exited)
		return "ended";
	if (m->n_asks || m->agent_asks)
		return "asks";
	return model_running(m, NULL) || was_active(m, MODEL_REST_US) ? "working" : "idle";
}

size_t model_running(const struct model *m, const struct step_row **newest)
{
	size_t n = 0;

	if (newest)
		*newest = NULL;
	for (size_t i = 0; i < m->n_steps; i++) {
		if (!m->steps[i].running)
			continue;
		n++;
		if (newest)
			*newest = &m->steps[i];
	}
	return n;
}

int ask_up_to(const struct ask *a, const char *other)
{
	size_t len = strlen(a->path);

	if (!a->is_dir)
		while (len > 0 && a->path[len] != '/')
			len--;
	for (int up = 0; len > 0 && up <= (int)a->up && !a->no_tree; up++) {
		if (strncmp(a->path, other, len) == 0 && other[len] == '/')
			return up;
		do
			len--;
		while (len > 0 && a->path[len] != '/');
	}
	return -1;
}

static bool same_directory(const struct ask *a, const struct ask *b)
{
	const char *x = strrchr(a->path, '/'), *y = strrchr(b->path, '/');

	return x && y && x - a->path == y - b->path &&
	       memcmp(a->path, b->path, (size_t)(x - a->path)) == 0;
}

/* What one program asks for at a time in one tree, that may be allowed as a whole; or a bundle. */
static bool same_prompt(const struct ask *a, const struct ask *b)
{
	int64_t apart = a->since_us - b->since_us;

	if (a->held || b->held || a->own || b->own || a->kind != b->kind || a->is_dir || b->is_dir)
		return false;
	if (a->bundle && *a->bundle)
		return str_eq(a->bundle, b->bundle);
	if (a->pid == b->pid && same_directory(a, b))
		return true;
	return str_eq(a->program, b->program) && apart > -ASK_TOGETHER_US &&
	       apart < ASK_TOGETHER_US && ask_up_to(a, b->path) >= 0 && ask_up_to(b, a->path) >= 0;
}

static void join_prompt(struct model *m, struct ask *a)
{
	a->prompt = a->id;
	a->leads = true;
	for (const struct ask *b = m->asks; b < a && a->leads; b++) {
		if (!b->leads || !same_prompt(a, b))
			continue;
		a->prompt = b->prompt;
		a->leads = false;
	}
	m->n_prompts += a->leads;
}

/* The next oldest leads. */
static void leave_prompt(struct model *m, const struct ask *a)
{
	if (!a->leads)
		return;
	for (struct ask *b = &m->asks[a - m->asks + 1]; b < m->asks + m->n_asks; b++) {
		if (b->prompt == a->prompt) {
			b->leads = true;
			return;
		}
	}
	m->n_prompts--;
}

void model_add_ask(struct model *m, const struct ask *a)
{
	if (m->n_asks >= MODEL_ASKS &&
	    !a->held) /* steps that are held are few, and not told twice */
		return;
	m->asks = xrealloc(m->asks, (m->n_asks + 1) * sizeof(*m->asks));
	m->asks[m->n_asks++] = (struct ask){
		.id = a->id,
		.step = a->step,
		.pid = a->pid,
		.since_us = a->since_us,
		.kind = a->kind,
		.is_dir = a->is_dir,
		.has_step = a->has_step,
		.secret = a->secret,
		.no_dir = a->no_dir,
		.no_tree = a->no_tree,
		.own = a->own,
		.timeout_s = a->timeout_s,
		.call_only = a->call_only,
		.op = xstrdup(a->op),
		.path = xstrdup(a->path),
		.program = xstrdup(a->program),
		.command = xstrdup(a->command),
		.reason = xstrdup(a->reason),
		.via = xstrdup(a->via),
		.label = xstrdup(a->label),
		.up = a->up,
		.bundle = xstrdup(a->bundle),
		.places = xstrdup(a->places),
		.held = a->held ? guard_report_copy(a->held) : NULL,
	};
	join_prompt(m, &m->asks[m->n_asks - 1]);
	m->version++;
}

bool model_set_held(struct model *m, const struct guard_report *r)
{
	for (size_t i = 0; i < m->n_asks; i++) {
		struct ask *a = &m->asks[i];

		if (a->id != r->ask || !a->held)
			continue;
		guard_report_free(a->held);
		a->held = guard_report_copy(r);
		m->version++;
		return false;
	}
	model_add_ask(m, &(struct ask){
				 .id = r->ask,
				 .step = r->step,
				 .pid = (int)r->pid,
				 .since_us = clock_mono_us(),
				 .kind = RULE_WRITE,
				 .timeout_s = r->timeout_s,
				 .op = r->n_would ? r->ops[0] : NULL,
				 .path = r->n_would ? r->would[0] : NULL,
				 .command = r->command,
				 .held = (struct guard_report *)(uintptr_t)r,
			 });
	return true;
}

void model_remove_ask(struct model *m, uint64_t id)
{
	for (size_t i = 0; i < m->n_asks; i++) {
		if (m->asks[i].id != id)
			continue;
		leave_prompt(m, &m->asks[i]);
		ask_done(&m->asks[i]);
		memmove(&m->asks[i], &m->asks[i + 1], (m->n_asks - i - 1) * sizeof(*m->asks));
		m->n_asks--;
		m->version++;
		return;
	}
}

const struct ask *model_ask(const struct model *m, uint64_t id)
{
	for (size_t i = 0; i < m->n_asks; i++)
		if (m->asks[i].id == id)
			return &m->asks[i];
	return NULL;
}

static size_t room_for_given(struct model *m)
{
	size_t i = 0;

	if (m->n_given < MODEL_GIVEN)
		return m->n_given++;
	while (i < m->n_given - 1 && !m->given[i].over)
		i++;
	given_done(&m->given[i]);
	memmove(&m->given[i], &m->given[i + 1], (m->n_given - i - 1) * sizeof(*m->given));
	return m->n_given - 1;
}

void model_add_given(struct model *m, const struct given *g)
{
	size_t i;

	if (!m->given)
		m->given = xcalloc(MODEL_GIVEN, sizeof(*m->given));
	i = room_for_given(m);
	m->given[i] = *g;
	m->given[i].object = xstrdup(g->object);
	m->given[i].words = xstrdup(g->words);
	m->given[i].left = xstrdup(g->left);
	m->given_version++;
	m->version++;
}

static void set_words(struct model *m, char **to, const char *words)
{
	free(*to);
	*to = xstrdup(words);
	m->version++;
}

const struct given *model_set_left(struct model *m, uint64_t rule, const char *words)
{
	for (size_t i = 0; rule && i < m->n_given; i++) {
		if (m->given[i].rule != rule)
			continue;
		set_words(m, &m->given[i].left, words);
		m->given_version++;
		return &m->given[i];
	}
	if (!rule)
		set_words(m, &m->left, words);
	return NULL;
}
