/* shells - programs of the user beside the agent: start, end, processes and steps. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/shells.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "core/keeper/channel.h"
#include "core/keeper/procs.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "core/keeper/steps/shell_refs.h"
#include "core/keeper/steps/steps.h"

#define WORDS_MAX (WIRE_MAX / 4) /* an empty string has four bytes on the wire */

/* ---- start and end --------------------------------------------------------------------------- */

static void tell_ended(struct keeper *k, uint64_t id, int status, const char *words)
{
	size_t mark = wire_begin(&k->out, WIRE_SHELL_ENDED);

	wire_u64(&k->out, id);
	wire_u32(&k->out, (uint32_t)status);
	wire_cstr(&k->out, words);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* Commits its changes before its end is reported to the user. */
static void settle(struct keeper *k, const struct shell *sh)
{
	struct command *c, *next;

	for (c = k->commands; c; c = next) {
		next = c->next;
		if (c->shell == sh && c->step && !c->over && !c->direct && !c->guard.asked &&
		    !c->guard.doomed)
			steps_finish(k, c);
	}
}

static void on_ended(void *data, int status, const char *words)
{
	struct shell *sh = data;
	struct keeper *k = sh->keeper;
	struct proc *p = proc_known(k, sh->pid);

	/* The end may be reported here before the pidfd reports it. */
	if (p && proc_has_ended(p))
		proc_gone(k, p);
	sh->pid = 0;
	settle(k, sh);
	tell_ended(k, sh->id, status, words);
	shell_unref(&sh);
}

struct wanted {
	uint64_t id;
	bool tty;
	char *cwd, **env, **argv;
};

/* Returns a list on the heap, NULL-terminated. */
static char **get_list(struct wire_in *in)
{
	uint32_t n = wire_get_u32(in);
	char **list;

	if (n > WORDS_MAX)
		in->bad = true;
	list = xcalloc(in->bad ? 1 : (size_t)n + 1, sizeof(*list));
	for (uint32_t i = 0; i < n && !in->bad; i++)
		list[i] = wire_get_cstr(in);
	return list;
}

static int start(struct keeper *k, const struct wanted *w, struct err *err)
{
	struct shell *sh = xcalloc(1, sizeof(*sh));
	const struct beside_spec spec = {
		.argv = (const char *const *)w->argv,
		.env = (const char *const *)w->env,
		.cwd = w->cwd,
		.stdio = {k->handed[0], k->handed[1], k->handed[2]},
		.tty = w->tty,
		.ended = on_ended,
		.data = sh,
	};
	int pid = k->sandbox && k->spec->backend->enter
			  ? k->spec->backend->enter(k->sandbox, &spec, err)
			  : err_say(err, -EOPNOTSUPP,
				    "this backend starts no program beside the agent: native and "
				    "bwrap do");

	if (pid < 0) {
		free(sh);
		return pid;
	}
	*sh = (struct shell){.keeper = k,
			     .id = w->id,
			     .pid = pid,
			     .runs_commands = w->tty && !w->argv[1] && label_is_shell(w->argv[0]),
			     .refs = 1};
	LL_PREPEND(k->shells, sh);
	(void)proc_get(k, pid);
	return 0;
}

void shells_start(struct keeper *k, struct wire_in *in)
{
	struct wanted w = {.id = wire_get_u64(in), .tty = wire_get_u8(in)};
	struct err err = {0};
	mode_t mask = k->umask;

	w.cwd = wire_get_cstr(in);
	w.env = get_list(in);
	w.argv = get_list(in);
	in->bad |= k->n_handed < 3 || !w.argv[0];
	keeper_umask(k, k->agents_umask);
	if (!in->bad && start(k, &w, &err) < 0)
		tell_ended(k, w.id, 125, err.text);
	keeper_umask(k, mask);
	keeper_drop_handed(k, 3);
	free(w.cwd);
	util_free_list(&w.env);
	util_free_list(&w.argv);
}

void shells_signal(struct keeper *k, struct wire_in *in)
{
	uint64_t id = wire_get_u64(in);
	int sig = (int)wire_get_u32(in);

	for (struct shell *sh = k->shells; sh; sh = sh->next)
		if (sh->id == id && sh->pid > 0 && sig > 0 && sig < NSIG)
			kill(-sh->pid, sig);
}
