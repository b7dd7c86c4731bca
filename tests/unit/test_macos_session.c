/* test_macos_session - a session under Seatbelt, with simulated system, programs and keeper. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>

#include "tests/support/fake_seatbelt.h"

/* ---- a session ------------------------------------------------------------------------------- */

/* The log reports when the agent's number is known; the agent ends when the last line was
 * reported. */
TEST(a_session)
{
	struct fixture *f = *state;
	AUTO_FREE char *command =
		xasprintf("env >%s/env; echo $$ >%s/pid.new; mv %s/pid.new %s/pid; "
			  "until [ -e %s ]; do sleep 0.02; done; exit 7",
			  f->base, f->base, f->base, f->base, f->go);
	AUTO_FREE char *log = xasprintf(
		"#!/bin/sh\n[ \"$1 $2 $3\" = 'stream --style ndjson' ] || exit\n"
		"until [ -e %s/pid ]; do sleep 0.02; done\nread -r p <%s/pid\n"
		"say() { printf '{\"eventMessage\":\"Sandbox: %%s(%%s) %%s %%s\"}\\n' \"$@\"; }\n"
		"echo 'Filtering the log data using ...'\n"
		"say node $p 'deny(1) mach-lookup' com.apple.fonts\n"
		"say node 1 'deny(1) mach-lookup' com.apple.others\n"
		"say node $p 'deny(1) file-read-data' /x\n"
		"say bash $p 'deny(1) forbidden-exec-sugid' /bin/ps\n"
		"say bash $p 'deny(1) forbidden-exec-sugid' /usr/bin/top\n"
		"say gh $p 'deny(1) mach-lookup' com.apple.trustd.agent\n"
		"say node $p 'deny(1) mach-lookup' \"$(printf '%%070000d' 0)\"\n"
		"say node $p 'deny(1) mach-lookup' com.apple.last\nexec sleep 300\n",
		f->base, f->base);
	const char *const argv[] = {"sh", "-c", command, NULL};
	AUTO_FREE char *env_path = path_join(f->base, "env"), *env = NULL;
	const char *hint;
	size_t len = 0;
	struct sandbox *sb;

	free(write_script(f, "log", log));
	f->spec.cache = f->folder;
	f->spec.limits.processes = 50;
	sb = begin(f, argv);
	while (!strstr(f->keeper.services, "com.apple.last")) /* or the test's own time limit */
		turn(&f->keeper);
	close(open(f->go, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WEXITSTATUS(f->keeper.status), 7);
	assert_string_equal(f->keeper.services, "node mach-lookup com.apple.fonts denied\n"
						"gh mach-lookup com.apple.trustd.agent denied\n"
						"node mach-lookup com.apple.last denied\n");
	assert_non_null(strstr(f->keeper.words, "there is no undo"));
	assert_non_null(strstr(f->keeper.words, "no RLIMIT_NPROC"));
	hint = strstr(f->keeper.words, "the setuid bit");
	assert_non_null(hint);
	assert_null(strstr(hint + 1, "the setuid bit")); /* once */
	assert_non_null(strstr(f->keeper.words, "xpc.allow=com.apple.trustd.agent"));
	assert_null(strstr(f->keeper.words, "shm_open"));
	assert_int_equal(io_read_file(AT_FDCWD, env_path, 1u << 20, &env, &len), 0);
	assert_null(strstr(env, CACHE_INSIDE));
	assert_non_null(strstr(env, "/folder/x\n"));
	assert_non_null(strstr(env, "TMPDIR=/tmp/cordon-"));
	assert_non_null(strstr(env, "/folder/clang-modules\n"));
	seatbelt_stop(sb);
}

/* A message for an agent stays unchanged: the log's program is not named in it. */
TEST(without_a_log)
{
	static const char *const argv[] = {"sh", "-c", "kill -9 $$", NULL};
	struct fixture *f = *state;
	struct sandbox *sb;

	f->host.log = "/nonexistent/log";
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WTERMSIG(f->keeper.status), SIGKILL);
	assert_null(strstr(f->keeper.words, "RLIMIT_NPROC")); /* no limit was set */
	assert_non_null(strstr(f->keeper.words, "/nonexistent/log"));
	seatbelt_stop(sb);
}

TEST(above_its_quota)
{
	static const char *const argv[] = {"sleep", "300", NULL};
	struct fixture *f = *state;
	struct sandbox *sb;

	f->usage.resident = UINT64_C(15) << 30;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(WTERMSIG(f->keeper.status), SIGKILL);
	assert_non_null(strstr(f->keeper.words, "the session is ended: it uses 15"));
	seatbelt_stop(sb);
}

/* The session ends all the same, and the warden continues. */
TEST(who_does_not_go_is_told_of)
{
	static const char *const argv[] = {"sleep", "300", NULL};
	struct fixture *f = *state;
	struct sandbox *sb = begin(f, argv);

	f->stuck = 0x20000000; /* no process has it; the helper lists none */
	seatbelt_stop(sb);
	assert_non_null(strstr(f->keeper.words, "1 of this session's processes do not end"));
	assert_int_equal(kill(f->keeper.agent, 0), -1);
}

/* By the setting; the profile is the program's argument. */
TEST(by_sandbox_exec)
{
	static const char *const set[] = {"sandbox.seatbelt=sandbox-exec", NULL};
	static const char *const argv[] = {"sh", "-c", "[ \"$BY\" = sandbox-exec ]", NULL};
	const struct config_spec spec = {
		.home = "/nonexistent", .org_file = "/dev/null/none", .settings = set};
	struct fixture *f = *state;
	struct sandbox *sb;

	for (int i = 0; i < 2; i++) {
		sb = begin(f, argv);
		while (!f->keeper.exited)
			turn(&f->keeper);
		assert_int_equal(WEXITSTATUS(f->keeper.status), i == 0 ? 1 : 0);
		seatbelt_stop(sb);
		f->keeper.exited = false;
		config_free(f->keeper.config);
		assert_int_equal(config_load(&f->keeper.config, &spec, NULL), 0);
	}
}

TEST(refusals)
{
	static const char *const none[] = {"no-such-program-here", NULL};
	static const char *const over[] = {"/x", NULL};
	struct fixture *f = *state;
	struct sandbox *sb = NULL;
	struct err err = {0};
	int status = 0;

	f->spec.argv = none;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_int_equal(status, 127);
	f->host.helper = "/nonexistent/cordon-seatbelt";
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_int_equal(status, 125);
	assert_non_null(strstr(err.text, "no cordon-seatbelt"));
	f->host.helper = f->helper;
	f->spec.overlays = over;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-EOPNOTSUPP);
	assert_int_equal(status, 125);
	assert_non_null(strstr(err.text, "--overlay"));
	f->spec.overlays = NULL;
	f->spec.ask_network = true; /* nothing is left of the proxy, either */
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-ENOENT);
	assert_null(f->keeper.door);
	assert_null(sb);
}

/* ---- Endpoint Security ----------------------------------------------------------------------- */

static struct endpoint {
	int result;
	struct es_queue *queue;
	struct es_out out;
	int starts, stops, forked;
	size_t answered, allowed;
	pthread_t system;
	struct es_door_spec spec;
	struct door door;
} es;

static void es_respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	(void)data, (void)handle, (void)kind;
	es.answered++;
	es.allowed += allow;
}

static int64_t es_now(void *data)
{
	(void)data;
	return 1;
}

/* Puts the helper's messages while the keeper waits for it: a read, and the agent's exec. */
static void *es_messages(void *data)
{
	struct es_message m = {.handle = 1, .deadline_us = 10000000};

	while (!__atomic_load_n(&es.forked, __ATOMIC_ACQUIRE))
		poll(NULL, 0, 1);
	m.process = (struct es_id){.pid = es.forked, .version = 5};
	es_queue_put(es.queue, &m);
	m.kind = ES_EXEC;
	es_queue_put(es.queue, &m);
	return data;
}

static int es_start(void *data, const char *session, struct es_queue **ret, struct err *err)
{
	(void)data;
	assert_string_equal(session, "test");
	es.starts++;
	if (es.result < 0)
		return es_lack_say(ES_LACKS_ENTITLEMENT, err);
	es.out = (struct es_out){.respond = es_respond, .now = es_now};
	*ret = es.queue = es_queue_new(&es.out);
	assert_int_equal(pthread_create(&es.system, NULL, es_messages, NULL), 0);
	return 0;
}

/* Before it runs nothing of its own is there. */
static struct es_id es_id_of(void *data, int pid)
{
	const struct fixture *f = data;

	__atomic_store_n(&es.forked, pid, __ATOMIC_RELEASE);
	assert_int_equal(access(f->go, F_OK), -1);
	return (struct es_id){.pid = pid, .version = 5};
}

static void es_stop(void *data)
{
	(void)data;
	es.stops++;
	es_queue_shut(es.queue);
}

static struct door *es_open(const struct es_door_spec *spec)
{
	es.spec = *spec;
	return &es.door;
}

static void touch_go(struct fixture *f, const struct es_system *system)
{
	AUTO_FREE char *command = xasprintf("touch %s", f->go);
	const char *const argv[] = {"sh", "-c", command, NULL};
	struct sandbox *sb;

	f->host.endpoint = system;
	f->host.open_door = es_open;
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(access(f->go, F_OK), 0);
	if (es.queue) /* the agent would not run before they are answered */
		assert_int_equal(pthread_join(es.system, NULL), 0);
	seatbelt_stop(sb);
}

TEST(with_a_client)
{
	struct fixture *f = *state;
	const struct es_system system = {
		.data = f, .start = es_start, .id_of = es_id_of, .stop = es_stop};
	struct es_message m = {.kind = ES_OPEN, .handle = 1, .deadline_us = 10000000}, got;

	es = (struct endpoint){0};
	f->spec.dynamic = true;
	touch_go(f, &system);
	assert_ptr_equal(f->door, &es.door);
	assert_false(es.spec.dynamic); /* the profile decides on reads */
	assert_int_equal(es.starts, 1);
	assert_int_equal(es.stops, 1);
	assert_int_equal(es.forked, f->keeper.agent);
	assert_int_equal(es.spec.agent.pid, es.forked);
	assert_ptr_equal(es.spec.queue, es.queue);
	assert_null(strstr(f->keeper.words, "there is no undo"));
	/* The agent was inside before it ran, and after a stop none of its calls is allowed. */
	m.process = (struct es_id){.pid = es.forked, .version = 5};
	es_queue_put(es.queue, &m);
	assert_int_equal(es.answered, 3);
	assert_int_equal(es.allowed, 2); /* the helper's, without the keeper */
	assert_false(es_queue_take(es.queue, &got));
	es_queue_free(es.queue); /* as the door would */
}

/* The profile alone confines, and a message says so. */
TEST(without_the_entitlement)
{
	struct fixture *f = *state;
	const struct es_system system = {
		.data = f, .start = es_start, .id_of = es_id_of, .stop = es_stop};

	es = (struct endpoint){.result = -EPERM};
	touch_go(f, &system);
	assert_null(f->door);
	assert_int_equal(es.stops, 0);
	assert_non_null(strstr(f->keeper.words,
			       "of files nothing is asked about: Endpoint Security: not "
			       "signed with"));
	assert_non_null(strstr(f->keeper.words, "there is no undo"));
}

/* ---- as root --------------------------------------------------------------------------------- */

#define HUMAN 12345

static int a_human(struct human *ret, const struct human_spec *spec, struct err *err)
{
	(void)err;
	assert_int_equal(spec->euid, geteuid());
	assert_string_equal(spec->home, "/home/u");
	assert_false(spec->as_root);
	*ret = (struct human){.known = geteuid() == 0,
			      .uid = HUMAN,
			      .gid = HUMAN + 1,
			      .groups = {HUMAN + 1, HUMAN + 2},
			      .n_groups = 2,
			      .name = xstrdup("somebody")};
	return 0;
}

static int nobody_known(struct human *ret, const struct human_spec *spec, struct err *err)
{
	struct human_spec root = *spec;

	root.euid = 0;
	root.sudo_uid = NULL;
	return human_find(ret, &root, err);
}

/* The agent, its directory and its cache are the user's; the keeper is unchanged. */
TEST(the_agent_is_the_humans)
{
	struct fixture *f = *state;
	AUTO_FREE char *command =
		xasprintf("{ id -u; id -g; id -G; echo $USER $LOGNAME; grep ^CapEff "
			  "/proc/self/status; }; touch \"$TMPDIR/x\" && touch %s/cache/x "
			  "&& exit 7",
			  f->base);
	const char *const argv[] = {"sh", "-c", command, NULL};
	AUTO_FREE char *cache = path_join(f->base, "cache");
	char out[512] = "";
	struct sandbox *sb;
	int fds[2];

	if (geteuid() != 0) {
		f->host.find_human = a_human; /* the user is unknown, and nothing happens */
		sb = begin(f, (const char *const[]){"true", NULL});
		while (!f->keeper.exited)
			turn(&f->keeper);
		assert_int_equal(f->keeper.status, 0);
		seatbelt_stop(sb);
		return;
	}
	assert_int_equal(mkdir(cache, 0700), 0);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	f->spec.stdio[1] = fds[1];
	f->spec.cache = cache;
	f->host.find_human = a_human;
	sb = begin(f, argv);
	close(fds[1]);
	assert_true(io_read_full(fds[0], out, sizeof(out) - 1) > 0);
	close(fds[0]);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_string_equal(out, "12345\n12346\n12346 12347\nsomebody somebody\n"
				 "CapEff:\t0000000000000000\n");
	assert_int_equal(WEXITSTATUS(f->keeper.status), 7);
	assert_int_equal(geteuid(), 0);
	seatbelt_stop(sb);
}

TEST(nobody_is_known)
{
	static const char *const argv[] = {"true", NULL};
	static const char *const set[] = {"sandbox.as-root=true", NULL};
	const struct config_spec as_root = {
		.home = "/nonexistent", .org_file = "/dev/null/none", .settings = set};
	struct fixture *f = *state;
	struct sandbox *sb = NULL;
	struct err err = {0};
	int status;

	f->spec.argv = argv;
	f->host.find_human = nobody_known;
	assert_int_equal(
		seatbelt_launch(&f->host, &sb, &f->door, &f->spec, &f->keeper, &status, &err),
		-EPERM);
	assert_int_equal(status, 125);
	assert_non_null(strstr(err.text, "sandbox.as-root"));
	assert_null(sb);
	assert_int_equal(f->keeper.agent, 0);
	config_free(f->keeper.config);
	assert_int_equal(config_load(&f->keeper.config, &as_root, &err), 0);
	sb = begin(f, argv);
	while (!f->keeper.exited)
		turn(&f->keeper);
	assert_int_equal(f->keeper.status, 0);
	seatbelt_stop(sb);
}

int main(int argc, char **argv)
{
	helper_fake(argc, argv, inside_nobody);
	return run_all(setup, teardown, NULL, NULL);
}
