/* test_seatbelt_eval - reads profiles and evaluates them: whole profiles, network, services. */
/* SPDX-License-Identifier: MIT */
#include "tests/unit/seatbelt_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <regex.h>

#include "backends/macos/helper/helper.h"
#include "backends/macos/profile/canonical.h"
#include "tests/seatbelt/match.h"
#include "tests/support/mach_services.h"
#include "core/base/io.h"
#include "core/policy/builtin/certificates.h"

static struct eval *read_file(const char *name)
{
	static const char *const params[] = {"PROJECT_DIR", "/p", "HOME", "/Users/dev", NULL};
	AUTO_FREE char *text = NULL;
	struct eval *e = NULL;
	struct err err = {0};
	size_t len = 0;

	assert_int_equal(io_read_file(AT_FDCWD, name, 1u << 20, &text, &len), 0);
	if (eval_new(&e, text, len, params, &err) < 0)
		fail_msg("%s", err.text);
	return e;
}

static bool allows(struct eval *e, const char *operation, const char *path)
{
	return eval_allows(e, &(struct eval_query){.operation = operation, .path = path});
}

static struct eval *new_eval(const char *text)
{
	struct eval *e = NULL;
	struct err err = {0};

	if (eval_new(&e, text, strlen(text), NULL, &err) < 0)
		fail_msg("%s", err.text);
	return e;
}

static bool connects(struct eval *e, bool loopback, unsigned port)
{
	return eval_allows(e, &(struct eval_query){.operation = "network-outbound",
						   .end = "remote",
						   .protocol = "tcp",
						   .loopback = loopback,
						   .port = port});
}

static bool listens(struct eval *e, const char *protocol, unsigned port)
{
	return eval_allows(e, &(struct eval_query){.operation = "network-bind",
						   .end = "local",
						   .protocol = protocol,
						   .loopback = true,
						   .port = port});
}

static bool looks_up(struct eval *e, const char *service)
{
	return eval_allows(e, &(struct eval_query){.operation = "mach-lookup", .service = service});
}

/* ---- foreign profiles, unchanged ------------------------------------------------------------- */

TEST(a_deny_list)
{
	struct eval *e = read_file("tests/fuzz/corpus/seatbelt/deny_list.sb");

	assert_true(allows(e, "file-read-data", "/Users/dev/notes"));
	assert_false(allows(e, "file-read-data", "/Users/dev/.ssh/id"));
	assert_true(allows(e, "file-write-data", "/Users/dev/project/a"));
	assert_false(allows(e, "file-write-data", "/Users/dev/projects/a"));
	assert_false(allows(e, "file-write-data", "/Users/dev/.bashrc"));
	/* Too wide: any server of the user, any terminal, any service. */
	assert_true(connects(e, true, 5432));
	assert_false(connects(e, false, 443));
	assert_true(allows(e, "file-write-data", "/dev/ttys004"));
	assert_true(looks_up(e, "com.apple.coreservices.appleevents"));
	eval_free(e);
}

TEST(services_and_params)
{
	struct eval *e = read_file("tests/fuzz/corpus/seatbelt/services.sb");

	assert_true(looks_up(e, "com.apple.system.logger"));
	assert_true(looks_up(e, "com.apple.lsd.mapdb"));
	assert_true(looks_up(e, "com.apple.cfprefsd.agent"));
	assert_false(looks_up(e, "com.apple.system.logger2"));
	assert_false(looks_up(e, "MyService"));
	assert_true(eval_allows(e, &(struct eval_query){.operation = "mach-lookup",
							.service = "MyService",
							.local_service = true}));
	assert_true(eval_allows(e, &(struct eval_query){.operation = "signal", .target = "self"}));
	assert_false(eval_allows(
		e, &(struct eval_query){.operation = "signal", .target = "same-sandbox"}));
	eval_free(e);
	e = read_file("tests/fuzz/corpus/seatbelt/params.sb");
	assert_true(allows(e, "file-write-data", "/p/a"));
	assert_false(allows(e, "file-read-data", "/p/.env"));
	assert_false(allows(e, "file-read-data", "/Users/dev/.ssh/id"));
	assert_true(eval_allows(e, &(struct eval_query){.operation = "file-write-create",
							.path = "/x/y",
							.vnode = "DIRECTORY"}));
	assert_false(eval_allows(e, &(struct eval_query){.operation = "file-write-create",
							 .path = "/x/y",
							 .vnode = "SYMLINK"}));
	eval_free(e);
}

TEST(bad_profiles)
{
	static const char *const bad[] = {
		"",
		"(version 2)",
		"(version 1)(allow",
		"(version 1))",
		"(version 1)(allow file-read* (subpath \"/x))",
		"(version 1)(allow file-read* (subpath))",
		"(version 1)(allow file-read* (subpath (param \"NONE\")))",
		"(version 1)(allow file-raed)(import \"x\")",
		"(version 1)(permit file-read*)",
		"(version 1)(allow nonsense)",
		"(version 1)(allow file-read* (somewhere \"/x\"))",
		"(version 1)(allow file-read* (regex #\"(\"))",
		"(version 1)(allow file-read* (regex #\"a**)\"))",
		"(version 1)(allow network* (remote tcp \"example.org:80\"))",
		"(version 1)(allow network* (remote tcp \"localhost:\"))",
		"(version 1)(allow file-read* (literal \"\\q\"))",
		"(version 1)(allow file-read* (literal \"\\x00\"))",
		"(version 1)(allow file-read* \x01)",
	};
	AUTO_BUF struct buf deep = BUF_INIT;
	struct eval *e = NULL;

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = {0};

		if (eval_new(&e, bad[i], strlen(bad[i]), NULL, &err) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		assert_true(*err.text && !strchr(err.text, '\n'));
	}
	buf_str(&deep, "(version 1)");
	for (int i = 0; i < 100000; i++)
		buf_ch(&deep, '(');
	assert_int_equal(eval_new(&e, deep.data, deep.len, NULL, NULL), -EINVAL);
}

/* ---- regular expressions --------------------------------------------------------------------- */

static uint64_t seed = 1234567;

static size_t below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % n);
}

TEST(regexes_as_posix_has_them)
{
	static const char *const parts[] = {"a",    "b",     "/",     "\\.",	".",
					    "[ab]", "[^/]",  "(a|b)", "(/.*)?", "(a|(b/)+|)",
					    "a*",   "[^a]*", "b+",    "a?"};
	size_t n = 0;

	for (int round = 0; round < 3000; round++) {
		AUTO_BUF struct buf re = BUF_INIT;
		struct match *m = NULL;
		regex_t posix;

		buf_str(&re, below(2) ? "^" : "");
		for (size_t k = 1 + below(5); k; k--)
			buf_str(&re, parts[below(ARRAY_LEN(parts))]);
		buf_str(&re, below(2) ? "$" : "");
		if (regcomp(&posix, re.data, REG_EXTENDED | REG_NOSUB) != 0)
			continue;
		assert_int_equal(match_new(&m, re.data, NULL), 0);
		for (int i = 0; i < 12; i++, n++) {
			char text[8] = {0};

			for (size_t k = below(sizeof(text)); k; k--)
				text[k - 1] = "ab/."[below(4)];
			if (match_finds(m, text) != (regexec(&posix, text, 0, NULL, 0) == 0))
				fail_msg("%s against '%s'", re.data, text);
		}
		match_free(m);
		regfree(&posix);
	}
	assert_true(n > 20000);
}

/* ---- network, sockets, services, terminals -----------------------------------------------------
 */

TEST(network)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const uint16_t proxies[] = {8080, 1080, 0};
	struct profile_spec spec = {.home = HOME, .folders = folders, .own = "/tmp/own"};
	struct eval_query sock = {.operation = "network-outbound",
				  .end = "remote",
				  .protocol = "unix-socket",
				  .path = "/private/tmp/own/x"};
	struct pair x;

	pair_new(&x, NULL, false, &spec);
	assert_false(connects(x.eval, true, 8080));
	assert_true(eval_allows(x.eval, &sock));
	sock.path = "/private/var/run/docker.sock";
	assert_false(eval_allows(x.eval, &sock));
	pair_done(&x);
	spec.network = PROFILE_NETWORK_PROXY;
	spec.proxies = proxies;
	spec.listen_base = 9000;
	spec.listen_count = 2;
	pair_new(&x, NULL, false, &spec);
	assert_true(connects(x.eval, true, 8080));
	assert_true(connects(x.eval, true, 1080));
	assert_true(connects(x.eval, true, 9001));
	assert_false(connects(x.eval, true, 9002));
	assert_false(connects(x.eval, true, 5432));
	assert_false(connects(x.eval, false, 8080));
	assert_false(eval_allows(x.eval, &(struct eval_query){.operation = "network-outbound",
							      .end = "local",
							      .protocol = "udp",
							      .port = 53}));
	pair_done(&x);
	spec.network = PROFILE_NETWORK_OPEN;
	pair_new(&x, NULL, false, &spec);
	assert_true(connects(x.eval, false, 443));
	assert_false(eval_allows(x.eval, &sock));
	assert_false(listens(x.eval, "tcp", 9002)); /* the window is still there */
	assert_true(listens(x.eval, "tcp", 9001));
	assert_true(listens(x.eval, "udp", 9002));
	pair_done(&x);
	spec.listen_base = 0;
	pair_new(&x, NULL, false, &spec);
	assert_true(listens(x.eval, "tcp", 9002));
	pair_done(&x);
}

/* The proxy's process may connect anywhere by TCP, and nothing else. */
TEST(of_the_proxy)
{
	static const struct {
		struct eval_query q;
		bool allowed;
	} known[] = {
		{{.operation = "file-read-data", .path = "/private/etc/hosts"}, true},
		{{.operation = "file-read-metadata", .path = "/etc"}, true},
		{{.operation = "file-map-executable", .path = "/usr/lib/libSystem.B.dylib"}, true},
		{{.operation = "process-info-pidinfo", .target = "self"}, true},
		{{.operation = "ipc-posix-shm-read-data",
		  .ipc_name = "apple.shm.notification_center"},
		 true},
		{{.operation = "file-read-data", .path = HOME "/.ssh/id"}, false},
		{{.operation = "file-read-metadata", .path = HOME "/.ssh/id"}, false},
		{{.operation = "file-read-data", .path = "/private/etc/master.passwd"}, false},
		{{.operation = "file-read-data", .path = "/private/tmp/x"}, false},
		{{.operation = "file-map-executable", .path = HOME "/p/evil.dylib"}, false},
		{{.operation = "file-write-create", .path = "/private/tmp/x"}, false},
		{{.operation = "file-write-data", .path = "/dev/null"}, false},
		{{.operation = "file-write-unlink", .path = "/private/etc/hosts"}, false},
		{{.operation = "file-ioctl", .path = "/dev/tty"}, false},
		{{.operation = "process-exec", .path = "/bin/sh"}, false},
		{{.operation = "process-fork"}, false},
		{{.operation = "process-info-pidinfo", .target = "others"}, false},
		{{.operation = "signal", .target = "others"}, false},
		{{.operation = "signal", .target = "same-sandbox"}, false},
		{{.operation = "sysctl-write"}, false},
		{{.operation = "mach-register"}, false},
		{{.operation = "mach-priv-task-port"}, false},
		{{.operation = "iokit-open"}, false},
		{{.operation = "system-socket"}, false},
		{{.operation = "ipc-posix-shm-write-data", .ipc_name = "x"}, false},
		{{.operation = "network-outbound", .end = "remote", .protocol = "udp", .port = 53},
		 false},
		{{.operation = "network-bind",
		  .end = "local",
		  .protocol = "tcp",
		  .loopback = true,
		  .port = 8080},
		 false},
		{{.operation = "network-inbound",
		  .end = "local",
		  .protocol = "tcp",
		  .loopback = true,
		  .port = 8080},
		 true},
		{{.operation = "network-inbound", .end = "local", .protocol = "tcp", .port = 8080},
		 false},
		{{.operation = "network-outbound",
		  .end = "remote",
		  .protocol = "unix-socket",
		  .path = "/private/var/run/mDNSResponder"},
		 true},
		{{.operation = "network-outbound",
		  .end = "remote",
		  .protocol = "unix-socket",
		  .path = "/private/var/run/docker.sock"},
		 false},
	};
	struct eval *e = new_eval(helper_proxy_profile);

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (eval_allows(e, &known[i].q) != known[i].allowed)
			fail_msg("case %zu: %s %s", i, known[i].q.operation,
				 known[i].q.path ? known[i].q.path : "");
	assert_true(connects(e, false, 443));
	assert_true(connects(e, true, 3000));
	assert_false(listens(e, "tcp", 3000));
	assert_true(looks_up(e, "com.apple.dnssd.service"));
	assert_false(looks_up(e, "com.apple.SecurityServer"));
	assert_false(looks_up(e, "com.apple.pasteboard.1"));
	eval_free(e);
}

/* Only a session's own profile allows the lookup of its mark; none allows the other mark. */
TEST(marks)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const char *const block[] = {"cordon.*", NULL}, *const all[] = {"*x", NULL};
	static const char *const any[] = {"cordon.nobody.", "cordon.session.", NULL};
	const struct mach_services lists[] = {
		{.block = block}, {.allow = all, .allow_prefixes = any}, {.allow_by_default = true},
		{.off = true},	  {.report_only = true, .block = block},
	};
	AUTO_FREE char *mark = profile_mark("0123-ab", false),
		       *none = profile_mark("0123-ab", true);
	AUTO_FREE char *others = profile_mark("0123-ac", false);

	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		const struct profile_spec spec = {.home = HOME,
						  .folders = folders,
						  .services = &lists[i],
						  .session = "0123-ab"};
		struct profile_spec unmarked = spec;
		struct pair x;
		bool wide = i > 1; /* every lookup is allowed */

		pair_new(&x, NULL, false, &spec);
		assert_true(looks_up(x.eval, mark));
		assert_false(looks_up(x.eval, none));
		/* Another session's names: both are allowed, or neither. */
		assert_int_equal(looks_up(x.eval, others), wide || i == 1);
		pair_done(&x);
		unmarked.session = NULL;
		pair_new(&x, NULL, false, &unmarked);
		assert_int_equal(looks_up(x.eval, mark), looks_up(x.eval, none));
		pair_done(&x);
	}
}

TEST(services)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const char *const allow[] = {"com.a", "org.*.x", "net.b*", NULL};
	static const char *const block[] = {"net.bad", NULL}, *const prefixes[] = {"io.c.", NULL};
	static const char *const names[] = {"com.a", "com.ab",	       "org.q.x",  "org.x",
					    "net.b", "net.bad",	       "net.badx", "io.c.d",
					    "io.c",  "com.apple.fonts"};
	const struct mach_services lists[] = {
		{.allow = allow, .block = block, .allow_prefixes = prefixes},
		{.allow_by_default = true, .block = block, .block_prefixes = prefixes},
	};

	for (size_t k = 0; k < ARRAY_LEN(lists) + 1; k++) {
		const struct mach_services *m = k < ARRAY_LEN(lists) ? &lists[k] : NULL;
		const struct profile_spec spec = {.home = HOME, .folders = folders, .services = m};
		struct pair x;

		pair_new(&x, NULL, false, &spec);
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (looks_up(x.eval, names[i]) != mach_services_allow(m, names[i]))
				fail_msg("list %zu: %s", k, names[i]);
		assert_int_equal(looks_up(x.eval, "com.apple.tccd.system"), k == 1);
		pair_done(&x);
	}
	assert_false(mach_services_allow(NULL, "com.apple.pasteboard.1"));
}

/* A name without a service allows nothing, or blocks nothing: getpwuid() fails, privacy settings
 * are open. */
TEST(services_exist)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const char *const needed[] = {
		"com.apple.system.opendirectoryd.libinfo",
		"com.apple.system.opendirectoryd.membership",
		"com.apple.bsd.dirhelper",
		"com.apple.logd",
		"com.apple.FSEvents",
		"com.apple.SystemConfiguration.configd",
	};
	static const char *const sends[] = {
		"com.apple.trustd.agent",
		"com.apple.dnssd.service",
		"com.apple.SystemConfiguration.DNSConfiguration",
	};
	static const char wrong[] =
		"(version 1)\n(allow mach-lookup (require-any (global-name \"com.apple.fonts\")\n"
		"(global-name \"com.apple.system.opendirectoryd\")))\n";
	static const char wrong_prefix[] =
		"(version 1)\n(deny mach-lookup (global-name-prefix \"com.apple.tccd.x\"))\n";
	struct profile_spec spec = {.home = HOME, .folders = folders, .session = "0123-ab"};
	struct eval *e = new_eval(wrong);

	assert_string_equal(eval_unknown_service(e), "com.apple.system.opendirectoryd");
	eval_free(e);
	e = new_eval(wrong_prefix);
	assert_string_equal(eval_unknown_service(e), "com.apple.tccd.x");
	eval_free(e);
	e = new_eval(helper_proxy_profile);
	assert_null(eval_unknown_service(e));
	eval_free(e);
	for (int n = PROFILE_NETWORK_NONE; n <= PROFILE_NETWORK_OPEN; n++) {
		struct pair x;

		spec.network = (enum profile_network)n;
		pair_new(&x, NULL, false, &spec);
		if (eval_unknown_service(x.eval))
			fail_msg("no Mac has %s", eval_unknown_service(x.eval));
		for (size_t i = 0; i < ARRAY_LEN(needed); i++)
			assert_true(looks_up(x.eval, needed[i]));
		for (size_t i = 0; i < ARRAY_LEN(sends); i++)
			assert_int_equal(looks_up(x.eval, sends[i]), n == PROFILE_NETWORK_OPEN);
		pair_done(&x);
	}
}

/* If everything may be looked up, blocked services may not, nor by another name. */
TEST(services_blocked)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const char *const names[] = {
		"com.apple.tccd", "com.apple.tccd.system", "com.apple.security.syspolicy",
		"com.apple.security.syspolicy.exec", "com.apple.pasteboard.1"};
	const struct mach_services all = {.allow_by_default = true,
					  .block = mach_default_block,
					  .block_prefixes = mach_default_block_prefixes};
	const struct profile_spec spec = {.home = HOME,
					  .folders = folders,
					  .services = &all,
					  .network = PROFILE_NETWORK_OPEN};
	struct pair x;

	pair_new(&x, NULL, false, &spec);
	assert_true(looks_up(x.eval, "com.apple.ocspd"));
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (looks_up(x.eval, names[i]))
			fail_msg("%s is open", names[i]);
		assert_false(mach_services_allow(&all, names[i]));
	}
	pair_done(&x);
}

TEST(bad_services)
{
	static const char *const bad[] = {"", "*", "a b", "a\"b", "a\\b", "a\nb", "\xc3\xa9"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *const list[] = {bad[i], NULL};
		struct err err = {0};

		assert_int_equal(mach_services_check(&(struct mach_services){.allow = list}, &err),
				 -EINVAL);
		assert_true(*err.text && !strchr(err.text, '\n'));
	}
}

TEST(terminals_and_signals)
{
	static const char *const folders[] = {FOLDER, NULL};
	const struct profile_spec spec = {.home = HOME, .folders = folders, .tty = "/dev/ttys007"};
	const struct eval_query opened = {.operation = "file-write-data",
					  .path = "/dev/ttys008",
					  .extension = "com.apple.sandbox.pty"};
	const struct eval_query inside = {.operation = "signal", .target = "same-sandbox"};
	const struct eval_query others = {.operation = "signal", .target = "others"};
	const struct eval_query port = {.operation = "mach-priv-task-port", .target = "others"};

	for (int dynamic = 0; dynamic < 2; dynamic++) {
		struct pair x;

		pair_new(&x, NULL, dynamic, &spec);
		assert_true(pair_allows(&x, "file-write-data", "/dev/ttys007", NULL));
		assert_true(pair_allows(&x, "file-write-data", "/dev/null", NULL));
		assert_true(pair_allows(&x, "file-read-data", "/dev/urandom", NULL));
		assert_false(pair_allows(&x, "file-write-data", "/dev/ttys008", NULL));
		assert_false(pair_allows(&x, "file-read-data", "/dev/ttys008", NULL));
		assert_false(pair_allows(&x, "file-read-data", "/dev/rdisk0", NULL));
		assert_true(eval_allows(x.eval, &opened));
		assert_true(eval_allows(x.eval, &inside));
		assert_false(eval_allows(x.eval, &others));
		assert_false(eval_allows(x.eval, &port));
		assert_false(
			eval_allows(x.eval, &(struct eval_query){.operation = "job-creation"}));
		assert_false(
			eval_allows(x.eval, &(struct eval_query){.operation = "mach-register"}));
		pair_done(&x);
	}
}

/* Only OpenMP's: another name may belong to a program outside. */
TEST(shared_memory)
{
	static const char *const folders[] = {FOLDER, NULL};
	static const struct {
		const char *operation, *name;
		bool allowed;
	} cases[] = {
		{"ipc-posix-shm-write-create", "/__KMP_REGISTERED_LIB_123", true},
		{"ipc-posix-shm-read-data", "/__KMP_REGISTERED_LIB_123_501", true},
		{"ipc-posix-shm-write-unlink", "/__KMP_REGISTERED_LIB_123_501", true},
		{"ipc-posix-shm-write-create", "/__KMP_REGISTERED_LIB_123_501x", false},
		{"ipc-posix-shm-write-data", "/psm_01234567", false},
		{"ipc-posix-shm-read-data", "/psm_01234567", false},
		{"ipc-posix-shm-read-data", "apple.shm.notification_center", true},
		{"ipc-posix-shm-write-create", "apple.shm.notification_center", false},
	};
	const struct profile_spec spec = {.home = HOME, .folders = folders};
	struct pair x;

	pair_new(&x, NULL, false, &spec);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (eval_allows(x.eval, &(struct eval_query){.operation = cases[i].operation,
							     .ipc_name = cases[i].name}) !=
		    cases[i].allowed)
			fail_msg("%s %s", cases[i].operation, cases[i].name);
	pair_done(&x);
}

/* A directory can be moved to any writable place, and back: names are protected in all of them. */
TEST(names_elsewhere)
{
	static const char *const folders[] = {FOLDER, NULL}, *const temp[] = {"/tmp", NULL};
	static const char *const rules[] = {"allow", "write ~/notes/**", NULL};
	const struct profile_spec spec = {
		.home = HOME, .folders = folders, .temp = temp, .own = "/tmp/own"};
	static const char *const places[] = {FOLDER, HOME "/notes", "/private/tmp",
					     "/private/tmp/own"};
	struct pair x;

	pair_new(&x, rules, false, &spec);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		AUTO_FREE char *hook = path_join(places[i], "sub/.git/hooks/x");
		AUTO_FREE char *env = path_join(places[i], "sub/.env");
		AUTO_FREE char *plain = path_join(places[i], "sub/x");

		assert_false(pair_allows(&x, "file-write-create", hook, NULL));
		assert_false(pair_allows(&x, "file-read-data", env, NULL));
		assert_true(pair_allows(&x, "file-write-create", plain, NULL));
	}
	assert_false(pair_allows(&x, "file-write-unlink", FOLDER, "DIRECTORY"));
	assert_false(pair_allows(&x, "file-read-data", "/System/Volumes/Data" HOME "/x", NULL));
	pair_done(&x);
}

/* ---- canonical paths ------------------------------------------------------------------------- */

static ssize_t fake_link(void *data, const char *path, char *out, size_t size)
{
	static const char *const links[][2] = {
		{"/tmp", "private/tmp"},	  {"/var", "private/var"},
		{"/Users/u/l", "../v/real"},	  {"/loop", "/loop"},
		{"/private/tmp/x", "/Users/u/l"},
	};

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(links); i++)
		if (str_eq(path, links[i][0])) {
			snprintf(out, size, "%s", links[i][1]);
			return (ssize_t)strlen(links[i][1]);
		}
	return strstr(path, "gone") ? -ENOENT : -EINVAL;
}

TEST(canonical_paths)
{
	static const struct mac_os os = {.read_link = fake_link};
	static const char *const list[][2] = {
		{"/tmp", "/private/tmp"},
		{"/tmp/gone/deeper", "/private/tmp/gone/deeper"},
		{"/var/folders/x/T/", "/private/var/folders/x/T"},
		{"/tmp/x/y", "/Users/v/real/y"},
		{"/Users/u/l/../z", "/Users/v/z"},
		{"/../a/./b//c", "/a/b/c"},
		{"/", "/"},
		{"/tmpx/gone", "/tmpx/gone"},
	};
	static const char *const many[] = {"/tmp/b", "/tmp", "/a", "/a/b", "/a-b", "/a", NULL};
	static const char *const want[] = {"/a", "/a-b", "/private/tmp", NULL};
	char **all = NULL, *path = NULL;

	for (size_t i = 0; i < ARRAY_LEN(list); i++) {
		assert_int_equal(canonical_path(&os, list[i][0], &path), 0);
		assert_string_equal(path, list[i][1]);
		util_free_ptr(&path);
	}
	assert_int_equal(canonical_path(NULL, "/etc/gone", &path), 0);
	assert_string_equal(path, "/private/etc/gone");
	util_free_ptr(&path);
	assert_int_equal(canonical_path(&os, "/loop/x", &path), -ELOOP);
	assert_int_equal(canonical_path(&os, "relative", &path), -EINVAL);
	assert_int_equal(canonical_list(&os, many, &all, NULL), 0);
	for (size_t i = 0; want[i] || all[i]; i++)
		assert_string_equal(all[i], want[i]);
	util_free_list(&all);
}

/* ---- whole profiles -------------------------------------------------------------------------- */

/* Removes this machine's parts: its gated trees, the user's number. */
static void settle(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		const char *run = memmem(text, n, "/run/user/", 10);

		if (!str_starts(text, "(deny file-read-data file-read-xattr process-exec* "
				      "(require-all (subpath")) {
			if (run) {
				buf_add(out, text, (size_t)(run - text) + 10);
				buf_str(out, "UID");
				n -= (size_t)(run - text) + 10;
				text = run + 10;
				n -= strspn(text, "0123456789");
				text += strspn(text, "0123456789");
			}
			buf_add(out, text, n);
			buf_ch(out, '\n');
		}
		text += n + (text[n] == '\n');
	}
}

/* Removes the user's number from ancestors of protected paths, too. */
static void settle_ancestors(struct buf *out, const char *text)
{
	static const char before[] = "(/user(/";
	const char *at;

	while ((at = strstr(text, before))) {
		at += sizeof(before) - 1;
		buf_add(out, text, (size_t)(at - text));
		buf_str(out, "UID");
		text = at + strspn(at, "0123456789");
	}
	buf_str(out, text);
}

static void compare(const char *name, struct pair *x)
{
	AUTO_FREE char *path = xasprintf("tests/golden/seatbelt/%s", name);
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf settled = BUF_INIT, got = BUF_INIT;
	size_t len = 0;

	settle(&settled, x->profile.sbpl.text.data);
	settle_ancestors(&got, settled.data);
	if (getenv("UPDATE") && *getenv("UPDATE")) {
		FILE *f = fopen(path, "we");

		assert_non_null(f);
		fwrite(got.data, 1, got.len, f);
		fclose(f);
	}
	assert_int_equal(io_read_file(AT_FDCWD, path, 1u << 20, &text, &len), 0);
	assert_string_equal(got.data, text);
	pair_done(x);
}

TEST(whole_profiles)
{
	static const char *const folders[] = {"/Users/dev/project", NULL};
	static const char *const temp[] = {"/tmp", "/var/folders", NULL};
	static const char *const rules[] = {"deny",  "read ~/.ssh/**",
					    "allow", "write ~/.claude/**",
					    "ask",   "write ~/.claude/settings.json",
					    "allow", "read ~/notes/**",
					    NULL};
	static const uint16_t proxies[] = {3128, 0};
	struct profile_spec spec = {.home = "/Users/dev", .folders = folders, .temp = temp};
	struct pair x;

	pair_new(&x, NULL, false, &spec);
	compare("static.sb", &x);
	spec.network = PROFILE_NETWORK_PROXY;
	spec.proxies = proxies;
	spec.own = "/var/folders/ab/T/cordon-1";
	spec.temp = NULL;
	spec.tty = "/dev/ttys003";
	pair_new(&x, rules, true, &spec);
	compare("dynamic.sb", &x);
	spec.gate = true;
	pair_new(&x, rules, true, &spec);
	compare("gate.sb", &x);
}

int main(void)
{
	unsetenv("XDG_STATE_HOME");
	unsetenv("XDG_CONFIG_HOME");
	unsetenv("XDG_RUNTIME_DIR");
	for (const char *const *v = certificate_variables; *v; v++)
		unsetenv(*v);
	return run_all(NULL, NULL, NULL, NULL);
}
