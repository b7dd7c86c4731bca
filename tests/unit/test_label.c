/* test_label - commands as a user would type them. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/steps/command.h"
#include "core/keeper/steps/label.h"
#include "tests/support/check.h"

/* '|' between the arguments stands for NUL, '^' for a literal '|'. */
static size_t argv_of(char *out, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy(out, text, len);
	for (size_t i = 0; i < len; i++) {
		if (out[i] == '|')
			out[i] = '\0';
		else if (out[i] == '^')
			out[i] = '|';
	}
	return len;
}

TEST(labels)
{
	static const struct {
		const char *argv, *label;
	} cases[] = {
		{"make|-j2", "make -j2"},
		{"echo|a b|it's|", "echo 'a b' 'it'\\''s' ''"},
		{"/bin/sh|-c|make all && ls", "make all && ls"},
		{"bash|-lc|npm test", "npm test"},
		{"bash|-c|-l|npm test", "npm test"},
		{"/bin/bash|--norc|-ec|x", "x"},
		{"bash|build.sh|-c", "bash build.sh -c"},
		{"-bash", "bash"},
		{"env|-i|-u|A|B=c|make", "make"},
		{"env|A=b|nice|-n|5|timeout|-s|KILL|10|sh|-c|make x", "make x"},
		{"timeout|10", "timeout 10"},
		{"nohup|./server|--port|1", "./server --port 1"},
		{"/usr/bin/time|-f|%e|--|gcc|a.c", "gcc a.c"},
		{"npx|-y|eslint|.", "eslint ."},
		{"node|/usr/bin/npx|tsc", "tsc"},
		{"env", "env"},
		{"python3|-c|print(1)", "python3 -c 'print(1)'"},
		/* As claude and opencode let their shells run a command. */
		{"/bin/bash|-c|-l|shopt -u extglob 2>/dev/null ^^ true && eval 'echo "
		 "'\"'\"'a'\"'\"' > b' "
		 "< /dev/null && pwd -P >^ /tmp/claude-20dc-cwd",
		 "echo 'a' > b"},
		{"/bin/bash|-c|source /run/cordon/cache/own/claude-5c34/shell-snapshots/"
		 "snapshot-bash-1795-lt1dfj.sh 2>/dev/null ^^ true && shopt -u extglob 2>/dev/null "
		 "^^ true && eval 'make a' < /dev/null && pwd -P >^ /tmp/claude-1-cwd",
		 "make a"},
		{"/bin/zsh|-c|-l|setopt NO_EXTENDED_GLOB NO_BARE_GLOB_QUAL 2>/dev/null ^^ true && "
		 "eval make "
		 "< /dev/null && pwd -P >^ /tmp/claude-1-cwd",
		 "make"},
		{"/bin/bash|-l|-c|\n  shopt -s expand_aliases\n  [[ -f ~/.bashrc ]] && source "
		 "~/.bashrc >/dev/null 2>&1 ^^ true\n  cd -- \"$1\"\n  eval \"rm a; echo "
		 "\\\"\\$B\\\"\"\n "
		 "|opencode|/w",
		 "rm a; echo \"$B\""},
		/* as gemini */
		{"bash|-c|shopt -u promptvars nullglob extglob nocaseglob dotglob; "
		 "_bgpids_file=/tmp/gemini-shell-aB3/bgpids.tmp\n(\n  trap 'jobs -p > "
		 "\"$_bgpids_file\"' EXIT\nsed -i s/a/b/ x\n)\n__code=$?\nexit $__code",
		 "sed -i s/a/b/ x"},
		{"bash|-c|_bgpids_file=/tmp/gemini-shell-aB3/bgpids.tmp\n(\n  trap 'jobs -p > "
		 "\"$_bgpids_file\"' EXIT\na\n)\nrm x\n(\nb\n)\n__code=$?\nexit $__code",
		 "a\n)\nrm x\n(\nb"},
		/* as codex */
		{"/proc/self/exe|--codex-run-as-process-setup|55|13|pipe||/home/u/p|/bin/bash|/bin/"
		 "bash|-lc|make test",
		 "make test"},
		{"./exe|--codex|1", "./exe --codex 1"},
		/* Text that only in part has this form. */
		{"bash|-c|_bgpids_file=/tmp/gemini-shell-a/../b/bgpids.tmp\n(\n  trap 'jobs -p > "
		 "\"$_bgpids_file\"' EXIT\na\n)\n__code=$?\nexit $__code",
		 "_bgpids_file=/tmp/gemini-shell-a/../b/bgpids.tmp\n(\n  trap 'jobs -p > "
		 "\"$_bgpids_file\"' EXIT\na\n)\n__code=$?\nexit $__code"},
		{"sh|-c|source /w/a.sh 2>/dev/null ^^ true && shopt -u extglob 2>/dev/null ^^ true "
		 "&& eval make < /dev/null && pwd -P >^ /tmp/claude-1",
		 "source /w/a.sh 2>/dev/null || true && shopt -u extglob 2>/dev/null || true && "
		 "eval make < /dev/null && pwd -P >| /tmp/claude-1"},
		{"sh|-c|eval make", "eval make"},
		{"sh|-c|. ./env; eval make", ". ./env; eval make"},
		{"sh|-c|shopt -u extglob 2>/dev/null ^^ true && eval make < /dev/null && pwd -P >^ "
		 "/tmp/claude-1; rm x",
		 "shopt -u extglob 2>/dev/null || true && eval make < /dev/null && pwd -P >| "
		 "/tmp/claude-1; rm x"},
		{"sh|-c|shopt -u extglob 2>/dev/null ^^ true && eval make < /dev/null && pwd -P >^ "
		 "/tmp/claude-1/../../w/a",
		 "shopt -u extglob 2>/dev/null || true && eval make < /dev/null && pwd -P >| "
		 "/tmp/claude-1/../../w/a"},
		{"sh|-c|shopt -u extglob 2>/dev/null ^^ true\n&& eval make < /dev/null && pwd -P "
		 ">^ /tmp/claude-1",
		 "shopt -u extglob 2>/dev/null || true\n&& eval make < /dev/null && pwd -P >| "
		 "/tmp/claude-1"},
		{"sh|-c|shopt -u extglob 2>/dev/null ^^ true && eval 'a'b'; c' < /dev/null && pwd "
		 "-P >^ "
		 "/tmp/claude-1",
		 "shopt -u extglob 2>/dev/null || true && eval 'a'b'; c' < /dev/null && pwd -P >| "
		 "/tmp/claude-1"},
		{"sh|-c|shopt -u extglob 2>/dev/null ^^ true && eval $(a) < /dev/null && pwd -P >^ "
		 "/tmp/claude-1",
		 "shopt -u extglob 2>/dev/null || true && eval $(a) < /dev/null && pwd -P >| "
		 "/tmp/claude-1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF struct buf out = BUF_INIT;
		char argv[512];

		label_command(&out, argv, argv_of(argv, cases[i].argv));
		assert_string_equal(out.data, cases[i].label);
	}
}

TEST(a_set_up_shell_goes_on)
{
	static const char cut[] = "bash\0-c\0make\0...";
	char snapshot[128], plain[64];

	assert_true(label_is_set_up(
		snapshot, argv_of(snapshot, "bash|-c|__CODEX_SNAPSHOT_OVERRIDE_SET_0=1; exec x")));
	assert_true(label_is_set_up(cut, sizeof(cut) - 1));
	assert_false(label_is_set_up(plain, argv_of(plain, "bash|-c|make")));
	assert_true(label_is_text(plain, argv_of(plain, "bash|-c|make")));
	assert_false(label_is_text(plain, argv_of(plain, "bash|build.sh")));
}

/* An answer that allows `rm a b` must not allow the cut rest. */
TEST(what_is_left_out_shows)
{
	static const struct {
		const char *argv, *label;
		size_t len;
		bool whole;
	} cases[] = {
		{"rm\0a\0b", "rm a b", 7, true},
		{"rm\0a\0...", "rm a ...", 8, false},
		{"sh\0-c\0make\0...", "make ...", 13, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_BUF struct buf out = BUF_INIT;

		label_command(&out, cases[i].argv, cases[i].len);
		assert_string_equal(out.data, cases[i].label);
		assert_int_equal(label_is_whole(out.data), cases[i].whole);
	}
}

TEST(a_label_has_an_end)
{
	AUTO_BUF struct buf out = BUF_INIT, argv = BUF_INIT;

	for (int i = 0; i < 3000; i++)
		buf_add(&argv, "word", 5);
	label_command(&out, argv.data, argv.len);
	assert_int_equal(out.len, LABEL_MAX);
	assert_false(label_is_whole(out.data));
	assert_string_equal(out.data + LABEL_MAX - 4, " ...");
	buf_clear(&out);
	label_command(&out, "no end", 6); /* an argument without its end */
	assert_int_equal(out.len, 0);
	label_command(&out, "", 0);
	assert_int_equal(out.len, 0);
}

TEST(wrappers_are_not_the_agent)
{
	static const struct {
		const char *argv;
		bool wraps;
	} cases[] = {
		{"npx|claude", true},	  {"sh|-c|claude --continue", true},
		{"env|A=b|claude", true}, {"node|/usr/bin/npx|claude", true},
		{"sh|-c|a; b", false},	  {"bash", false},
		{"bash|agent.sh", false}, {"claude", false},
		{"sh|-c|", false},	  {"env", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char argv[256];

		assert_int_equal(label_wraps(argv, argv_of(argv, cases[i].argv)), cases[i].wraps);
	}
}

TEST(an_agent_has_the_name_of_its_script)
{
	static const struct {
		const char *argv, *name;
	} cases[] = {
		{"/usr/bin/claude", "claude"},
		{"node|/usr/bin/codex|-p|x", "codex"},
		{"/usr/bin/node|--max-old-space-size=9|/opt/gemini", "gemini"},
		{"python3.11|/usr/bin/aider", "aider"},
		{"node", "node"},
		{"node|-i", "node"},
		{"bash|agent.sh", "bash"},
		{"-bash", "bash"},
		{"", ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char argv[256];

		assert_string_equal(label_agent(argv, argv_of(argv, cases[i].argv)), cases[i].name);
	}
	assert_string_equal(label_agent("codex", 5), "");
	assert_true(label_is_interpreter("python3.11"));
	assert_false(label_is_interpreter("bash"));
}

TESTS(NULL, NULL)
