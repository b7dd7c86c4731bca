/* test_macos_launch - starting and ending under a stand-in for sandbox-exec; probe lines; quotas.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/macos/launch/env.h"
#include "backends/macos/launch/launch.h"
#include "backends/macos/launch/warden.h"
#include "backends/macos/probe.h"
#include "backends/macos/quota.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"

/* ---- the environment ------------------------------------------------------------------------- */

static void environment(void **state)
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

	(void)state;
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
	char base[64], *dir, *program;
	int deny_result, apply_result;
	int mark; /* apply() leaves a byte there */
};

static int fake_apply(void *data, const char *profile, const char *const *params, char *why,
		      size_t size)
{
	const struct place *p = data;

	(void)params;
	if (p->apply_result < 0)
		snprintf(why, size, "libsandbox says no");
	else
		(void)!write(p->mark, profile, 1);
	return p->apply_result;
}

static int fake_deny(void *data)
{
	return ((const struct place *)data)->deny_result;
}

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

/* What carries the session's mark. */
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
			     "esac; shift; done\nshift\nexec \"$@\"\n";

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
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct place *p = *state;

	assert_int_equal(io_remove_tree(AT_FDCWD, p->base), 0);
	free(p->dir);
	free(p->program);
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
static void prepare(struct run *r, struct place *p, const char *const *argv, bool program)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	assert_int_equal(io_set_cloexec(fds[0], true), 0);
	*r = (struct run){.profile = {.sbpl = SBPL_INIT}, .out = fds[0]};
	snprintf(r->session, sizeof(r->session), "test-%d", (int)getpid());
	snprintf(r->mark, sizeof(r->mark), "CORDON_SESSION=%s", r->session);
	buf_str(&r->profile.sbpl.text, "(version 1)(deny default)");
	p->mark = fds[1];
	r->os = (struct mac_os){.data = p,
				.apply = fake_apply,
				.deny_attach = fake_deny,
				.list_inside = fake_inside};
	r->env[0] = "PATH=/usr/bin:/bin";
	r->env[1] = r->mark;
	r->env[2] = "DYLD_INSERT_LIBRARIES=/evil";
	r->spec = (struct mac_launch_spec){
		.os = &r->os,
		.profile = &r->profile,
		.sandbox_exec = program ? p->program : NULL,
		.dir = p->dir,
		.session = r->session,
		.argv = argv,
		.env = r->env,
		.cwd = "/",
		.stdio = {open("/dev/null", O_RDONLY | O_CLOEXEC), fds[1], fds[1]}};
}

/* What it has written, when all that had the pipe have ended. */
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

static void runs_by_program(void **state)
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
	struct place *p = *state;
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

static void a_long_profile_is_a_file(void **state)
{
	static const char *const argv[] = {"/bin/true", NULL};
	struct place *p = *state;
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

static void runs_by_function(void **state)
{
	static const char *const argv[] = {"sh", "-c", "kill -9 $$", NULL};
	struct place *p = *state;
	struct mac_launch *l = NULL;
	struct run r;
	char out[64];
	int status;

	p->deny_result = -EPERM;
	prepare(&r, p, argv, false);
	/* the child has no other descriptors: the mark goes where its output does */
	p->mark = 1;
	assert_int_equal(mac_launch(&l, &r.spec, &status, NULL), 0);
	assert_non_null(strstr(mac_launch_unhardened(l), "debuggers"));
	assert_int_equal(mac_launch_wait(l), 128 + SIGKILL);
	mac_launch_stop(l);
	finish(&r, out, sizeof(out));
	assert_string_equal(out, "(");
}

static void failures(void **state)
{
	static const char *const none[] = {"/nonexistent/program", NULL};
	static const char *const unfound[] = {"no-such-program-here", NULL};
	static const char *const dir[] = {"/", NULL};
	static const char *const good[] = {"/bin/true", NULL};
	const struct {
		const char *const *argv;
		const char *cwd;
		int apply, status;
		const char *words;
	} list[] = {
		{none, "/", 0, 127, "/nonexistent/program"},
		{unfound, "/", 0, 127, "no-such-program-here"},
		{dir, "/", 0, 126, "run '/'"},
		{good, "/nonexistent", 0, 125, "/nonexistent"},
		{good, "/", -EPERM, 125, "libsandbox says no"},
	};
	struct place *p = *state;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		struct mac_launch *l = NULL;
		struct err err = {0};
		struct run r;
		char out[64];
		int status = 0;

		(void)mkdir(p->dir, 0700);
		p->apply_result = list[i].apply;
		prepare(&r, p, list[i].argv, false);
		p->mark = 1;
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

/* Descendants in sessions of their own, whose parents are gone, that ignore signals. */
static void nothing_is_left(void **state)
{
	static const char *const argv[] = {"sh", "-c",
					   "for i in 1 2 3; do setsid sh -c 'trap \"\" TERM HUP; "
					   "(sleep 300 & sleep 300)' & done; "
					   "echo ready; sleep 300",
					   NULL};
	struct place *p = *state;
	struct mac_launch *l = NULL;
	pid_t inside[64];
	struct run r;
	char out[64];
	int status;

	prepare(&r, p, argv, true);
	assert_int_equal(mac_launch(&l, &r.spec, &status, NULL), 0);
	for (size_t n = 0; n < 7;) /* or the test's own time limit */
		n = fake_inside(NULL, r.session, mac_launch_pid(l), inside, ARRAY_LEN(inside));
	mac_launch_stop(l);
	assert_int_equal(fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside)), 0);
	finish(&r, out, sizeof(out)); /* ends, for nobody has the pipe any more */
	assert_int_equal(access(p->dir, F_OK), -1);
}

/* Who is inside lives on when the keeper ends well, and not when it is killed. */
static void who_dies_takes_them_along(bool well, struct place *p)
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
		if (warden_start(&w, &r.os, r.session, NULL) < 0 ||
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
	while (wait(&status) > 0) /* for the warden, too; or the test's own time limit */
		continue;
	assert_int_equal(fake_inside(NULL, r.session, 0, inside, ARRAY_LEN(inside)), 0);
	finish(&r, out, sizeof(out));
}

static void a_warden_outlives_its_keeper(void **state)
{
	who_dies_takes_them_along(false, *state);
}

static void a_warden_that_is_stopped_ends_nobody(void **state)
{
	who_dies_takes_them_along(true, *state);
}

/* ---- the probe ------------------------------------------------------------------------------- */

struct host {
	struct mac_host host;
	int result;
	bool program;
};

static int fake_host(void *data, struct mac_host *ret)
{
	const struct host *h = data;

	*ret = h->host;
	return h->result;
}

static bool fake_can_run(void *data, const char *path)
{
	assert_string_equal(path, MAC_SANDBOX_EXEC);
	return ((const struct host *)data)->program;
}

static const struct probe *line_of(const struct probe_report *r, const char *name)
{
	for (size_t i = 0; i < r->n; i++)
		if (str_eq(r->list[i].name, name))
			return &r->list[i];
	return NULL;
}

static void probe_lines(void **state)
{
	static const struct {
		struct host host;
		bool known, sandbox, sip, endpoint;
		uint32_t bits;
	} list[] = {
		{{{"14.5", true, true, true, true, 1}, 0, true},
		 true,
		 true,
		 true,
		 true,
		 BACKEND_FILES | BACKEND_NET},
		{{{"15.0.1", false, true, false, false, 1}, 0, true},
		 true,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
		{{{"99.0", true, false, false, true, 1}, 0, false},
		 false,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
		{{{"12.6", true, true, false, false, 1}, 0, false}, false, false, true, false, 0},
		{{{"", false, false, false, false, 0}, -EPERM, true},
		 false,
		 true,
		 false,
		 false,
		 BACKEND_FILES | BACKEND_NET},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		const struct mac_os os = {.data = (void *)(uintptr_t)&list[i].host,
					  .look_at_host = fake_host,
					  .can_run = fake_can_run};
		struct probe_report r = {0};
		struct err err = {0};

		assert_int_equal(mac_probe(&os, MAC_SANDBOX_EXEC, &r, &err), list[i].bits);
		assert_int_equal(err.code != 0, !list[i].bits);
		assert_int_equal(line_of(&r, "macOS")->ok, list[i].known);
		assert_int_equal(line_of(&r, "sandbox")->ok, list[i].sandbox);
		assert_int_equal(line_of(&r, "system integrity protection")->ok, list[i].sip);
		assert_int_equal(line_of(&r, "endpoint security")->ok, list[i].endpoint);
		assert_int_equal(line_of(&r, "undo")->ok, list[i].endpoint);
		for (size_t k = 0; k < r.n; k++) {
			assert_true(*r.list[k].found && !strchr(r.list[k].found, '\n'));
			assert_true(!r.list[k].ok || !*r.list[k].remedy);
			assert_int_equal(r.list[k].needed, str_eq(r.list[k].name, "sandbox"));
		}
		probe_report_done(&r);
		assert_int_equal(mac_probe(&os, MAC_SANDBOX_EXEC, NULL, NULL), list[i].bits);
	}
	assert_int_equal(mac_version("14"), 1400);
	assert_int_equal(mac_version("10.15.7"), 1015);
	assert_int_equal(mac_version("x"), 0);
	assert_int_equal(mac_version("14x"), 0);
	assert_int_equal(mac_version("9999999999"), 0);
}

/* ---- quotas ---------------------------------------------------------------------------------- */

static void quotas(void **state)
{
	static const struct {
		uint64_t resident;
		uint32_t processes;
		uint64_t cpu;
		enum mac_pressure pressure;
		enum quota_action action;
		enum quota_reason reason;
	} looks[] = {
		{500, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{1001, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_SLOW, QUOTA_MEMORY},
		{950, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_SLOW, QUOTA_MEMORY}, /* not yet a tenth */
		{900, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{950, 3, 1, MAC_PRESSURE_NORMAL, QUOTA_GO, QUOTA_FINE},
		{500, 11, 1, MAC_PRESSURE_UNKNOWN, QUOTA_SLOW, QUOTA_PROCESSES},
		{500, 3, 1, MAC_PRESSURE_WARN, QUOTA_SLOW, QUOTA_PRESSURE},
		{500, 3, 1, MAC_PRESSURE_CRITICAL, QUOTA_SLOW, QUOTA_PRESSURE},
		{1500, 3, 1, MAC_PRESSURE_CRITICAL, QUOTA_END, QUOTA_PRESSURE},
		{1, 1, 1, MAC_PRESSURE_NORMAL, QUOTA_END, QUOTA_PRESSURE}, /* it stays so */
	};
	const struct quota_limits l = {.memory_soft = 1000,
				       .memory_hard = 2000,
				       .processes_soft = 10,
				       .processes_hard = 20,
				       .cpu_us_hard = 100};
	struct quota q = {0}, hard = {0};
	struct mac_usage u = {.resident = 2001};
	AUTO_BUF struct buf b = BUF_INIT;
	char why[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(looks); i++) {
		u = (struct mac_usage){.resident = looks[i].resident,
				       .processes = looks[i].processes,
				       .cpu_us = looks[i].cpu};
		assert_int_equal(quota_judge(&q, &l, &u, looks[i].pressure, why, sizeof(why)),
				 looks[i].action);
		assert_int_equal(q.reason, looks[i].reason);
		assert_int_equal(quota_nice(&q, &l), looks[i].action == QUOTA_SLOW ? 10 : 0);
		assert_int_equal(quota_hold(&q, 1), looks[i].action == QUOTA_SLOW);
		assert_false(quota_hold(&q, 2));
	}
	quota_metrics(&q, &b);
	assert_non_null(strstr(b.data, "cordon_session_memory_bytes_most 1500\n"));
	assert_non_null(strstr(b.data, "cordon_session_looks_total 10\n"));
	assert_non_null(strstr(b.data, "cordon_session_slowed_total 2\n"));
	assert_non_null(strstr(b.data, "cordon_session_ended_total 1\n"));
	u = (struct mac_usage){.resident = 2001};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
	assert_non_null(strstr(why, "sandbox.memory"));
	hard = (struct quota){0};
	u = (struct mac_usage){.processes = 21};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
	assert_non_null(strstr(why, "21 processes"));
	hard = (struct quota){0};
	u = (struct mac_usage){.cpu_us = 101};
	assert_int_equal(quota_judge(&hard, &l, &u, MAC_PRESSURE_NORMAL, why, sizeof(why)),
			 QUOTA_END);
}

static void quotas_of_a_machine(void **state)
{
	struct quota_limits l = quota_limits_of(16u << 20, 0, 100);

	(void)state;
	assert_int_equal(l.memory_hard, 12u << 20);
	assert_int_equal(l.memory_soft, 8u << 20);
	assert_int_equal(l.processes_hard, 100);
	assert_int_equal(l.processes_soft, 75);
	l = quota_limits_of(16u << 20, 3u << 20, 0);
	assert_int_equal(l.memory_hard, 3u << 20);
	assert_int_equal(l.processes_hard, 0);
	l = quota_limits_of(0, 0, 0);
	assert_int_equal(l.memory_hard, 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(environment),
		T(runs_by_program),
		T(a_long_profile_is_a_file),
		T(runs_by_function),
		T(failures),
		T(nothing_is_left),
		T(a_warden_outlives_its_keeper),
		T(a_warden_that_is_stopped_ends_nobody),
		cmocka_unit_test(probe_lines),
		cmocka_unit_test(quotas),
		cmocka_unit_test(quotas_of_a_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
