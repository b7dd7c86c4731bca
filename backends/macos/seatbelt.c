/* seatbelt - the backend that runs the agent under a Seatbelt profile. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/seatbelt_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backends/macos/alias/ensure.h"
#include "backends/macos/launch/warden.h"
#include "backends/macos/throttle.h"
#include "backends/macos/xpc/log_stream.h"
#include "core/base/io.h"
#include "core/keeper/service.h"
#include "core/os/process.h"
#include "core/os/ticker.h"

#define OWN_TEMPLATE "/tmp/cordon-XXXXXX" /* short: a socket's path has at most 103 bytes */

/* ---- while the agent runs -------------------------------------------------------------------- */

static void unwatch(struct sandbox *sb, int *fd)
{
	if (*fd < 0)
		return;
	keeper_unwatch(sb->keeper, *fd);
	util_close_fd(fd);
}

static void unwatch_log(struct sandbox *sb)
{
	if (sb->watching_log)
		keeper_unwatch(sb->keeper, log_stream_fd(sb->log));
	sb->watching_log = false;
}

static void on_exit_of_agent(void *data)
{
	struct sandbox *sb = data;

	if (sb->ended || !mac_launch_has_ended(sb->launch))
		return;
	sb->ended = true;
	unwatch(sb, &sb->exit_fd);
	unwatch(sb, &sb->ticker);
	if (sb->log)
		log_stream_root_ended(sb->log);
	keeper_agent_exited(sb->keeper, mac_launch_wait_status(sb->launch));
}

static void on_log(void *data)
{
	struct sandbox *sb = data;

	if (!log_stream_read(sb->log))
		unwatch_log(sb);
}

static void on_violation(void *data, const struct violation *v)
{
	struct sandbox *sb = data;
	const char *words;
	unsigned hint = violation_hint(v, &words);

	if (violation_is_service(v))
		keeper_service(sb->keeper, v->pid, v->comm, v->operation, v->target, v->allowed);
	if (hint & ~sb->hinted)
		keeper_note(sb->keeper, "%s", words);
	sb->hinted |= hint;
}

static void on_quota(void *data, const char *words)
{
	const struct sandbox *sb = data;

	keeper_warn(sb->keeper, "%s", words);
}

static void end_all(void *data)
{
	const struct sandbox *sb = data;

	mac_launch_signal(sb->launch, SIGKILL);
}

static void on_tick(void *data);

static int set_ticker(struct sandbox *sb, int period)
{
	int r;

	unwatch(sb, &sb->ticker);
	sb->period = period;
	sb->ticker = os_ticker_open(period);
	r = sb->ticker < 0 ? sb->ticker : keeper_watch(sb->keeper, sb->ticker, on_tick, sb);
	if (r < 0)
		util_close_fd(&sb->ticker);
	return r;
}

/* Checks quotas, and detects an agent that ended before its end could be watched. */
static void on_tick(void *data)
{
	struct sandbox *sb = data;
	int r = 0;

	os_ticker_read(sb->ticker);
	if (mac_launch_has_ended(sb->launch)) {
		on_exit_of_agent(sb);
		return;
	}
	throttle_tick(sb->throttle);
	if (throttle_period(sb->throttle) != sb->period)
		r = set_ticker(sb, throttle_period(sb->throttle));
	if (r < 0)
		keeper_warn(sb->keeper, "the limits of this session are not looked at any more: %s",
			    strerror(-r));
}

/* ---- the start ------------------------------------------------------------------------------- */

static int check(const struct spawn_spec *spec, struct err *err)
{
	if (spec->overlays && *spec->overlays)
		return err_say(err, -EOPNOTSUPP,
			       "overlays are mounts, which macOS has none of: leave --overlay out");
	return 0;
}

/* Starts the client of Endpoint Security. Without it the profile alone confines, and denies calls
 * that the policy asks about. */
static void start_endpoint(struct sandbox *sb)
{
	const struct es_system *es = sb->host->endpoint;
	struct err why = {0};

	if (!es)
		return;
	if (es->start(es->data, sb->session, &sb->queue, &why) < 0) {
		keeper_note(sb->keeper, "of files nothing is asked about: %s", why.text);
		return;
	}
	sb->registry = sb->queue;
	sb->is_client = true;
}

/* Opens the door, without questions about reads. The profile decides on reads: an answer could not
 * open a path that it closes, and a wider profile would give a process that outlives the keeper all
 * reads. */
static struct door *open_door(struct sandbox *sb, const struct spawn_spec *spec)
{
	const struct es_door_spec d = {
		.k = sb->keeper, .queue = sb->queue, .agent = sb->agent, .debug = !spec->no_debug};

	sb->queue = NULL;
	return sb->host->open_door(&d); /* cppcheck-suppress returnDanglingLifetime ; it copies d */
}

/* Starts the log of denials. It only informs, so the session continues without it. */
static void start_log(struct sandbox *sb)
{
	const struct log_stream_spec spec = {
		.os = sb->host->os,
		.program = sb->host->log,
		.session = sb->session,
		.root = mac_launch_pid(sb->launch),
		.seen = on_violation,
		.data = sb,
	};
	struct err err = {0};
	int r = log_stream_start(&sb->log, &spec, &err);

	if (r == 0)
		r = keeper_watch(sb->keeper, log_stream_fd(sb->log), on_log, sb);
	sb->watching_log = r == 0;
	if (r < 0)
		keeper_note(sb->keeper, "what is denied inside is not told: %s",
			    *err.text ? err.text : strerror(-r));
}

static int watch_agent(struct sandbox *sb, const struct spawn_spec *spec, struct err *err)
{
	struct mac_host host = {0};
	struct throttle_spec t = {.os = sb->host->os,
				  .session = sb->session,
				  .root = mac_launch_pid(sb->launch),
				  .say = on_quota,
				  .end = end_all,
				  .data = sb};
	int r;

	(void)t.os->look_at_host(t.os->data, &host);
	t.limits = quota_limits_of(host.memory, spec->limits.memory, spec->limits.processes);
	sb->throttle = throttle_new(&t);
	r = set_ticker(sb, throttle_period(sb->throttle));
	if (r < 0)
		return err_set(err, r, "start a timer");
	/* ESRCH: the agent has ended; on_tick() detects that. */
	sb->exit_fd = os_process_open(t.root);
	if (sb->exit_fd < 0)
		return errno == ESRCH ? 0 : err_set(err, -errno, "watch the agent");
	r = keeper_watch(sb->keeper, sb->exit_fd, on_exit_of_agent, sb);
	if (r < 0)
		util_close_fd(&sb->exit_fd);
	return r < 0 ? err_set(err, r, "watch the agent") : 0;
}

static int make_gate(struct sandbox *sb, struct err *err)
{
	const struct network_gate_spec spec = {.os = sb->host->os,
					       .helper = sb->host->helper,
					       .human = &sb->human,
					       .session = sb->session};

	return network_gate_new(&sb->gate, &spec, sb->keeper, err);
}

static int serve_network(struct sandbox *sb, struct err *err)
{
	int r = network_gate_serve(sb->gate, mac_launch_pid(sb->launch), err);

	if (r == 0)
		sb->gate = NULL;
	return r;
}

static void say_what_lacks(const struct sandbox *sb, const struct spawn_spec *spec)
{
	const char *unhardened = mac_launch_unhardened(sb->launch);

	if (!sb->is_client)
		keeper_warn(sb->keeper,
			    "the folders are changed directly here and there is no undo: "
			    "commit or copy what you need");
	if (spec->limits.processes)
		keeper_note(sb->keeper,
			    "no RLIMIT_NPROC: macOS would count all your processes, so those "
			    "of the session are counted now and then (sandbox.processes)");
	if (unhardened)
		keeper_note(sb->keeper, "%s", unhardened);
}

int seatbelt_launch(const struct seatbelt_host *host, struct sandbox **ret, struct door **ret_door,
		    const struct spawn_spec *spec, struct keeper *k, int *ret_status,
		    struct err *err)
{
	struct sandbox *sb;
	char own[] = OWN_TEMPLATE;
	int r = check(spec, err);

	*ret_status = 125;
	if (r < 0)
		return r;
	if (!mkdtemp(own))
		return err_set(err, -errno, "make a directory '%s'", own);
	sb = xcalloc(1, sizeof(*sb));
	*sb = (struct sandbox){.host = host,
			       .keeper = k,
			       .session = xstrdup(spec->session),
			       .exit_fd = -1,
			       .ticker = -1};
	r = seatbelt_find_human(sb, spec, err);
	if (r == 0)
		r = warden_start(&sb->warden, sb->host->helper, sb->session, err);
	if (r == 0)
		start_endpoint(sb);
	if (r == 0 && spec->window.on && spec->window.own_device)
		r = alias_ensure(&spec->window.device, host->loopback, err);
	if (r == 0 && spec->ask_network)
		r = make_gate(sb, err);
	if (r == 0)
		r = rewrite_start(&sb->rewrite, sb->host->os, sb->host->interpose, spec, own, k,
				  err);
	if (r == 0)
		r = seatbelt_start_agent(sb, spec, own, ret_status, err);
	else
		(void)!io_remove_tree(AT_FDCWD, own);
	if (r == 0)
		r = watch_agent(sb, spec, err);
	if (r == 0 && sb->gate)
		r = serve_network(sb, err);
	if (r < 0) {
		seatbelt_stop(sb);
		return r;
	}
	rewrite_root(sb->rewrite, mac_launch_pid(sb->launch));
	start_log(sb);
	keeper_set_agent(k, mac_launch_pid(sb->launch), ORPHANS_OUTSIDE);
	say_what_lacks(sb, spec);
	*ret_door = sb->is_client ? open_door(sb, spec) : NULL;
	*ret = sb;
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

void seatbelt_signal(struct sandbox *sb, int sig)
{
	mac_launch_signal(sb->launch, sig);
}

/* Ends the session. Calls are denied first, then all processes killed. The client goes last:
 * without it the kernel would allow calls of the processes that are left. */
static void end_session(struct sandbox *sb)
{
	size_t n;

	seatbelt_end_known(sb);
	n = mac_launch_stop(sb->launch);
	if (!n) {
		warden_stop(sb->warden);
		return;
	}
	warden_leave(sb->warden);
	keeper_warn(sb->keeper,
		    "%zu of this session's processes do not end: they hang in the system, or beget "
		    "others faster than they are killed. They stay in their sandbox, and are being "
		    "killed for as long as new ones are found",
		    n);
}

void seatbelt_stop(struct sandbox *sb)
{
	throttle_free(sb->throttle);
	end_session(sb);
	unwatch(sb, &sb->exit_fd);
	unwatch(sb, &sb->ticker);
	unwatch_log(sb);
	log_stream_stop(sb->log);
	rewrite_stop(sb->rewrite);
	network_gate_free(sb->gate);
	if (sb->is_client)
		sb->host->endpoint->stop(sb->host->endpoint->data);
	es_queue_free(sb->queue);
	human_done(&sb->human);
	for (char **at = sb->settings; *at; at++)
		free(*at);
	free(sb->session);
	free(sb);
}
