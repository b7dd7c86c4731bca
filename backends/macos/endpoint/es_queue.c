/* es_queue - messages from the system's thread to the keeper's, and answers back, in time. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_queue.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "backends/macos/endpoint/cohort.h"
#include "core/base/hash.h"
#include "core/keeper/steps/label.h"
#include "core/os/socket.h"

#define PROCESSES_MAX 65536

/* A message that the keeper has not taken yet. Owns its strings. */
struct queued {
	struct es_message m;
	struct queued *prev, *next;
};

/* A message without an answer yet. The system may reuse its handle after the answer. So the keeper
 * gets an id that is never reused: a late answer then finds no entry. */
struct owed {
	uint64_t id, handle;
	enum es_kind kind;
	int64_t deny_at;
	UT_hash_handle hh;
};

struct es_queue {
	const struct es_out *out;
	struct es_seam seam;
	pthread_mutex_t lock;
	struct cohort *cohort;
	int32_t starting; /* of es_queue_let_start(); 0: none */
	struct queued *list;
	size_t n;
	struct owed *owed; /* by id */
	uint64_t last_id;
	uint64_t last_seq, sent, lost; /* the keeper's numbers skip outside processes */
	uint32_t found;		       /* found in the system's table, not reported yet */
	int64_t rebuilt_us;
	bool unsure;	      /* messages were dropped after the last rebuild() */
	struct queued *taken; /* the keeper's current message */
	int pipe[2];
	bool shut;
};

static void message_free(struct queued *q)
{
	if (!q)
		return;
	free((char *)(uintptr_t)q->m.path);
	free((char *)(uintptr_t)q->m.path2);
	free((char *)(uintptr_t)q->m.service);
	free((char *)(uintptr_t)q->m.argv);
	free(q);
}

static struct queued *message_copy(const struct es_message *m)
{
	struct queued *q = xcalloc(1, sizeof(*q));

	q->m = *m;
	q->m.path = xstrdup(m->path);
	q->m.path2 = xstrdup(m->path2);
	q->m.service = xstrdup(m->service);
	q->m.argv = NULL;
	if (m->argv) {
		size_t len = MIN(m->argv_len, (size_t)ES_ARGV_MAX);
		char *argv = xcalloc(1, len + 1);

		memcpy(argv, m->argv, len);
		if (len < m->argv_len)
			memcpy(argv + len - sizeof(LABEL_REST), "\0" LABEL_REST,
			       sizeof(LABEL_REST));
		q->m.argv = argv;
		q->m.argv_len = len;
	}
	return q;
}

/* ---- functions called under the lock --------------------------------------------------------- */

static void pay(struct es_queue *q, struct owed *o, bool allow)
{
	HASH_DEL(q->owed, o);
	q->out->respond(q->out->data, o->handle, o->kind, allow);
	free(o);
}

static void deny_all(struct es_queue *q)
{
	struct owed *o, *next;

	HASH_ITER (hh, q->owed, o, next)
		pay(q, o, false);
}

/* Records a message that needs an answer. Returns the keeper's id for it. */
static uint64_t owe(struct es_queue *q, const struct es_message *m)
{
	struct owed *o = xcalloc(1, sizeof(*o));
	int64_t left = m->deadline_us - q->out->now(q->out->data);

	o->id = ++q->last_id;
	o->handle = m->handle;
	o->kind = m->kind;
	o->deny_at = m->deadline_us - MIN(left / 2, (int64_t)ES_BACKSTOP_US);
	HASH_ADD(hh, q->owed, id, sizeof(o->id), o);
	return o->id;
}

static void push(struct es_queue *q, const struct es_message *m, uint64_t id)
{
	struct queued *one = message_copy(m);

	one->m.handle = id;
	one->m.placed = true;
	one->m.target_inside = cohort_has(q->cohort, m->target);
	one->m.found = q->found;
	q->found = 0;
	one->m.seq = q->sent += 1 + q->lost;
	q->lost = 0;
	if (!q->list)
		(void)!write(q->pipe[1], "", 1); /* a full pipe is readable anyway */
	DL_APPEND(q->list, one);
	q->n++;
}

/* ---- which processes are inside -------------------------------------------------------------- */

static bool is_there(void *data, struct es_id id)
{
	const struct es_table *t = data;
	struct es_kin kin;

	return t->look(t->data, id.pid, &kin) && es_same_start(id, kin.id);
}

static bool trace(struct es_queue *q, int32_t pid)
{
	size_t before = cohort_size(q->cohort);
	bool inside = cohort_trace(q->cohort, q->out->table, pid);

	q->found += (uint32_t)(cohort_size(q->cohort) - before);
	return inside;
}

/* Corrects the set of processes inside from the system's table, if messages were dropped. */
static void rebuild(struct es_queue *q)
{
	const struct es_table *t = q->out->table;
	AUTO_FREE int32_t *pids = NULL;
	int64_t now;
	size_t n;

	if (!q->unsure || !t)
		return;
	now = q->out->now(q->out->data);
	if (q->rebuilt_us && now - q->rebuilt_us < ES_REBUILD_US)
		return;
	q->unsure = false;
	q->rebuilt_us = now;
	cohort_keep(q->cohort, is_there, (void *)(uintptr_t)t);
	pids = xcalloc(PROCESSES_MAX, sizeof(*pids));
	n = t->list(t->data, pids, PROCESSES_MAX);
	for (size_t i = 0; i < n; i++)
		trace(q, pids[i]);
}

static void count(struct es_queue *q, uint64_t seq)
{
	if (q->last_seq && seq > q->last_seq + 1) {
		q->lost += seq - q->last_seq - 1;
		q->unsure = true;
	}
	q->last_seq = seq;
	rebuild(q);
}

/* Returns whether the message's process is inside. Updates the set at each fork and exit, also if
 * the queue has no room for the message, because the keeper uses this result. */
static bool is_inside(struct es_queue *q, const struct es_message *m)
{
	if (!cohort_sees(q->cohort, m) && !(q->unsure && q->out->table && trace(q, m->process.pid)))
		return false;
	if (m->kind == ES_FORK)
		cohort_add(q->cohort, m->target);
	else if (m->kind == ES_EXIT)
		cohort_remove(q->cohort, m->process);
	return true;
}

static bool end(void *data, struct es_id id)
{
	const struct es_queue *q = data;

	return q->out->end(q->out->data, id);
}

/* Kills the processes of a message that comes after the session's end. */
static void end_who_told(struct es_queue *q, const struct es_message *m)
{
	if (!q->out->end || m->kind == ES_EXIT)
		return;
	if (m->kind == ES_FORK)
		end(q, m->target);
	end(q, m->process);
}

static void answer_at_once(struct es_queue *q, const struct es_message *m, bool allow)
{
	if (es_kind_asks(m->kind) && m->handle)
		q->out->respond(q->out->data, m->handle, m->kind, allow);
	else if (!allow)
		q->lost++;
}

/* ---- functions for any thread ---------------------------------------------------------------- */

void es_queue_add(struct es_queue *q, struct es_id agent)
{
	pthread_mutex_lock(&q->lock);
	cohort_add(q->cohort, agent);
	pthread_mutex_unlock(&q->lock);
}

/* Returns whether too little time is left for an answer: the kernel would end the client. */
static bool is_hasty(const struct es_queue *q, const struct es_message *m)
{
	return es_kind_asks(m->kind) && m->handle &&
	       m->deadline_us - q->out->now(q->out->data) < ES_HASTE_US;
}

void es_queue_let_start(struct es_queue *q, struct es_id helper)
{
	pthread_mutex_lock(&q->lock);
	q->starting = helper.pid;
	pthread_mutex_unlock(&q->lock);
}

/* Returns whether the message is of the helper before it executes the agent. The helper has no
 * children yet, and its number is unique while it lives. */
static bool starts(struct es_queue *q, const struct es_message *m)
{
	if (!q->starting || m->process.pid != q->starting || !es_kind_asks(m->kind))
		return false;
	if (m->kind == ES_EXEC)
		q->starting = 0;
	return true;
}

bool es_queue_skips(struct es_queue *q, const struct es_message *m)
{
	bool skips;

	pthread_mutex_lock(&q->lock);
	count(q, m->seq);
	skips = !is_inside(q, m);
	if (skips)
		answer_at_once(q, m, true);
	pthread_mutex_unlock(&q->lock);
	return skips;
}

void es_queue_put(struct es_queue *q, const struct es_message *m)
{
	pthread_mutex_lock(&q->lock);
	count(q, m->seq);
	if (!is_inside(q, m)) {
		answer_at_once(q, m, true);
	} else if (q->shut) {
		answer_at_once(q, m, false);
		end_who_told(q, m);
	} else if (starts(q, m)) {
		answer_at_once(q, m, true);
	} else if (q->n >= ES_QUEUE_MAX || is_hasty(q, m)) {
		answer_at_once(q, m, false);
	} else {
		push(q, m, es_kind_asks(m->kind) && m->handle ? owe(q, m) : 0);
	}
	pthread_mutex_unlock(&q->lock);
}

void es_queue_backstop(struct es_queue *q)
{
	struct owed *o, *next;
	int64_t now;

	pthread_mutex_lock(&q->lock);
	rebuild(q);
	now = q->out->now(q->out->data);
	HASH_ITER (hh, q->owed, o, next)
		if (o->deny_at <= now)
			pay(q, o, false);
	pthread_mutex_unlock(&q->lock);
}

size_t es_queue_shut(struct es_queue *q)
{
	size_t n = 0;

	pthread_mutex_lock(&q->lock);
	q->shut = true;
	deny_all(q);
	if (q->out->end)
		n = cohort_keep(q->cohort, end, q);
	pthread_mutex_unlock(&q->lock);
	return n;
}

/* ---- functions for the keeper ---------------------------------------------------------------- */

static void answer(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	struct es_queue *q = data;
	struct owed *o;

	(void)kind;
	pthread_mutex_lock(&q->lock);
	HASH_FIND(hh, q->owed, &handle, sizeof(handle), o); /* the handle is the keeper's id */
	if (o)
		pay(q, o, allow);
	pthread_mutex_unlock(&q->lock);
}

static int64_t now(void *data)
{
	const struct es_queue *q = data;

	return q->out->now(q->out->data);
}

int es_queue_fd(const struct es_queue *q)
{
	return q->pipe[0];
}

bool es_queue_take(struct es_queue *q, struct es_message *ret)
{
	char drop[16];

	message_free(q->taken);
	pthread_mutex_lock(&q->lock);
	q->taken = q->list;
	if (q->taken) {
		DL_DELETE(q->list, q->taken);
		q->n--;
	}
	if (!q->list)
		while (read(q->pipe[0], drop, sizeof(drop)) > 0)
			continue;
	pthread_mutex_unlock(&q->lock);
	if (q->taken)
		*ret = q->taken->m;
	return q->taken;
}

const struct es_seam *es_queue_seam(const struct es_queue *q)
{
	return &q->seam;
}

struct es_queue *es_queue_new(const struct es_out *out)
{
	struct es_queue *q = xcalloc(1, sizeof(*q));

	q->out = out;
	if (pipe2(q->pipe, O_CLOEXEC | O_NONBLOCK) < 0) {
		free(q);
		return NULL;
	}
	q->seam = (struct es_seam){.data = q, .answer = answer, .now = now};
	pthread_mutex_init(&q->lock, NULL);
	q->cohort = cohort_new();
	return q;
}

void es_queue_free(struct es_queue *q)
{
	struct queued *one, *next;

	if (!q)
		return;
	deny_all(q);
	DL_FOREACH_SAFE (q->list, one, next) {
		DL_DELETE(q->list, one);
		message_free(one);
	}
	message_free(q->taken);
	cohort_free(q->cohort);
	pthread_mutex_destroy(&q->lock);
	close(q->pipe[0]);
	close(q->pipe[1]);
	free(q);
}
