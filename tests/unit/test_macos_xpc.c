/* test_macos_xpc - lines of the log, settings as JSON, the wrapper that fails closed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/seatbelt/eval.h"
#include "tests/support/check.h"
#include "tests/support/mach_services.h"
#include "backends/macos/xpc/config.h"
#include "backends/macos/xpc/violation.h"
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
	/* The name of a program imitates a line about another process. */
	{"Sandbox: x(1) deny(1)(77) deny(1) mach-lookup com.apple.a", -EINVAL, "", 0, "", "", 0},
	{"Sandbox: (77) deny(1) mach-lookup com.apple.a", -EINVAL, "", 0, "", "", 0},
	{"Sandbox: x(77) deny(1) ", -EINVAL, "", 0, "", "", 0},
};

TEST(lines_of_the_log)
{
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

TEST(hints)
{
	static const struct {
		const char *line;
		bool hinted;
	} cases[] = {
		{"Sandbox: sh(7) deny(1) forbidden-exec-sugid", true},
		{"Sandbox: python3(7) deny(1) ipc-posix-shm-write-create /psm_01234567", true},
		{"Sandbox: gh(7) deny(1) mach-lookup com.apple.trustd.agent", true},
		{"Sandbox: gh(7) deny(1) mach-lookup com.apple.trustd.agentx", false},
		{"Sandbox: gh(7) allow(1) mach-lookup com.apple.trustd.agent", false},
		{"Sandbox: sh(7) System Policy: deny(1) forbidden-exec-sugid", false},
		{"Sandbox: sh(7) deny(1) file-read-data /forbidden-exec-sugid", false},
	};
	unsigned all = 0;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct violation v = {.count = 0};
		const char *words = NULL;
		unsigned bit;

		assert_int_equal(violation_parse(&v, cases[i].line, strlen(cases[i].line)), 1);
		bit = violation_hint(&v, &words);
		assert_int_equal(bit != 0, cases[i].hinted);
		assert_int_equal(words != NULL, cases[i].hinted);
		assert_int_equal(all & bit, 0); /* each has its own bit */
		all |= bit;
	}
}

/* Cut and corrupted lines give an answer, never a fault. */
TEST(broken_lines)
{
	uint64_t seed = 42;

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

/* ---- settings -------------------------------------------------------------------------------- */

TEST(settings)
{
	static const char *const set[] = {
		"xpc.mode=audit",    "xpc.allow=com.apple.pasteboard.1", "xpc.allow=my.*",
		"xpc.block=bad.one", "xpc.allow-prefix=org.x.",		 NULL};
	static const char *const wrong[] = {"xpc.allow=a b", NULL};
	const struct config_spec spec = {
		.home = "/nonexistent", .org_file = "/dev/null/none", .settings = set};
	struct config_spec bad = spec;
	struct config *c = NULL;
	struct xpc_config x = {0};
	struct mach_services m;
	struct err err = {0};

	assert_int_equal(config_load(&c, &spec, &err), 0);
	assert_int_equal(xpc_config_load(&x, c, &err), 0);
	assert_int_equal(x.mode, XPC_AUDIT);
	m = xpc_config_services(&x);
	assert_true(mach_services_allow(&m, "com.apple.pasteboard.1"));
	assert_true(mach_services_allow(&m, "my.service"));
	assert_true(mach_services_allow(&m, "org.x.y"));
	assert_true(mach_services_allow(&m, "com.apple.fonts"));
	assert_false(mach_services_allow(&m, "bad.one"));
	assert_false(mach_services_allow(&m, "com.apple.tccd.x"));
	assert_false(mach_services_allow(&m, "com.apple.security.authhost"));
	xpc_config_done(&x);
	config_free(c);
	bad.settings = wrong;
	assert_int_equal(config_load(&c, &bad, &err), 0);
	assert_int_equal(xpc_config_load(&x, c, &err), -EINVAL);
	assert_non_null(strstr(err.text, "a b"));
	config_free(c);
}

TESTS(NULL, NULL)
