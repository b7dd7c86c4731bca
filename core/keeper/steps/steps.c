/* steps - which command a change belongs to, when its step begins and when it is committed. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/steps.h"

#include <errno.h>
#include <string.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/keeper/procs.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/group_members.h"
#include "core/keeper/steps/step_frames.h"
#include "core/keeper/steps/step_name.h"
#include "core/keeper/steps/owner.h"
#include "core/keeper/steps/shell_refs.h"
#include "core/keeper/watch/watch.h"
#include "core/record/redact.h"

/*
 * A command's step begins with its first change and ends a little after the last of the processes
 * that make up the command (ancestry.c). Changes of no command are ambient.
 *
 * Steps that only wait for their quiet time are committed before another one begins. So, as long as
 * commands run one after the other, the after-state of a step is the before-state of the next.
 */

#define QUIET_US     100000  /* after the last process has ended and the last change after that */
#define QUIET_MAX_US 2000000 /* later changes of its processes are ambient */
#define BURST_US     1000000 /* after the last ambient change in a folder */
#define AMBIENT_US   5000000 /* and elsewhere, such as an agent's own notes */
#define RETRY_US     5000000 /* after a commit that failed */
#define LIVE_US	     2000000 /* between two signs of life in the log of an open step */
#define NAME_US	     50000   /* from a redirection to the exec that names its command */

void steps_named(struct keeper *k, struct command *c)
{
	if (c->announce_at && c->step)
		step_frames_begin(k, c);
}

void steps_ends(struct keeper *k, struct command *c)
{
	c->quiet_at = k->now + QUIET_US;
}

/* Like journal_commit(). */
static int try_commit(struct keeper *k, struct command *c, struct err *err)
{
	AUTO_FREE char *why = NULL;
	struct step_end end = {.id = step_id(c->step)};
	struct naming naming;
	int r;

	step_settle(c->step);
	end.why = why = xstrdup(step_why(c->step));
	if (c->announce_at)
		step_frames_begin(k, c);
	keeper_umask(k, 077);
	step_set_command(c->step, c->label.data);
	watch_drain(k);
	naming_init(&naming, k, c);
	step_watch_end(c->step, &naming_witness, &naming);
	r = journal_commit(c->step, c->exit_status, err);
	if (r < 0) {
		step_watch_end(c->step, NULL, NULL);
		naming_done(&naming);
		return r;
	}
	keeper_news(k);
	keeper_tidy(k);
	c->step = NULL;
	c->inside = false;
	if (c->announced) {
		c->announced = false;
		end.paths = (size_t)r;
		end.kept = r > 0;
		end.elsewhere = naming.elsewhere;
		end.granted = naming.granted;
		end.name = naming.name.data;
		step_frames_end(k, c, &end);
	}
	naming_done(&naming);
	return r;
}

static int commit(struct keeper *k, struct command *c)
{
	int64_t id = step_id(c->step);
	struct err err = {0};
	int r = try_commit(k, c, &err);

	if (r < 0)
		keeper_note(k, "step %lld cannot be kept yet: %s", (long long)id, err.text);
	return r;
}

/* ---- for safeguards -------------------------------------------------------------------------- */

static bool is_held(const struct command *c)
{
	return c->guard.asked || c->guard.doomed;
}

void steps_announce(struct keeper *k, struct command *c)
{
	if (!c->announced)
		step_frames_begin(k, c);
}

/* ---- ends ------------------------------------------------------------------------------------ */

void steps_finish(struct keeper *k, struct command *c)
{
	int r;

	if (c->step && c->guard.doomed) {
		k->hooks->command_doomed(k, c);
		return;
	}
	r = c->step ? commit(k, c) : 0;
	if (r == 0)
		step_frames_ran(k, c);
	if (r >= 0) {
		command_retire(k, c);
		return;
	}
	/* On a full disk the step stays open, for a later try or for the next start's recovery. */
	c->last_at = k->now;
	c->quiet_at = k->now + RETRY_US;
}

static bool is_idle(const struct command *c)
{
	return !c->whole && !c->over && !is_held(c) && (c->kind == STEP_AMBIENT || c->direct == 0);
}

static void finish_idle(struct keeper *k, const struct command *except)
{
	struct command *c, *next;

	for (c = k->commands; c; c = next) {
		next = c->next;
		if (except && (c == except || c->lingers || c->folds))
			continue;
		/* The agent's own notes delay no other step. */
		if (except && c->kind == STEP_AMBIENT && !c->inside)
			continue;
		if (c->step && is_idle(c))
			steps_finish(k, c);
	}
}

/* Marks the beginning of the session in the history, before its first step. */
static void mark_session(struct keeper *k)
{
	struct err err = {0};

	if (k->marked || !k->spec->spawn || k->spec->journal.off)
		return;
	k->marked = true;
	if (journal_add_turn(k->journal, k->agent_name.data,
			     k->spec->headless && !k->turn_prompt.len, k->turn_prompt.data,
			     &err) < 0)
		log_warn("keeper", "%s", err.text);
}

int steps_begin(struct keeper *k, struct command *c, struct journal *j, struct step **ret)
{
	struct err err = {0};
	int r;

	finish_idle(k, c);
	if (!c->step) { /* earlier edits are noted before the step */
		watch_drain(k);
		watch_settle(k);
	}
	keeper_umask(k, 077);
	mark_session(k);
	if (c->step)
		r = journal_begin_part(j, c->step, ret, &err);
	else
		r = journal_begin(j, c->kind, c->label.data, ret, &err);
	if (r == 0 && !c->step)
		c->step = *ret;
	if (r < 0 && r != k->begin_error) /* reported once, as every refused change comes here */
		keeper_note(k, "changes are refused: no step could begin: %s", err.text);
	k->begin_error = r;
	return r;
}

/* ---- changes --------------------------------------------------------------------------------- */

int steps_get(const struct folder *f, struct proc *p, const char *hint, struct step **ret)
{
	struct keeper *k = f->keeper;
	struct command *c = steps_command(k, p);

	group_mark(k, p);
	if ((!c || !c->step) && !k->fold && !(p && p->shell) && journal_is_full(k->journal))
		c = owner_fold(k);
	if (!c)
		c = owner_ambient(k, p, hint);
	c->last_at = k->now;
	if (!f->granted) {
		c->inside = true;
		c->inside_at = k->now;
	}
	if (!c->step && !c->label.len) /* a redirection before the exec that names it */
		owner_label(k, c, NULL, hint);
	*ret = c->step ? step_part(c->step, f->journal) : NULL;
	return *ret ? 0 : steps_begin(k, c, f->journal, ret);
}

struct step *steps_open(struct keeper *k, const struct proc *p)
{
	const struct command *c = steps_command(k, p);

	return c ? c->step : NULL;
}

int64_t steps_id(struct keeper *k, const struct proc *p)
{
	const struct step *s = steps_open(k, p);

	return s ? step_id(s) : 0;
}

void steps_touched(struct keeper *k, const struct proc *p)
{
	struct command *c = steps_command(k, p);

	if (!c || !c->step || c->announced || c->announce_at)
		return;
	if (c->named || c->kind == STEP_AMBIENT)
		step_frames_begin(k, c);
	else
		c->announce_at = k->now + NAME_US;
}

/* ---- time ------------------------------------------------------------------------------------ */

static int64_t due(const struct command *c)
{
	if (c->over || is_held(c))
		return 0;
	if (c->folds)
		return c->quiet_at;
	if (c->kind == STEP_AMBIENT)
		return c->inside ? c->inside_at + BURST_US : c->last_at + AMBIENT_US;
	if (!c->quiet_at)
		return 0;
	return MIN(MAX(c->quiet_at, c->last_at + QUIET_US), c->quiet_at + QUIET_MAX_US);
}

int64_t steps_next(const struct keeper *k)
{
	const struct command *c;
	int64_t next = k->live_at;

	for (c = k->commands; c; c = c->next) {
		int64_t at = due(c);

		if (c->announce_at && (!at || c->announce_at < at))
			at = c->announce_at;
		if (at && (!next || at < next))
			next = at;
	}
	return next;
}

static void live(struct keeper *k)
{
	const struct command *c = k->commands;

	while (c && !c->step)
		c = c->next;
	if (c && k->live_at && k->live_at <= k->now)
		journal_live(k->journal);
	if (!c || k->live_at <= k->now)
		k->live_at = c ? k->now + LIVE_US : 0;
}

void steps_tick(struct keeper *k)
{
	struct command *c, *next;

	live(k);
	for (c = k->commands; c; c = next) {
		next = c->next;
		int64_t at = due(c);

		if (c->announce_at && c->announce_at <= k->now)
			step_frames_begin(k, c);
		if (!at || at > k->now)
			continue;
		if (c->lingers && c->step && step_adopt_writers(c->step))
			c->last_at = k->now;
		else
			steps_finish(k, c);
	}
}

/* Says why the command's step cannot end yet. The command is shortened: a narrow screen must show
 * the reason, which follows it. */
static int refuse_to_settle(const struct keeper *k, const struct command *c, struct err *err)
{
	AUTO_BUF struct buf words = BUF_INIT;

	text_fit_end(&words, c->label.data, 60);
	if (c->guard.asked)
		return err_say(err, -EBUSY, "'%s' is held by a safeguard: allow or deny it first",
			       words.data);
	if (c == k->whole)
		return err_say(err, -EAGAIN, "the whole run is one step: it ends with the agent");
	if (c == k->group)
		return err_say(err, -EBUSY, "the step '%s' is still open", words.data);
	return err_say(err, -EBUSY, "'%s' (process %d) is still running", words.data,
		       shown_pid(c->pid));
}

int steps_settle(struct keeper *k, struct err *err)
{
	struct command *c;

	finish_idle(k, NULL);
	for (c = k->commands; c; c = c->next)
		if (c->step)
			return refuse_to_settle(k, c, err);
	keeper_prune(k);
	return 0;
}

void steps_turn(struct keeper *k, const char *words)
{
	struct err err = {0};

	k->spoke = false;
	buf_clear(&k->turn_prompt);
	buf_str(&k->turn_prompt, words);
	if (k->whole || !k->spec->spawn || k->spec->journal.off)
		return;
	if (k->ambient && k->ambient->step && is_idle(k->ambient))
		steps_finish(k, k->ambient);
	if (k->fold && is_idle(k->fold))
		steps_finish(k, k->fold);
	/* Before the first step the turn begins with the session. */
	if (k->marked && journal_add_turn(k->journal, NULL, false, words, &err) < 0)
		log_warn("keeper", "%s", err.text);
	keeper_tell_turn(k, true, words);
}

int steps_commit_all(struct keeper *k, struct err *err)
{
	struct command *c, *next;
	int r = 0;

	for (c = k->commands; c; c = next) {
		next = c->next;
		if (c == k->whole)
			c->exit_status = k->exited ? util_exit_code(k->wait_status) : -1;
		if (!c->over)
			steps_finish(k, c);
	}
	/* The last try. */
	for (c = k->commands; c && r >= 0; c = c->next)
		if (c->step && !c->over && !c->guard.doomed)
			r = try_commit(k, c, err);
	return MIN(r, 0);
}

/* ---- groups ---------------------------------------------------------------------------------- */

int steps_split(struct keeper *k, struct command *c)
{
	int r = 0;

	if (c && is_held(c))
		return -EBUSY;
	if (c && c->step && !c->over)
		r = commit(k, c);
	if (r >= 0 && k->ambient && !is_held(k->ambient))
		r = steps_close(k, k->ambient);
	if (r >= 0 && k->strays && !is_held(k->strays))
		r = steps_close(k, k->strays);
	return MIN(r, 0);
}

struct command *steps_group(struct keeper *k, const char *name)
{
	struct command *c = command_new(k, STEP_COMMAND);

	c->whole = c->named = true;
	buf_str(&c->label, name);
	label_unmark(&c->label);
	return c;
}

int steps_close(struct keeper *k, struct command *c)
{
	int r = 0;

	if (is_held(c))
		return -EBUSY;
	if (c->step)
		r = commit(k, c);
	if (r >= 0)
		command_retire(k, c);
	return r;
}

/* ---- life ------------------------------------------------------------------------------------ */

void steps_init(struct keeper *k)
{
	const struct spawn_spec *spawn = k->spec->spawn;
	AUTO_BUF struct buf argv = BUF_INIT;

	if (!spawn)
		return;
	for (size_t i = 0; spawn->argv[i] && argv.len < LABEL_MAX; i++)
		buf_add(&argv, spawn->argv[i], strlen(spawn->argv[i]) + 1);
	buf_str(&k->agent_name, label_agent(argv.data, argv.len));
	label_unmark(&k->agent_name);
	k->agent_wraps = label_wraps(argv.data, argv.len);
	if (!k->spec->one_step)
		return;
	k->whole = command_new(k, STEP_COMMAND);
	k->whole->whole = k->whole->named = true;
	if (k->spec->redact)
		redact_text(k->spec->redact, argv.data, argv.len);
	label_command(&k->whole->label, argv.data, argv.len);
}

/* Ends the steps. Those that stay open on disk are recovered by the next start. */
void steps_done(struct keeper *k)
{
	struct command *c, *next;

	if (k->live_at)
		journal_live(k->journal);
	for (c = k->commands; c; c = next) {
		next = c->next;
		command_free(k, c);
	}
	while (k->shells) { /* their ends are not reported */
		k->shells->refs = 1;
		shell_unref(&(struct shell *){k->shells});
	}
	k->ambient = k->strays = k->whole = k->group = k->fold = NULL;
	buf_done(&k->agent_name);
	buf_done(&k->turn_prompt);
	buf_done(&k->notices);
}
