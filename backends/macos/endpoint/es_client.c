/* es_client - answers messages of Endpoint Security before the kernel's deadline. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_client.h"

#include <errno.h>
#include <utlist.h>

#include "backends/macos/endpoint/cohort.h"
#include "backends/macos/endpoint/late.h"
#include "core/base/util.h"

/* A call about which the hooks have asked the user. */
struct waiting {
	int64_t answer_by_us;
	struct es_message m; /* owns its strings */
	struct waiting *prev, *next;
};

struct es_client {
	const struct es_seam *seam;
	const struct es_hooks *hooks;
	bool debug;
	struct cohort *cohort;
	struct waiting *waiting;
	struct late late;
	size_t n_waiting;
	uint64_t last_seq;
};

static int64_t now(const struct es_client *c)
{
	return c->seam->now(c->seam->data);
}

static void answer(struct es_client *c, uint64_t handle, enum es_kind kind, bool allow)
{
	if (handle)
		c->seam->answer(c->seam->data, handle, kind, allow);
}

static void allow(struct es_client *c, const struct es_message *m)
{
	answer(c, m->handle, m->kind, true);
}

static void deny(struct es_client *c, const struct es_message *m, const char *why)
{
	answer(c, m->handle, m->kind, false);
	if (c->hooks->denied)
		c->hooks->denied(c->hooks->data, m, why);
}

static enum es_access access_of(const struct es_message *m)
{
	if (m->kind == ES_EXEC)
		return ES_RUNS;
	return m->kind == ES_OPEN && !m->writes ? ES_READS : ES_WRITES;
}

/* ---- calls that wait ------------------------------------------------------------------------- */

static void end_waiting(struct es_client *c, struct waiting *w)
{
	DL_DELETE(c->waiting, w);
	c->n_waiting--;
	free((char *)(uintptr_t)w->m.path);
	free((char *)(uintptr_t)w->m.path2);
	free(w);
}

static void add_waiting(struct es_client *c, const struct es_message *m, int64_t answer_by_us)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->answer_by_us = answer_by_us;
	w->m = *m;
	w->m.path = xstrdup(m->path);
	w->m.path2 = xstrdup(m->path2);
	w->m.service = w->m.argv = NULL;
	w->m.argv_len = 0;
	DL_APPEND(c->waiting, w);
	c->n_waiting++;
}

/* ---- paths ----------------------------------------------------------------------------------- */

static enum es_verdict judge(struct es_client *c, const struct es_message *m, const char *path)
{
	return c->hooks->judge(c->hooks->data, m, path, access_of(m));
}

/* Returns why the message must not wait, or NULL. */
static const char *cannot_wait(const struct es_client *c, const struct es_message *m)
{
	if (m->deadline_us <= now(c))
		return "it came too late to ask";
	return c->n_waiting == ES_WAITING_MAX ? "too many calls wait for an answer" : NULL;
}

static int64_t answer_by(const struct es_client *c, const struct es_message *m)
{
	int64_t left = m->deadline_us - now(c);

	return m->deadline_us - MIN(left / 2, ES_MARGIN_US);
}

int64_t es_client_patience(const struct es_client *c, const struct es_message *m)
{
	return MAX(answer_by(c, m) - now(c), (int64_t)0);
}

static void hold(struct es_client *c, const struct es_message *m)
{
	const char *why = cannot_wait(c, m);

	if (why)
		deny(c, m, why);
	else
		add_waiting(c, m, answer_by(c, m));
}

static void allow_kept(struct es_client *c, const struct es_message *m)
{
	enum es_verdict v = ES_ALLOW;

	if (access_of(m) == ES_WRITES && c->hooks->keep)
		v = c->hooks->keep(c->hooks->data, m);
	if (v == ES_HELD)
		hold(c, m);
	else if (v == ES_ALLOW)
		allow(c, m);
	else
		deny(c, m, "what it would change cannot be kept for undo");
}

static bool has_two(enum es_kind kind)
{
	return kind == ES_RENAME || kind == ES_LINK || kind == ES_CLONE || kind == ES_SWAP;
}

/* Judges the first of two paths. A clone only reads it. */
static enum es_verdict judge_first(struct es_client *c, const struct es_message *m)
{
	struct es_message read = *m;

	read.kind = ES_OPEN;
	read.writes = false;
	return judge(c, m->kind == ES_CLONE ? &read : m, m->path);
}

/* Judges a message that has one or two paths. */
static void take_path(struct es_client *c, const struct es_message *m)
{
	enum es_verdict first, second = ES_ALLOW;

	if (m->cut || !m->path || *m->path != '/' ||
	    (has_two(m->kind) && (!m->path2 || *m->path2 != '/'))) {
		deny(c, m, "its path cannot be told");
		return;
	}
	first = judge_first(c, m);
	if (has_two(m->kind) && first != ES_DENY && first != ES_HELD)
		second = judge(c, m, m->path2);
	if (first == ES_DENY || second == ES_DENY)
		deny(c, m, "a rule says so");
	else if (first == ES_HELD || second == ES_HELD)
		hold(c, m);
	else
		allow_kept(c, m);
}

static void take_new(struct es_client *c, const struct es_message *m)
{
	struct es_message as = *m;

	/* The user's late answer does not count for a call with two paths: the first path may be
	 * another file by now. */
	as.granted = !has_two(m->kind) && late_take(&c->late, m, now(c));
	take_path(c, &as);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void take_process(struct es_client *c, const struct es_message *m)
{
	if (m->placed ? !m->target_inside : !cohort_has(c->cohort, m->target))
		deny(c, m, "it is about a process outside");
	else if (m->kind == ES_GET_TASK && !c->debug)
		deny(c, m, "debugging is off");
	else
		allow(c, m);
}

static void take_inside(struct es_client *c, const struct es_message *m)
{
	switch (m->kind) {
	case ES_SIGNAL:
	case ES_GET_TASK:
		take_process(c, m);
		return;
	case ES_EXEC:
	case ES_OPEN:
	case ES_UNLINK:
	case ES_RENAME:
	case ES_CREATE:
	case ES_TRUNCATE:
	case ES_LINK:
	case ES_CLONE:
	case ES_SWAP:
	case ES_META:
		take_new(c, m);
		return;
	case ES_MOUNT:
		deny(c, m, "nothing is mounted from inside");
		return;
	case ES_CREATED:
	case ES_RENAMED:
		if (c->hooks->done && m->path && !m->cut)
			c->hooks->done(c->hooks->data, m);
		return;
	case ES_FORK:
		cohort_add(c->cohort, m->target);
		return;
	case ES_EXIT:
		cohort_remove(c->cohort, m->process);
		return;
	case ES_XPC_CONNECT:
		if (c->hooks->xpc)
			c->hooks->xpc(c->hooks->data, m);
		return;
	case ES_KINDS:
		break;
	}
	deny(c, m, "it is of a kind that nobody knows");
}

static void count(struct es_client *c, const struct es_message *m)
{
	bool gap = c->last_seq && m->seq > c->last_seq + 1;

	if ((gap || m->found) && c->hooks->lost)
		c->hooks->lost(c->hooks->data, gap ? m->seq - c->last_seq - 1 : 0, m->found);
	c->last_seq = m->seq;
}

void es_client_take(struct es_client *c, const struct es_message *m)
{
	count(c, m);
	if (m->placed || cohort_sees(c->cohort, m))
		take_inside(c, m);
	else
		allow(c, m);
}

/* ---- answers and deadlines ------------------------------------------------------------------- */

static struct waiting *find_held(struct es_client *c, uint64_t handle)
{
	struct waiting *w;

	DL_FOREACH (c->waiting, w)
		if (w->m.handle == handle)
			return w;
	return NULL;
}

void es_client_resume(struct es_client *c, uint64_t handle, enum es_resume how)
{
	struct waiting *w = find_held(c, handle);

	late_answer(&c->late, handle, how == ES_RESUME_GRANTED, now(c) + ES_LATE_US);
	if (!w)
		return;
	if (how == ES_RESUME_DENY) { /* the user knows: no hook is called */
		answer(c, handle, w->m.kind, false);
	} else {
		w->m.granted = how == ES_RESUME_GRANTED;
		take_path(c, &w->m);
	}
	end_waiting(c, w);
}

static void deny_waiting(struct es_client *c, struct waiting *w, const char *why)
{
	deny(c, &w->m, why);
	end_waiting(c, w);
}

void es_client_tick(struct es_client *c)
{
	int64_t at = now(c);
	struct waiting *w, *next;

	DL_FOREACH_SAFE (c->waiting, w, next)
		if (w->answer_by_us <= at) {
			late_add(&c->late, &w->m);
			deny_waiting(c, w, "nobody has answered in time");
		}
}

int64_t es_client_next(const struct es_client *c)
{
	const struct waiting *w;
	int64_t first = 0;

	DL_FOREACH (c->waiting, w)
		if (!first || w->answer_by_us < first)
			first = w->answer_by_us;
	return first;
}

static void deny_all(struct es_client *c, const char *why)
{
	while (c->waiting)
		deny_waiting(c, c->waiting, why);
}

void es_client_drop(struct es_client *c)
{
	deny_all(c, "the session is being stopped");
}

void es_client_forget(struct es_client *c)
{
	late_clear(&c->late);
}

/* ---- life ------------------------------------------------------------------------------------ */

struct es_client *es_client_new(const struct es_seam *seam, const struct es_hooks *hooks,
				bool debug)
{
	struct es_client *c = xcalloc(1, sizeof(*c));

	c->seam = seam;
	c->hooks = hooks;
	c->debug = debug;
	c->cohort = cohort_new();
	return c;
}

void es_client_free(struct es_client *c)
{
	if (!c)
		return;
	deny_all(c, "the session ends");
	es_client_forget(c);
	cohort_free(c->cohort);
	free(c);
}

void es_client_add(struct es_client *c, struct es_id agent)
{
	cohort_add(c->cohort, agent);
}

int es_lack_say(enum es_lack lack, struct err *err)
{
	static const struct {
		int code;
		const char *words;
	} says[] = {
		[ES_LACKS_ENTITLEMENT] = {-EPERM,
					  "not signed with com.apple.developer.endpoint-security."
					  "client, which Apple grants: the profile alone confines"},
		[ES_LACKS_PERMISSION] = {-EACCES,
					 "no Full Disk Access: allow it to the terminal that "
					 "starts cordon, in System Settings, Privacy & Security"},
		[ES_LACKS_ROOT] = {-EPERM, "not run as root: only root can be a client"},
		[ES_LACKS_ROOM] = {-EBUSY, "the system has as many clients as it allows: end one"},
		[ES_LACKS_SYSTEM] = {-EIO, "the system did not answer: restart it"},
	};

	if (lack == ES_LACKS_NOTHING || lack >= ARRAY_LEN(says))
		return 0;
	return err_say(err, says[lack].code, "Endpoint Security: %s", says[lack].words);
}
