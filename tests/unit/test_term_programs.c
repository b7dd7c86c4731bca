/* test_term_programs - programs' screens are the same as in tmux, cell by cell, also after a
 * resize. */
/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/term_fixture.h"

/* tmux runs the program and records its output (pipe-pane); the same bytes are fed to a term. tmux
 * prints its cells with their style as SGR (capture-pane -e): painted on a second term they must be
 * the cells of the first. */

static char dir[64];

#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void tmux(struct buf *out, const char *fmt, ...)
{
	char cmd[1024];
	size_t at = (size_t)snprintf(
		cmd, sizeof(cmd), "cd %s && TMUX= LC_ALL=C.UTF-8 tmux -u -S s -f /dev/null ", dir);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(cmd + at, sizeof(cmd) - at, fmt, ap);
	va_end(ap);
	read_command(out, cmd);
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
}

/* Feeds the program's bytes from `from` on, once it has been quiet for a while; there may be
 * none. */
static size_t feed_rest(struct term *t, size_t from)
{
	char name[96], chunk[4096];
	off_t size = -1;
	struct stat st;
	size_t n;
	FILE *f;

	snprintf(name, sizeof(name), "%s/bytes", dir);
	for (int quiet = 0, i = 0; i < 300 && (quiet < 3 || ((size_t)size <= from && i < 15));
	     i++) {
		if (stat(name, &st) < 0)
			st.st_size = 0;
		quiet = st.st_size == size ? quiet + 1 : 0;
		size = st.st_size;
		nap();
	}
	f = fopen(name, "r");
	assert_non_null(f);
	fseek(f, (long)from, SEEK_SET);
	while ((n = fread(chunk, 1, sizeof(chunk), f)) > 0) {
		term_feed(t, chunk, n);
		from += n;
	}
	fclose(f);
	return from;
}

/* tmux does not print the background behind a row's text after an erase. */
static bool same_as_tmux(struct pane *mine, char *why, size_t size)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	struct term_cursor cur;
	struct pane theirs;
	int rows, cols, y = 0, told[100] = {0};
	bool same = true;

	term_size(mine->t, &rows, &cols);
	assert_true(rows <= (int)ARRAY_LEN(told));
	pane_init(&theirs, rows, cols);
	tmux(&shown, "capture-pane -e -p -N");
	for (const char *p = shown.data; *p && y < rows; y++) {
		size_t len = strcspn(p, "\n");
		char at[32];

		term_feed(theirs.t, at, (size_t)snprintf(at, sizeof(at), "\033[%d;1H", y + 1));
		term_feed(theirs.t, p, len);
		if (term_cursor(theirs.t, &cur))
			told[y] = cur.col;
		p += len + (p[len] == '\n');
	}
	pane_cell(mine, 0, 0);
	pane_cell(&theirs, 0, 0);
	for (y = 0; y < rows && same; y++) {
		for (int x = 0; x < cols && same; x++) {
			const struct cell *a = surface_cell(&mine->s, x, y);
			const struct cell *b = surface_cell(&theirs.s, x, y);

			same = same_look(a, b) || (x >= told[y] && is_blank(a) && is_blank(b));
			if (!same)
				snprintf(why, size,
					 "row %d column %d: '%s' %x %x %x, tmux '%s' %x %x %x", y,
					 x, a->text, a->style.fg, a->style.bg, a->style.attr,
					 b->text, b->style.fg, b->style.bg, b->style.attr);
		}
	}
	buf_clear(&shown);
	tmux(&shown, "display-message -p '#{cursor_y} #{cursor_x}'");
	if (same && term_cursor(mine->t, &cur)) {
		int row = -1, col = -1;

		sscanf(shown.data, "%d %d", &row, &col);
		same = cur.row == row && cur.col == MIN(col, cols - 1);
		snprintf(why, size, "cursor %d,%d, tmux %d,%d", cur.row, cur.col, row, col);
	}
	pane_done(&theirs);
	return same;
}

static void expect_same(struct pane *p, size_t *at, const char *program, const char *when)
{
	char why[300] = "";

	for (int i = 0; i < 10; i++) {
		*at = feed_rest(p->t, *at);
		if (same_as_tmux(p, why, sizeof(why)))
			return;
	}
	tmux(NULL, "kill-server");
	fail_msg("%s, %s: %s", program, when, why);
}

static void compare(const char *program, const char *keys, size_t n_sizes)
{
	static const int sizes[][2] = {{100, 30}, {60, 14}, {132, 40}};
	struct pane p;
	size_t at = 0;
	char name[96];

	pane_init(&p, 24, 80);
	snprintf(name, sizeof(name), "%s/bytes", dir);
	unlink(name);
	tmux(NULL,
	     "new-session -d -x 80 -y 24 'until [ -e bytes ]; do sleep 0.02; done; "
	     "TERM=xterm-256color "
	     "HOME=%s exec %s' "
	     "\\; set -g status off \\; set -g window-size manual \\; resize-window -x 80 -y 24 "
	     "\\; pipe-pane -o 'cat >>bytes'",
	     dir, program);
	for (int i = 0; i < 500 && strspn(pane_screen(&p), "|") == p.screen.len; i++)
		at = feed_rest(p.t, at);
	expect_same(&p, &at, program, "at first");
	if (keys) {
		tmux(NULL, "send-keys %s", keys);
		expect_same(&p, &at, program, "after keys");
	}
	for (size_t i = 0; i < MIN(n_sizes, ARRAY_LEN(sizes)); i++) {
		char when[32];

		snprintf(when, sizeof(when), "at %dx%d", sizes[i][0], sizes[i][1]);
		term_resize(p.t, sizes[i][1], sizes[i][0]);
		tmux(NULL, "resize-window -x %d -y %d", sizes[i][0], sizes[i][1]);
		expect_same(&p, &at, program, when);
	}
	tmux(NULL, "kill-server");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%s/s", dir);
		if (access(name, F_OK) < 0)
			break;
		nap();
	}
	pane_done(&p);
}

static void write_file(const char *name, const char *text)
{
	char path[96];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int setup(void **state)
{
	AUTO_BUF struct buf text = BUF_INIT;

	(void)state;
	strcpy(dir, "/tmp/programs.XXXXXX");
	assert_non_null(mkdtemp(dir));
	for (int i = 0; i < 120; i++)
		buf_fmt(&text,
			"int line_%d(const char *s) { return s[%d]; } /* \xe6\xbc\xa2 e\xcc\x81 %s "
			"*/\n",
			i, i,
			i % 7 ? ""
			      : "a comment that is longer than the screen is wide, for sure, by "
				"far");
	write_file("file.c", text.data);
	return 0;
}

static int teardown(void **state)
{
	char cmd[96];

	(void)state;
	snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	return system(cmd) == 0 ? 0 : -1;
}

/* Once is enough: sanitizers check other things. */
#ifdef __SANITIZE_ADDRESS__
#define ONCE skip()
#else
#define ONCE (void)0
#endif

static bool is_there(const char *program)
{
	char cmd[96];

	snprintf(cmd, sizeof(cmd), "command -v %s >/dev/null", program);
	return system(cmd) == 0;
}

/* Skips a program that is not installed. */
static void compare_if(const char *program, const char *command, const char *keys, size_t n_sizes)
{
	if (!is_there(program))
		skip();
	compare(command, keys, n_sizes);
}

TEST(vim_edits)
{
	compare_if(
		"vim",
		"vim -N -u NONE -i NONE --cmd \"syntax on\" --cmd \"set number ruler hls\" file.c",
		"20G A 'words' Escape /line_3 Enter", 3);
}

TEST(less_pages)
{
	compare_if("less", "less -N file.c", "Space /line_4 Enter", 3);
}

TEST(bash_reads_a_line)
{
	compare_if("bash", "env PS1=\"$ \" bash --norc --noprofile -i",
		   "'head -30 file.c' Enter 'echo a line that is typed and that is longer than the "
		   "whole screen, "
		   "which wraps' C-a M-f M-f",
		   3);
}

TEST(nano_edits)
{
	compare_if("nano", "nano -I file.c", "C-v 'typed' C-w line_5 Enter", 3);
}

/* When a screen that is not full gets narrower, tmux pushes rows out before it uses the empty rows
 * at the bottom. */
TEST(python_talks)
{
	compare_if("python3", "python3 -q",
		   "'for i in range(9): print(\\\"word \\\" * i * i)' Enter Enter", 1);
}

TEST(neovim_edits)
{
	ONCE;
	compare_if("nvim", "nvim -u NONE -i NONE --cmd \"syntax on|set number hls tgc\" file.c",
		   "20G A 'words' Escape /line_3 Enter", 3);
}

/* Its meters are constant for ten seconds. */
TEST(htop_lists)
{
	ONCE;
	compare_if("htop", "htop -d 100", "F5 Down Down", 3);
}

TEST(fzf_finds)
{
	ONCE;
	compare_if("fzf", "sh -c \"fzf --multi <file.c\"", "line_3 Up Tab", 3);
}

TEST(mc_browses)
{
	ONCE;
	compare_if("mc", "mc -u -x", "Down Tab F9", 3);
}

TEST(tmux_in_tmux)
{
	ONCE;
	compare_if("tmux",
		   "env -u TMUX tmux -S inner -f /dev/null new \"head -40 file.c; cat\" "
		   "\\; split-window -h \"head -9 file.c; cat\" \\; set -g status-right x",
		   "'typed' Enter", 3);
}

TEST(node_talks)
{
	ONCE;
	compare_if("node", "node -i", "'[1,\\\"two\\\",{three:3}]' Enter", 1);
}

/* Agents ask for a colour scheme or a login before they need a network. */
TEST(agents_open)
{
	/* claude ends without a network, and a shell's screen is not full. */
	static const struct {
		const char *name;
		size_t n_sizes;
	} agents[] = {{"claude", 1}, {"codex", 3}, {"gemini", 3}, {"opencode", 3}};
	char command[64];
	size_t n = 0;

	ONCE;
	for (size_t i = 0; i < ARRAY_LEN(agents); i++) {
		if (!is_there(agents[i].name)) {
			print_message("%s is not installed\n", agents[i].name);
			continue;
		}
		snprintf(command, sizeof(command), "sh -c \"%s; cat\"", agents[i].name);
		compare(command, NULL, agents[i].n_sizes);
		n++;
	}
	if (!n)
		skip();
}

int main(void)
{
	cmocka_set_test_filter(getenv("CORDON_TEST_ONLY"));
	return run_all(NULL, NULL, setup, teardown);
}
