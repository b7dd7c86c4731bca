/* model - what the human is shown of one session: read-only for views, fed by session.c. */
/* SPDX-License-Identifier: MIT */
#include "core/session/model.h"

#include <string.h>

#include "core/base/clock.h"

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
	guard_report_free(a->held);
}

void model_done(struct model *m)
{
	for (size_t i = 0; i < m->row_count; i++)
		row_done(&m->rows[(m->row_head + i) % MODEL_ROWS]);
	for (size_t i = 0; i < m->n_steps; i++)
		free(m->steps[i].command);
	for (size_t i = 0; i < m->n_asks; i++)
		ask_done(&m->asks[i]);
	free(m->rows);
	free(m->steps);
	free(m->asks);
	free(m->command);
	free(m->job.words);
	free(m->plan_refused);
	free(m->stopped);
	undo_plan_free(m->plan);
	*m = (struct model){0};
}

const struct row *model_row(const struct model *m, size_t i)
{
	return i < m->row_count ? &m->rows[(m->row_head + i) % MODEL_ROWS] : NULL;
}

void model_add_row(struct model *m, enum row_kind kind, int64_t step, int pid, int result,
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

void model_remove_step(struct model *m, int64_t id)
{
	struct step_row *s = model_step(m, id);

	if (!s)
		return;
	free(s->command);
	memmove(s, s + 1, (size_t)(&m->steps[m->n_steps] - (s + 1)) * sizeof(*s));
	m->n_steps--;
	m->version++;
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
		.op = xstrdup(a->op),
		.path = xstrdup(a->path),
		.program = xstrdup(a->program),
		.command = xstrdup(a->command),
		.reason = xstrdup(a->reason),
		.held = a->held ? guard_report_copy(a->held) : NULL,
	};
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
