/* test_shell - command lines and the commands in them. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>

#include "core/base/buf.h"
#include "core/base/text.h"
#include "core/hook/shell.h"
#include "tests/support/check.h"

/* Returns "cmd arg <in | cmd" as text: words in brackets, $ for an expansion, | for a pipe. */
static char *told(const char *text)
{
	struct buf b = BUF_INIT;
	AUTO_SHELL struct shell_line l = {0};
	int r = shell_parse(&l, text, strlen(text));

	if (r < 0) {
		buf_str(&b, r == -EINVAL ? "EINVAL" : r == -E2BIG ? "E2BIG" : "?");
		return buf_take(&b);
	}
	for (size_t i = 0; i < l.n_commands; i++) {
		const struct shell_command *c = &l.commands[i];

		buf_str(&b, c->piped ? "| " : i ? "; " : "");
		for (size_t k = 0; k < c->n_words; k++) {
			const struct shell_word *w = &l.words[c->word + k];

			buf_fmt(&b, "%s[%s]", w->literal ? "" : "$", w->text);
		}
		for (size_t k = 0; k < c->n_redirects; k++) {
			const struct shell_redirect *to = &l.redirects[c->redirect + k];

			buf_fmt(&b, "%s%s", to->op, to->target.text);
		}
		buf_ch(&b, ' ');
	}
	if (b.len)
		buf_truncate(&b, b.len - 1);
	return buf_take(&b);
}

TEST(command_lines)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"ls", "[ls]"},
		{"ls -l  'a b' \"c d\"", "[ls][-l][a b][c d]"},
		{"a; b && c || d & e", "[a] ; [b] ; [c] ; [d] ; [e]"},
		{"a | b |& c", "[a] | [b] | [c]"},
		{"# nothing", ""},
		{"a # b; c\nd", "[a] ; [d]"},
		{"echo a#b", "[echo][a#b]"},
		{"echo a\\ b \\; c", "[echo][a b][;][c]"},
		{"echo a\\\nb", "[echo][ab]"},
		{"echo ''", "[echo][]"},
		{"echo $HOME ${X} \"$Y\" '$Z' \\$Q", "[echo]$[$HOME]$[${X}]$[$Y][$Z][$Q]"},
		{"echo $", "[echo][$]"},
		{"echo $(rm -rf /tmp/x) done",
		 "[rm][-rf][/tmp/x] ; [echo]$[$(rm -rf /tmp/x)][done]"},
		{"echo \"$(cat ~/.ssh/id)\"", "[cat][~/.ssh/id] ; [echo]$[$(cat ~/.ssh/id)]"},
		{"echo `ls \\`pwd\\``", "[pwd] ; [ls]$[`pwd`] ; [echo]$[`ls \\`pwd\\``]"},
		{"echo ${X:-$(id)}", "[id] ; [echo]$[${X:-$(id)}]"},
		{"echo ${X:-\"a } b\"} c", "[echo]$[${X:-\"a } b\"}][c]"},
		{"echo $((1 + (2 * 3)))", "[echo]$[$((1 + (2 * 3)))]"},
		{"echo $((a); b)", "[a] ; [b] ; [echo]$[$((a); b)]"},
		{"(cd x && make)", "[cd][x] ; [make]"},
		{"{ a; b; }", "[a] ; [b]"},
		{"a > out 2>&1 < in", "[a]>out>&1<in"},
		{"a 2>err", "[a]>err"},
		{"a 2 >err", "[a][2]>err"},
		{"a &>all", "[a]&>all"},
		{"> empty", ">empty"},
		{"a >> log; b", "[a]>>log ; [b]"},
		{"X=1 Y=$Z make", "[X=1]$[Y=$Z][make]"},
		{"cat <<EOF\nrm -rf /\nEOF\nls", "[cat] ; [ls]"},
		{"cat <<'EOF' | sh\n$(rm x)\nEOF\nls", "[cat] | [sh] ; [ls]"},
		{"cat <<-EOF\n\trm\n\tEOF\nls", "[cat] ; [ls]"},
		{"cat <<A <<B\nx\nA\ny\nB\nls", "[cat] ; [ls]"},
		{"cat <<< word", "[cat]<<<word"},
		{"diff <(sort a) <(sort b)",
		 "[sort][a] ; [sort][b] ; [diff]$[/dev/fd/N]$[/dev/fd/N]"},
		{"if test -f x; then rm x; else touch x; fi",
		 "[test][-f][x] ; [rm][x] ; [touch][x]"},
		{"while read l; do echo $l; done < f", "[read][l] ; [echo]$[$l] ; <f"},
		{"for f in *.c; do cc $f; done", "[cc]$[$f]"},
		{"for ((i = 0; i < 3; i++)); do rm $i; done", "[rm]$[$i]"},
		{"case $x in a|b) rm a;; (c) rm c;; *) rm d; esac; ls",
		 "[rm][a] ; [rm][c] ; [rm][d] ; [ls]"},
		{"case x in a) case y in b) rm b;; esac;; esac; ls", "[rm][b] ; [ls]"},
		{"f() { rm x; }; f", "[rm][x] ; [f]"},
		{"function f { rm x; }; f", "[rm][x] ; [f]"},
		{"[[ a < b && -f $x ]] && rm x", "[rm][x]"},
		{"! grep -q x y", "[grep][-q][x][y]"},
		{"time make", "[make]"},
		{"echo $'a\\tb\\x41\\101\\''", "[echo][a\tbAA']"},
		{"echo if then", "[echo][if][then]"},
		{"\"if\" x", "[if][x]"},
		{"find . -name '*.o' -exec rm {} \\;", "[find][.][-name][*.o][-exec][rm][{}][;]"},
		{"git commit -m \"a; rm -rf /\"", "[git][commit][-m][a; rm -rf /]"},
		{"a\n\nb", "[a] ; [b]"},
		{"echo {a,b}", "[echo][{a,b}]"},
		{"echo 'open", "EINVAL"},
		{"echo \"open", "EINVAL"},
		{"echo $(open", "EINVAL"},
		{"echo `open", "EINVAL"},
		{"echo ${open", "EINVAL"},
		{"a )", "EINVAL"},
		{"(a", "EINVAL"},
		{"a >", "EINVAL"},
		{"a > ; b", "EINVAL"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *got = told(cases[i].text);

		if (!str_eq(got, cases[i].want))
			print_error("%s\n  got  %s\n  want %s\n", cases[i].text, got,
				    cases[i].want);
		assert_string_equal(got, cases[i].want);
	}
}

/* bash lists its reserved words. A line made of a command must give the same command again. */
TEST(a_program_with_a_reserved_name)
{
	FILE *bash = popen("bash -c 'compgen -k'", "re");
	char word[64];
	size_t n = 0;

	assert_non_null(bash);
	while (fgets(word, sizeof(word), bash)) {
		AUTO_BUF struct buf line = BUF_INIT;
		AUTO_FREE char *got = NULL;
		AUTO_FREE char *want = NULL;

		word[strcspn(word, "\n")] = '\0';
		text_shell_command(&line, word);
		buf_str(&line, " make");
		got = told(line.data);
		want = xasprintf("[%s][make]", word);
		assert_string_equal(got, want);
		n++;
	}
	assert_int_equal(pclose(bash), 0);
	assert_true(n >= 20);
}

TEST(limits)
{
	AUTO_BUF struct buf b = BUF_INIT;
	AUTO_FREE char *deep = NULL, *many = NULL, *braces = NULL;

	for (int i = 0; i < 1000; i++)
		buf_str(&b, "$(");
	deep = told(b.data);
	assert_string_equal(deep, "E2BIG");
	buf_clear(&b);
	for (int i = 0; i < 1000; i++)
		buf_str(&b, "${a:-");
	braces = told(b.data);
	assert_string_equal(braces, "E2BIG");
	buf_clear(&b);
	for (int i = 0; i < 600; i++)
		buf_str(&b, "a;");
	many = told(b.data);
	assert_string_equal(many, "E2BIG");
}

TESTS(NULL, NULL)
