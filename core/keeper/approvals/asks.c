/* asks - questions for the user, and the calls that wait for the answers. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/asks.h"

#include <errno.h>
#include <string.h>

#include "core/keeper/approvals/grants.h"
#include "core/keeper/procs.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/owner.h"
#include "core/policy/builtin/sockets.h"
#include "core/policy/written.h"

/*
 * A question is about a path; all requests for that path wait for the same answer. "Allow once"
 * applies to the request on the screen: for a change, to that call of that thread, with the file
 * that was to take the name. Other requests are then asked about separately.
 * Without WAIT_KILLABLE_RECV a signal interrupts a held call and the program issues it again. So a
 * question without waiting calls stays for a moment before it is withdrawn. An answer in that
 * moment is kept for the repeated call: for that path and process only, and no longer. With
 * WAIT_KILLABLE_RECV the door interrupts the call itself to let a signal through. A process that
 * was stopped (Ctrl-Z) repeats its call when it continues: the moment lasts as long as it is
 * stopped, and one moment more.
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
		q->holds->over(k, q->held);
	free(q->waiting);
	free(q->bundle);
	free(q->wish);
	free(q->key);
	free(q);
}

static void drop_waiting(struct keeper *k, struct question *q, size_t i, int64_t linger)
{
	q->left = q->waiting[i].pid;
	q->waiting[i] = q->waiting[--q->n_waiting];
	(*tally(k, q))--;
	if (!q->n_waiting)
		q->gone_at = k->now + linger;
}

static void add_waiting(struct keeper *k, struct question *q, const struct caller *c,
			const char *wish, bool beside)
{
	q->waiting = xrealloc(q->waiting, (q->n_waiting + 1) * sizeof(*q->waiting));
	q->waiting[q->n_waiting].door = c->door ? c->door : k->doors[0];
	q->waiting[q->n_waiting].request = c->request;
	q->waiting[q->n_waiting].tid = c->tid;
	q->waiting[q->n_waiting].shown = q->wish && str_eq(wish, q->wish);
	q->waiting[q->n_waiting].beside = beside;
	q->waiting[q->n_waiting++].pid = c->pid;
	q->gone_at = 0;
	q->stopped = false;
	(*tally(k, q))++;
}

/* A thread waits for one call at a time. An earlier wait of it was interrupted by a signal. */
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

/* Returns the command whose step an answer can apply to, or NULL: not for the whole run as one
 * step, and not for changes outside every command. */
static struct command *step_of(struct keeper *k, const struct caller *c)
{
	struct command *command = c->proc ? steps_command(k, c->proc) : NULL;

	return command && command != k->whole && command->kind != STEP_AMBIENT ? command : NULL;
}

bool asks_possible(const struct keeper *k)
{
	return !k->spec->headless && k->n_doors && !k->frozen;
}

static struct question *question_new(struct keeper *k, const struct caller *c,
				     const struct wished *w, const char *key)
{
	struct question *q = xcalloc(1, sizeof(*q));

	q->id = ++k->last_question;
	q->key = xstrdup(key);
	q->kind = w->kind;
	q->path = q->key + 1;
	q->is_dir = w->is_dir;
	q->bundle = w->kind == RULE_WRITE ? xstrdup(policy_bundle(k->policy, w->path)) : NULL;
	q->pid = c->pid;
	q->wish = question_wish(c, w);
	q->command = step_of(k, c);
	if (k->spec->ask_timeout_s)
		q->deny_at = k->now + (int64_t)k->spec->ask_timeout_s * 1000000;
	HASH_ADD_KEYPTR(hh, k->questions, q->key, strlen(q->key), q);
	question_send(k, c, q, w);
	k->tallies.asked++;
	return q;
}

/* Refuses a change of a file that was edited after the question. Asking again would never end for a
 * file that is open for writing all the time. */
static int refuse_stale(struct keeper *k, const struct caller *c, const struct wished *w)
{
	if (grants_find(k, c, w->kind, w->path) > 0)
		return 0;
	keeper_deny(
		k, c, w->path, -ESTALE,
		"it has changed since you were asked, is still open for writing, or is too much to "
		"be compared: allow it for longer than once");
	return -ESTALE;
}

int asks_park(struct keeper *k, const struct caller *c, const struct wished *w)
{
	AUTO_FREE char *key = question_key(w->kind, w->path);
	AUTO_FREE char *wish = question_wish(c, w);
	struct question *q;
	int known;

	waits_no_more(k, c->tid);
	if (c->stale)
		return refuse_stale(k, c, w);
	HASH_FIND_STR(k->questions, key, q);
	if (q && q->answered && str_eq(q->wish, wish)) {
		bool allow = q->allow;

		question_free(k, q);
		if (allow && w->unsettled)
			return refuse_stale(k, c, w);
		return allow ? 0 : -EACCES;
	}
	known = grants_find(k, c, w->kind, w->path);
	if (known < 0)
		keeper_deny(k, c, w->path, known, "you denied it before");
	if (known)
		return MIN(known, 0);
	if (k->n_waiting >= ASKS_MAX || (!q && HASH_COUNT(k->questions) >= ASKS_MAX)) {
		keeper_deny_crowded(k, c, w->path);
		return -EACCES;
	}
	if (q && q->answered) { /* this process needs an answer of its own */
		question_free(k, q);
		q = NULL;
	}
	if (q && !q->n_waiting &&
	    !str_eq(q->wish, wish)) { /* the question shows a wish that no call has */
		asks_withdraw(k, q);
		q = NULL;
	}
	if (!q)
		q = question_new(k, c, w, key);
	add_waiting(k, q, c, wish, w->beside);
	return -FOLDER_HELD;
}

int asks_hold(struct keeper *k, const struct caller *c, struct command *command, const char *path,
	      const struct hold_ops *ops)
{
	struct question *q = command->guard.asked;

	waits_no_more(k, c->tid);
	if (k->n_held >= GUARD_HELD)
		return -ENOSPC;
	if (!q) {
		q = xcalloc(1, sizeof(*q));
		q->id = ++k->last_question;
		/* Keys of other questions have a / behind their first letter. */
		q->key = xasprintf("step %llu", (unsigned long long)q->id);
		q->path = q->key;
		q->held = command;
		q->holds = ops;
		HASH_ADD_KEYPTR(hh, k->questions, q->key, strlen(q->key), q);
		command->guard.asked = q;
		ops->asked(k, command);
	}
	add_waiting(k, q, c, NULL, false);
	ops->waits(k, command, c->op, path);
	return -FOLDER_HELD;
}

/* Returns the verdict for one call. once: the answer counts only for the call on the screen. */
static enum door_verdict verdict_of(const struct waiting *w, enum door_verdict verdict, bool once)
{
	return w->beside || (once && !w->shown) ? VERDICT_RETRY : verdict;
}

/* Answers the newest call first, as the door searches its calls in that order. */
static void tell_waiting(const struct waiting *waiting, size_t n, enum door_verdict verdict,
			 bool once)
{
	for (size_t i = n; i-- > 0 && waiting[i].door;) {
		const struct waiting *w = &waiting[i];

		w->door->ops->answered(w->door, w->request, verdict_of(w, verdict, once));
	}
}

/* Returns whether a call with the wish on the screen waits for another question too: it is made
 * again, and finds the answer by its wish. */
static bool keeps_answer(const struct waiting *waiting, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (waiting[i].beside && waiting[i].shown)
			return true;
	return false;
}

static void release(struct keeper *k, struct question *q, enum door_verdict verdict, bool once)
{
	AUTO_FREE struct waiting *waiting = take_ptr(&q->waiting);
	const size_t n = q->n_waiting;

	/* The calls leave the question first, because the door may park one again. */
	*tally(k, q) -= n;
	q->n_waiting = 0;
	if (verdict != VERDICT_RETRY && keeps_answer(waiting, n)) {
		q->answered = true;
		q->allow = verdict == VERDICT_ALLOW;
		q->gone_at = k->now + LINGER_US;
	} else {
		question_free(k, q);
	}
	tell_waiting(waiting, n, verdict, once);
}

void asks_release(struct keeper *k, struct question *q, enum door_verdict verdict)
{
	release(k, q, verdict, false);
}

void asks_withdraw(struct keeper *k, struct question *q)
{
	question_send_gone(k, q->id, ASK_LEFT);
	question_free(k, q);
}

void asks_tell_over(struct keeper *k, const struct question *q)
{
	question_send_gone(k, q->id, ASK_TIMED_OUT);
}

/* What an answer covers. */
struct covers {
	enum rule_kind kind;
	const char *object, *bundle;
	enum answer_extent extent;
};

static bool is_covered(const struct question *q, const struct covers *by)
{
	if (q->kind != by->kind)
		return false;
	return by->extent == EXTENT_BUNDLE
		       ? q->bundle && str_eq(q->bundle, by->bundle)
		       : grants_cover(by->kind, by->object, by->extent, q->path);
}

/* Ends questions that the answer covers (by NULL: that changed rules decide). Their calls are
 * judged again, each under its own name. */
static void release_decided(struct keeper *k, const struct covers *by)
{
	uint64_t last = k->last_question; /* a newer question was just judged */
	struct question *q = k->questions;

	while (q) {
		if (q->id > last || q->held || q->answered ||
		    !(by ? is_covered(q, by) : q->reruled)) {
			q = q->hh.next;
			continue;
		}
		question_send_gone(k, q->id, ASK_COVERED);
		asks_release(k, q, VERDICT_RETRY);
		q = k->questions; /* the doors may have changed the list */
	}
}

void asks_note_reruled(struct keeper *k)
{
	for (struct question *q = k->questions; q; q = q->hh.next)
		q->reruled = !q->held && policy_judges_anew(k->policy, q->kind, q->path);
}

void asks_release_reruled(struct keeper *k)
{
	release_decided(k, NULL);
}

/* Notes what the answer lets the agent write, before it has an effect: programs outside must not
 * run it. Returns false, with a warning, if it cannot. */
static bool note_written(struct keeper *k, const struct question *q, const char *object,
			 const struct answer *a)
{
	char **patterns = NULL;
	struct err err = {0};
	int r;

	if (!a->allow || q->kind != RULE_WRITE)
		return true;
	if (a->extent == EXTENT_BUNDLE && q->bundle)
		patterns = policy_bundle_patterns(k->policy, q->bundle);
	r = patterns ? written_add_patterns((const char *const *)patterns, &err)
		     : written_add_answer(object, a->extent, &err);
	util_free_list(&patterns);
	if (r < 0)
		keeper_warn(k, "the answer counts as no: %s", err.text);
	return r == 0;
}

static void answer_question(struct keeper *k, struct question *q, struct answer *a)
{
	AUTO_FREE char *object = answer_object(q->path, q->is_dir, a);
	AUTO_FREE char *bundle = xstrdup(q->bundle);
	enum rule_kind kind = q->kind;
	bool once;

	a->allow = note_written(k, q, object, a) && a->allow;
	once = a->allow && a->scope == SCOPE_ONCE;
	grants_add(k, q, a);
	if (q->n_waiting) {
		release(k, q, a->allow ? VERDICT_ALLOW : VERDICT_DENY, once);
	} else {
		q->answered = true;
		q->allow = a->allow;
	}
	if (a->scope == SCOPE_ONCE)
		return;
	if (a->extent != EXTENT_EXACT)
		release_decided(k, &(struct covers){kind, object, bundle, a->extent});
	if (a->allow)
		grants_tell_doors(k, kind, object, a);
}

void asks_answer(struct keeper *k, uint64_t id, const struct answer *a)
{
	struct answer given = *a;
	struct question *q = question_by_id(k, id);

	if (!q || q->answered)
		return;
	if (q->held) {
		q->holds->answered(k, q->held, a);
		return;
	}
	if (given.scope == SCOPE_STEP && !q->command)
		given.scope = SCOPE_ONCE;
	if (given.scope == SCOPE_ONCE ||
	    ((given.allow || q->kind >= RULE_PLACES) && !question_offered(k, q, &given)) ||
	    (given.extent == EXTENT_BUNDLE && !question_offered(k, q, &given)))
		given.extent = EXTENT_EXACT;
	answer_question(k, q, &given);
}

void asks_forget(struct keeper *k, const struct command *c)
{
	for (struct question *q = k->questions; q; q = q->hh.next)
		if (q->command == c)
			q->command = NULL;
}

void keeper_request_gone(struct keeper *k, struct door *d, uint64_t request)
{
	struct question *q;

	for (q = k->questions; q; q = q->hh.next) {
		for (size_t i = 0; i < q->n_waiting; i++) {
			if (q->waiting[i].door == d && q->waiting[i].request == request) {
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
		if (!q->n_waiting && (q->left == pid || q->pid == pid)) {
			q->gone_at = k->now;
			q->left = 0; /* the pid may be reused */
			q->stopped = false;
		}
	}
}

/* Drops all questions. The door fails the calls that it holds by itself (door_ops.drop_all). */
void asks_drop_all(struct keeper *k)
{
	struct question *q, *next;

	HASH_ITER (hh, k->questions, q, next) {
		if (!q->answered)
			question_send_gone(k, q->id, ASK_LEFT);
		question_free(k, q);
	}
}

static int64_t due(const struct question *q)
{
	return q->gone_at ? q->gone_at : q->deny_at;
}

int64_t asks_next(const struct keeper *k)
{
	const struct question *q;
	int64_t next = 0;

	for (q = k->questions; q; q = q->hh.next) {
		if (due(q) && (!next || due(q) < next))
			next = due(q);
	}
	return next;
}

/* Denies once, by no user: a repeated call is a new question. */
static void time_out(struct keeper *k, struct question *q)
{
	question_send_gone(k, q->id, ASK_TIMED_OUT);
	asks_release(k, q, VERDICT_DENY);
}

/* Returns whether the process is stopped, or was at the last look: once it continues it gets a
 * moment to make its call again. */
static bool waits_stopped(struct question *q)
{
	bool was = q->stopped;

	q->stopped = q->left && proc_is_stopped(q->left);
	return was || q->stopped;
}

void asks_tick(struct keeper *k)
{
	struct question *q = k->questions;

	while (q) {
		if (!due(q) || due(q) > k->now) {
			q = q->hh.next;
			continue;
		}
		if (q->n_waiting) {
			time_out(k, q);
			q = k->questions; /* the doors may have changed the list */
			continue;
		}
		if (waits_stopped(q)) {
			q->gone_at = k->now + LINGER_US;
			continue;
		}
		if (!q->answered)
			question_send_gone(k, q->id, ASK_LEFT);
		question_free(k, q);
		q = k->questions;
	}
}

void asks_done(struct keeper *k)
{
	struct question *q, *next;

	HASH_ITER (hh, k->questions, q, next) {
		question_free(k, q);
	}
}
