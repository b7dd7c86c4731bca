/* test_env - which environment variables pass. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/env.h"
#include "tests/support/check.h"

static bool has(char **env, const char *entry)
{
	for (; *env; env++) {
		if (strcmp(*env, entry) == 0)
			return true;
	}
	return false;
}

static void env_free(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

static size_t count(char **env)
{
	size_t n = 0;

	while (env[n])
		n++;
	return n;
}

TEST(secrets_and_code_stay_outside)
{
	char aws[] = "AWS_SECRET_ACCESS_KEY=x", token[] = "GITHUB_TOKEN=x",
	     sock[] = "SSH_AUTH_SOCK=/s", preload[] = "LD_PRELOAD=/x.so", bash[] = "BASH_ENV=/x",
	     git[] = "GIT_SSH_COMMAND=x", node[] = "NODE_OPTIONS=-r x", py[] = "PYTHONSTARTUP=/x",
	     tmp[] = "TMPDIR=/host", run[] = "XDG_RUNTIME_DIR=/run/user/1", odd[] = "=x",
	     none[] = "PATH";
	char *env[] = {aws, token, sock, preload, bash, git, node, py, tmp, run, odd, none, NULL};
	char **out = env_scrub(env, NULL, "s1");

	assert_int_equal(count(out), 2);
	assert_true(has(out, "CORDON=1"));
	assert_true(has(out, "CORDON_SESSION=s1"));
	env_free(out);
}

TEST(plain_settings_pass)
{
	char path[] = "PATH=/bin", home[] = "HOME=/h", lc[] = "LC_ALL=C",
	     term[] = "TERM=xterm-256color";
	char *env[] = {path, home, lc, term, NULL};
	char **out = env_scrub(env, NULL, "s");

	assert_int_equal(count(out), 6);
	assert_true(has(out, "LC_ALL=C"));
	env_free(out);
}

TEST(values_with_controls_do_not_pass)
{
	char lang[] = "LANG=C\033]52;c;x\a", term[] = "TERM=../../etc/passwd",
	     term2[] = "TERM=x\033";
	char *env[] = {lang, term, term2, NULL};
	char **out = env_scrub(env, NULL, "s");

	assert_int_equal(count(out), 2);
	env_free(out);
}

TEST(the_human_may_name_more)
{
	const char *extra[] = {"ANTHROPIC_API_KEY", "MY_*", NULL};
	char key[] = "ANTHROPIC_API_KEY=k", my[] = "MY_VAR=1", other[] = "ANTHROPIC_API_KEY2=k";
	char *env[] = {key, my, other, NULL};
	char **out = env_scrub(env, extra, "s");

	assert_int_equal(count(out), 4);
	assert_true(has(out, "MY_VAR=1"));
	env_free(out);
}

TEST(settings_take_the_place_of_what_passes)
{
	char go[] = "GOPATH=/home/u/go", lang[] = "LANG=C";
	char *const from[] = {go, lang, NULL};
	static const char *const settings[] = {
		"GOPATH=$CORDON_CACHE/go", "A=b=c", "EMPTY=", "=x", "nothing", NULL};
	static const char *const want[] = {
		"GOPATH=/cache/go",    "LANG=C", "CORDON=1", "CORDON_SESSION=s",
		"CORDON_CACHE=/cache", "A=b=c",	 "EMPTY=",   NULL};
	static const char *const bare[] = {"GOPATH=/home/u/go",
					   "LANG=C",
					   "CORDON=1",
					   "CORDON_SESSION=s",
					   "A=b=c",
					   "EMPTY=",
					   NULL};
	const char *const caches[] = {"/cache", NULL};

	for (size_t k = 0; k < ARRAY_LEN(caches); k++) {
		char **env = env_set(env_scrub(from, NULL, "s"), settings, caches[k]);
		const char *const *right = caches[k] ? want : bare;
		size_t n = 0;

		for (; env[n] && right[n]; n++) {
			assert_string_equal(env[n], right[n]);
			free(env[n]);
		}
		assert_null(env[n]);
		assert_null(right[n]);
		free(env);
	}
}

TEST(the_pane_is_a_terminal_of_its_own)
{
	char term[] = "TERM=rxvt-unicode", program[] = "TERM_PROGRAM=iTerm.app",
	     version[] = "TERM_PROGRAM_VERSION=3", cols[] = "COLUMNS=200", lines[] = "LINES=60",
	     lang[] = "LANG=C", color[] = "COLORTERM=truecolor";
	char *const from[] = {term, program, version, cols, lines, lang, color, NULL};
	char *const none[] = {lang, NULL};
	char **env = env_in_pane(env_scrub(from, NULL, "s"));

	assert_int_equal(count(env), 5);
	assert_true(has(env, "TERM=xterm-256color"));
	assert_true(has(env, "LANG=C"));
	assert_true(has(env, "COLORTERM=truecolor"));
	env_free(env);
	env = env_in_pane(env_scrub(none, NULL, "s"));
	assert_int_equal(count(env), 4);
	assert_true(has(env, "TERM=xterm-256color"));
	env_free(env);
}

TESTS(NULL, NULL)
