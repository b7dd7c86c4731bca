/* es_client - answers messages of Endpoint Security before the kernel's deadline. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_client.h"

#include <errno.h>
#include <string.h>
#include <utlist.h>

#include "backends/macos/endpoint/cohort.h"
#include "backends/macos/endpoint/late.h"
#include "core/base/path.h"
#include "core/base/util.h"

#define QUESTIONS_MAX 64

/* A call that waits for the answer to a question. */
struct waiting {
	uint64_t question; /* 0: the hooks have asked */
	int64_t answer_by_us;
	struct es_message m; /* its strings are own */
	struct waiting *prev, *next;
};

struct question {
	uint64_t id;
	char *dir;
	enum es_access access;
	size_t n_waiting;
	struct question *prev, *next;
};

struct es_client {
	const struct es_seam *seam;
	const struct es_hooks *hooks;
	bool debug, failsafe;
	struct cohort *cohort;
	struct verdicts *verdicts;
	struct waiting *waiting;
	struct question *questions; /* the oldest first */
	struct late late;
	size_t n_waiting, n_questions;
	uint64_t last_id, last_seq;
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

/* ---- questions ------------------------------------------------------------------------------- */

static void drop_question(struct es_client *c, struct question *q)
{
	DL_DELETE(c->questions, q);
	c->n_questions--;
	free(q->dir);
	free(q);
}

static struct question *find_question(const struct es_client *c, uint64_t id)
{
	struct question *q;

	DL_SEARCH_SCALAR(c->questions, q, id, id);
	return q;
}

/* The one about this directory that is open, or a new one. NULL: no more can be. */
static struct question *question_for(struct es_client *c, const struct es_message *m,
				     const char *path)
{
	AUTO_FREE char *dir = path_dir(path);
	struct question *q;

	DL_FOREACH (c->questions, q)
		if (q->access == access_of(m) && str_eq(q->dir, dir))
			return q;
	/* The oldest that nobody waits for makes room. */
	DL_FOREACH (c->questions, q)
		if (c->n_questions == QUESTIONS_MAX && !q->n_waiting) {
			drop_question(c, q);
			break;
		}
	if (c->n_questions == QUESTIONS_MAX)
		return NULL;
	q = xcalloc(1, sizeof(*q));
	q->id = ++c->last_id;
	q->access = access_of(m);
	q->dir = take_ptr(&dir);
	DL_APPEND(c->questions, q);
	c->n_questions++;
	c->hooks->ask(c->hooks->data, &(struct es_question){.id = q->id,
							    .dir = q->dir,
							    .path = path,
							    .access = q->access,
							    .process = m->process});
	return q;
}

static void end_waiting(struct es_client *c, struct waiting *w)
{
	struct question *q = find_question(c, w->question);

	if (q)
		q->n_waiting--;
	DL_DELETE(c->waiting, w);
	c->n_waiting--;
	free((char *)(uintptr_t)w->m.path);
	free((char *)(uintptr_t)w->m.path2);
	free(w);
}

static void add_waiting(struct es_client *c, const struct es_message *m, uint64_t question,
			int64_t answer_by_us)
{
	struct waiting *w = xcalloc(1, sizeof(*w));

	w->question = question;
	w->answer_by_us = answer_by_us;
	w->m = *m;
	w->m.path = xstrdup(m->path);
	w->m.path2 = xstrdup(m->path2);
	w->m.service = w->m.argv = NULL;
	w->m.argv_len = 0;
	DL_APPEND(c->waiting, w);
	c->n_waiting++;
}

static void wait_for(struct es_client *c, const struct es_message *m, const char *path,
		     int64_t answer_by_us)
{
	struct question *q = question_for(c, m, path);

	if (!q) {
		deny(c, m, "too many questions are open");
		return;
	}
	q->n_waiting++;
	add_waiting(c, m, q->id, answer_by_us);
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* What the policy or a human's answer says, without asking. */
static enum es_verdict judge(struct es_client *c, const struct es_message *m, const char *path)
{
	enum es_verdict v = c->hooks->judge(c->hooks->data, m, path, access_of(m));
	AUTO_FREE char *dir = NULL;
	int known;

	if (v != ES_ASK)
		return v;
	dir = path_dir(path);
	known = verdicts_find(c->verdicts, dir, access_of(m), now(c));
	return known < 0 ? ES_ASK : known ? ES_ALLOW : ES_DENY;
}

/* Why it may not wait, or NULL. */
static const char *cannot_wait(const struct es_client *c, const struct es_message *m)
{
	if (c->failsafe)
		return "nobody can be asked";
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
		add_waiting(c, m, 0, answer_by(c, m));
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

static void ask(struct es_client *c, const struct es_message *m, const char *path)
{
	const char *why = c->hooks->ask ? cannot_wait(c, m) : "nobody can be asked";

	if (why)
		deny(c, m, why);
	else
		wait_for(c, m, path, answer_by(c, m));
}

static bool has_two(enum es_kind kind)
{
	return kind == ES_RENAME || kind == ES_LINK || kind == ES_CLONE || kind == ES_SWAP;
}

/* What is done to the first of two names: of a clone it is read. */
static enum es_verdict judge_first(struct es_client *c, const struct es_message *m)
{
	struct es_message read = *m;

	read.kind = ES_OPEN;
	read.writes = false;
	return judge(c, m->kind == ES_CLONE ? &read : m, m->path);
}

/* Both names of a rename, and the first that is to be asked about. */
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
	else if (first == ES_ASK)
		ask(c, m, m->path);
	else if (second == ES_ASK)
		ask(c, m, m->path2);
	else
		allow_kept(c, m);
}

static void take_new(struct es_client *c, const struct es_message *m)
{
	struct es_message as = *m;

	/* Of two names the first may be another file by now than the one that was shown. */
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

/* Judged anew: a rename has two names, and the other one may be open still. */
static void again(struct es_client *c, struct waiting *w)
{
	struct es_message m = w->m;
	int64_t by = w->answer_by_us;
	enum es_verdict v;
	const char *asked = NULL;

	v = judge_first(c, &m);
	if (v == ES_ASK)
		asked = m.path;
	if (v != ES_DENY && has_two(m.kind)) {
		enum es_verdict other = judge(c, &m, m.path2);

		if (other != ES_ALLOW)
			v = other;
		if (other == ES_ASK && !asked)
			asked = m.path2;
	}
	if (v == ES_ALLOW && !asked)
		allow_kept(c, &m);
	else if (v == ES_HELD)
		hold(c, &m);
	else if (v == ES_DENY || !c->hooks->ask || c->failsafe)
		deny(c, &m, "the answer was no");
	else
		wait_for(c, &m, asked ? asked : m.path, by);
	end_waiting(c, w);
}

int es_client_answer(struct es_client *c, uint64_t question, bool yes, int64_t lasts_us)
{
	struct question *q = find_question(c, question);
	struct waiting *w, *next;

	if (!q)
		return -ENOENT;
	/* At least for those who wait, which is now. */
	verdicts_add(c->verdicts, q->dir, q->access, yes, now(c) + MAX(lasts_us, 1000000));
	/* No longer open: one that is asked about again is a new one. */
	DL_FOREACH_SAFE (c->waiting, w, next)
		if (w->question == question)
			again(c, w);
	drop_question(c, q);
	return 0;
}

/* What waits for something else than an answer. */
static struct waiting *find_held(struct es_client *c, uint64_t handle)
{
	struct waiting *w;

	DL_FOREACH (c->waiting, w)
		if (!w->question && w->m.handle == handle)
			return w;
	return NULL;
}

void es_client_resume(struct es_client *c, uint64_t handle, enum es_resume how)
{
	struct waiting *w = find_held(c, handle);

	late_answer(&c->late, handle, how == ES_RESUME_GRANTED, now(c) + ES_LATE_US);
	if (!w)
		return;
	if (how == ES_RESUME_DENY) { /* who answered knows */
		answer(c, handle, w->m.kind, false);
	} else {
		w->m.granted = how == ES_RESUME_GRANTED;
		take_path(c, &w->m);
	}
	end_waiting(c, w);
}

static void deny_waiting(struct es_client *c, struct waiting *w, const char *why)
{
	struct question *q = find_question(c, w->question);

	deny(c, &w->m, why);
	if (q && q->n_waiting == 1 && c->hooks->expired)
		c->hooks->expired(c->hooks->data, q->id);
	end_waiting(c, w);
}

void es_client_tick(struct es_client *c)
{
	int64_t at = now(c);
	struct waiting *w, *next;

	DL_FOREACH_SAFE (c->waiting, w, next)
		if (w->answer_by_us <= at) {
			if (!w->question)
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

void es_client_failsafe(struct es_client *c, bool on)
{
	c->failsafe = on;
	if (on)
		deny_all(c, "nobody can be asked");
}

void es_client_drop(struct es_client *c)
{
	deny_all(c, "the session is being stopped");
}

void es_client_forget(struct es_client *c)
{
	late_clear(&c->late);
	verdicts_clear(c->verdicts);
}

size_t es_client_waiting(const struct es_client *c)
{
	return c->n_waiting;
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
	c->verdicts = verdicts_new();
	return c;
}

void es_client_free(struct es_client *c)
{
	if (!c)
		return;
	deny_all(c, "the session ends");
	while (c->questions)
		drop_question(c, c->questions);
	es_client_forget(c);
	verdicts_free(c->verdicts);
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
