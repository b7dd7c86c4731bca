/* test_macos_xpc - lines of the log, settings as JSON, the wrapper that fails closed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <cjson/cJSON.h>

#include "tests/seatbelt/eval.h"
#include "backends/macos/xpc/config.h"
#include "backends/macos/xpc/violation.h"
#include "backends/macos/xpc/wrap.h"
#include "core/api/schema.h"
#include "core/base/io.h"
#include "core/config/config.h"

/* ---- the log --------------------------------------------------------------------------------- */

static const struct line {
	const char *text;
	int r;
	const char *comm;
	int pid;
	const char *operation, *target;
	unsigned count;
} lines[] = {
	{"2024-09-30 10:11:12.123456-0600 0x2f1     Error       0x0                  0      0    "
	 "kernel: (Sandbox) Sandbox: ollama-sandbox(4615) deny(1) mach-lookup com.apple.logd",
	 1, "ollama-sandbox", 4615, "mach-lookup", "com.apple.logd", 1},
	{"2022-12-26 17:48:14.837819-0300 0x1f36     Error       0x0                  0      0    "
	 "kernel: (Sandbox) Sandbox: sshd(1733) deny(1) mach-lookup com.apple.diagnosticd\n",
	 1, "sshd", 1733, "mach-lookup", "com.apple.diagnosticd", 1},
	{"   Error 0x0 0 0 kernel: (Sandbox) 1 duplicate report for Sandbox: ollama-sandbox(4615) "
	 "deny(1) mach-lookup com.apple.diagnosticd",
	 1, "ollama-sandbox", 4615, "mach-lookup", "com.apple.diagnosticd", 1},
	{"kernel: (Sandbox) 12 duplicate reports for Sandbox: a b(7) deny(1) file-read-data /x y/z",
	 1, "a b", 7, "file-read-data", "/x y/z", 12},
	{"Apr  1 22:14:08 havorn kernel[0] <Notice>: Sandbox: htop(12748) System Policy: deny(1) "
	 "mach-priv-task-port",
	 1, "htop", 12748, "mach-priv-task-port", "", 1},
	{"2015-08-12 19:48 sandboxd[127] ([6424]): CWSandbox(6424) deny mach-lookup "
	 "com.apple.airportd",
	 1, "CWSandbox", 6424, "mach-lookup", "com.apple.airportd", 1},
	{"Sandbox: backboardd(4079) deny(1) mach-lookup lh:rbs:rockettest_messageport", 1,
	 "backboardd", 4079, "mach-lookup", "lh:rbs:rockettest_messageport", 1},
	{"{\"traceID\":1,\"eventMessage\":\"Sandbox: node(99) deny(1) mach-register my.service\","
	 "\"subsystem\":\"\"}",
	 1, "node", 99, "mach-register", "my.service", 1},
	{"kernel: (Sandbox) Sandbox: node(99) allow(1) mach-lookup com.apple.fonts", 1, "node", 99,
	 "mach-lookup", "com.apple.fonts", 1},
	/* Other lines. */
	{"Filtering the log data using \"sender == \\\"Sandbox\\\"\"", 0, "", 0, "", "", 0},
	{"Timestamp                       Thread     Type        Activity             PID    TTL",
	 0, "", 0, "", "", 0},
	{"kernel: Sandbox: 1 duplicate report for com.apple.WebKit deny(1) file-read-data "
	 "/etc/hosts",
	 0, "", 0, "", "", 0},
	{"sb_user_approval: pid 55 responsible for 55", 0, "", 0, "", "", 0},
	{"{\"eventMessage\":7}", 0, "", 0, "", "", 0},
	{"{broken", 0, "", 0, "", "", 0},
	{"", 0, "", 0, "", "", 0},
	/* A program whose name tells of another process. */
	{"Sandbox: x(1) deny(1)(77) deny(1) mach-lookup com.apple.a", -EINVAL, "", 0, "", "", 0},
	{"Sandbox: (77) deny(1) mach-lookup com.apple.a", -EINVAL, "", 0, "", "", 0},
	{"Sandbox: x(77) deny(1) ", -EINVAL, "", 0, "", "", 0},
};

static void lines_of_the_log(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
		const struct line *l = &lines[i];
		struct violation v = {.count = 0};
		int r = violation_parse(&v, l->text, strlen(l->text));

		if (r != l->r)
			fail_msg("%d: %s", r, l->text);
		if (r != 1)
			continue;
		assert_string_equal(v.comm, l->comm);
		assert_int_equal(v.pid, l->pid);
		assert_string_equal(v.operation, l->operation);
		assert_string_equal(v.target, l->target);
		assert_int_equal(v.count, l->count);
		assert_int_equal(v.allowed, strstr(l->text, "allow(1)") != NULL);
		assert_int_equal(v.system_policy, strstr(l->text, "System Policy") != NULL);
	}
}

/* Cut and bent lines: an answer, never a fault. */
static void broken_lines(void **state)
{
	uint64_t seed = 42;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lines); i++)
		for (size_t n = 0; n <= strlen(lines[i].text); n++) {
			AUTO_FREE char *text = xstrndup(lines[i].text, n);
			struct violation v;

			(void)violation_parse(&v, text, n);
			seed = seed * 6364136223846793005u + 1442695040888963407u;
			if (n)
				text[(seed >> 33) % n] = (char)(seed >> 24);
			(void)violation_parse(&v, text, n);
		}
}

static void check_event(const char *name, const char *text)
{
	cJSON *value = cJSON_Parse(text);
	struct fault f = {0};

	assert_non_null(value);
	if (schema_check("protocol.json", schema_find("protocol.json", "events/%s", name), value,
			 &f) < 0)
		fail_msg("%s: %s", text, f.message);
	cJSON_Delete(value);
}

static void events(void **state)
{
	struct violation v = {
		.comm = "a\"\n\x1b", .pid = 7, .operation = "mach-lookup", .count = 2};
	const struct xpc_connect c = {.pid = 7,
				      .ppid = 1,
				      .comm = "python3",
				      .exe = "/usr/bin/python3",
				      .service = "com.apple.fonts",
				      .allowed = true,
				      .reason = "allowlist",
				      .source = "esf"};
	AUTO_BUF struct buf b = BUF_INIT;

	(void)state;
	snprintf(v.target, sizeof(v.target), "com.apple.\xc3\xa9\x7f");
	assert_true(violation_is_service(&v));
	violation_event(&b, &v);
	check_event("event.xpc_sandbox_violation", b.data);
	buf_clear(&b);
	xpc_connect_event(&b, &c);
	check_event("event.xpc_connect", b.data);
}

/* ---- settings and JSON ----------------------------------------------------------------------- */

static void settings(void **state)
{
	static const char *const set[] = {"xpc.mode=audit",
					  "xpc.allow=com.apple.pasteboard.1",
					  "xpc.allow=my.*",
					  "xpc.block=bad.one",
					  "xpc.allow-prefix=org.x.",
					  "xpc.on-failure=open",
					  NULL};
	static const char *const wrong[] = {"xpc.allow=a b", NULL};
	const struct config_spec spec = {
		.home = "/nonexistent", .org_file = "/dev/null/none", .settings = set};
	struct config_spec bad = spec;
	struct config *c = NULL;
	struct xpc_config x = {0}, again = {0};
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_BUF struct buf b2 = BUF_INIT;
	struct mach_services m;
	struct err err = {0};
	enum mach_why why;

	(void)state;
	assert_int_equal(config_load(&c, &spec, &err), 0);
	assert_int_equal(xpc_config_load(&x, c, &err), 0);
	x.workspace = xstrdup("/p \"q\"\n");
	xpc_config_format(&x, &b);
	if (xpc_config_parse(&again, b.data, &err) < 0)
		fail_msg("%s", err.text);
	xpc_config_format(&again, &b2);
	assert_string_equal(b.data, b2.data);
	assert_int_equal(again.mode, XPC_AUDIT);
	assert_true(again.fail_open);
	m = xpc_config_services(&again);
	assert_true(mach_services_allow(&m, "com.apple.pasteboard.1", &why));
	assert_true(mach_services_allow(&m, "my.service", &why));
	assert_true(mach_services_allow(&m, "org.x.y", &why));
	assert_true(mach_services_allow(&m, "com.apple.fonts", &why));
	assert_false(mach_services_allow(&m, "bad.one", &why));
	assert_false(mach_services_allow(&m, "com.apple.tccd.x", &why));
	assert_false(mach_services_allow(&m, "com.apple.security.authhost", &why));
	xpc_config_done(&x);
	xpc_config_done(&again);
	config_free(c);
	bad.settings = wrong;
	assert_int_equal(config_load(&c, &bad, &err), 0);
	assert_int_equal(xpc_config_load(&x, c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "a b"));
	config_free(c);
}

static const char *const bad_json[] = {
	"",
	"[]",
	"{",
	"{}",
	"{\"workspace_path\":\"/p\"}",
	"{\"workspace_path\":\"p\",\"mach_services\":{\"default_action\":\"deny\"}}",
	"{\"workspace_path\":\"/p\",\"mach_services\":{\"default_action\":\"perhaps\"}}",
	"{\"workspace_path\":\"/p\",\"mach_services\":{\"default_action\":\"deny\",\"blok\":[]}}",
	"{\"workspace_path\":\"/p\",\"mach_services\":{\"default_action\":\"deny\",\"block\":[1]}}",
	"{\"workspace_path\":\"/p\",\"mach_services\":{\"default_action\":\"deny\",\"block\":"
	"[\"a\\\"b\"]}}",
	"{\"workspace_path\":\"/p\",\"allowed_paths\":[\"x\"],\"mach_services\":"
	"{\"default_action\":\"deny\"}}",
	"{\"workspace_path\":\"/"
	"p\",\"mode\":\"off\",\"mach_services\":{\"default_action\":\"deny\"}}",
	"{\"workspace_path\":\"/p\",\"mach_services\":{\"default_action\":\"deny\"}} x",
};

static void broken_json(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad_json); i++) {
		struct xpc_config x = {0};
		struct err err = {0};

		if (xpc_config_parse(&x, bad_json[i], &err) != -EINVAL)
			fail_msg("taken: %s", bad_json[i]);
		assert_true(*err.text && !strchr(err.text, '\n'));
	}
}

/* ---- the wrapper ----------------------------------------------------------------------------- */

#define CONFIG_OF(failure, more)                                                                   \
	XPC_CONFIG_VARIABLE "={\"workspace_path\":\"/p\",\"on_failure\":\"" failure                \
			    "\",\"mach_services\":{\"default_action\":\"deny\"}" more "}"

struct fake {
	int out; /* what was applied */
	int fails;
};

static int fake_apply(void *data, const char *profile, const char *const *params, char *why,
		      size_t size)
{
	const struct fake *f = data;
	struct eval *e = NULL;

	if (f->fails) {
		snprintf(why, size, "no such operation");
		return -EPERM;
	}
	if (eval_new(&e, profile, strlen(profile), params, NULL) < 0)
		return -EINVAL;
	eval_free(e);
	(void)!write(f->out, "applied ", 8);
	return 0;
}

static int fake_deny(void *data)
{
	(void)data;
	return 0;
}

static ssize_t fake_link(void *data, const char *path, char *out, size_t size)
{
	(void)data;
	(void)path;
	(void)out;
	(void)size;
	return -ENOENT;
}

static bool fake_can_run(void *data, const char *path)
{
	(void)data;
	return access(path, X_OK) == 0;
}

static void on_say(void *data, const char *line)
{
	const struct fake *f = data;

	(void)!write(f->out, line, strlen(line));
	(void)!write(f->out, "\n", 1);
}

/* Runs `/bin/sh -c 'echo RAN ...'` in the wrapper; what came out, and the exit status. */
static int wrap(const char *setting, const char *sandbox_exec, int fails, char *out, size_t size)
{
	int fds[2], status;
	ssize_t n;
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		char *argv[] = {(char[]){"wrapper"},
				(char[]){"--"},
				(char[]){"/bin/sh"},
				(char[]){"-c"},
				(char[]){"echo RAN ${" XPC_CONFIG_VARIABLE
					 "-clean} ${DYLD_INSERT_LIBRARIES-clean}"},
				NULL};
		char *env[] = {(char[]){"PATH=/usr/bin:/bin"}, (char[]){"DYLD_INSERT_LIBRARIES=x"},
			       setting ? xstrdup(setting) : NULL, NULL};
		struct fake f = {.out = fds[1], .fails = fails};
		const struct mac_os os = {.data = &f,
					  .apply = fake_apply,
					  .deny_attach = fake_deny,
					  .read_link = fake_link,
					  .can_run = fake_can_run};
		const struct xpc_wrap w = {.os = &os,
					   .sandbox_exec = sandbox_exec,
					   .home = "/home/u",
					   .argv = argv,
					   .env = env,
					   .say = on_say,
					   .data = &f};

		dup2(fds[1], 1);
		_exit(xpc_wrap(&w));
	}
	close(fds[1]);
	n = io_read_full(fds[0], out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	close(fds[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void the_wrapper(void **state)
{
	char out[4096];

	(void)state;
	assert_int_equal(wrap(CONFIG_OF("closed", ""), NULL, 0, out, sizeof(out)), 0);
	assert_string_equal(out, "applied RAN clean clean\n");
	/* Closed. */
	assert_int_equal(wrap(CONFIG_OF("closed", ""), NULL, 1, out, sizeof(out)), 125);
	assert_non_null(strstr(out, "does not run"));
	assert_non_null(strstr(out, "no such operation"));
	assert_null(strstr(out, "RAN"));
	assert_int_equal(wrap(NULL, NULL, 0, out, sizeof(out)), 125);
	assert_null(strstr(out, "RAN"));
	assert_int_equal(wrap(CONFIG_OF("open", ",\"x\":1"), NULL, 0, out, sizeof(out)), 125);
	assert_null(strstr(out, "RAN"));
	assert_int_equal(wrap(CONFIG_OF("closed", ""), "/nonexistent/x", 0, out, sizeof(out)), 125);
	assert_null(strstr(out, "RAN"));
	/* Open, and said. */
	assert_int_equal(wrap(CONFIG_OF("open", ""), NULL, 1, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "without a sandbox"));
	assert_non_null(strstr(out, "RAN"));
}

static void the_wrapper_by_program(void **state)
{
	static const char script[] = "#!/bin/sh\n"
				     "while [ \"$1\" != -- ]; do [ \"$1\" = -p ] && echo profile; "
				     "shift; done\nshift\nexec \"$@\"\n";
	char path[] = "/tmp/cordon-sandbox-exec-XXXXXX", out[4096];
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(io_write_all(fd, script, sizeof(script) - 1), 0);
	assert_int_equal(fchmod(fd, 0755), 0);
	close(fd);
	assert_int_equal(wrap(CONFIG_OF("closed", ""), path, 0, out, sizeof(out)), 0);
	assert_string_equal(out, "profile\nRAN clean clean\n");
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_log),
		cmocka_unit_test(broken_lines),
		cmocka_unit_test(events),
		cmocka_unit_test(settings),
		cmocka_unit_test(broken_json),
		cmocka_unit_test(the_wrapper),
		cmocka_unit_test(the_wrapper_by_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
