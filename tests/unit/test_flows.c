/* test_flows - rules about hosts: names, addresses, special ones with their own rules, answers. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/net/host.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "tests/support/check.h"

struct fixture {
	char *dir;
	struct config *config;
	struct policy *p;
	struct err err;
};

static int setup(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	const char *base = getenv("TEST_TMP");

	f->dir = xasprintf("%s/flows-XXXXXX", base ? base : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	policy_free(f->p);
	config_free(f->config);
	assert_int_equal(io_remove_tree(AT_FDCWD, f->dir), 0);
	free(f->dir);
	free(f);
	return 0;
}

static int load(struct fixture *f, const char *rules, const char *const *hosts, bool all)
{
	const struct config_spec spec = {.home = f->dir, .folder = f->dir, .profile = "none"};
	AUTO_FREE char *dir = path_join(f->dir, ".config/cordon");
	struct policy_spec about = {.home = f->dir, .hosts = hosts, .public_hosts = all};
	AUTO_CLOSE int fd = -1;

	policy_free(take_ptr(&f->p));
	config_free(take_ptr(&f->config));
	assert_int_equal(io_mkdir_p(AT_FDCWD, dir, 0700), 0);
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(io_write_file(fd, "config", 0600, rules, strlen(rules), false), 0);
	f->err = (struct err){0};
	if (config_load(&f->config, &spec, &f->err) < 0)
		return -1;
	about.config = f->config;
	return policy_new(&f->p, &about, &f->err);
}

/* Returns the verdict about "HOST:PORT", whose name leads to addr, or "". */
static enum policy_verdict check(const struct fixture *f, const char *target, const char *addr,
				 bool *special)
{
	const char *reason = NULL;
	enum policy_verdict v, there = POLICY_ALLOW;
	struct net_target t;
	struct net_addr a;

	assert_true(net_target_parse(&t, target, NULL));
	assert_true(!*addr || net_addr_parse(&a, addr, strlen(addr)));
	v = policy_check_flow(f->p, RULE_CONNECT, &t, *addr ? &a : NULL, &reason);
	assert_non_null(reason);
	if (*addr || t.host.is_addr)
		there = policy_check_address(f->p, RULE_CONNECT, *addr ? &a : &t.host.addr, t.port,
					     &reason);
	if (special)
		*special = there == POLICY_ASK;
	return MAX(v, there);
}

TEST(what_no_rule_speaks_of_is_asked)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "", NULL, false), 0);
	assert_int_equal(check(f, "a.example:443", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "a.example", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "9.9.9.9:53", "", NULL), POLICY_ASK);
}

TEST(the_nearest_pattern_decides)
{
	struct fixture *f = *state;

	assert_int_equal(load(f,
			      "[rule \"r\"]\n allow = connect *.example:443\n"
			      " deny = connect evil.example\n ask = connect *.x.example:443\n"
			      " allow = connect good.x.example:443\n",
			      NULL, false),
			 0);
	assert_int_equal(check(f, "a.example:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "a.example:80", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "EVIL.example.:443", "", NULL), POLICY_DENY);
	assert_int_equal(check(f, "b.x.example:443", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "good.x.example:443", "", NULL), POLICY_ALLOW);
	/* A name is looked up if at least one port of it may be allowed. */
	assert_int_equal(check(f, "a.example", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "evil.example", "", NULL), POLICY_DENY);
	assert_int_equal(check(f, "b.x.example", "", NULL), POLICY_ASK);
}

TEST(of_one_level_fewer_ports_decide)
{
	static const char *const hosts[] = {"a.example:443", NULL};
	struct fixture *f = *state;

	assert_int_equal(load(f,
			      "[rule \"r\"]\n allow = connect b.example:443\n"
			      " deny = connect b.example\n deny = connect a.example\n",
			      hosts, false),
			 0);
	assert_int_equal(check(f, "b.example:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "b.example:80", "", NULL), POLICY_DENY);
	assert_int_equal(check(f, "a.example:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(load(f, "[rule \"r\"]\n deny = connect registry.npmjs.org\n", NULL, false),
			 0);
	assert_int_equal(check(f, "registry.npmjs.org:443", "", NULL), POLICY_DENY);
}

TEST(a_name_opens_no_address_of_the_host)
{
	static const char *const special[] = {"127.0.0.1", "10.0.0.5", "169.254.169.254",
					      "fe80::1",   "::1",      "198.18.0.9"};
	struct fixture *f = *state;

	assert_int_equal(load(f, "[rule \"r\"]\n allow = connect a.example\n", NULL, false), 0);
	assert_int_equal(check(f, "a.example:80", "93.184.216.34", NULL), POLICY_ALLOW);
	for (size_t i = 0; i < ARRAY_LEN(special); i++) {
		bool about_address = false;

		if (check(f, "a.example:80", special[i], &about_address) != POLICY_ASK ||
		    !about_address)
			fail_msg("%s is open", special[i]);
	}
	assert_int_equal(load(f, "", NULL, true), 0);
	assert_int_equal(check(f, "b.example:80", "93.184.216.34", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "93.184.216.34:80", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "b.example:80", "169.254.169.254", NULL), POLICY_ASK);
	assert_int_equal(check(f, "10.0.0.5:22", "", NULL), POLICY_ASK);
	assert_int_equal(load(f, "[rule \"r\"]\n allow = connect 0.0.0.0/0\n", NULL, false), 0);
	assert_int_equal(check(f, "10.0.0.5:22", "", NULL), POLICY_ASK);
	/* An IPv4 address is below ::/0, in its IPv6 form. */
	assert_int_equal(load(f, "[rule \"r\"]\n allow = connect ::/0\n", NULL, false), 0);
	assert_int_equal(check(f, "10.0.0.5:22", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "169.254.169.254:80", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "127.0.0.1:22", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "[fd00::1]:22", "", NULL), POLICY_ASK);
}

TEST(a_rule_about_addresses_does)
{
	struct fixture *f = *state;

	assert_int_equal(load(f,
			      "[rule \"r\"]\n allow = connect 10.0.0.0/8:22\n"
			      " allow = connect db.example\n deny = connect 93.184.0.0/16\n",
			      NULL, false),
			 0);
	assert_int_equal(check(f, "10.0.0.5:22", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "10.0.0.5:23", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "db.example:22", "10.0.0.5", NULL), POLICY_ALLOW);
	/* The owner of a name can let it lead to a denied address. */
	assert_int_equal(check(f, "db.example:80", "93.184.216.34", NULL), POLICY_DENY);
}

/* A stand-in's name is looked up after the answer about the name: the address is judged then. */
TEST(a_project_denies_addresses_too)
{
	static const char project[] = "[rule \"p\"]\n deny = connect 93.184.0.0/16\n";
	struct fixture *f = *state;
	AUTO_CLOSE int fd = open(f->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *reason = NULL;
	struct net_addr a;

	assert_true(net_addr_parse(&a, "93.184.216.34", strlen("93.184.216.34")));
	assert_int_equal(io_write_file(fd, ".cordon.conf", 0600, project, strlen(project), false),
			 0);
	assert_int_equal(load(f, "[rule \"r\"]\n allow = connect a.example\n", NULL, false), 0);
	assert_int_equal(policy_check_address(f->p, RULE_CONNECT, &a, 80, &reason), POLICY_DENY);
	assert_non_null(reason);
}

TEST(localhost_is_both_loopback_addresses)
{
	struct fixture *f = *state;

	assert_int_equal(load(f, "[rule \"r\"]\n allow = connect localhost:8080\n", NULL, false),
			 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(check(f, "localhost:8080", "127.0.0.1", NULL), POLICY_ALLOW);
		assert_int_equal(check(f, "127.0.0.1:8080", "", NULL), POLICY_ALLOW);
		assert_int_equal(check(f, "[::1]:8080", "", NULL), POLICY_ALLOW);
		assert_int_equal(check(f, "127.0.0.1:8081", "", NULL), POLICY_ASK);
		assert_int_equal(check(f, "127.0.0.2:8080", "", NULL), POLICY_ASK);
		assert_int_equal(policy_reload(f->p, f->config, &f->err), 0);
	}
	assert_int_equal(load(f,
			      "[rule \"r\"]\n allow = connect 127.0.0.1\n"
			      " deny = connect localhost:25\n allow = bind localhost:3000\n",
			      NULL, false),
			 0);
	assert_int_equal(check(f, "127.0.0.1:25", "", NULL), POLICY_DENY);
	assert_int_equal(check(f, "127.0.0.1:26", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "[::1]:3000", "", NULL), POLICY_ASK);
	assert_true(policy_answer_offered(f->p, RULE_CONNECT, "localhost:80", EXTENT_EXACT));
	assert_false(policy_answer_offered(f->p, RULE_CONNECT, "localhost:80", EXTENT_DIR));
}

TEST(options_open_what_they_name)
{
	static const char *const hosts[] = {"a.example", "b.example:443", NULL};
	struct fixture *f = *state;

	assert_int_equal(load(f, "[rule \"r\"]\n deny = connect no.a.example\n", hosts, false), 0);
	assert_int_equal(check(f, "a.example:80", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "x.y.a.example:80", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "no.a.example:80", "", NULL), POLICY_DENY);
	assert_int_equal(check(f, "nota.example:80", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "b.example:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "b.example:80", "", NULL), POLICY_ASK);
}

TEST(an_answer_is_about_a_port_a_host_or_a_domain)
{
	struct fixture *f = *state;
	struct answer a = {.allow = true, .scope = SCOPE_SESSION};
	const char *d;
	uint64_t id;

	assert_int_equal(load(f, "", NULL, false), 0);
	policy_answer(f->p, RULE_CONNECT, "one.example.org:443", &a);
	assert_int_equal(check(f, "one.example.org:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "one.example.org:80", "", NULL), POLICY_ASK);
	a.extent = EXTENT_DIR;
	id = policy_answer(f->p, RULE_CONNECT, "two.example.org:443", &a);
	assert_int_equal(check(f, "two.example.org:80", "", NULL), POLICY_ALLOW);
	assert_true(policy_revoke(f->p, id));
	assert_int_equal(check(f, "two.example.org:80", "", NULL), POLICY_ASK);
	a.extent = EXTENT_TREE;
	assert_false(policy_answer_offered(f->p, RULE_CONNECT, "1.2.3.4:443", EXTENT_TREE));
	assert_false(policy_answer_offered(f->p, RULE_CONNECT, "10.1.1.1:443", EXTENT_DIR));
	if (!net_registered_domain("x.example.org", &d))
		return; /* without libpsl no domain is offered */
	assert_false(policy_answer_offered(f->p, RULE_CONNECT, "me.github.io.:1", EXTENT_TREE) &&
		     net_registered_domain("github.io", &d));
	policy_answer(f->p, RULE_CONNECT, "deep.three.example.net:443", &a);
	assert_int_equal(check(f, "example.net:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "x.example.net:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "x.example.net:80", "", NULL), POLICY_ASK);
	assert_int_equal(check(f, "other.net:443", "", NULL), POLICY_ASK);
}

TEST(answers_outlive_a_reload)
{
	const struct answer a = {.allow = true, .scope = SCOPE_SESSION};
	static const char *const hosts[] = {"a.example", NULL};
	struct fixture *f = *state;

	assert_int_equal(load(f, "", hosts, false), 0);
	policy_answer(f->p, RULE_CONNECT, "one.example:443", &a);
	assert_int_equal(policy_reload(f->p, f->config, &f->err), 0);
	assert_int_equal(check(f, "one.example:443", "", NULL), POLICY_ALLOW);
	assert_int_equal(check(f, "sub.a.example:443", "", NULL), POLICY_ALLOW);
}

TEST(bad_rules_are_named)
{
	static const char *const bad[] = {" allow = connect a*.b\n", " allow = read,connect a.b\n",
					  " allow = connect\n", " allow = connect http://a.b/\n",
					  " match = connect *.b\n"};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(bad) - 1; i++) {
		AUTO_FREE char *text = xasprintf("[rule \"r\"]\n%s", bad[i]);

		if (load(f, text, NULL, false) == 0)
			fail_msg("'%s' is taken", bad[i]);
		assert_non_null(strstr(f->err.text, "config:2"));
	}
}

TEST(why_names_the_rule_and_the_losers)
{
	struct fixture *f = *state;
	AUTO_FREE struct policy_finding *list = NULL;
	size_t n;

	assert_int_equal(
		load(f, "[rule \"r\"]\n allow = connect *.example\n deny = connect a.example\n",
		     NULL, false),
		0);
	n = policy_explain(f->p, RULE_CONNECT, "a.example:1", &list);
	assert_int_equal(n, 2);
	assert_string_equal(list[0].verdict, "deny");
	assert_null(list[0].lost);
	assert_non_null(list[1].lost);
}

/* Rules of their own say which key is used for which host, one host at a time. */
TEST(keys_need_rules_of_their_own)
{
	struct fixture *f = *state;
	const struct answer host = {.allow = true, .scope = SCOPE_SESSION, .extent = EXTENT_DIR};
	struct net_target t;
	const char *reason;

	assert_true(net_target_parse(&t, "git.example.org:443", NULL));
	assert_int_equal(load(f,
			      "[rule \"x\"]\n\tallow = connect *\n\tallow = sign *.example.org\n",
			      NULL, true),
			 0);
	assert_int_equal(policy_check_flow(f->p, RULE_CREDENTIALS, &t, NULL, &reason), POLICY_ASK);
	assert_int_equal(policy_check_flow(f->p, RULE_SIGN, &t, NULL, &reason), POLICY_ALLOW);
	assert_false(
		policy_answer_offered(f->p, RULE_CREDENTIALS, "git.example.org:443", EXTENT_DIR));
	assert_true(policy_answer(f->p, RULE_CREDENTIALS, "git.example.org:443", &host) > 0);
	assert_int_equal(policy_check_flow(f->p, RULE_CREDENTIALS, &t, NULL, &reason),
			 POLICY_ALLOW);
	t.port = 8443;
	assert_int_equal(policy_check_flow(f->p, RULE_CREDENTIALS, &t, NULL, &reason), POLICY_ASK);
	assert_int_equal(load(f, "[rule \"x\"]\n\tallow = credentials a.org\n", NULL, false), 0);
	assert_true(net_target_parse(&t, "a.org:443", NULL));
	assert_int_equal(policy_check_flow(f->p, RULE_CONNECT, &t, NULL, &reason), POLICY_ASK);
}

TESTS(setup, teardown)
