/* keeper_session - a whole keeper with a fake agent, its client, and a log of what it reports. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/client.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/support/fake_agent.h"

#define PATIENCE_US 30000000

struct session {
	char *root, *folder, *state;
	struct policy *policy;
	struct client *client;
	pid_t pid;
	struct buf log;
	bool started, exited, failed, done;
	bool tells_status;    /* the log has each command's exit status */
	bool ambient[256];    /* which steps are ambient, by the low bits of their ids */
	int status;	      /* of the agent, of a failed start, or of a request */
	struct answer answer; /* to every question */
	bool mute;	      /* no answers */
	uint64_t asked;	      /* the last question */
	uint64_t cancel;      /* at the first progress */
	bool planning;	      /* waits for a plan */
	unsigned plans;	      /* that came */
	char words[512];
};

static void show_plan(struct session *f, const struct undo_plan *p)
{
	size_t len = (size_t)snprintf(f->words, sizeof(f->words), "plan of %zu:", p->n_ids);

	for (size_t i = 0; i < p->n_entries && len < sizeof(f->words); i++)
		len += (size_t)snprintf(f->words + len, sizeof(f->words) - len, " %c %s",
					p->entries[i].what, p->entries[i].path);
}

static void log_end(struct session *f, const struct client_event *ev)
{
	buf_fmt(&f->log, "end%s kept=%d ", f->ambient[ev->step & 255] ? " ambient" : "", ev->kept);
	if (f->tells_status)
		buf_fmt(&f->log, "status=%d ", (int)ev->status);
	buf_fmt(&f->log, "paths=%d\n", (int)ev->total);
}

static void on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	struct session *f = data;
	const char *path = ev->path ? path_below(ev->path, f->folder) : NULL;

	if (!path || !*path)
		path = ev->path && path_is_beneath(ev->path, f->root) ? path_base(ev->path)
								      : ev->path;
	if (type == WIRE_STEP_BEGIN)
		f->ambient[ev->step & 255] = ev->kind == STEP_AMBIENT;
	if (type == WIRE_STEP_BEGIN)
		buf_fmt(&f->log, "begin%s %s\n", f->ambient[ev->step & 255] ? " ambient" : "",
			ev->command);
	else if (type == WIRE_STEP_END)
		log_end(f, ev);
	else if (type == WIRE_TOUCH)
		buf_fmt(&f->log, "%s %s\n", ev->op, path);
	else if (type == WIRE_DENY)
		buf_fmt(&f->log, "denied %s %s\n", ev->op, path);
	else if (type == WIRE_ASK)
		buf_fmt(&f->log, "ask %s %s\n", ev->op, path);
	else if (type == WIRE_ASK_GONE)
		buf_str(&f->log, "ask gone\n");
	if (type == WIRE_ASK)
		f->asked = ev->id;
	if (type == WIRE_ASK && !f->mute)
		client_answer(f->client, ev->id, &f->answer);
	if (type == WIRE_PROGRESS && f->cancel == ev->id)
		client_cancel(f->client, ev->id);
	f->started |= type == WIRE_STARTED;
	f->exited |= type == WIRE_EXIT;
	f->failed |= type == WIRE_START_FAILED;
	f->done |= type == WIRE_DONE || (type == WIRE_PLAN && f->planning);
	f->plans += type == WIRE_PLAN;
	if (type == WIRE_EXIT || type == WIRE_START_FAILED)
		f->status = (int)ev->status;
	if (type == WIRE_DONE)
		f->status = ev->result;
	if (type == WIRE_DONE || type == WIRE_START_FAILED || type == WIRE_NOTE)
		snprintf(f->words, sizeof(f->words), "%s", ev->reason);
	if (type == WIRE_PLAN)
		show_plan(f, ev->plan);
}

static struct session *session_new(void)
{
	struct session *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-keeper-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	f->root = xstrdup(template);
	f->folder = path_join(f->root, "work");
	f->state = path_join(f->root, "state");
	assert_int_equal(mkdir(f->folder, 0755), 0);
	assert_int_equal(mkdir(f->state, 0700), 0);
	assert_int_equal(policy_new(&f->policy, &(struct policy_spec){.home = f->root}, &err), 0);
	f->log = (struct buf)BUF_INIT;
	f->answer = (struct answer){.allow = true};
	return f;
}

/* Starts a keeper; without a backend it has no agent. Headless, the whole run is one step. */
static void session_start(struct session *f, const struct backend *backend, void (*script)(void),
			  bool headless)
{
	static const char *const argv[] = {"agent", "--do", "it", NULL};
	struct spawn_spec spawn = {.argv = argv, .stdio = {0, 1, 2}, .dynamic = true};
	const char *const folders[] = {f->folder, NULL};
	struct err err = {0};
	int pair[2];

	agent_script = script;
	f->exited = f->started = false;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(keeper_fork(&(struct keeper_spec){.sock = pair[1],
							   .folders = folders,
							   .state_dir = f->state,
							   .policy = f->policy,
							   .headless = headless,
							   .one_step = headless,
							   .backend = backend,
							   .spawn = backend ? &spawn : NULL},
				     &f->pid, &err),
			 0);
	close(pair[1]);
	f->client = client_new(pair[0], on_event, f);
}

/* Runs until *flag is set, or the keeper has ended. */
static void pump(struct session *f, const bool *flag)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!*flag) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		assert_true(clock_mono_us() < end);
		poll(&p, 1, 100);
		if (p.revents && client_read(f->client) < 0)
			return;
	}
}

UNUSED static void await(struct session *f, const char *words)
{
	int64_t end = clock_mono_us() + PATIENCE_US;

	while (!strstr(f->log.data, words)) {
		struct pollfd p = {.fd = client_fd(f->client), .events = POLLIN};

		if (clock_mono_us() > end)
			fail_msg("waited for '%s' in vain; there is:\n%s", words, f->log.data);
		poll(&p, 1, 100);
		if (p.revents)
			assert_int_equal(client_read(f->client), 0);
	}
}

static void stop(struct session *f)
{
	bool never = false;

	if (!f->client)
		return;
	client_shutdown(f->client);
	pump(f, &never);
	client_free(f->client);
	f->client = NULL;
	waitpid(f->pid, NULL, 0);
}

static void session_free(struct session *f)
{
	stop(f);
	policy_free(f->policy);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->root), 0);
	free(f->root);
	free(f->folder);
	free(f->state);
	buf_done(&f->log);
	free(f);
}

UNUSED static bool request(struct session *f, uint64_t id)
{
	assert_true(id > 0);
	f->done = false;
	f->status = 0;
	pump(f, &f->done);
	return f->status == 0;
}
