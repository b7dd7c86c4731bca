/* session - one agent run: its backend, keeper, audit log and model. */
/* SPDX-License-Identifier: MIT */
#include "core/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/broker/broker.h"
#include "core/broker/secrets.h"
#include "core/config/config.h"
#include "core/keeper/keeper.h"
#include "core/keeper/watch/ignored.h"
#include "core/os/process.h"
#include "core/os/socket.h"
#include "core/session/folders.h"
#include "core/session/overlays.h"
#include "core/session/own_settings.h"
#include "core/session/session_priv.h"
#include "core/session/spawn.h"

/* How long the keeper may take to commit its steps after it was asked to end. */
#define CLOSE_TIMEOUT_MS 60000
#define CLOSE_SLOW_MS	 4000 /* then it is said */
#define TURN_MS		 200  /* from the audit log's lock that was not had to the store's */

static void cut_lifeline(struct session *s)
{
	if (s->lifeline > 0)
		close(s->lifeline);
	s->lifeline = 0;
}

static void session_free(struct session *s)
{
	cut_lifeline(s);
	client_free(s->client);
	audit_close(s->audit);
	journal_close_all(s->journal);
	free(s->io_seen);
	session_guests_done(s);
	model_done(&s->model);
	free(s->start_failed);
	util_free_list(&s->folders);
	util_free_list(&s->overlays);
	secrets_free(s->secrets);
	free(s->config_home);
	free(s->cwd);
	free(s->state_dir);
	if (s->window > 0)
		close(s->window);
	free(s->ask_ids);
	free(s);
}

static char **copy_list(const char *const *list)
{
	char **copy;
	size_t n = 0;

	while (list[n])
		n++;
	copy = xcalloc(n + 1, sizeof(char *));
	while (n--)
		copy[n] = xstrdup(list[n]);
	return copy;
}

static void make_id(char *out, size_t size)
{
	uint32_t noise = 0;
	time_t now = (time_t)(clock_wall_us() / 1000000);
	struct tm tm;
	size_t n;

	if (getrandom(&noise, sizeof(noise), 0) < 0)
		noise = (uint32_t)getpid();
	localtime_r(&now, &tm);
	n = strftime(out, size, "%Y%m%d-%H%M%S", &tm);
	snprintf(out + n, size - n, "-%04x", noise & 0xffff);
}

static char *join_argv(const char *const *argv)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (size_t i = 0; argv && argv[i]; i++)
		buf_fmt(&b, "%s%s", i ? " " : "", argv[i]);
	return buf_take(&b);
}

static struct journal_options journal_options(const struct config *c)
{
	if (!c)
		return (struct journal_options){0};
	return (struct journal_options){
		.durable = config_bool(c, "journal.durable"),
		.off = !config_bool(c, "journal.undo"),
		.size = (uint64_t)config_int(c, "journal.size"),
		.step_size = (uint64_t)config_int(c, "journal.step-size"),
		.steps = (size_t)config_int(c, "journal.steps"),
	};
}

static uint32_t seconds(const struct config *c, const char *key)
{
	return (uint32_t)MIN(config_int(c, key), (int64_t)UINT32_MAX);
}

/*
 * Without anybody to ask there are none but those that somebody set: `make clean` and `npm ci` must
 * run unattended, and can be undone.
 */
static struct guard_limits limits_of(const struct session_spec *spec)
{
	struct guard_limits l = {
		.overwrite_bytes = (uint64_t)config_int(spec->config, "safeguard.overwrite-bytes"),
		.timeout_s = seconds(spec->config, "safeguard.timeout"),
	};

	for (enum loss i = 0; i < LOSS_KINDS; i++) {
		const char *key = guard_setting(i);

		if (i == LOSS_BEYOND)
			l.most[i] =
				!spec->headless || str_eq(config_str(spec->config, key), "deny");
		else if (!spec->headless || config_is_set(spec->config, key))
			l.most[i] = (uint64_t)config_int(spec->config, key);
	}
	return l;
}

void session_tell_note(struct session *s, const char *words)
{
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
	if (s->on->stopped)
		s->on->stopped(s->data, words);
}

/* The end that the keeper hands on goes into the plan; its number is not one of the agent's. */
static int make_lifeline(struct session *s, struct spawn_plan *plan, struct err *err)
{
	int fds[2], ends[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	for (int i = 0; i < 2; i++) {
		ends[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 3);
		close(fds[i]);
	}
	plan->spec.lifeline = MAX(ends[0], 0);
	s->lifeline = MAX(ends[1], 0);
	return ends[0] < 0 || ends[1] < 0 ? err_say(err, -EMFILE, "too many open files") : 0;
}

/* Who is not run does not watch either. */
static int load_ignored(struct ignored **ret, const struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *text = NULL;
	int r = spec->backend ? config_ignored_edits(&text, spec->source, err) : 0;

	if (r == 0 && text && (r = ignored_new(ret, text, err)) < 0)
		err_wrap(err, r, "edits.ignore");
	return r;
}

/* Nobody whom the agent may become is to start before this process cannot be looked into. */
static int start_broker(struct session *s, struct session_spec *spec, struct err *err)
{
	const char *const *keys = NULL;
	int r;

	if (!spec->backend || !spec->config)
		return 0;
	config_list(spec->config, "ssh.agent", &keys);
	r = session_read_secrets(s, spec, err);
	if (r < 0)
		return r;
	r = broker_start(&s->broker,
			 &(struct broker_spec){
				 .credentials = config_bool(spec->config, "git.credentials"),
				 .secrets = spec->secrets,
				 .keys = keys,
				 .agent = getenv("SSH_AUTH_SOCK"),
				 .home = spec->home,
				 .folders = spec->folders,
			 },
			 err);
	spec->broker = s->broker;
	return r;
}

/* Fork the keeper; on success it is the client's peer. */
static int start_keeper(struct session *s, const struct session_spec *given, struct err *err)
{
	struct session_spec own = *given, *spec = &own;
	struct spawn_plan *plan = NULL;
	struct ignored *ignored = NULL;
	int pair[2] = {-1, -1}, r;

	r = load_ignored(&ignored, spec, err);
	if (r == 0)
		r = start_broker(s, spec, err);
	if (r == 0)
		r = spawn_plan_new(&plan, spec, s->model.session, err);
	for (size_t i = 0; r == 0 && i < plan->n_notes; i++)
		session_tell_note(s, plan->notes[i]);
	if (r == 0 && plan->own)
		model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", plan->own, NULL);
	if (r == 0 && plan->policy && !spec->headless)
		session_list_lasting(s, plan->policy);
	if (r == 0 && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		r = err_set(err, -errno, "socket to the keeper");
	if (r == 0 && spec->backend)
		r = make_lifeline(s, plan, err);
	if (r == 0)
		r = keeper_fork(
			&(struct keeper_spec){
				.sock = pair[1],
				.folders = spec->folders,
				.state_dir = spec->state_dir,
				.journal = journal_options(spec->config),
				.config = spec->config,
				.source = spec->source,
				.policy = plan->policy,
				.log_fd = log_descriptor(),
				.headless = spec->headless && !spec->answered,
				.one_step = spec->one_step,
				.guard = limits_of(spec),
				.ask_timeout_s = seconds(spec->config, "approval.timeout"),
				.ask_again_s = seconds(spec->config, "approval.remember"),
				.undo_home = config_bool(spec->config, "undo.home"),
				.ignored = ignored,
				.asks_lists =
					str_eq(config_str(spec->config, "reading.list"), "ask"),
				.warn_only =
					str_eq(config_str(spec->config, "undo.external"), "warn"),
				.lock = str_eq(config_str(spec->config, "undo.external"), "lock"),
				.backend = spec->backend,
				.broker = broker_socket(s->broker),
				.spawn = spec->backend ? &plan->spec : NULL,
			},
			&s->keeper, err);
	util_close_fd(&pair[1]);
	broker_handed_over(s->broker);
	if (plan && plan->spec.lifeline > 0)
		close(plan->spec.lifeline);
	if (plan && r == 0) {
		s->window = plan->window;
		plan->window = 0;
	}
	spawn_plan_free(plan);
	ignored_free(ignored);
	if (r < 0) {
		util_close_fd(&pair[0]);
		return r;
	}
	/* The agent may run as the same user: nobody looks into this process or its terminal. */
	os_stay_private();
	io_set_nonblock(pair[0], true);
	s->client = client_new(pair[0], session_on_event, s);
	return 0;
}

static int open_audit(struct session *s, struct err *err)
{
	AUTO_FREE char *path = folders_audit_path(s->state_dir, s->folder);
	int r = audit_open(&s->audit, path, s->model.session, err);

	if (r < 0)
		return r;
	return audit_append(s->audit, &(struct audit_entry){
					      .event = AUDIT_SESSION_START,
					      .latency_us = -1,
					      .op = s->model.backend,
					      .path = s->folder,
					      .command = s->model.command,
				      });
}

/* The keeper's end is closed: it has found that the folder cannot be had. */
static bool keeper_gave_up(const struct session *s)
{
	struct pollfd p = {.fd = session_fd(s)};

	return poll(&p, 1, TURN_MS) > 0 && (p.revents & POLLHUP);
}

/*
 * The store says who has the folder. Of two that start in one moment the other may have this log,
 * until its keeper has waited for our store in vain: both giving up would help nobody.
 */
static int get_audit(struct session *s, struct err *err)
{
	int r = open_audit(s, err);

	for (int tries = 0; r == -EBUSY && tries < 2 && !keeper_gave_up(s); tries++) {
		*err = (struct err){0};
		r = open_audit(s, err);
	}
	return r;
}

static int keeper_reason(struct session *s, int r, struct err *err)
{
	struct pollfd p = {.fd = session_fd(s), .events = POLLIN};

	s->starting = true;
	while (!s->start_failed && poll(&p, 1, 2000) > 0 && session_ready(s, true, false) == 0)
		continue;
	s->starting = false;
	return s->start_failed ? err_say(err, r, "%s", s->start_failed) : r;
}

int session_start(struct session **ret, const struct session_spec *spec,
		  const struct session_listener *on, void *data, struct err *err)
{
	struct session *s = xcalloc(1, sizeof(*s));
	int r, state;

	s->on = on;
	s->data = data;
	s->began_wall_us = clock_wall_us();
	s->keeps = !journal_options(spec->config).off;
	s->folders = copy_list(spec->folders);
	s->folder = s->folders[0];
	s->state_dir = xstrdup(spec->state_dir);
	s->overlays = spec->overlays ? copy_list(spec->overlays) : NULL;
	s->kept = spec->kept;
	model_init(&s->model);
	make_id(s->model.session, sizeof(s->model.session));
	state = io_mkdir_p(AT_FDCWD, s->state_dir, 0700);
	if (state == 0 && spec->source) {
		AUTO_FREE char *trust = path_join(s->state_dir, "trust");

		state = io_mkdir_p(AT_FDCWD, trust, 0700); /* to be watched for what is trusted */
	}
	if (state == 0)
		log_open_in(s->state_dir, spec->verbose ? LOG_DEBUG : LOG_INFO, s->model.session);
	snprintf(s->model.backend, sizeof(s->model.backend), "%s",
		 spec->backend ? spec->backend->name : "none");
	snprintf(s->model.tier, sizeof(s->model.tier), "%s",
		 spec->backend && spec->backend->tier ? spec->backend->tier() : "");
	s->model.folder = s->folder;
	s->cwd = xstrdup(spec->cwd);
	s->config_home = xstrdup(getenv("XDG_CONFIG_HOME"));
	s->model.home = xstrdup(spec->home);
	s->model.persists = spec->home != NULL;
	s->model.undo_home = spec->config && config_bool(spec->config, "undo.home");
	if (on->restart && spec->config && spec->home && own_settings_offered(spec->config))
		s->model.own_offer = xstrdup(config_profile(spec->config));
	s->model.network = spec->allow_network;
	s->model.asks_network = spec->ask_network;
	s->model.headless = spec->headless;
	s->model.command = join_argv(spec->argv);

	r = state < 0 ? err_set(err, state, "make the state directory '%s'", s->state_dir)
		      : start_keeper(s, spec, err);
	if (r == 0)
		r = get_audit(s, err);
	/* Another cordon has the folder: the keeper finds that out as well, and whose it is. */
	if (r == -EBUSY)
		r = keeper_reason(s, r, err);
	if (r < 0) {
		session_close(s);
		return r;
	}
	*ret = s;
	return 0;
}

struct model *session_model(struct session *s)
{
	return &s->model;
}

int session_fd(const struct session *s)
{
	return client_fd(s->client);
}

bool session_wants_write(const struct session *s)
{
	return client_wants_write(s->client);
}

void session_flush_audit(struct session *s)
{
	if (s->audit && !s->frozen && audit_flush(s->audit) < 0)
		/* The append reports and freezes: one place says it. */
		session_audit(s, &(struct audit_entry){.event = AUDIT_SESSION_END});
}

int session_ready(struct session *s, bool readable, bool writable)
{
	int r = 0;

	if (writable && client_wants_write(s->client))
		client_write(s->client);
	if (readable)
		r = client_read(s->client);
	session_flush_audit(s);
	session_reload_stale(s);
	if (r < 0)
		s->gone = true;
	if (s->model.version != s->drawn_version && s->on->changed) {
		s->drawn_version = s->model.version;
		s->on->changed(s->data);
	}
	return r;
}

void session_tick(struct session *s)
{
	session_sample_usage(s);
	session_reload_counts(s);
	if (s->on->changed)
		s->on->changed(s->data);
}

/* ---- verbs --------------------------------------------------------------------------------------
 */

void session_signal(struct session *s, int sig)
{
	client_signal(s->client, sig);
}

void session_group(struct session *s, const char *name)
{
	client_group(s->client, name);
}

void session_limits(struct session *s, const struct limits *l)
{
	client_limits(s->client, l);
}

static uint64_t ask_plan(struct session *s, uint64_t request)
{
	free(s->model.plan_refused);
	s->model.plan_refused = NULL;
	s->plan_asked = request;
	return request;
}

uint64_t session_plan(struct session *s, enum undo_kind kind, size_t n, unsigned flags)
{
	return ask_plan(s, client_plan(s->client, kind, n, flags));
}

uint64_t session_restore_plan(struct session *s, int64_t step, const char *const *paths,
			      unsigned flags)
{
	return ask_plan(s, client_restore_plan(s->client, step, paths, flags));
}

void session_forget_plan(struct session *s)
{
	undo_plan_free(s->model.plan);
	s->model.plan = NULL;
	s->model.plan_request = 0;
}

uint64_t session_begin_job(struct session *s, enum undo_kind kind, uint64_t request)
{
	struct job *job = &s->model.job;

	free(job->words);
	*job = (struct job){.kind = kind, .request = request, .active = true};
	s->model.version++;
	return request;
}

uint64_t session_undo(struct session *s, enum undo_kind kind, size_t n, unsigned flags)
{
	const struct undo_plan *p = s->model.plan;
	bool shown = p && p->kind == kind && p->n == n && p->n_ids;
	bool same = shown && ((p->flags ^ flags) & UNDO_SETTLES & ~(unsigned)UNDO_CROSS) == 0;

	return session_begin_job(
		s, kind,
		client_undo(s->client, kind, n, flags, shown ? p->ids[0] : 0, same ? p->seal : 0));
}

uint64_t session_restore(struct session *s, int64_t step, const char *const *paths, unsigned flags)
{
	return session_begin_job(s, UNDO_PATHS, client_restore(s->client, step, paths, flags));
}

uint64_t session_restore_hunk(struct session *s, int64_t step, const char *path, unsigned hunk)
{
	return session_begin_job(s, UNDO_PATHS, client_restore_hunk(s->client, step, path, hunk));
}

void session_stop(struct session *s)
{
	client_stop(s->client);
}

void session_note(struct session *s, const char *words)
{
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
	session_audit(s, &(struct audit_entry){
				 .event = AUDIT_RECOVERY, .latency_us = -1, .detail = words});
	session_flush_audit(s);
	if (s->on->changed)
		s->on->changed(s->data);
}

void session_warn(struct session *s, const char *words)
{
	session_note(s, words);
	if (s->on->stopped)
		s->on->stopped(s->data, words);
}

void session_turn(struct session *s)
{
	client_turn(s->client);
}

void session_cancel(struct session *s)
{
	if (!s->model.job.active)
		return;
	s->model.job.cancelled = true;
	s->model.version++;
	client_cancel(s->client, s->model.job.request);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void say_slow(struct session *s)
{
	if (s->on->stopped)
		s->on->stopped(
			s->data,
			"the keeper is still at work, or waits for a file system that does not "
			"answer: after a minute it is left to end by itself, and the folder "
			"is taken until then");
}

static void drain_keeper(struct session *s)
{
	int64_t began = clock_mono_us();
	bool said = false;

	while (!s->gone) {
		struct pollfd p = {.fd = session_fd(s), .events = POLLIN};
		int64_t passed = (clock_mono_us() - began) / 1000;

		if (client_wants_write(s->client))
			p.events |= POLLOUT;
		if (passed >= CLOSE_TIMEOUT_MS)
			break;
		if (passed >= CLOSE_SLOW_MS && !said) {
			said = true;
			say_slow(s);
		}
		if (poll(&p, 1, (int)((said ? CLOSE_TIMEOUT_MS : CLOSE_SLOW_MS) - passed)) < 0 &&
		    errno != EINTR)
			break;
		session_ready(s, p.revents & (POLLIN | POLLHUP | POLLERR), p.revents & POLLOUT);
	}
}

void session_close(struct session *s)
{
	if (!s)
		return;
	if (s->client) {
		client_shutdown(s->client);
		cut_lifeline(s);
		drain_keeper(s);
	}
	client_free(s->client); /* the keeper takes a closed socket as the order to end */
	s->client = NULL;
	/*
	 * The closed socket says that all is written and the store let go. The kernel may take ten
	 * milliseconds more to end the keeper (an inotify instance waits for its readers). One that
	 * had its minute may be stuck for good.
	 */
	if (s->keeper > 0)
		while (waitpid(s->keeper, NULL, WNOHANG) < 0 && errno == EINTR)
			continue;
	broker_close(take_ptr(&s->broker));
	overlays_settle(s->state_dir, s->model.session, s->overlays, s->kept);
	session_free(s);
}
