/* test_macos_launch - starts and ends programs by the helper, and by a stand-in for
 * sandbox-exec. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backends/macos/launch/env.h"
#include "backends/macos/launch/human.h"
#include "backends/macos/launch/launch.h"
#include "backends/macos/launch/warden.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "tests/support/check.h"
#include "tests/support/fake_helper.h"

/* ---- the environment ------------------------------------------------------------------------- */

TEST_WITH(environment, NULL, NULL)
{
	static const char *const env[] = {"PATH=/bin",
					  "DYLD_INSERT_LIBRARIES=/x",
					  "LD_PRELOAD=/x",
					  "LDFLAGS=-lm",
					  "DYLD_LIBRARY_PATH=",
					  "MallocStackLogging=1",
					  "TMPDIR=/tmp",
					  "HTTP_PROXY=evil",
					  "NO_PROXY=*",
					  "NAME=DYLD_x",
					  "LD_",
					  NULL};
	static const char *const own[] = {"HTTP_PROXY=http://127.0.0.1:8080", "NO_PROXY=", NULL};
	static const char *const want[] = {"PATH=/bin",
					   "LDFLAGS=-lm",
					   "NAME=DYLD_x",
					   "TMPDIR=/own",
					   "HTTP_PROXY=http://127.0.0.1:8080",
					   "NO_PROXY=",
					   NULL};
	char **got = mac_env(env, "/own", own);
	size_t n = 0;

	for (; got[n]; n++) {
		assert_non_null(want[n]);
		assert_string_equal(got[n], want[n]);
	}
	assert_null(want[n]);
	util_free_list(&got);
	got = mac_env(NULL, NULL, NULL);
	assert_null(got[0]);
	util_free_list(&got);
}

/* ---- the launcher ---------------------------------------------------------------------------- */

struct place {
	char base[64], *dir, *program, *helper;
};

static bool has_mark(int pid, const char *session)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/environ", pid);
	AUTO_FREE char *want = xasprintf("CORDON_SESSION=%s", session);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;
	size_t len = 0;

	return fd >= 0 && io_read_all(fd, 1u << 20, &text, &len) == 0 &&
	       memmem(text, len, want, strlen(want) + 1);
}

static bool is_dead(int pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", pid);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	char text[512] = "";
	const char *at;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return true;
	at = strrchr(text, ')');
	return !at || at[2] == 'Z' || at[2] == 'X';
}

/* Lists processes with the session's mark. */
static size_t fake_inside(void *data, const char *session, pid_t root, pid_t *out, size_t max)
{
	AUTO_DIR DIR *d = opendir("/proc");
	const struct dirent *e;
	size_t n = 0;

	(void)data;
	if (root > 0 && !is_dead(root) && n < max)
		out[n++] = root;
	while (d && (e = readdir(d)) && n < max) {
		int pid = atoi(e->d_name);

		if (pid > 1 && pid != getpid() && pid != root && has_mark(pid, session) &&
		    !is_dead(pid))
			out[n++] = pid;
	}
	return n;
}

static const char script[] = "#!/bin/sh\n"
			     "while [ \"$1\" != -- ]; do\n"
			     "case $1 in\n"
			     "-D) echo \"param $2\"; shift ;;\n"
			     "-p) echo \"text ${#2}\"; shift ;;\n"
			     "-f) echo \"file $(wc -c <\"$2\") $(stat -c %a \"$2\")\"; shift ;;\n"
			     "esac; shift; done\nshift\nunset DYLD_INSERT_LIBRARIES\nexec \"$@\"\n";

static int setup(void **state)
{
	struct place *p = xcalloc(1, sizeof(*p));
	int fd;

	snprintf(p->base, sizeof(p->base), "/tmp/cordon-launch-XXXXXX");
	assert_non_null(mkdtemp(p->base));
	p->dir = path_join(p->base, "own");
	p->program = path_join(p->base, "sandbox-exec");
	assert_int_equal(mkdir(p->dir, 0700), 0);
	fd = open(p->program, O_WRONLY | O_CREAT | O_CLOEXEC, 0755);
	assert_int_equal(io_write_all(fd, script, sizeof(script) - 1), 0);
	close(fd);
	p->helper = helper_write(p->base, "");
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	assert_int_equal(io_remove_tree(AT_FDCWD, p->base), 0);
	free(p->dir);
	free(p->program);
	free(p->helper);
	free(p);
	return 0;
}

struct run {
	struct profile profile;
	struct mac_os os;
	struct mac_launch_spec spec;
	const char *env[4];
	char session[32], mark[64];
	int out;
};

/* command is for /bin/sh. */
static void prepare(struct run *r, const struct place *p, const char *const *argv, bool program)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(io_set_cloexec(fds[0], true), 0);
	*r = (struct run){.profile = {.sbpl = SBPL_INIT}, .out = fds[0]};
	snprintf(r->session, sizeof(r->session), "test-%d", (int)getpid());
	snprintf(r->mark, sizeof(r->mark), "CORDON_SESSION=%s", r->session);
	buf_str(&r->profile.sbpl.text, "(version 1)(deny default)");
	r->os = (struct mac_os){.list_inside = fake_inside};
	r->env[0] = "PATH=/usr/bin:/bin";
	r->env[1] = r->mark;
	r->env[2] = "DYLD_INSERT_LIBRARIES=/evil";
	r->spec = (struct mac_launch_spec){
		.os = &r->os,
		.profile = &r->profile,
		.helper = p->helper,
		.sandbox_exec = program ? p->program : NULL,
		.dir = p->dir,
		.session = r->session,
		.argv = argv,
		.env = r->env,
		.cwd = "/",
		.stdio = {open("/dev/null", O_RDONLY | O_CLOEXEC), fds[1], fds[1]}};
}

/* Reads the output, until all processes with the pipe have ended. */
static void finish(struct run *r, char *out, size_t size)
{
	ssize_t n;

	close(r->spec.stdio[0]);
	close(r->spec.stdio[1]);
	n = io_read_full(r->out, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	close(r->out);
	sbpl_done(&r->profile.sbpl);
}

TEST(runs_by_program)
{
	static const char *const argv[] = {"sh",
					   "-c",
					   "echo \"$1\"; echo ${DYLD_INSERT_LIBRARIES-clean} "
					   "$HTTP_PROXY; ulimit -n; ulimit -c; "
					   "ls /proc/self/fd | wc -l; exit 7",
					   "x",
					   "it's \"quoted\" $(no)",
					   NULL};
	static const char *const own[] = {"HTTP_PROXY=http://127.0.0.1:8080", NULL};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	struct err err = {0};
	struct run r;
	char out[4096];
	int status;

	prepare(&r, p, argv, true);
	sbpl_subpath(&r.profile.sbpl, "/a\"b");
	r.spec.limits.open_files = 64;
	r.spec.limits.processes = 5; /* has no effect */
	r.spec.own_env = own;
	if (mac_launch(&l, &r.spec, &status, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(mac_launch_wait(l), 7);
	mac_launch_stop(l);
	finish(&r, out, sizeof(out));
	assert_string_equal(out, "param P0=/a\"b\ntext 48\nit's \"quoted\" $(no)\n"
				 "clean http://127.0.0.1:8080\n64\n0\n4\n");
	assert_int_equal(access(p->dir, F_OK), -1);
}

/* sandbox-exec reports it by an exit status of its own, without a message. */
TEST(no_program_for_the_program)
{
	static const char *const argv[] = {"no-such-program-here", NULL};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	struct err err = {0};
	struct run r;
	char out[64];
	int status = 0;

	prepare(&r, p, argv, true);
	assert_int_equal(mac_launch(&l, &r.spec, &status, &err), -ENOENT);
	assert_int_equal(status, 127);
	assert_non_null(strstr(err.text, "no-such-program-here"));
	finish(&r, out, sizeof(out));
	assert_string_equal(out, "");
}

/* Apple's programs remove these variables before the program starts, like this test's program. */
TEST(the_loaders_variables_reach_the_program)
{
	static const char *const argv[] = {"sh", "-c", "echo \"$DYLD_INSERT_LIBRARIES $X\"", NULL};
	static const char *const own[] = {"DYLD_INSERT_LIBRARIES=/our own", "X=1", NULL};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	struct err err = {0};
	struct run r;
	char out[256];
	int status;

	prepare(&r, p, argv, true);
	r.spec.own_env = own;
	if (mac_launch(&l, &r.spec, &status, &err) < 0)
		fail_msg("%s", err.text);
	assert_int_equal(mac_launch_wait(l), 0);
	mac_launch_stop(l);
	finish(&r, out, sizeof(out));
	assert_non_null(strstr(out, "/our own 1\n"));
}

TEST(a_long_profile_is_a_file)
{
	static const char *const argv[] = {"/bin/true", NULL};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	struct run r;
	char out[4096];
	int status;

	prepare(&r, p, argv, true);
	while (!profile_needs_file(&r.profile))
		buf_str(&r.profile.sbpl.text, "; a line that says nothing\n");
	assert_int_equal(mac_launch(&l, &r.spec, &status, NULL), 0);
	assert_int_equal(mac_launch_wait(l), 0);
	mac_launch_stop(l);
	finish(&r, out, sizeof(out));
	assert_true(str_starts(out, "file 131"));
	assert_non_null(strstr(out, " 600\n"));
	assert_int_equal(access(p->dir, F_OK), -1);
}

TEST(runs_by_helper)
{
	static const char *const argv[] = {"sh",
					   "-c",
					   "echo \"$1 ${FAKE_DENY-clean} $TMPDIR "
					   "${DYLD_INSERT_LIBRARIES-none}\"; ulimit -n; "
					   "ls /proc/self/fd | wc -l; [ $(ps -o sid= $$) = $$ ] || "
					   "echo no session; kill -9 $$",
					   "x",
					   "it's \"quoted\" $(no)",
					   NULL};
	const struct place *p = *state;
	AUTO_FREE char *want = xasprintf("(it's \"quoted\" $(no) clean %s none\n64\n4\n", p->dir);
	struct mac_launch *l = NULL;
	struct err err = {0};
	struct run r;
	char out[1024];
	int status;

	free(helper_write(p->base, "FAKE_MARK=1 FAKE_DENY=-1"));
	prepare(&r, p, argv, false);
	r.spec.limits.open_files = 64;
	if (mac_launch(&l, &r.spec, &status, &err) < 0)
		fail_msg("%s", err.text);
	assert_non_null(strstr(mac_launch_unhardened(l), "debuggers"));
	assert_int_equal(mac_launch_wait(l), 128 + SIGKILL);
	mac_launch_stop(l);
	finish(&r, out, sizeof(out));
	assert_string_equal(out, want);
}

/* If the keeper dies before it has named the process, or has another version, no process is
 * left. */
TEST(no_order_no_program)
{
	const struct place *p = *state;
	const struct helper_spec spec = {
		.program = p->helper, .role = HELPER_AGENT, .fds = {-1, -1}};
	static const char old[512] = "0.0.0";
	int order, status;
	pid_t pid;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(helper_start(&spec, &pid, &order, NULL), 0);
		if (i == 1)
			assert_int_equal(io_write_all(order, old, sizeof(old)), 0);
		close(order);
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(WEXITSTATUS(status), 125);
	}
}

/* Orders of maximum size: larger than a pipe. */
TEST_WITH(orders, NULL, NULL)
{
	AUTO_FREE char *large = xcalloc(1, 200001);
	char *argv[] = {(char[]){"a"}, (char[]){""}, large, NULL}, *none[] = {NULL};
	struct order o = {.human = {.known = true, .uid = 7, .n_groups = 1},
			  .limits = {.open_files = 9},
			  .nice = -3,
			  .by_program = true,
			  .cwd = (char[]){"/"},
			  .argv = argv,
			  .params = none,
			  .word = (char[]){"secret"}};
	struct order got;
	int fds[2], status;
	pid_t pid;

	memset(large, 'x', 200000);
	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0)
		_exit(order_send(fds[1], &o) == 0 ? 0 : 1);
	close(fds[1]);
	assert_int_equal(order_receive(fds[0], &got), 0);
	assert_true(got.human.known && got.human.uid == 7 && got.limits.open_files == 9);
	assert_true(got.nice == -3 && got.by_program && !got.tty);
	assert_string_equal(got.cwd, "/");
	assert_string_equal(got.profile, "");
	assert_string_equal(got.word, "secret");
	assert_string_equal(got.argv[1], "");
	assert_string_equal(got.argv[2], large);
	assert_null(got.argv[3]);
	assert_null(got.env[0]);
	assert_int_equal(order_receive(fds[0], &o), -EPIPE);
	order_done(&got);
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

TEST(failures)
{
	static const char *const none[] = {"/nonexistent/program", NULL};
	static const char *const unfound[] = {"no-such-program-here", NULL};
	static const char *const dir[] = {"/", NULL};
	static const char *const good[] = {"/bin/true", NULL};
	const struct {
		const char *const *argv;
		const char *cwd;
		const char *settings;
		int status;
		const char *words;
	} list[] = {
		{none, "/", "", 127, "/nonexistent/program"},
		{unfound, "/", "", 127, "no-such-program-here"},
		{dir, "/", "", 126, "run '/'"},
		{good, "/nonexistent", "", 125, "/nonexistent"},
		{good, "/", "FAKE_APPLY=-1", 125, "libsandbox says no"},
	};
	const struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct mac_launch *l = NULL;
		struct err err = {0};
		struct run r;
		char out[64];
		int status = 0;

		(void)mkdir(p->dir, 0700);
		free(helper_write(p->base, list[i].settings));
		prepare(&r, p, list[i].argv, false);
		r.spec.cwd = list[i].cwd;
		assert_true(mac_launch(&l, &r.spec, &status, &err) < 0);
		assert_null(l);
		assert_int_equal(status, list[i].status);
		if (!strstr(err.text, list[i].words) || strchr(err.text, '\n'))
			fail_msg("%s", err.text);
		finish(&r, out, sizeof(out));
		assert_int_equal(access(p->dir, F_OK), -1);
	}
}

/* Descendants in sessions of their own, whose parents have ended, and which ignore signals. */
TEST(nothing_is_left)
{
	static const char *const argv[] = {"sh", "-c",
					   "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP; "
					   "(sleep 300 & sleep 300)' & done; "
					   "echo ready; sleep 300",
					   NULL};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	pid_t inside[64];
	struct run r;
	char out[64];
	int status;

	prepare(&r, p, argv, true);
	assert_int_equal(mac_launch(&l, &r.spec, &status, NULL), 0);
	for (size_t n = 0; n < 7;) /* or the test's time limit */
		n = fake_inside(NULL, r.session, mac_launch_pid(l), inside, ARRAY_LEN(inside));
	mac_launch_stop(l);
	assert_int_equal(fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside)), 0);
	finish(&r, out, sizeof(out)); /* ends, as no process has the pipe */
	assert_int_equal(access(p->dir, F_OK), -1);
}

/* Processes inside survive a normal end of the keeper, but not its death. */
static void who_dies_takes_them_along(bool well, const struct place *p)
{
	static const char *const argv[] = {"sh", "-c", "trap '' HUP TERM; setsid sleep 300 & wait",
					   NULL};
	pid_t inside[64], keeper;
	struct run r;
	struct mac_launch *l = NULL;
	struct warden *w = NULL;
	size_t n = 0;
	char out[64];
	int status;

	prepare(&r, p, argv, true);
	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	keeper = fork();
	if (keeper == 0) {
		if (warden_start(&w, p->helper, r.session, NULL) < 0 ||
		    mac_launch(&l, &r.spec, &status, NULL) < 0)
			_exit(1);
		while (fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside)) < 2)
			continue;
		if (well)
			warden_stop(w);
		(void)kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(keeper, &status, 0), keeper);
	assert_true(WIFSIGNALED(status));
	if (well) {
		n = fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside));
		assert_int_equal(n, 2);
		for (size_t i = 0; i < n; i++)
			(void)kill(inside[i], SIGKILL);
	}
	while (wait(&status) > 0) /* also for the warden; or the test's time limit */
		continue;
	assert_int_equal(fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside)), 0);
	finish(&r, out, sizeof(out));
}

TEST(a_warden_outlives_its_keeper)
{
	who_dies_takes_them_along(false, *state);
}

TEST(a_warden_that_is_stopped_ends_nobody)
{
	who_dies_takes_them_along(true, *state);
}

/* Descriptors with high numbers are not inherited either. */
TEST(no_other_descriptors)
{
	static const char *const argv[] = {"sh", "-c", "ls /proc/self/fd | wc -l", NULL};
	const int numbers[] = {3, 11, 100, 1000, 5000};
	const struct place *p = *state;
	struct mac_launch *l = NULL;
	struct rlimit limit;
	int fds[ARRAY_LEN(numbers)];
	char out[64];
	struct run r;
	int status;

	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	prepare(&r, p, argv, true);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) /* without close-on-exec */
		fds[i] = fcntl(r.spec.stdio[0], F_DUPFD, numbers[i]);
	r.spec.limits.open_files = 64;
	assert_int_equal(mac_launch(&l, &r.spec, &status, NULL), 0);
	assert_int_equal(mac_launch_wait(l), 0);
	mac_launch_stop(l);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		assert_int_equal(close(fds[i]), 0);
	finish(&r, out, sizeof(out));
	assert_string_equal(strrchr(out, '\n') - 1, "4\n"); /* ls has one itself */
}

/* ---- whom it runs as ------------------------------------------------------------------------- */

TEST_WITH(who_typed_sudo, NULL, NULL)
{
	static const char *const bad[] = {NULL, "",	      "0",	     "-1",  "1x",
					  " 1", "4294967295", "99999999999", "0x1", "3999999999"};
	struct passwd *pw = getpwnam("daemon");
	AUTO_FREE char *uid = xasprintf("%u", (unsigned)pw->pw_uid);
	AUTO_FREE char *home = xstrdup(pw->pw_dir);
	struct human_spec spec = {.euid = 0, .sudo_uid = uid, .home = home};
	struct human h;
	struct err err = {0};

	assert_int_equal(human_find(&h, &spec, &err), 0);
	assert_true(h.known && h.uid == 1 && h.gid == 1 && h.n_groups >= 1);
	assert_string_equal(h.name, "daemon");
	human_done(&h);
	spec.as_root = true; /* applies only if the user is unknown */
	assert_int_equal(human_find(&h, &spec, &err), 0);
	assert_true(h.known);
	human_done(&h);
	/* Hidden paths would be in a home that is not the agent's. */
	spec.home = "/";
	assert_int_equal(human_find(&h, &spec, &err), -EPERM);
	assert_non_null(strstr(err.text, "HOME"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		spec.sudo_uid = bad[i];
		spec.as_root = false;
		assert_int_equal(human_find(&h, &spec, &err), -EPERM);
		assert_non_null(strstr(err.text, "sandbox.as-root"));
		spec.as_root = true;
		assert_int_equal(human_find(&h, &spec, &err), 0);
		assert_false(h.known);
	}
	spec.euid = 501; /* without root there is no user to become */
	spec.as_root = false;
	assert_int_equal(human_find(&h, &spec, &err), 0);
	assert_false(h.known);
	assert_int_equal(human_become(&h), 0);
}

static int try_to_become(const struct human *h)
{
	pid_t child = fork();
	int status;

	if (child == 0) {
		gid_t groups[4];

		if (human_become(h) < 0)
			_exit(1);
		_exit(getuid() == h->uid && getgroups(4, groups) == h->n_groups &&
				      setreuid(0, 0) < 0 && setgid(0) < 0 && setgroups(0, NULL) < 0
			      ? 0
			      : 2);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WEXITSTATUS(status);
}

TEST(root_is_gone_for_good)
{
	const struct place *p = *state;
	const struct human h = {
		.known = true, .uid = 12345, .gid = 12346, .groups = {12346}, .n_groups = 1};
	const struct human root = {.known = true, .uid = 0, .gid = 0};
	AUTO_FREE char *inside = path_join(p->dir, "socket");
	struct stat st;

	if (geteuid() != 0) {
		assert_int_equal(try_to_become(&h), 1);
		return;
	}
	assert_int_equal(try_to_become(&h), 0);
	assert_int_equal(try_to_become(&root), 1);
	/* Directories made by root are handed over, but no file that another user could have put
	 * there. */
	assert_int_equal(mkdir(inside, 0700), 0);
	assert_int_equal(chmod(p->dir, 0777), 0);
	assert_int_equal(human_give(&h, p->dir), -EPERM);
	assert_int_equal(chmod(p->dir, 0700), 0);
	assert_int_equal(human_give(&h, p->dir), 0);
	assert_int_equal(stat(inside, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	assert_int_equal(stat(p->dir, &st), 0);
	assert_int_equal(st.st_uid, 12345);
	/* It is theirs already: links that they made in it stay root's. */
	assert_int_equal(chown(inside, 0, 0), 0);
	assert_int_equal(human_give(&h, p->dir), 0);
	assert_int_equal(stat(inside, &st), 0);
	assert_int_equal(st.st_uid, 0);
	assert_int_equal(chown(p->dir, 1, 1), 0);
	assert_int_equal(human_give(&h, p->dir), -EPERM);
}

int main(int argc, char **argv)
{
	helper_fake(argc, argv, fake_inside);
	return run_all(setup, teardown, NULL, NULL);
}
