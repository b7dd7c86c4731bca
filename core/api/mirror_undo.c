/* mirror_undo - undo in a session that runs elsewhere: its plan and its job, as they are told. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/mirror_priv.h"
#include "core/api/peer_undo.h"
#include "core/base/json.h"

static const char *const kind_names[] = UNDO_KIND_NAMES;
static const char *const flag_names[] = UNDO_FLAG_NAMES;
static const char *const fate_names[] = UNDO_FATE_NAMES;
static const char *const stop_names[] = UNDO_STOP_NAMES;

/* ---- what is told ---------------------------------------------------------------------------- */

/* A member that is not there is not written at all: null can be the name of a file. */
static char *maybe(const struct mirror *m, const char *name)
{
	const char *s = link_field(&m->link, name);

	return *s ? xstrdup(s) : NULL;
}

static struct undo_plan *coming(struct mirror *m)
{
	if (!m->coming)
		m->coming = xcalloc(1, sizeof(*m->coming));
	return m->coming;
}

static void on_path(struct mirror *m)
{
	struct undo_plan *p = coming(m);
	const char *stop = mirror_text(m, "stop"), *change = mirror_text(m, "change");

	p->entries = xrealloc(p->entries, (p->n_entries + 1) * sizeof(*p->entries));
	p->entries[p->n_entries++] = (struct undo_entry){
		.root = (int)mirror_number(m, "root"),
		.path = xstrdup(link_field(&m->link, "path")),
		.what = *change ? *change : 'M',
		.other = maybe(m, "to"),
		.base = maybe(m, "base"),
		.later = mirror_truth(m, "later"),
		.conflict = *stop != '\0',
		.lost = str_eq(stop, stop_names[4]),
		.beside = str_eq(stop, stop_names[2]),
		.linked = str_eq(stop, stop_names[3]),
		.fate = (enum undo_fate)mirror_word(m, "fate", fate_names, ARRAY_LEN(fate_names)),
		.why = maybe(m, "why"),
	};
}

static void on_edit(struct mirror *m)
{
	struct undo_plan *p = coming(m);

	p->barriers = xrealloc(p->barriers, (p->n_barriers + 1) * sizeof(*p->barriers));
	p->barriers[p->n_barriers++] = (struct barrier){
		.first_us = mirror_number(m, "first_us"),
		.last_us = mirror_number(m, "last_us"),
		.count = (size_t)mirror_id_of(m, "count"),
		.after = mirror_number(m, "after"),
	};
}

static void on_edit_path(struct mirror *m)
{
	struct undo_plan *p = coming(m);
	struct barrier *b = p->n_barriers ? &p->barriers[p->n_barriers - 1] : NULL;

	if (!b)
		return;
	b->paths = xrealloc(b->paths, (b->n_paths + 1) * sizeof(*b->paths));
	b->paths[b->n_paths++] = xstrdup(link_field(&m->link, "path"));
}

static void read_steps(struct undo_plan *p, const char *words)
{
	char *end;

	for (; *words; words = end + (*end == ' ')) {
		int64_t id = strtoll(words, &end, 10);

		if (end == words)
			return;
		p->ids = xrealloc(p->ids, (p->n_ids + 1) * sizeof(*p->ids));
		p->ids[p->n_ids++] = id;
	}
}

static void on_refused(struct mirror *m)
{
	free(m->model.plan_refused);
	m->model.plan_refused = xstrdup(mirror_text(m, "error"));
	m->model.plan_refused_by = mirror_truth(m, "busy") ? -EBUSY : -EINVAL;
	m->model.version++;
}

/* The last line of it. One that was asked for before the newest is nobody's any more. */
static void on_plan(struct mirror *m)
{
	struct undo_plan *p = coming(m);

	m->coming = NULL;
	if (mirror_id_of(m, "request") != m->last_request || *mirror_text(m, "error")) {
		undo_plan_free(p);
		if (mirror_id_of(m, "request") == m->last_request)
			on_refused(m);
		return;
	}
	p->kind = (enum undo_kind)mirror_word(m, "kind", kind_names, ARRAY_LEN(kind_names));
	p->n = (size_t)mirror_id_of(m, "n");
	for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
		p->flags |= mirror_truth(m, flag_names[i]) ? 1u << i : 0;
	p->n_paths = (size_t)mirror_id_of(m, "paths");
	p->n_conflicts = (size_t)mirror_id_of(m, "conflicts");
	p->n_stops = (size_t)mirror_id_of(m, "stops");
	p->seal = mirror_id_of(m, "seal");
	read_steps(p, mirror_text(m, "steps"));
	undo_plan_free(m->model.plan);
	m->model.plan = p;
	m->model.plan_request = m->last_request;
	m->model.version++;
}

static void on_job(struct mirror *m)
{
	struct job *job = &m->model.job;

	if (mirror_id_of(m, "request") != job->request)
		return;
	job->active = mirror_truth(m, "active");
	job->cancelled = mirror_truth(m, "cancelled");
	job->done = mirror_id_of(m, "done");
	job->total = mirror_id_of(m, "total");
	job->result = (int)mirror_number(m, "result");
	free(job->words);
	job->words = xstrdup(mirror_text(m, "words"));
	m->model.version++;
}

void mirror_undo_apply(struct mirror *m, const char *type)
{
	if (str_eq(type, "event.plan_path"))
		on_path(m);
	else if (str_eq(type, "event.plan_edit"))
		on_edit(m);
	else if (str_eq(type, "event.plan_edit_path"))
		on_edit_path(m);
	else if (str_eq(type, "event.plan"))
		on_plan(m);
	else if (str_eq(type, "event.job"))
		on_job(m);
}

void mirror_undo_lost(struct mirror *m)
{
	struct job *job = &m->model.job;

	if (!job->active)
		return;
	job->active = false;
	job->result = -EPIPE;
	free(job->words);
	job->words = xstrdup("the session has ended meanwhile: `cordon log` shows what was undone");
	m->model.version++;
}

/* ---- what is asked --------------------------------------------------------------------------- */

static void put_flags(struct buf *out, unsigned flags)
{
	for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
		if (flags & 1u << i)
			buf_fmt(out, ",\"%s\":true", flag_names[i]);
}

uint64_t mirror_plan(struct mirror *m, const struct undo_wish *w)
{
	struct model *to = &m->model;

	free(to->plan_refused);
	to->plan_refused = NULL;
	buf_fmt(&m->out,
		"{\"type\":\"cmd.plan\",\"request\":%" PRIu64
		",\"kind\":\"%s\",\"n\":%zu,\"step\":%" PRId64,
		++m->last_request, kind_names[w->kind], w->n, w->step);
	put_flags(&m->out, w->flags);
	if (w->path) {
		buf_str(&m->out, ",\"path\":");
		json_quote(&m->out, w->path, strlen(w->path));
	}
	buf_str(&m->out, "}\n");
	mirror_send(m);
	return m->last_request;
}

uint64_t mirror_undo(struct mirror *m, unsigned flags)
{
	struct model *to = &m->model;

	buf_fmt(&m->out, "{\"type\":\"cmd.undo\",\"request\":%" PRIu64 ",\"plan\":%" PRIu64,
		++m->last_request, to->plan_request);
	put_flags(&m->out, flags);
	buf_str(&m->out, "}\n");
	free(to->job.words);
	to->job = (struct job){.kind = to->plan ? to->plan->kind : UNDO_BACK,
			       .request = m->last_request,
			       .active = true};
	to->version++;
	mirror_send(m);
	return m->last_request;
}

void mirror_cancel(struct mirror *m)
{
	if (!m->model.job.active)
		return;
	m->model.job.cancelled = true;
	m->model.version++;
	buf_str(&m->out, "{\"type\":\"cmd.cancel\"}\n");
	mirror_send(m);
}

void mirror_stop(struct mirror *m)
{
	buf_str(&m->out, "{\"type\":\"cmd.stop\"}\n");
	mirror_send(m);
}
