/* safeguard - counts what each step deletes or overwrites, and holds it at the limit. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/safeguard.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/grants.h"
#include "core/keeper/procs.h"
#include "core/keeper/channel.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/kill_command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/steps.h"

/*
 * Life of a hold. The journal asks (lose) before an operation deletes or overwrites a file from
 * before the step. At the limit the operation stops there, undone, and its call is parked under a
 * question about the whole command (asks.c). Later changes of the command are parked, too, at
 * safeguard_enter(). Then an answer, a timeout or a headless run
 *
 *   frees it   the kind is no longer counted, and the calls are served as if they were new; or
 *   dooms it   its processes are killed (kill_command.c), and the calls get EPERM. When the last of
 *              the processes has ended, and can write no more, the step is rolled back.
 *
 * A doomed command can make no more changes. If cordon or the keeper dies meanwhile, the step is
 * open on disk, and the next start rolls it back.
 */

#define TELL_US 250000 /* between two reports of the same hold */

/* ---- what the user allowed for good ---------------------------------------------------------- */

struct guard_line {
	char *key;		 /* command line, newline, working directory */
	uint64_t id[LOSS_KINDS]; /* of the answer; 0: none, losses are counted */
	UT_hash_handle hh;
};

/* Returns the key of a command line; NULL if the same words need not be the same command: a label
 * that is cut short, or a shell that acted before the exec that named it. Another directory makes
 * another command. */
static char *line_key(const struct command *c)
{
	char cwd[PATH_MAX] = "";

	if (!c->named || c->renamed || c->kind == STEP_AMBIENT || !c->label.len ||
	    !label_is_whole(c->label.data) || (c->pid > 0 && !proc_link(c->pid, "cwd", cwd)))
		return NULL;
	return xasprintf("%s\n%s", c->label.data, cwd);
}

/* Returns the number of the answer that allows the losses, or 0. */
static uint64_t line_answer(const struct keeper *k, const struct command *c, enum loss what)
{
	AUTO_FREE char *key = k->guard_lines ? line_key(c) : NULL;
	struct guard_line *l = NULL;

	if (key)
		HASH_FIND_STR(k->guard_lines, key, l);
	return l ? l->id[what] : 0;
}

static uint64_t line_remember(struct keeper *k, const struct command *c, enum loss what)
{
	char *key = c->guard.line;
	struct guard_line *l;

	if (!key)
		return 0;
	HASH_FIND_STR(k->guard_lines, key, l);
	if (!l) {
		l = xcalloc(1, sizeof(*l));
		l->key = xstrdup(key);
		HASH_ADD_KEYPTR(hh, k->guard_lines, l->key, strlen(l->key), l);
	}
	if (!l->id[what])
		l->id[what] = GRANT_OF_LINE | ++k->last_grant;
	return l->id[what];
}

/* Revokes an answer; commands that run under it are asked about again, too. */
void safeguard_revoke(struct keeper *k, uint64_t id)
{
	for (struct guard_line *l = k->guard_lines; l; l = l->hh.next) {
		for (size_t what = 0; what < LOSS_KINDS; what++) {
			if (l->id[what] == id)
				l->id[what] = 0;
		}
	}
	for (struct command *c = k->commands; c; c = c->next) {
		for (size_t what = 0; what < LOSS_KINDS; what++) {
			if (c->guard.free[what] == id)
				c->guard.free[what] = 0;
		}
	}
	grants_tell(k, WIRE_GIVEN_OVER, id, 0);
}

void safeguard_done(struct keeper *k)
{
	struct guard_line *l, *next;

	HASH_ITER (hh, k->guard_lines, l, next) {
		HASH_DEL(k->guard_lines, l);
		free(l->key);
		free(l);
	}
}

/* ---- counting -------------------------------------------------------------------------------- */

struct guard_path {
	char *path;
	UT_hash_handle hh;
};

static void gone_drop(struct guard *g, struct guard_path *p)
{
	HASH_DEL(g->gone, p);
	free(p->path);
	free(p);
}

static void gone_add(struct guard *g, const char *path)
{
	struct guard_path *p;

	HASH_FIND_STR(g->gone, path, p);
	if (p) /* moved there, and later deleted under that name */
		return;
	p = xcalloc(1, sizeof(*p));
	p->path = xstrdup(path);
	HASH_ADD_KEYPTR(hh, g->gone, p->path, strlen(p->path), p);
}

static void keep_sample(struct guard *g, enum loss what, size_t i, const char *path)
{
	if (i < GUARD_SAMPLES)
		g->was[what][i] = xstrdup(path);
}

/* Counts a deleted file that is created again as replaced, up to the limit of that: many programs
 * (git, assemblers, linkers) delete a file before they write it. */
static void made_anew(const struct guarded *gd)
{
	struct guard *g = &gd->command->guard;
	uint64_t most = gd->k->spec->guard.most[LOSS_REPLACE];
	struct guard_path *p = NULL;

	if (g->gone)
		HASH_FIND_STR(g->gone, gd->path, p);
	if (!p || (most && g->count[LOSS_REPLACE] + 1 >= most && !g->free[LOSS_REPLACE]))
		return;
	keep_sample(g, LOSS_REPLACE, g->count[LOSS_REPLACE]++, p->path);
	g->count[LOSS_DELETE]--;
	gone_drop(g, p);
}

static int lose(void *data, enum loss what, uint64_t size)
{
	struct guarded *g = data;
	const struct guard_limits *lim = &g->k->spec->guard;
	struct guard *own = &g->command->guard;

	if (what == LOSS_BEYOND && own->raised)
		step_raise(g->command->step); /* a part in another folder */
	if (!lim->most[what] || own->free[what])
		return 0;
	if (what == LOSS_OVERWRITE && size < lim->overwrite_bytes)
		return 0;
	g->what = what;
	if (own->count[what] + 1 < lim->most[what]) {
		g->counts = true;
		return 0;
	}
	g->size = size;
	own->free[what] = what == LOSS_BEYOND ? 0 : line_answer(g->k, g->command, what);
	if (own->free[what])
		return 0;
	g->stops = true;
	return -EPERM;
}

static void count(struct guarded *g)
{
	struct guard *own = &g->command->guard;
	size_t i = own->count[g->what]++;

	if (g->what == LOSS_DELETE)
		gone_add(own, g->path);
	else
		keep_sample(own, g->what, i, g->path);
}

/* ---- a step that is held --------------------------------------------------------------------- */

static size_t samples(const struct guard *g, char *out[GUARD_SAMPLES])
{
	size_t n = 0;

	for (const struct guard_path *p = g->gone; g->what == LOSS_DELETE && p; p = p->hh.next) {
		if (n < GUARD_SAMPLES)
			out[n++] = p->path;
	}
	for (; g->what != LOSS_DELETE && n < GUARD_SAMPLES && g->was[g->what][n]; n++)
		out[n] = g->was[g->what][n];
	return n;
}

static void tell(struct keeper *k, const struct command *c)
{
	const struct guard *g = &c->guard;
	size_t mark = wire_begin(&k->out, WIRE_HELD);
	struct guard_report r = {
		.ask = g->asked->id,
		.step = step_id(c->step),
		.pid = shown_pid(g->pid),
		.what = g->what,
		.ends = c == k->whole		  ? GUARD_ENDS_RUN
			: c->kind == STEP_AMBIENT ? GUARD_ENDS_STRAYS
						  : GUARD_ENDS_COMMAND,
		.by_line = g->line || g->what == LOSS_BEYOND,
		.partial = *step_why(c->step),
		.count = g->what == LOSS_BEYOND ? g->beyond : g->count[g->what],
		.held = g->asked->n_waiting,
		.timeout_s = k->spec->guard.timeout_s,
		.command = c->label.data,
		.n_would = g->n_would,
	};

	r.n_was = samples(g, r.was);
	memcpy(r.would, g->would, sizeof(r.would));
	memcpy(r.ops, g->ops, sizeof(r.ops));
	guard_report_put(&k->out, &r);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* Notes an example. A call that a signal interrupted and that is made again is noted once. */
static void sample(struct guard *g, const char *op, const char *path)
{
	for (size_t i = 0; i < g->n_would; i++) {
		if (str_eq(g->ops[i], op) && str_eq(g->would[i], path))
			return;
	}
	if (g->n_would == GUARD_SAMPLES)
		return;
	g->ops[g->n_would] = xstrdup(op);
	g->would[g->n_would++] = xstrdup(path);
}

static void on_asked(struct keeper *k, struct command *c)
{
	uint32_t timeout = k->spec->guard.timeout_s;

	c->guard.line = line_key(c);
	c->guard.deny_at = timeout ? k->now + (int64_t)timeout * 1000000 : 0;
	steps_announce(k, c);
	guest_hold(k, true);
}

static bool any_is_held(const struct keeper *k)
{
	const struct command *c = k->commands;

	while (c && !c->guard.asked)
		c = c->next;
	return c;
}

static void on_wait(struct keeper *k, struct command *c, const char *op, const char *path)
{
	sample(&c->guard, op, path);
	if (c->guard.asked->n_waiting == 1)
		tell(k, c);
	else if (!c->guard.tell_at)
		c->guard.tell_at = k->now + TELL_US;
}

static void on_over(struct keeper *k, struct command *c)
{
	struct guard *g = &c->guard;

	g->asked = NULL;
	if (!any_is_held(k))
		guest_hold(k, false);
	g->tell_at = g->deny_at = 0;
	free(take_ptr(&g->line));
	while (g->n_would) {
		g->n_would--;
		free(take_ptr(&g->would[g->n_would]));
		free(take_ptr(&g->ops[g->n_would]));
	}
}

/* ---- answers --------------------------------------------------------------------------------- */

/* Applies an answer, for the step or for this command line until the session ends. An answer with a
 * wider scope counts as a denial. */
static void on_answer(struct keeper *k, struct command *c, const struct answer *a)
{
	struct guard *g = &c->guard;

	if (!a->allow || a->scope > SCOPE_SESSION || a->extent != EXTENT_EXACT) {
		safeguard_deny(k, c, GUARD_DENIED);
		return;
	}
	if (g->what == LOSS_BEYOND) { /* allows the step, with raised limits or without undo */
		g->raised = a->scope != SCOPE_SESSION;
		g->free[g->what] = GUARD_FREE_STEP;
		asks_release(k, g->asked, VERDICT_RETRY);
		return;
	}
	g->free[g->what] = a->scope == SCOPE_SESSION ? line_remember(k, c, g->what) : 0;
	if (g->free[g->what])
		grants_tell(k, WIRE_GIVEN, g->free[g->what], g->asked->id);
	else
		g->free[g->what] = GUARD_FREE_STEP;
	asks_release(k, g->asked, VERDICT_RETRY);
}

static void send_stopped(struct keeper *k, const struct command *c, int64_t id, int result,
			 const char *words)
{
	size_t mark = wire_begin(&k->out, WIRE_TAKEN_BACK);

	wire_i64(&k->out, id);
	wire_u8(&k->out, (uint8_t)c->guard.what);
	wire_u8(&k->out, (uint8_t)c->guard.why);
	wire_u64(&k->out, k->spec->guard.most[c->guard.what]);
	wire_u32(&k->out, (uint32_t)result);
	wire_str(&k->out, c->label.data, c->label.len);
	wire_cstr(&k->out, words);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

void safeguard_roll_back(struct keeper *k, struct command *c)
{
	AUTO_FREE char *why = xstrdup(step_why(c->step));
	struct err err = {0};
	int64_t id = step_id(c->step);
	int r;

	if (k->frozen) { /* the log is closed, so the step stays as it is */
		c->guard.doomed = false;
		r = err_say(&err, -EIO, "the audit log cannot be written");
		send_stopped(k, c, id, r, err.text);
		steps_finish(k, c);
		return;
	}
	r = steps_roll_back(k, c, &err);
	send_stopped(k, c, id, MIN(r, 0), r < 0 ? err.text : why);
	command_retire(k, c);
}

void safeguard_deny(struct keeper *k, struct command *c, enum guard_why why)
{
	struct guard *g = &c->guard;

	g->doomed = true;
	g->why = why;
	ending_begin(k, c);
	if (g->asked && why != GUARD_DENIED) /* a user who denied it knows */
		asks_tell_over(k, g->asked);
	if (g->asked)
		asks_release(k, g->asked, VERDICT_STOP);
	/* For a run that is one step, end_sandbox() in keeper.c ends the rest first. */
	if (!g->dying && c != k->whole)
		safeguard_roll_back(k, c);
}

/* ---- around each operation ------------------------------------------------------------------- */

static const struct hold_ops hold_ops = {
	.asked = on_asked, .waits = on_wait, .answered = on_answer, .over = on_over};

int safeguard_enter(struct guarded *g, struct step *s)
{
	g->command = steps_command(g->k, g->c->proc);
	if (g->command->guard.doomed) {
		ending_add(g->k, g->command, g->c->proc);
		return -EPERM;
	}
	if (g->command->guard.asked)
		return asks_hold(g->k, g->c, g->command, g->path, &hold_ops);
	step_ask_before(s, lose, g);
	return 0;
}

int safeguard_leave(struct guarded *g, struct step *s, int result)
{
	step_ask_before(s, NULL, NULL);
	if (result >= 0 && g->makes)
		made_anew(g);
	if (result >= 0 && g->counts)
		count(g);
	if (!g->stops)
		return result;
	g->command->guard.what = g->what;
	g->command->guard.beyond = g->size;
	g->command->guard.pid = g->c->pid;
	if (!asks_possible(g->k)) {
		safeguard_deny(g->k, g->command, GUARD_HEADLESS);
		return -EPERM;
	}
	return asks_hold(g->k, g->c, g->command, g->path, &hold_ops);
}

/* ---- time ------------------------------------------------------------------------------------ */

int64_t safeguard_next(const struct keeper *k)
{
	const struct command *c;
	int64_t next = 0;

	for (c = k->commands; c; c = c->next) {
		if (c->guard.tell_at && (!next || c->guard.tell_at < next))
			next = c->guard.tell_at;
		if (c->guard.deny_at && (!next || c->guard.deny_at < next))
			next = c->guard.deny_at;
	}
	return next;
}

void safeguard_tick(struct keeper *k)
{
	struct command *c, *next;

	for (c = k->commands; c; c = next) {
		struct guard *g = &c->guard;

		next = c->next;
		if (g->tell_at && g->tell_at <= k->now) {
			g->tell_at = 0;
			tell(k, c);
		}
		if (g->deny_at && g->deny_at <= k->now)
			safeguard_deny(k, c, GUARD_TIMED_OUT);
	}
}

void safeguard_forget(struct keeper *k, struct command *c)
{
	struct guard_path *p, *next;

	HASH_ITER (hh, c->guard.gone, p, next) {
		gone_drop(&c->guard, p);
	}
	if (c->guard.asked)
		asks_withdraw(k, c->guard.asked);
	for (size_t what = 0; what < LOSS_KINDS; what++) {
		for (size_t i = 0; i < GUARD_SAMPLES; i++)
			free(take_ptr(&c->guard.was[what][i]));
	}
}
