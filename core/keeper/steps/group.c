/* group - one step for several commands: `cordon step begin`, `end` and `abort` from inside. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/procs.h"
#include "core/keeper/channel.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/group_members.h"
#include "core/keeper/steps/hook_steps.h"
#include "core/keeper/steps/steps.h"
#include "core/keeper/watch/watch.h"
#include "core/os/socket.h"
#include "core/record/redact.h"

/*
 * One group is open at a time, for the whole session: a coding agent runs each of its commands in a
 * shell of its own, so the process that begins a group rarely ends it. A group includes the command
 * that began it, every command that starts while it is open, and ambient changes. Commands that ran
 * before keep their own steps.
 *
 * A request is a path that a process opens for writing, and the descriptor gives the answer
 * (backends/linux/door/calls_open.c). So the caller is the process of the call, there is no socket
 * to time out or to fill, and one call is one request. Requests of the agent affect only its own
 * steps, which can be undone or redone like any other.
 */

#define NAME_LONGEST 200

struct asked {
	struct keeper *k;
	struct proc *by;
	const char *name;
	struct buf *words;
	struct err err;
};

void group_leave(struct keeper *k, const struct proc *p)
{
	if (k->group && k->group_owner == p) {
		k->group_owner = NULL;
		steps_ends(k, k->group);
	}
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Returns -EBUSY while a question of a safeguard holds the command, which can then neither begin
 * nor end a group. */
static int check_held(struct asked *a, const struct command *c)
{
	if (!c || (!c->guard.asked && !c->guard.doomed))
		return 0;
	return err_say(&a->err, -EBUSY, "'%.200s' is held by a safeguard until it is answered",
		       c->label.data);
}

static int begin(struct asked *a)
{
	struct keeper *k = a->k;
	int r = check_held(a, a->by->command);

	if (r < 0)
		return r;
	if (k->group)
		return err_say(&a->err, -EBUSY,
			       k->group->driven ? "'%s' is still open: it ends with its command"
						: "'%s' is still open: end or abort it first",
			       k->group->label.data);
	if (!*a->name || strlen(a->name) > NAME_LONGEST)
		return err_say(&a->err, -EINVAL, "give the step a name of 1 to %d bytes",
			       NAME_LONGEST);
	if (journal_is_full(k->journal))
		return err_say(&a->err, -ENOSPC,
			       "the history is full: commands that run within five seconds are one "
			       "step (journal.steps, journal.size)");
	r = steps_split(k, a->by->command);
	if (r < 0)
		return err_set(&a->err, r, "keep the earlier changes");
	k->group = steps_group(k, a->name);
	k->group_serial++;
	k->group_owner = group_owner_of(k, a->by);
	if (a->by->command)
		a->by->command->grouped = true;
	buf_str(a->words, "begun");
	return 0;
}

/*
 * Begins a step for one command. The agent itself, a program that runs commands for a front end,
 * requests it, and only the agent ends it.
 */
static int drive(struct asked *a, enum step_kind kind)
{
	int r;

	if (!steps_is_agent(a->k, a->by))
		return err_say(&a->err, -EPERM, "only the agent itself begins such a step");
	/* Reserved for the keeper: a review leaves out steps with these names. */
	if (kind == STEP_API && str_starts(a->name, "undo "))
		return err_say(&a->err, -EPERM, "a step of that name is begun by an undo alone");
	r = begin(a);
	if (r < 0)
		return r;
	a->k->group->kind = kind;
	a->k->group->driven = true;
	return 0;
}

int group_from_cordon(struct keeper *k, const char *name, struct err *err)
{
	int r = 0;

	if (k->whole || k->frozen) /* the run is one step, or all changes are refused */
		return 0;
	if (k->group)
		r = steps_close(k, k->group);
	if (r >= 0 && *name)
		r = steps_split(k, NULL);
	if (r < 0)
		return err_set(err, r, "keep the earlier changes");
	if (!*name || journal_is_full(k->journal)) /* in a full history a step has many commands */
		return 0;
	steps_turn(k, name);
	k->group = steps_group(k, name);
	k->group->driven = true;
	k->group->exit_status = 0;
	k->group_serial++;
	k->group_owner = NULL;
	return 0;
}

/* Checks that a group is open, and has the given name if there is one. */
static int check_open(struct asked *a)
{
	struct keeper *k = a->k;

	if (!k->group)
		return err_say(&a->err, -ENOENT, "no step is open: cordon step begin NAME");
	if (k->group->driven && !steps_is_agent(k, a->by))
		return err_say(&a->err, -EPERM, "'%s' is still open: it ends with its command",
			       k->group->label.data);
	if (*a->name && !str_eq(a->name, k->group->label.data))
		return err_say(&a->err, -EINVAL, "the step that is open is '%s'",
			       k->group->label.data);
	return check_held(a, k->group);
}

/* Returns 1 if the group was kept as step *id, 0 if it had no changes. */
static int close_group(struct asked *a, int64_t *id, size_t *paths)
{
	struct command *c = a->k->group;
	int r;

	*id = c->step ? step_id(c->step) : 0;
	*paths = c->step ? step_paths(c->step) : 0;
	r = steps_close(a->k, c);
	return r < 0 ? err_set(&a->err, r, "keep the step") : r;
}

static int end_with(struct asked *a, int exit_status)
{
	int64_t id;
	size_t n;
	int r = check_open(a);

	if (r < 0)
		return r;
	a->k->group->exit_status = exit_status;
	r = close_group(a, &id, &n);
	if (r == 0)
		buf_str(a->words, "nothing was changed");
	else if (r > 0)
		buf_fmt(a->words, "step %lld: %zu path%s", (long long)id, n, n == 1 ? "" : "s");
	return r;
}

static int end(struct asked *a)
{
	return end_with(a, 0);
}

/* Ends a step of drive(). The request has the command's exit status instead of a name. */
static int end_driven(struct asked *a)
{
	int status = (int)strtol(a->name, NULL, 10) & 0xff;

	int r;

	a->name = "";
	r = end_with(a, status);
	keeper_flush(a->k); /* so that cordon knows the step when the command's runner continues */
	return r;
}

static int check_alone(struct asked *a)
{
	const struct proc *busy = group_still_at_work(a->k, a->by);
	char name[32];

	if (!busy)
		return 0;
	proc_name(busy, name, sizeof(name));
	return err_say(&a->err, -EBUSY,
		       "'%s' (pid %d) is still at work in it: stop it or wait, then abort", name,
		       proc_inner_pid(busy));
}

static void tell_undone(struct keeper *k, int64_t id, const char *name)
{
	size_t mark = wire_begin(&k->out, WIRE_STEP_UNDONE);

	wire_i64(&k->out, id);
	wire_cstr(&k->out, name);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* Rolls the group back as if it had been kept and undone: redo restores it. */
static int roll_back(struct asked *a)
{
	struct keeper *k = a->k;
	AUTO_FREE char *name = NULL, *lacks = NULL;
	const char *saving;
	int64_t id;
	size_t n;
	int r = check_open(a);

	if (r == 0)
		r = check_alone(a);
	if (r < 0)
		return r;
	if (!k->group->step) {
		buf_str(a->words, "nothing was changed");
		command_retire(k, k->group);
		return 0;
	}
	saving = saves_in_use(k);
	if (saving)
		return err_say(&a->err, -EBUSY,
			       "a program outside uses '%s' to save a file: wait, then abort",
			       path_base(saving));
	watch_drain(k);
	r = journal_check_held(k->group->step, &a->err);
	if (r == 0)
		r = journal_check_edited(k->group->step, &a->err);
	if (r < 0)
		return r;
	name = xstrdup(k->group->label.data);
	lacks = xstrdup(step_why(k->group->step));
	id = step_id(k->group->step);
	n = step_paths(k->group->step);
	k->group->exit_status = 1;
	r = steps_roll_back(k, k->group, &a->err);
	command_retire(k, k->group);
	if (r < 0)
		return err_wrap(&a->err, r, "step %lld is not rolled back", (long long)id);
	tell_undone(k, id, name);
	buf_fmt(a->words, "rolled back: %zu path%s; redo has it%s%s", n, n == 1 ? "" : "s",
		*lacks ? ". Not all of it: " : "", lacks);
	return 0;
}

static const char *argument(const char *request, const char *verb)
{
	size_t len = strlen(verb);

	if (strncmp(request, verb, len) != 0 || (request[len] && request[len] != '/'))
		return NULL;
	return request[len] ? request + len + 1 : "";
}

/* Returns 1 if it was a hook's request. */
static int serve_hook(struct asked *a, const char *request)
{
	int r;

	if ((a->name = argument(request, "turn")))
		r = hook_turn(a->k, a->name);
	else if (str_eq(request, "asks"))
		r = hook_asks(a->k);
	else if (str_eq(request, "rests"))
		r = hook_rests(a->k);
	else if (str_eq(request, "notices"))
		r = hook_notices(a->k, a->words);
	else if ((a->name = argument(request, "edit")))
		r = hook_before_edit(a->k);
	else if ((a->name = argument(request, "edited")))
		r = hook_after_edit(a->k, a->name, a->words);
	else
		return 0;
	return r < 0 ? err_set(&a->err, r, "keep the earlier changes") : 1;
}

static int serve(struct asked *a, const char *request)
{
	int r;

	if (a->k->frozen)
		return err_say(&a->err, -EIO, "the session is frozen: nothing is changed");
	if (!a->by)
		return err_say(&a->err, -ESRCH, "the caller is gone");
	if (a->by->shell)
		return err_say(&a->err, -EPERM,
			       "beside the agent each command is a step by itself");
	r = serve_hook(a, request);
	if (r)
		return r;
	if ((a->name = argument(request, "reviewed")))
		return hook_point(a->k, a->name, a->words, &a->err);
	if ((a->name = argument(request, "begin")))
		return begin(a);
	if ((a->name = argument(request, "end")))
		return end(a);
	if ((a->name = argument(request, "abort")))
		return roll_back(a);
	if ((a->name = argument(request, "run")))
		return drive(a, STEP_COMMAND);
	if ((a->name = argument(request, "api")))
		return drive(a, STEP_API);
	if ((a->name = argument(request, "ran")))
		return end_driven(a);
	return err_say(&a->err, -EINVAL, "begin NAME, end [NAME] or abort: nothing else");
}

/* Answers by a pipe, which has room for the short answer. */
int keeper_step(struct keeper *k, const struct caller *c, const char *request)
{
	AUTO_BUF struct buf words = BUF_INIT;
	AUTO_FREE char *known =
		redact_copy(k->spec->redact, request); /* requests name steps and turns */
	struct asked a = {.k = k, .by = c->proc, .words = &words};
	AUTO_CLOSE int from = -1;
	AUTO_CLOSE int to = -1;
	char answer[2048];
	int fds[2], r = serve(&a, known);

	if (pipe2(fds, O_CLOEXEC | O_NONBLOCK) < 0)
		return -errno;
	from = fds[0];
	to = fds[1];
	snprintf(answer, sizeof(answer), "%s%s\n", r < 0 ? STEP_REFUSED : "",
		 r < 0 ? a.err.text : words.data);
	r = io_write_all(to, answer, strlen(answer));
	return r < 0 ? r : take_fd(&from);
}
