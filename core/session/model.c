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

void model_done(struct model *m)
{
	free(m->samples);
	for (size_t i = 0; i < m->row_count; i++)
		row_done(&m->rows[(m->row_head + i) % MODEL_ROWS]);
	free(m->rows);
	model_steps_done(m);
	model_asks_done(m);
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

/* Returns whether the newest output, or the newest row about a process, is not older than that.
 * Other rows tell of the user, or of cordon. */
static bool was_active(const struct model *m, int64_t us)
{
	int64_t since = clock_wall_us() - us;

	if (m->printed_us && clock_mono_us() - m->printed_us < us)
		return true;
	for (size_t i = m->row_count; i > 0; i--) {
		const struct row *r = model_row(m, i - 1);

		if (!r || r->wall_us <= since)
			break;
		if (r->pid)
			return true;
	}
	return false;
}

/* Returns whether the agent may still be loading: it has printed nothing yet. */
static bool starts(const struct model *m)
{
	return !m->printed_us && clock_mono_us() - m->began_us < MODEL_START_US;
}

const char *model_state(const struct model *m)
{
	if (m->exited || m->over)
		return "ended";
	if (m->n_asks || m->agent_asks)
		return "asks";
	if (m->tells_rest && m->rests) /* what still runs or is drawn is no work on a prompt */
		return "idle";
	return model_running(m, NULL) || was_active(m, MODEL_REST_US) || starts(m) ? "working"
										   : "idle";
}
