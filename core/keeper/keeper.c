/* keeper - the process that performs every change: its birth, its sandbox, its end. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/approvals/grants.h"
#include "core/keeper/approvals/reload.h"
#include "core/keeper/approvals/safeguard.h"
#include "core/keeper/brokered.h"
#include "core/keeper/procs.h"
#include "core/keeper/channel.h"
#include "core/keeper/events.h"
#include "core/keeper/folders/draft.h"
#include "core/keeper/folders/review.h"
#include "core/keeper/folders/unconfined.h"
#include "core/keeper/guest_facts.h"
#include "core/keeper/keeper_process.h"
#include "core/keeper/loop.h"
#include "core/keeper/requests.h"
#include "core/keeper/sources.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/ancestry.h"
#include "core/keeper/steps/kill_command.h"
#include "core/keeper/steps/steps.h"
#include "core/keeper/watch/lock.h"
#include "core/keeper/watch/watch.h"
#include "core/os/poller.h"
#include "core/os/process.h"
#include "core/base/io.h"

/*
 * Theory of operation. The agent cannot change a working folder: inside, it is mounted read-only.
 * Its changes come through the door (a trapped system call) to this process, which performs them on
 * descriptors of its own, or refuses them:
 *
 *   door      copies the arguments, finds the object                     backends/linux/door/door.c
 *   procs     finds the process and its command                          procs.c, steps.c
 *   policy    allowed, refused, or a question for the user               folder.c, asks.c
 *   journal   captures the present state, then performs                  core/journal
 *   events    tell cordon; the caller has its answer already             events.c, loop.c
 *
 * One thread performs one request at a time, so the agent changes nothing between decision and
 * change. Three rules hold everywhere here:
 *
 * - Nothing waits. A question parks the request and the loop goes on; a cordon that does not read
 *   stops only the door; a rollback polls the socket for its own cancellation.
 * - Exits before requests. A turn looks at ended processes first, so a reused pid is never taken
 *   for the earlier process.
 * - Cordon decides about the end. Signals do not end the keeper; the closed socket does. Then the
 *   sandbox is killed and open steps stay open on disk: the next start rolls them back. In an
 *   orderly end they are committed before WIRE_EXIT is sent, so the history is complete at the
 * exit.
 */

#define SLICE_NS       100000 /* the shortest that there is */
#define PRUNE_LATER_US 20000  /* the agent starts first */
#define START_FAILED   125    /* exit status of cordon when CMD did not start */

/* ---- start ----------------------------------------------------------------------------------- */

static void on_process_left(struct keeper *k, struct proc *p)
{
	asks_leave(k, p->self.tid);
	grants_leave(k, p);
	steps_leave(k, p);
	ending_leave(k, p);
}

static void on_command_freed(struct keeper *k, struct command *c)
{
	safeguard_forget(k, c);
	asks_forget(k, c);
	grants_forget(k, c);
}

static const struct keeper_hooks hooks = {
	.process_seen = steps_join,
	.process_left = on_process_left,
	.calls = drafts_settle,
	.command_freed = on_command_freed,
	.command_doomed = safeguard_roll_back,
	.draft_open = draft_open,
	.drafts_hold = drafts_hold,
};

int keeper_init(struct keeper *k, struct keeper_spec *spec, struct err *err)
{
	k->hooks = &hooks;
	k->spec = spec;
	k->sock = spec->sock;
	k->policy = spec->policy;
	k->in = k->out = k->path = k->path2 = k->agent_name = k->turn_prompt = k->notices =
		(struct buf)BUF_INIT;
	k->now = clock_mono_us();
	k->umask = umask(077);
	umask(k->umask);
	k->agents_umask = k->umask;
	k->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (k->epoll < 0)
		return err_set(err, -errno, "epoll");
	steps_init(k);
	return folders_init(k, err);
}

void keeper_done(struct keeper *k)
{
	watch_stop(k);
	procs_done(k);
	asks_done(k);
	grants_done(k);
	events_done(k);
	steps_done(k);
	safeguard_done(k);
	outside_stop(k);
	lock_stop(take_ptr(&k->lock));
	drafts_done(k);
	review_done(k);
	folders_done(k);
	sources_bury(k);
	keeper_drop_handed(k, k->n_handed);
	buf_done(&k->in);
	buf_done(&k->out);
	util_close_fd(&k->epoll);
}

static void send_failed(struct keeper *k, int status, const char *words)
{
	size_t mark = wire_begin(&k->out, WIRE_START_FAILED);

	wire_u32(&k->out, (uint32_t)status);
	wire_cstr(&k->out, words);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

static void send_started(struct keeper *k)
{
	size_t mark = wire_begin(&k->out, WIRE_STARTED);

	wire_i64(&k->out, shown_pid(k->root_pid));
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

const struct policy *keeper_policy(const struct keeper *k)
{
	return k->policy;
}

const struct config *keeper_config(const struct keeper *k)
{
	return k->spec->config;
}

void keeper_set_agent(struct keeper *k, int pid, int orphans)
{
	k->root_pid = k->agent_pid = pid;
	k->orphans = orphans;
	if (k->launched)
		send_started(k);
}

void keeper_agent_exited(struct keeper *k, int wait_status)
{
	k->wait_status = wait_status;
	k->exited = true;
}

void keeper_agent_failed(struct keeper *k, int status, const char *words)
{
	send_failed(k, status, words);
	k->exited = k->failed = true;
}

static void on_refusal(void *data)
{
	struct keeper *k = data;
	struct lock_refusal r;
	int got;

	while ((got = lock_read(k->lock, &r)) > 0)
		keeper_note(k, "%s (pid %d) may not write '%s' while the folder is locked",
			    r.program, r.pid, r.path);
	if (got == 0)
		return;
	keeper_unwatch(k, lock_fd(k->lock));
	lock_stop(take_ptr(&k->lock));
	keeper_note(k, "the lock on the folders is gone: edits from outside are only noticed now");
}

static int lock_folders(struct keeper *k, struct err *err)
{
	int r = lock_start(&k->lock, k->spec->folders, err);

	return r < 0 ? r : keeper_watch(k, lock_fd(k->lock), on_refusal, k);
}

/* Makes this door the first one, which gets requests without a door. The backend may have added
 * others before it. */
static int add_first(struct keeper *k, struct door *door)
{
	int r = keeper_add_door(k, door);

	if (r < 0)
		return r;
	for (size_t i = k->n_doors - 1; i > 0; i--)
		k->doors[i] = k->doors[i - 1];
	k->doors[0] = door;
	return 0;
}

static int launch(struct keeper *k, int *status, struct err *err)
{
	const struct keeper_spec *spec = k->spec;
	mode_t mask = k->umask;
	struct door *door = NULL;
	int r = 0;

	keeper_umask(k, 077);
	if (spec->backend && spec->lock)
		r = lock_folders(k, err);
	if (r == 0 && spec->backend && (!spec->headless || policy_writes_outside(k->policy)))
		r = outside_start(k, err);
	if (r == 0 && !spec->backend)
		return spec->confine ? spec->confine(k, err) : 0;
	keeper_umask(k, mask); /* the agent inherits it */
	if (r == 0)
		r = spec->backend->launch(&k->sandbox, &door, spec->spawn, k, status, err);
	r = r == 0 && door ? add_first(k, door) : r;
	return r == 0 && spec->broker > 0 ? brokered_start(k, spec->broker, err) : r;
}

/* Asks the scheduler to run the keeper soon and for a short time, rather than in turns of
 * milliseconds: callers wait for it. Its share of the processor stays the same. Needs Linux 6.12;
 * older kernels ignore it. */
static void ask_for_short_slices(void)
{
	int r = os_short_slices(SLICE_NS);

	if (r < 0)
		log_info("keeper", "no short slices: %s", strerror(-r));
}

static int start(struct keeper *k, struct keeper_spec *spec)
{
	struct err err = {0};
	int status = START_FAILED, r = keeper_init(k, spec, &err);
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC); /* Landlock refuses it later */

	if (r == 0)
		r = launch(k, &status, &err);
	if (r < 0) {
		send_failed(k, status, err.text);
		return r;
	}
	k->launched = true;
	ask_for_short_slices(); /* only here: the agent must not inherit it */
	/* Only here: the sandbox's maps are written by children that share the keeper's dumpable
	 * flag. */
	os_stay_private();
	keeper_process_drop_stdio(spec, null);
	keeper_process_raise_files();
	if (chdir("/") < 0)
		log_warn("keeper", "chdir /: %s", strerror(errno));
	if (!spec->backend || k->root_pid)
		send_started(k);
	if (spec->backend) {
		watch_start(k);
		reload_start(k);
	}
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

/* Reports that the last changes are not committed. A command that succeeded must then not be
 * reported as a success. */
static void tell_not_kept(struct keeper *k, const char *why)
{
	AUTO_FREE char *words = xasprintf("%s: the next start rolls its changes back, and redo "
					  "brings them again: copy what you need first",
					  why);

	if (k->exited && !k->failed)
		send_failed(k, START_FAILED, words);
	else
		keeper_warn(k, "%s", words);
}

/* Says to other programs that want the folders whether this session goes on for long: one that a
 * user sees does. */
static void say_stays(struct keeper *k, bool stays)
{
	for (size_t i = 0; i < k->n_folders; i++)
		if (k->folders[i]->journal)
			journal_stays(k->folders[i]->journal, stays);
}

static void end_sandbox(struct keeper *k)
{
	struct err err = {0};
	size_t mark;
	bool lost;

	say_stays(k, false);
	if (!k->sandbox)
		return;
	k->doors_shut = ~0u;
	reload_stop(k);
	asks_drop_all(k);
	k->spec->backend->stop(take_ptr(&k->sandbox));
	doors_unwatch(k);
	while (k->n_doors) {
		k->n_doors--;
		k->doors[k->n_doors]->ops->close(k->doors[k->n_doors]);
	}
	if (k->gone)
		return; /* the next start recovers open steps */
	procs_done(k);	/* results of commands that have ended */
	watch_drain(k); /* while their open files are known */
	journal_no_writers(k->journal);
	lost = steps_commit_all(k, &err) < 0;
	watch_settle(k);
	if (lost)
		tell_not_kept(k, err.text);
	if (lost || !k->exited || k->failed)
		return;
	keeper_prune(k);
	events_tallies(k, true);
	mark = wire_begin(&k->out, WIRE_EXIT);
	wire_u32(&k->out, (uint32_t)k->wait_status);
	wire_end(&k->out, mark);
	keeper_urgent(k);
}

/* Releases the folders before cordon's end: from then on the user may write there, start the next
 * session, or unmount the disk. The rest takes ten milliseconds to close, and is left to the
 * process's end. */
static void let_go(struct keeper *k)
{
	int keep[ARRAY_LEN(k->late) + 1], n = 0;

	lock_stop(take_ptr(&k->lock));
	for (size_t i = 0; i < k->n_folders; i++)
		if (!k->folders[i]->root && k->folders[i]->journal)
			journal_release(k->folders[i]->journal);
	log_open(-1, LOG_ERROR, NULL);
	keep[n++] = k->sock;
	for (size_t i = 0; i < k->n_late; i++)
		keep[n++] = k->late[i];
	io_close_all_but(3, keep, (size_t)n);
}

static void on_turned(struct keeper *k)
{
	events_tallies(k, false);
}

static const struct timer timers[] = {
	{steps_next, steps_tick}, {asks_next, asks_tick},     {safeguard_next, safeguard_tick},
	{watch_next, watch_tick}, {reload_next, reload_tick}, {prune_next, prune_tick},
};

static void on_started(struct keeper *k)
{
	keeper_tidy(k);
	say_stays(k, k->sandbox && !k->spec->headless);
	k->prune_at = k->now + PRUNE_LATER_US;
}

static const struct loop_ops loop_ops = {
	.started = on_started,
	.serve = requests_serve,
	.exited = end_sandbox,
	.turned = on_turned,
	.timers = timers,
	.n_timers = ARRAY_LEN(timers),
};

static NORETURN void keeper_main(struct keeper_spec *spec)
{
	struct keeper k = {0};

	/* cordon may have been started with some of 0 to 2 closed: these numbers belong to the
	 * agent, or stay closed. */
	if (spec->sock < 3)
		spec->sock = fcntl(spec->sock, F_DUPFD_CLOEXEC, 3);

	setsid(); /* the terminal signals cordon, which forwards */
	util_set_oom_hook(NULL);
	keeper_process_signals();
	os_set_name("cordon-keeper");
	keeper_process_close(spec);
	if (start(&k, spec) < 0) {
		keeper_drain(&k);
		_exit(1);
	}
	keeper_loop(&k, &loop_ops);
	end_sandbox(&k);
	watch_drain(&k);
	watch_settle(&k);
	keeper_drain(&k);
	let_go(&k);
	close(k.sock);
	_exit(0);
}

int keeper_fork(const struct keeper_spec *spec, pid_t *ret_pid, struct err *err)
{
	pid_t pid;

	(void)clock_expiry_s(); /* so that both know of a clock that is set back from now on */
	pid = fork();
	if (pid < 0)
		return err_set(err, -errno, "fork the keeper");
	if (pid == 0) {
		struct keeper_spec own = *spec;

		keeper_main(&own);
	}
	*ret_pid = pid;
	return 0;
}
