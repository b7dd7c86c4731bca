/* asks - requests that wait for the human: one question for one wish, however often it is tried. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/keeper_priv.h"

/*
 * A question is about a path; every request for that path waits for the same answer. Without
 * WAIT_KILLABLE_RECV a signal takes a held call back and the program issues it anew: so a question
 * that nobody waits for stays a moment before it is withdrawn, and an answer that comes in that
 * moment waits for the call. It is good for that one path and process, and not longer.
 */

#define LINGER_US 300000

/* Calls that a safeguard holds have a limit of their own: they must not use up the other one. */
static size_t *tally(struct keeper *k, const struct question *q)
{
	return q->held ? &k->n_held : &k->n_waiting;
}

static void question_free(struct keeper *k, struct question *q)
{
	HASH_DEL(k->questions, q);
	*tally(k, q) -= q->n_waiting;
	if (q->held)
		safeguard_released(q->held);
	free(q->waiting);
	free(q->path);
	free(q->tree);
	free(q);
}

static void drop_waiting(struct keeper *k, struct question *q, size_t i, int64_t linger)
{
	q->waiting[i] = q->waiting[--q->n_waiting];
	(*tally(k, q))--;
	if (!q->n_waiting)
		q->gone_at = k->now + linger;
}

static void add_waiting(struct keeper *k, struct question *q, const struct caller *c)
{
	q->waiting = xrealloc(q->waiting, (q->n_waiting + 1) * sizeof(*q->waiting));
	q->waiting[q->n_waiting].request = c->request;
	q->waiting[q->n_waiting].tid = c->tid;
	q->waiting[q->n_waiting++].pid = c->pid;
	q->gone_at = 0;
	(*tally(k, q))++;
}

/* A thread waits for one call at a time: what it waited for before was taken back by a signal. */
static void waits_no_more(struct keeper *k, int tid)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		for (size_t i = q->n_waiting; i-- > 0;) {
			if (q->waiting[i].tid == tid)
				drop_waiting(k, q, i, LINGER_US);
		}
	}
}

/* The first words of what runs there now; the agent can write anything into them. */
static void describe(int pid, struct buf *program, struct buf *command)
{
	AUTO_CLOSE int fd = -1;
	char name[32], text[LABEL_MAX];
	ssize_t n;

	snprintf(name, sizeof(name), "/proc/%d/exe", pid);
	n = readlink(name, text, sizeof(text));
	if (n > 0)
		buf_add(program, text, (size_t)n);
	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? 0 : io_read_full(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return;
	if (text[n - 1] != '\0')
		text[n++] = '\0';
	label_command(command, text, (size_t)n);
}

static void send_ask(struct keeper *k, const struct caller *c, const struct question *q,
		     const char *reason)
{
	AUTO_BUF struct buf program = BUF_INIT, command = BUF_INIT;
	size_t mark;

	describe(c->pid, &program, &command);
	mark = wire_begin(&k->out, WIRE_ASK);
	wire_u64(&k->out, q->id);
	wire_i64(&k->out, steps_id(k, c->proc));
	wire_i64(&k->out, c->pid);
	wire_cstr(&k->out, c->op);
	wire_cstr(&k->out, q->path);
	wire_str(&k->out, program.data, program.len);
	wire_str(&k->out, command.data, command.len);
	wire_cstr(&k->out, reason);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

static void send_gone(struct keeper *k, uint64_t id)
{
	size_t mark = wire_begin(&k->out, WIRE_ASK_GONE);

	wire_u64(&k->out, id);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash > path ? xstrndup(path, (size_t)(slash - path)) : xstrdup("/");
}

int asks_park(struct keeper *k, const struct caller *c, const char *path, bool is_dir,
	      const char *reason)
{
	struct question *q;

	waits_no_more(k, c->tid);
	HASH_FIND_STR(k->questions, path, q);
	if (q && q->answered && q->pid == c->pid) {
		bool allow = q->allow;

		question_free(k, q);
		return allow ? 0 : -EACCES;
	}
	if (k->n_waiting >= ASKS_MAX || (!q && HASH_COUNT(k->questions) >= ASKS_MAX)) {
		keeper_deny(k, c, path, -EACCES, "too many requests wait for an answer");
		return -EACCES;
	}
	if (q && q->answered) { /* somebody else's answer: this one is asked for itself */
		question_free(k, q);
		q = NULL;
	}
	if (!q) {
		q = xcalloc(1, sizeof(*q));
		q->id = ++k->last_question;
		q->path = xstrdup(path);
		q->tree = is_dir ? xstrdup(path) : parent_of(path);
		q->pid = c->pid;
		HASH_ADD_KEYPTR(hh, k->questions, q->path, strlen(q->path), q);
		send_ask(k, c, q, reason);
	}
	add_waiting(k, q, c);
	return -FOLDER_HELD;
}

int asks_hold(struct keeper *k, const struct caller *c, struct command *command, const char *path)
{
	struct question *q = command->guard.asked;

	waits_no_more(k, c->tid);
	if (k->n_held >= GUARD_HELD)
		return -ENOSPC;
	if (!q) {
		q = xcalloc(1, sizeof(*q));
		q->id = ++k->last_question;
		q->path =
			xasprintf("step %llu", (unsigned long long)q->id); /* paths begin with / */
		q->tree = xstrdup("");
		q->held = command;
		HASH_ADD_KEYPTR(hh, k->questions, q->path, strlen(q->path), q);
		command->guard.asked = q;
		safeguard_asked(k, command);
	}
	add_waiting(k, q, c);
	safeguard_held(k, command, c->op, path);
	return -FOLDER_HELD;
}

void asks_release(struct keeper *k, struct question *q, enum door_verdict verdict)
{
	AUTO_FREE struct waiting *waiting = take_ptr(&q->waiting);
	size_t n = q->n_waiting;

	/* The door may park a request again, which is not to be under this question. */
	*tally(k, q) -= n;
	q->n_waiting = 0;
	question_free(k, q);
	/* The newest first: that is where the door looks first. */
	while (n-- > 0 && k->door)
		k->door->ops->answered(k->door, waiting[n].request, verdict);
}

void asks_withdraw(struct keeper *k, struct question *q)
{
	send_gone(k, q->id);
	question_free(k, q);
}

static struct question *by_id(struct keeper *k, uint64_t id)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		if (q->id == id)
			return q;
	}
	return NULL;
}

void asks_answer(struct keeper *k, uint64_t id, enum wire_answer answer)
{
	bool allow =
		answer == ANSWER_ONCE || answer == ANSWER_SESSION || answer == ANSWER_SESSION_TREE;
	struct question *q = by_id(k, id);

	if (!q || q->answered)
		return;
	if (q->held) {
		safeguard_answer(k, q->held, answer);
		return;
	}
	if (answer == ANSWER_SESSION || answer == ANSWER_DENY_SESSION) {
		policy_answer(k->policy, RULE_WRITE, q->path,
			      &(struct answer){.allow = allow, .scope = SCOPE_SESSION});
	} else if (answer == ANSWER_SESSION_TREE) {
		AUTO_FREE char *tree = xasprintf("%s/", q->tree);

		policy_answer(k->policy, RULE_WRITE, tree,
			      &(struct answer){.allow = true,
					       .scope = SCOPE_SESSION,
					       .extent = EXTENT_TREE});
	}
	if (!q->n_waiting) {
		q->answered = true;
		q->allow = allow;
		return;
	}
	asks_release(k, q, allow ? VERDICT_ALLOW : VERDICT_DENY);
}

void keeper_request_gone(struct keeper *k, uint64_t request)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		for (size_t i = 0; i < q->n_waiting; i++) {
			if (q->waiting[i].request == request) {
				drop_waiting(k, q, i, LINGER_US);
				return;
			}
		}
	}
}

void asks_leave(struct keeper *k, int pid)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		for (size_t i = q->n_waiting; i-- > 0;) {
			if (q->waiting[i].pid == pid)
				drop_waiting(k, q, i, 0);
		}
	}
}

/* The door fails what it holds by itself (door_ops.drop_all). */
void asks_drop_all(struct keeper *k)
{
	struct question *q, *next;

	HASH_ITER (hh, k->questions, q, next) {
		if (!q->answered)
			send_gone(k, q->id);
		question_free(k, q);
	}
}

int64_t asks_next(const struct keeper *k)
{
	const struct question *q;
	int64_t next = 0;

	for (q = k->questions; q; q = q->hh.next) {
		if (q->gone_at && (!next || q->gone_at < next))
			next = q->gone_at;
	}
	return next;
}

void asks_tick(struct keeper *k)
{
	struct question *q, *next;

	HASH_ITER (hh, k->questions, q, next) {
		if (!q->gone_at || q->gone_at > k->now)
			continue;
		if (!q->answered)
			send_gone(k, q->id);
		question_free(k, q);
	}
}

void asks_done(struct keeper *k)
{
	struct question *q, *next;

	HASH_ITER (hh, k->questions, q, next) {
		question_free(k, q);
	}
}
