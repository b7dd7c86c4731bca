/* session - one agent run: its backend, keeper, audit log and model. */
/* SPDX-License-Identifier: MIT */
#include "core/session/session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/broker/broker.h"
#include "core/broker/secrets.h"
#include "core/config/config.h"
#include "core/os/process.h"
#include "core/record/redact.h"
#include "core/session/folders.h"
#include "core/session/start/homes.h"
#include "core/session/kept.h"
#include "core/session/start/overlays.h"
#include "core/session/start/own_settings.h"
#include "core/session/session_priv.h"

/* How long the keeper may take to commit its steps after it was asked to end. */
#define CLOSE_TIMEOUT_MS 60000
#define CLOSE_SLOW_MS	 4000 /* after this time the user is told */
#define TURN_MS		 200  /* of one wait for the keeper, while the audit log is locked */
#define AUDIT_TRIES	 10   /* longer than a keeper waits for a store */

static void cut_lifeline(struct session *s)
{
	if (s->lifeline > 0)
		close(s->lifeline);
	s->lifeline = 0;
}

static void session_free(struct session *s)
{
	session_shells_end(s);
	cut_lifeline(s);
	client_free(s->client);
	audit_close(s->audit);
	redact_free(s->redact);
	session_review_free(s);
	journal_close_all(s->journal);
	free(s->io_seen);
	session_free_traffic(s);
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
	if (s->homes_lock > 0)
		close(s->homes_lock);
	free(s->ask_ids);
	free(s);
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

void session_tell_note(struct session *s, const char *words)
{
	model_add_row(&s->model, ROW_NOTE, 0, 0, 0, "note", words, NULL);
	if (s->on->stopped)
		s->on->stopped(s->data, words);
}

static int open_audit(struct session *s, struct err *err)
{
	AUTO_FREE char *path = folders_audit_path(s->state_dir, s->folder);
	int r = audit_open(&s->audit, path, s->model.session, err);

	if (r < 0)
		return r;
	audit_set_redact(s->audit, s->redact);
	return audit_append(s->audit, &(struct audit_entry){
					      .event = AUDIT_SESSION_START,
					      .latency_us = -1,
					      .op = s->model.backend,
					      .path = s->folder,
					      .command = s->model.command,
				      });
}

static int make_redact(struct session *s, const struct session_spec *spec, struct err *err)
{
	const char *const *patterns = NULL;

	if (spec->config)
		config_list(spec->config, "record.redact", &patterns);
	return redact_new(&s->redact, patterns, err);
}

/* Returns whether the keeper has closed its end: it could not get the folder. */
static bool keeper_gave_up(const struct session *s)
{
	struct pollfd p = {.fd = session_fd(s)};

	return poll(&p, 1, TURN_MS) > 0 && (p.revents & POLLHUP);
}

/* Returns whether it has sent nothing yet: it still waits for the folder. */
static bool keeper_is_silent(const struct session *s)
{
	struct pollfd p = {.fd = session_fd(s), .events = POLLIN};

	return poll(&p, 1, 0) == 0;
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

/* The lock of the undo store decides which session has the folder. If two sessions start at the
 * same moment, the loser may hold this log until its keeper has waited for our store in vain. So
 * this session tries again: otherwise both could give up. */
static int get_audit(struct session *s, struct err *err)
{
	int r = open_audit(s, err);

	for (int tries = 1; r == -EBUSY; tries++) {
		/* Another cordon has the folder. The keeper has found its name. */
		if (keeper_gave_up(s) || (tries == AUDIT_TRIES && keeper_is_silent(s)))
			return keeper_reason(s, r, err);
		if (tries == AUDIT_TRIES)
			break;
		*err = (struct err){0};
		r = open_audit(s, err);
	}
	return r;
}

bool session_is_inside(void)
{
	const char *mark = getenv("CORDON"); /* set by start/env.c */

	return mark && str_eq(mark, "1") && os_is_confined();
}

static int say_no_state(const char *dir, int code, struct err *err)
{
	AUTO_FREE char *there = xstrdup(dir);
	struct statvfs fs = {0};

	if (session_is_inside())
		return err_say(err, code,
			       "this is inside cordon already: it does not run in itself");
	for (char *slash = NULL; statvfs(there, &fs) < 0 && (slash = strrchr(there, '/'));)
		*slash = '\0';
	if (fs.f_flag & ST_RDONLY)
		return err_say(err, code,
			       "make the state directory '%s': Read-only file system: set "
			       "XDG_STATE_HOME to a directory that can be written",
			       dir);
	return err_set(err, code, "make the state directory '%s'", dir);
}

/* Makes the directories of the state, and begins the diagnostic log there. */
static int open_state(const struct session *s, const struct session_spec *spec, struct err *err)
{
	AUTO_FREE char *trust = path_join(s->state_dir, "trust");
	int r = io_mkdir_p(AT_FDCWD, s->state_dir, 0700);

	/* During the session the keeper watches this file for trusted settings. */
	if (r == 0 && spec->source)
		r = io_mkdir_p(AT_FDCWD, trust, 0700);
	if (r < 0)
		return say_no_state(s->state_dir, r, err);
	log_open_in(s->state_dir, spec->verbose ? LOG_DEBUG : LOG_INFO, s->model.session);
	return 0;
}

static void fill_model(struct session *s, const struct session_spec *spec)
{
	const struct backend *b = spec->backend;
	struct model *m = &s->model;

	model_init(m);
	make_id(m->session, sizeof(m->session));
	snprintf(m->backend, sizeof(m->backend), "%s", b ? b->name : "none");
	snprintf(m->tier, sizeof(m->tier), "%s", b && b->tier ? b->tier() : "");
	m->folder = s->folder;
	m->home = xstrdup(spec->home);
	m->persists = spec->home != NULL;
	m->undo_home = spec->config && config_bool(spec->config, "undo.home");
	if (s->on->restart && spec->config && spec->home && own_settings_offered(spec->config))
		m->own_offer = xstrdup(config_profile(spec->config));
	m->network = spec->allow_network;
	m->asks_network = spec->ask_network;
	m->unprompted = spec->unprompted;
	m->headless = s->headless = s->unseen = spec->headless;
	m->command = spec->title ? xstrdup(spec->title) : join_argv(spec->argv);
	m->line = spec->line ? xstrdup(spec->line) : NULL;
}

static struct session *session_new(const struct session_spec *spec,
				   const struct session_listener *on, void *data)
{
	struct session *s = xcalloc(1, sizeof(*s));

	s->on = on;
	s->data = data;
	s->began_wall_us = clock_wall_us();
	s->keeps = !spec->config || config_bool(spec->config, "journal.undo");
	s->total_size = spec->config ? (uint64_t)config_int(spec->config, "journal.total-size") : 0;
	s->folders = util_list_copy(spec->folders);
	s->folder = s->folders[0];
	s->state_dir = xstrdup(spec->state_dir);
	s->overlays = spec->overlays ? util_list_copy(spec->overlays) : NULL;
	s->kept = spec->kept;
	s->cwd = xstrdup(spec->cwd);
	s->config_home = xstrdup(getenv("XDG_CONFIG_HOME"));
	fill_model(s, spec);
	return s;
}

int session_start(struct session **ret, const struct session_spec *spec,
		  const struct session_listener *on, void *data, struct err *err)
{
	struct session *s = session_new(spec, on, data);
	int r = open_state(s, spec, err);

	if (r == 0)
		r = make_redact(s, spec, err);
	if (r == 0)
		r = session_read_limits(s, spec, err);
	if (r == 0) {
		session_star(s, s->model.command);
		r = session_start_keeper(s, spec, err);
	}
	if (r == 0)
		r = get_audit(s, err);
	if (r < 0) {
		session_close(s);
		return r;
	}
	s->ran = spec->backend != NULL;
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
		/* Appending reports the error and freezes the session, so this does both. */
		session_audit(s, &(struct audit_entry){.event = AUDIT_SESSION_END});
}

/* Ends all that the keeper did. Questions of others than the agent still wait for an answer. */
static void lose_keeper(struct session *s)
{
	struct model *m = &s->model;

	s->gone = m->over = true;
	session_shells_end(s);
	for (size_t i = m->n_asks; i-- > 0;)
		if (!m->asks[i].own)
			session_remove_ask(s, m->asks[i].id);
	m->version++;
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
	session_review_pump(s, false);
	if (r < 0)
		lose_keeper(s);
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
	session_tick_traffic(s);
	session_review_pump(s, true);
	if (s->on->changed)
		s->on->changed(s->data);
}

/* ---- verbs --------------------------------------------------------------------------------------
 */

void session_signal(struct session *s, int sig)
{
	client_signal(s->client, sig);
}

void session_star(const struct session *s, char *text)
{
	redact_text(s->redact, text, strlen(text));
}

void session_group(struct session *s, const char *name)
{
	client_group(s->client, name);
}

void session_limits(struct session *s, const struct limits *l)
{
	client_limits(s->client, l);
}

void session_stop(struct session *s)
{
	const struct step_row *newest;
	AUTO_FREE char *words = NULL;

	if (model_running(&s->model, &newest)) {
		words = xasprintf("The user stopped '%.200s'.", newest->command);
		session_notice(s, words);
	}
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

void session_agent_asks(struct session *s, bool asks)
{
	if (s->model.agent_asks == asks)
		return;
	s->model.agent_asks = asks;
	s->model.asks_changes++;
	s->model.version++;
}

void session_rests(struct session *s, bool rests)
{
	s->model.tells_rest |= rests;
	if (s->model.rests == rests)
		return;
	s->model.rests = rests;
	s->model.version++;
}

void session_turn(struct session *s)
{
	client_turn(s->client);
}

/* ---- the end ------------------------------------------------------------------------------------
 */

static void say_slow(struct session *s)
{
	if (s->on->stopped)
		s->on->stopped(s->data,
			       "the keeper is still at work, or waits for a file system that does "
			       "not answer: after a minute cordon ends without it, and no session "
			       "can start in the folder until the keeper has ended");
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

/* Keeps the size limit after a session that ran a program; after any other session, such as an
 * undo, removes files without information. */
static void tidy_up(struct session *s)
{
	session_note_traffic(s);
	audit_close(take_ptr(&s->audit));
	journal_forget_claims(s->state_dir);
	if (!s->ran)
		kept_drop_empty(s->state_dir, s->folders, s->model.session);
	else if (s->total_size)
		kept_fit(s->state_dir, s->total_size, s->folders);
}

/*
 * Reaps the keepers that have ended, now or at the next call. The closed socket shows that all is
 * written and the store is released. The kernel may take ten milliseconds more to end the keeper
 * (an inotify instance waits for its readers). A keeper that did not end within its minute may be
 * stuck for ever.
 */
static void reap(pid_t keeper)
{
	static struct {
		pid_t *list;
		size_t n;
	} closed;

	if (keeper <= 0)
		return;
	closed.list = xrealloc(closed.list, (closed.n + 1) * sizeof(*closed.list));
	closed.list[closed.n++] = keeper;
	for (size_t i = closed.n; i-- > 0;)
		if (waitpid(closed.list[i], NULL, WNOHANG) != 0)
			closed.list[i] = closed.list[--closed.n];
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
	client_free(s->client); /* the closed socket tells the keeper to end */
	s->client = NULL;
	reap(s->keeper);
	broker_close(take_ptr(&s->broker));
	homes_settle(s->state_dir, s->folder, s->homes_lock, s->ran);
	overlays_settle(s->state_dir, s->model.session, s->overlays, s->kept);
	tidy_up(s);
	session_free(s);
}
