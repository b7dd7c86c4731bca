/* mac_session - a keeper's session under a simulated Endpoint Security, for tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>
#include <sys/stat.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/keeper/client.h"
#include "core/policy/policy.h"
#include "tests/support/check.h"
#include "tests/support/fake_mac.h"
#include "tests/support/tree.h"

#define PATIENCE_US 30000000

struct session {
	char *root, *folder, *state;
	struct policy *policy;
	struct client *client;
	pid_t pid;
	struct buf log;
	bool started, exited, done;
	int status;
	struct answer answer; /* to every question */
	bool mute;	      /* no answers */
	uint64_t asked;
	bool ambient[256]; /* which steps are ambient, by the low bits of their ids */
	char words[512];
};

static void on_event(void *data, enum wire_type type, const struct client_event *ev)
{
	struct session *f = data;
	const char *path = ev->path ? path_below(ev->path, f->folder) : NULL;

	path = path && *path ? path : ev->path ? path_base(ev->path) : NULL;
	if (type == WIRE_STEP_BEGIN)
		f->ambient[ev->step & 255] = ev->kind == STEP_AMBIENT;
	if (type == WIRE_STEP_BEGIN)
		buf_fmt(&f->log, "begin%s %s\n", f->ambient[ev->step & 255] ? " ambient" : "",
			ev->command);
	else if (type == WIRE_STEP_END)
		buf_fmt(&f->log, "end%s kept=%d paths=%d\n",
			f->ambient[ev->step & 255] ? " ambient" : "", ev->kept, (int)ev->total);
	else if (type == WIRE_TOUCH)
		buf_fmt(&f->log, "%s %s\n", ev->op, path);
	else if (type == WIRE_DENY)
		buf_fmt(&f->log, "denied %s %s\n", ev->op, path);
	else if (type == WIRE_ASK)
		buf_fmt(&f->log, "ask %s %s\n", ev->op, path);
	if (type == WIRE_ASK)
		f->asked = ev->id;
	if (type == WIRE_ASK && !f->mute)
		client_answer(f->client, ev->id, &f->answer);
	f->started |= type == WIRE_STARTED;
	f->exited |= type == WIRE_EXIT;
	f->done |= type == WIRE_DONE;
	if (type == WIRE_EXIT)
		f->status = (int)ev->status;
	if (type == WIRE_DONE)
		f->status = ev->result;
	if (type == WIRE_DONE || type == WIRE_NOTE)
		snprintf(f->words, sizeof(f->words), "%s", ev->reason);
}

static void write_file(const struct session *f, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(f->folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

UNUSED static void make_dir(const struct session *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static struct session *session_new(void)
{
	struct session *f = xcalloc(1, sizeof(*f));
	char template[] = "/tmp/cordon-endpoint-XXXXXX";
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
	write_file(f, "old", "what was there\n");
	write_file(f, "other", "another one\n");
	make_dir(f, "dir");
	write_file(f, "dir/deep", "deep\n");
	make_dir(f, "empty");
	return f;
}

static void start(struct session *f, const struct backend *backend, void (*script)(void),
		  bool headless)
{
	static const char *const argv[] = {"agent", "--do", "it", NULL};
	struct spawn_spec spawn = {.argv = argv, .stdio = {0, 1, 2}, .dynamic = true};
	const char *const folders[] = {f->folder, NULL};
	struct err err = {0};
	int pair[2];

	agent_script = script;
	mac.folder = f->folder;
	f->exited = f->started = false;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	assert_int_equal(keeper_fork(&(struct keeper_spec){.sock = pair[1],
							   .folders = folders,
							   .state_dir = f->state,
							   .policy = f->policy,
							   .headless = headless,
							   .backend = backend,
							   .spawn = backend ? &spawn : NULL},
				     &f->pid, &err),
			 0);
	close(pair[1]);
	f->client = client_new(pair[0], on_event, f);
}

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

/* Lists names and contents, without times and numbers. */
static void list_into(struct buf *out, const char *dir, const char *below)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = path_join(dir, list[i]->d_name);
		AUTO_FREE char *name = xasprintf("%s%s", below, list[i]->d_name);
		AUTO_FREE char *text = NULL;
		struct stat st;

		if (str_eq(list[i]->d_name, ".") || str_eq(list[i]->d_name, "..")) {
			free(list[i]);
			continue;
		}
		free(list[i]);
		assert_int_equal(lstat(path, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			AUTO_FREE char *under = xasprintf("%s/", name);

			buf_fmt(out, "%s %o\n", under, (unsigned)st.st_mode & 0777);
			list_into(out, path, under);
			continue;
		}
		assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0, 0);
		buf_fmt(out, "%s %o: %s\n", name, (unsigned)st.st_mode & 0777, text);
	}
	free(list);
}

UNUSED static char *listing(const struct session *f)
{
	struct buf out = BUF_INIT;

	list_into(&out, f->folder, "");
	return buf_take(&out);
}

static size_t steps_in(const char *log)
{
	size_t n = 0;

	while ((log = strstr(log, "kept=1"))) {
		log += strlen("kept=1");
		n++;
	}
	return n;
}

/* Undoes all steps, and compares the tree with the earlier one. */
UNUSED static void undo_all(struct session *f, const char *before)
{
	size_t n = steps_in(f->log.data);
	AUTO_FREE char *now = NULL;

	if (n && !request(f, client_undo(f->client, UNDO_BACK, n, 0, 0, 0)))
		fail_msg("undo: %s\n%s", f->words, f->log.data);
	now = tree_take(f->folder, NULL);
	assert_string_equal(now, before);
}

UNUSED static struct session *on_mac(void (*script)(void), bool mute)
{
	struct session *f = session_new();

	f->mute = mute;
	start(f, &mac_backend, script, false);
	return f;
}

/* ---- in the agent ---------------------------------------------------------------------------- */

UNUSED static void must(int r)
{
	if (r < 0)
		_exit(100 + -r % 100);
}

UNUSED static int first_result(int r)
{
	return r == 0 ? 0 : r == -EACCES ? 13 : 1;
}
