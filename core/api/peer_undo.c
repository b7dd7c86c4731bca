/* peer_undo - undo over a session's socket: what a client asks for, and what it is told. */
/* SPDX-License-Identifier: MIT */
#include "core/api/peer_undo.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/api/api_priv.h"
#include "core/audit/reader.h"
#include "core/base/json.h"

#define STEPS_MAX 100000

static const char *const kind_names[] = UNDO_KIND_NAMES;
static const char *const flag_names[] = UNDO_FLAG_NAMES;
static const char *const fate_names[] = UNDO_FATE_NAMES;

struct peer_undo {
	struct session *session;
	void (*send)(void *peer, const struct buf *out);
	void *peer;
	/* The client's numbers, and the session's for them. */
	uint64_t asked, waits; /* the plan that is being worked out; 0: none */
	uint64_t job, job_as;
	struct undo_wish wish; /* of the newest plan; path is heap */
	uint64_t shown;	       /* the newest plan that it was shown; 0: none */
	struct plan_shown what;
	uint64_t done; /* of the job, as told */
	bool cancelled;
};

struct peer_undo *peer_undo_open(struct session *s, void (*send)(void *peer, const struct buf *out),
				 void *peer)
{
	struct peer_undo *u = xcalloc(1, sizeof(*u));

	u->session = s;
	u->send = send;
	u->peer = peer;
	return u;
}

void peer_undo_close(struct peer_undo *u)
{
	if (!u)
		return;
	session_drop_guest(u->session, u);
	free((char *)(uintptr_t)u->wish.path);
	free(u);
}

/* ---- out ------------------------------------------------------------------------------------- */

static void member(struct buf *out, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	buf_fmt(out, ",\"%s\":", name);
	json_quote(out, value, strlen(value));
}

static void tell_flags(struct buf *out, unsigned flags)
{
	for (size_t i = 0; i < ARRAY_LEN(flag_names); i++)
		if (flags & 1u << i)
			buf_fmt(out, ",\"%s\":true", flag_names[i]);
}

static void tell_path(struct buf *out, uint64_t request, const struct undo_entry *e)
{
	const char *stop = !e->conflict ? ""
			   : e->lost	? "lost"
			   : e->beside	? "beside"
			   : e->linked	? "linked"
					: "since";
	const char change[] = {e->what, '\0'};

	buf_fmt(out, "{\"type\":\"event.plan_path\",\"request\":%" PRIu64 ",\"root\":%d", request,
		e->root);
	member(out, "change", change);
	member(out, "stop", stop);
	if (e->conflict || e->fate != FATE_STOPS)
		member(out, "fate", fate_names[e->fate]);
	if (e->later)
		buf_str(out, ",\"later\":true");
	member(out, "path", e->path);
	member(out, "to", e->other);
	member(out, "base", e->base);
	member(out, "why", e->why);
	buf_str(out, "}\n");
}

static void tell_edit(struct buf *out, uint64_t request, const struct barrier *b)
{
	buf_fmt(out,
		"{\"type\":\"event.plan_edit\",\"request\":%" PRIu64 ",\"first_us\":%" PRId64
		",\"last_us\":%" PRId64 ",\"count\":%zu,\"after\":%" PRId64 "}\n",
		request, b->first_us, b->last_us, b->count, b->after);
	for (size_t i = 0; i < b->n_paths; i++) {
		buf_fmt(out, "{\"type\":\"event.plan_edit_path\",\"request\":%" PRIu64, request);
		member(out, "path", b->paths[i]);
		buf_str(out, "}\n");
	}
}

static void tell_plan(struct buf *out, uint64_t request, const struct undo_plan *p)
{
	for (size_t i = 0; i < p->n_barriers && out->len < PLAN_BYTES; i++)
		tell_edit(out, request, &p->barriers[i]);
	for (size_t i = 0; i < p->n_entries && out->len < PLAN_BYTES; i++)
		tell_path(out, request, &p->entries[i]);
	buf_fmt(out, "{\"type\":\"event.plan\",\"request\":%" PRIu64 ",\"kind\":\"%s\",\"n\":%zu",
		request, kind_names[p->kind], p->n);
	tell_flags(out, p->flags);
	buf_fmt(out,
		",\"paths\":%zu,\"conflicts\":%zu,\"stops\":%zu,\"seal\":\"%" PRIu64
		"\",\"steps\":\"",
		p->n_paths, p->n_conflicts, p->n_stops, p->seal);
	for (size_t i = 0; i < p->n_ids; i++)
		buf_fmt(out, "%s%" PRId64, i ? " " : "", p->ids[i]);
	buf_str(out, "\"}\n");
}

static void refuse_plan(struct buf *out, uint64_t request, int result, const char *words)
{
	buf_fmt(out, "{\"type\":\"event.plan\",\"request\":%" PRIu64 ",\"busy\":%s", request,
		result == -EBUSY ? "true" : "false");
	member(out, "error", words && *words ? words : strerror(-result));
	buf_str(out, "}\n");
}

static void on_plan(void *data, uint64_t request, const struct undo_plan *p, int result,
		    const char *words)
{
	AUTO_BUF struct buf out = BUF_INIT;
	struct peer_undo *u = data;

	if (request != u->waits)
		return;
	u->waits = 0;
	if (p && p->n_ids <= PLAN_BYTES / 24) {
		u->shown = u->asked;
		u->what = (struct plan_shown){.newest = p->n_ids ? p->ids[0] : 0,
					      .seal = p->seal,
					      .undos = session_model(u->session)->undos};
		tell_plan(&out, u->asked, p);
	} else if (p) {
		refuse_plan(&out, u->asked, -E2BIG,
			    "too many steps at once for another terminal: undo fewer");
	} else {
		refuse_plan(&out, u->asked, result, words);
	}
	u->send(u->peer, &out);
}

static void tell_job(struct buf *out, const struct peer_undo *u, const struct job *job)
{
	buf_fmt(out,
		"{\"type\":\"event.job\",\"request\":%" PRIu64 ",\"active\":%s,\"cancelled\":%s"
		",\"done\":%" PRIu64 ",\"total\":%" PRIu64 ",\"result\":%d",
		u->job, job->active ? "true" : "false", job->cancelled ? "true" : "false",
		job->done, job->total, job->result);
	member(out, "words", job->words);
	buf_str(out, "}\n");
}

void peer_undo_changed(struct peer_undo *u, struct buf *out)
{
	const struct job *job = &session_model(u->session)->job;

	if (!u->job || job->request != u->job_as ||
	    (job->active && job->done == u->done && job->cancelled == u->cancelled))
		return;
	u->done = job->done;
	u->cancelled = job->cancelled;
	tell_job(out, u, job);
	if (!job->active)
		u->job = 0;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* false: it is not there, or no whole number from least to most. */
static bool number_of(const struct audit_record *r, const char *name, int64_t least, int64_t most,
		      int64_t *ret)
{
	const char *s = audit_record_get(r, name, NULL);
	char *end = NULL;

	if (!s || !*s)
		return false;
	errno = 0;
	*ret = strtoll(s, &end, 10);
	return !errno && !*end && *ret >= least && *ret <= most;
}

static unsigned flags_of(const struct audit_record *r)
{
	unsigned flags = 0;

	for (size_t i = 0; i < ARRAY_LEN(flag_names); i++) {
		const char *s = audit_record_get(r, flag_names[i], NULL);

		if (s && str_eq(s, "true"))
			flags |= 1u << i;
	}
	return flags;
}

/* Returns NULL, or what is wrong with it. */
static const char *read_wish(const struct audit_record *r, struct undo_wish *w)
{
	const char *kind = audit_record_get(r, "kind", NULL);
	int64_t n = 1, step = 0;
	size_t len = 0;

	*w = (struct undo_wish){.flags = flags_of(r)};
	while (w->kind <= UNDO_PATHS && !(kind && str_eq(kind, kind_names[w->kind])))
		w->kind++;
	if (w->kind > UNDO_PATHS)
		return "kind: not undo, redo or restore";
	if (w->kind != UNDO_PATHS && !number_of(r, "n", 1, STEPS_MAX, &n))
		return "n: not how many steps";
	w->n = (size_t)n;
	if (w->kind != UNDO_PATHS)
		return NULL;
	w->path = audit_record_get(r, "path", &len);
	if (!w->path || !len || strlen(w->path) != len)
		return "path: none that can be restored";
	if (!number_of(r, "step", INT64_MIN, INT64_MAX, &step) || !step)
		return "step: not the number of a step";
	w->step = step;
	return NULL;
}

static const char *plan(struct peer_undo *u, const struct audit_record *r, uint64_t request)
{
	struct undo_wish w;
	const char *wrong = read_wish(r, &w);
	uint64_t waits = wrong ? 0 : session_plan_for(u->session, &w, on_plan, u);

	if (wrong)
		return wrong;
	if (!waits)
		return "path: too long";
	free((char *)(uintptr_t)u->wish.path);
	u->wish = w;
	u->wish.path = xstrdup(w.path);
	u->asked = request;
	u->waits = waits;
	u->shown = 0;
	return NULL;
}

/* What is in its way is told as the job's end. */
static const char *perform(struct peer_undo *u, const struct audit_record *r, uint64_t request,
			   struct buf *out)
{
	struct undo_wish w = u->wish;
	struct err err = {0};
	int64_t shown = 0;

	if (!number_of(r, "plan", 1, INT64_MAX, &shown) || (uint64_t)shown != u->shown)
		return "plan: not the one that was shown last";
	if (u->job)
		return "another undo of this terminal is under way";
	w.flags = flags_of(r);
	u->shown = 0; /* it is performed once */
	u->job = request;
	u->done = UINT64_MAX;
	u->cancelled = false;
	u->job_as = session_undo_for(u->session, &w, &u->what, &err);
	if (u->job_as)
		return NULL;
	tell_job(out, u, &(struct job){.kind = w.kind, .result = -ESTALE, .words = err.text});
	u->job = 0;
	return NULL;
}

/* Its own alone. */
static void cancel(struct peer_undo *u)
{
	if (u->job && session_model(u->session)->job.request == u->job_as)
		session_cancel(u->session);
}

bool peer_undo_obey(struct peer_undo *u, const char *line, size_t len, struct buf *out)
{
	struct audit_record r;
	AUTO_FREE char *dense = xstrndup(line, len);
	const char *type = NULL, *wrong = NULL;
	int64_t request = 0;
	bool ours = true;

	/* The reader of flat lines, as it gives the bytes of names that are no UTF-8. */
	audit_record_init(&r);
	cJSON_Minify(dense);
	if (audit_record_parse(&r, dense, strlen(dense)) == 0)
		type = audit_record_get(&r, "type", NULL);
	number_of(&r, "request", 1, INT64_MAX, &request);
	if (!type)
		ours = false;
	else if (str_eq(type, "cmd.plan"))
		wrong = request ? plan(u, &r, (uint64_t)request) : "request: not a number";
	else if (str_eq(type, "cmd.undo"))
		wrong = request ? perform(u, &r, (uint64_t)request, out) : "request: not a number";
	else if (str_eq(type, "cmd.cancel"))
		cancel(u);
	else if (str_eq(type, "cmd.stop"))
		session_stop(u->session);
	else
		ours = false;
	if (ours)
		message_reply(out, (uint64_t)request, wrong);
	audit_record_done(&r);
	return ours;
}
