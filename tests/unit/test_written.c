/* test_written - the places that count as written by the agent, in all processes of a session. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/config/config.h"
#include "core/policy/rules/rules.h"
#include "core/policy/written.h"
#include "tests/support/check.h"

/* Adds a set of rules: "allow write /x/y", up to NULL. With "until ", the rule has an end. */
static void set(const char *const *lines)
{
	static const struct rules_scope scope = {.home = "/home/u"};
	static const char *const keys[] = {"allow", "ask", "deny"};
	struct config *c = config_of_rules();
	struct err err = {0};

	for (; *lines; lines++) {
		bool ends = str_starts(*lines, "until ");
		const char *line = *lines + (ends ? strlen("until ") : 0);
		struct config_rule rule = {.name = *lines, /* a section of its own */
					   .file = "config",
					   .level = CONFIG_USER};

		for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
			if (!str_starts(line, keys[i]))
				continue;
			rule.key = keys[i];
			rule.what = (enum config_rule_key)i;
			rule.value = line + strlen(keys[i]) + 1;
		}
		config_add_rule(c, &rule);
		rule.key = "until";
		rule.what = CONFIG_UNTIL;
		rule.value = "2999-12-31";
		if (ends)
			config_add_rule(c, &rule);
	}
	assert_int_equal(written_add_rules(c, &scope, &err), 0);
	config_free(c);
}
#define RULES(...) set((const char *const[]){__VA_ARGS__, NULL})

static void answer(const char *object, enum answer_extent extent)
{
	assert_int_equal(written_add_answer(object, extent, &(struct err){0}), 0);
}

TEST(rules_about_writing_count)
{
	assert_false(written_by_agent("/a/tools/x"));
	RULES("allow write /a/tools/**", "allow read,exec /a/read/**", "ask write /a/asked/**",
	      "allow read,write ~/both");
	assert_true(written_by_agent("/a/tools/x/y"));
	assert_true(written_by_agent("/a/tools"));
	assert_false(written_by_agent("/a/read/x"));
	assert_false(written_by_agent("/a/asked/x"));
	assert_false(written_by_agent("/a/toolsx"));
	assert_true(written_by_agent("/home/u/both"));
}

TEST(nearer_restrictions_count)
{
	RULES("allow write /d/**", "deny write /d/bin/**", "ask write /d/asked", "deny read /d/x",
	      "until deny write /d/later/**", "allow write /d/bin/open");
	assert_true(written_by_agent("/d/y"));
	assert_false(written_by_agent("/d/bin/x"));
	assert_false(written_by_agent("/d/bin"));
	assert_false(written_by_agent("/d/asked"));
	assert_true(written_by_agent("/d/x"));
	assert_true(written_by_agent("/d/later/x"));
	assert_true(written_by_agent("/d/bin/open"));
}

TEST(what_was_once_allowed_stays)
{
	RULES("allow write /e/**", "deny write /e/bin/**");
	assert_false(written_by_agent("/e/bin/x"));
	RULES("allow write /e/bin/x");
	RULES("deny write /e/**");
	assert_true(written_by_agent("/e/bin/x"));
	assert_true(written_by_agent("/e/y"));
	assert_false(written_by_agent("/e/bin/z"));
}

TEST(later_rules_count_when_there_are_many)
{
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *allow = xasprintf("allow write /many/%d/**", i);
		AUTO_FREE char *deny = xasprintf("deny write /many/%d/bin", i);

		RULES(allow, deny);
	}
	assert_false(written_by_agent("/many/0/bin"));
	for (int i = 0; i < 100; i++) {
		AUTO_FREE char *path = xasprintf("/many/%d/x", i);

		assert_true(written_by_agent(path));
	}
}

TEST(a_rule_for_the_whole_system_does_not_count)
{
	RULES("allow write /**", "allow write **/*.log", "allow write /*/**");
	assert_false(written_by_agent("/usr/bin/git"));
}

TEST(a_wildcard_in_front_of_a_name_counts)
{
	RULES("allow write /**/node_modules/**", "allow write /*/u/tools/**");
	answer("/*starred", EXTENT_EXACT);
	assert_true(written_by_agent("/g/app/node_modules/.bin/notify"));
	assert_true(written_by_agent("/g/u/tools/x"));
	assert_true(written_by_agent("/*starred"));
	assert_false(written_by_agent("/g/u/x"));
	assert_false(written_by_agent("/usr/bin/git"));
}

TEST(answers_count)
{
	answer("/f/exact*", EXTENT_EXACT);
	answer("/f/dir/", EXTENT_DIR);
	answer("/f/tree/x", EXTENT_TREE);
	answer("a bundle", EXTENT_BUNDLE);
	assert_true(written_by_agent("/f/exact*"));
	assert_false(written_by_agent("/f/exactly"));
	assert_true(written_by_agent("/f/dir/x"));
	assert_false(written_by_agent("/f/dir/x/y"));
	assert_true(written_by_agent("/f/tree/y/z"));
	RULES("deny write /f/**");
	assert_true(written_by_agent("/f/exact*"));
}

/* Returns the exit status of a child. */
static int status_of(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(processes_share_them)
{
	int go[2];
	pid_t asks, adds;
	char c;

	assert_int_equal(written_share(&(struct err){0}), 0);
	assert_int_equal(pipe(go), 0);
	asks = fork();
	if (asks == 0) {
		close(go[1]);
		_exit(read(go[0], &c, 1) == 0 && written_by_agent("/g/rule/x") &&
		      written_by_agent("/g/answer") && written_by_agent("/d/y") &&
		      !written_by_agent("/g/other"));
	}
	adds = fork();
	if (adds == 0) {
		RULES("allow write /g/rule/**");
		answer("/g/answer", EXTENT_EXACT);
		_exit(0);
	}
	assert_int_equal(status_of(adds), 0);
	assert_true(written_by_agent("/g/rule/x"));
	assert_true(written_by_agent("/g/answer"));
	close(go[0]);
	close(go[1]);
	assert_int_equal(status_of(asks), 1);
}

TEST(all_is_written_without_the_log)
{
	pid_t pid = fork();

	if (pid == 0) {
		close(written_fd());
		_exit(written_by_agent("/usr/bin/git"));
	}
	assert_int_equal(status_of(pid), 1);
	assert_false(written_by_agent("/usr/bin/git"));
}

/* A part of a record stays in the log. Another record after it would be read as the rest of it. */
TEST(nothing_is_added_after_a_part)
{
	pid_t pid;

	assert_int_equal(written_share(&(struct err){0}), 0);
	pid = fork();
	if (pid == 0) {
		struct rlimit most;
		struct stat log;

		fstat(written_fd(), &log);
		getrlimit(RLIMIT_FSIZE, &most);
		most.rlim_cur = (rlim_t)log.st_size + 10;
		signal(SIGXFSZ, SIG_IGN);
		setrlimit(RLIMIT_FSIZE, &most);
		if (written_add_answer("/h/long", EXTENT_EXACT, &(struct err){0}) == 0)
			_exit(2);
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_FSIZE, &most);
		if (!written_by_agent("/usr/bin/git"))
			_exit(3);
		_exit(written_add_answer("/h/next/", EXTENT_DIR, &(struct err){0}) == 0);
	}
	assert_int_equal(status_of(pid), 0);
}

TESTS(NULL, NULL)
