/* board - `cordon board`: all sessions on one screen. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/config/config.h"
#include "core/hook/shell.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/show.h"
#include "tui/console/console.h"

struct board_flags {
	bool new;
	const char *in, *fork, *command, *theme, *keymap;
};

static const struct flag flags[] = {
	{"--new", NULL, offsetof(struct board_flags, new),
	 "ask for a folder and a command, and start a session with them"},
	{"--in", "DIR", offsetof(struct board_flags, in),
	 "with --new: the folder that is proposed"},
	{"--fork", "STEP", offsetof(struct board_flags, fork),
	 "with --in: ask for a name and a command, and start it in a worktree of that folder, as "
	 "its files were after the step"},
	{"--command", "COMMAND", offsetof(struct board_flags, command),
	 "with --new and --fork: the command that is proposed"},
	{"--theme", "NAME|FILE", offsetof(struct board_flags, theme), "colours"},
	{"--keymap", "NAME|FILE", offsetof(struct board_flags, keymap), "keys"},
};

static const struct usage usage = {
	"board [--new | --fork STEP]",
	"All sessions of yours, those that ask first: answer there, go there (detaching comes "
	"back), "
	"start one, end one, look at the recording of one that has ended.",
	flags,
	ARRAY_LEN(flags),
};

/* ---- a new session --------------------------------------------------------------------------- */

#define ESC 0x1b

/* Makes Esc end a line, as Enter does, during questions. */
static void set_esc(bool on)
{
	struct termios modes;

	if (tcgetattr(STDIN_FILENO, &modes) < 0)
		return;
	modes.c_cc[VEOL] = on ? ESC : _POSIX_VDISABLE;
	tcsetattr(STDIN_FILENO, TCSANOW, &modes);
}

/* Reads a line from the terminal. *ret: the line; if it is empty, the default in brackets. Returns
 * 1 to cancel: after Esc or at the end of the input. */
static int ask(const char *what, const char *otherwise, char *line, size_t size, const char **ret)
{
	size_t len = 0;
	char c = 0;

	printf("%s [", what);
	show_text(otherwise, strlen(otherwise));
	printf("]: ");
	fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) == 1 && c != '\n' && c != ESC)
		if (len + 1 < size)
			line[len++] = c;
	line[len] = '\0';
	if (c != '\n') {
		putchar('\n');
		return 1;
	}
	*ret = *line ? line : otherwise;
	return 0;
}

static int go_to(const char *folder, struct err *err)
{
	const char *home = getenv("HOME");
	bool in_home = folder[0] == '~' && (folder[1] == '/' || !folder[1]);
	AUTO_FREE char *path = in_home && home ? xasprintf("%s%s", home, folder + 1) : NULL;

	if (chdir(path ? path : folder) < 0)
		return err_set(err, -errno, "%s", folder);
	return 0;
}

/* Starts a session with a line of arguments for cordon run, in a shell's syntax but without
 * expansion: "--worktree claude 'fix it'". */
static int start_with(const char *line, const char *first, const char *second, struct err *err)
{
	AUTO_SHELL struct shell_line words = {0};
	AUTO_FREE char **argv = NULL;
	int argc = 0, r = shell_parse(&words, line, strlen(line));

	if (r < 0 || words.n_commands != 1 || words.n_redirects)
		return err_say(err, -EINVAL,
			       "not one command: put quotes around blanks and signs of the shell, "
			       "or begin with sh -c");
	argv = xcalloc(words.n_words + 3, sizeof(*argv));
	if (first)
		argv[argc++] = (char *)(uintptr_t)first;
	if (second)
		argv[argc++] = (char *)(uintptr_t)second;
	for (size_t i = 0; i < words.n_words; i++)
		argv[argc++] = (char *)(uintptr_t)words.words[i].text;
	return cmd_run(argc, argv, err);
}

static const char *proposed(const struct board_flags *f)
{
	const char *shell = getenv("SHELL") ? getenv("SHELL") : "/bin/sh";

	return f->command && *f->command ? f->command : shell;
}

static int start_new(const struct board_flags *f, struct err *err)
{
	char here[PATH_MAX], folder[PATH_MAX], command[4096];
	const char *in = f->in, *line = NULL;
	int r;

	if (!in)
		in = getcwd(here, sizeof(here)) ? here : "~";
	set_esc(true);
	r = ask("Folder", in, folder, sizeof(folder), &in);
	if (r == 0)
		r = go_to(in, err);
	if (r == 0)
		r = ask("Command of cordon run", proposed(f), command, sizeof(command), &line);
	set_esc(false);
	if (r)
		return r < 0 ? CMD_FAILED : 0;
	return start_with(line, NULL, NULL, err);
}

/* Waits for Enter after an error: its message would disappear with the screen. */
static int wait_read(int status, struct err *err)
{
	const char *ignored;
	char line[8];

	if (status >= 0 && (status != CMD_FAILED || !err->code))
		return status;
	fprintf(stderr, "cordon: %s\n", err->text);
	*err = (struct err){0};
	ask("Enter goes back", "", line, sizeof(line), &ignored);
	return 0;
}

static int start_fork(const struct board_flags *f, struct err *err)
{
	static const char any[] = "the next free one";
	const char *chosen = NULL, *line = NULL;
	AUTO_FREE char *step = xasprintf("--from-step=%s", f->fork);
	AUTO_FREE char *worktree = NULL;
	char name[64], command[4096];
	int r = f->in ? go_to(f->in, err) : 0;

	if (r < 0)
		return CMD_FAILED;
	printf("A git worktree whose files are as after step ");
	show_text(f->fork, strlen(f->fork));
	putchar('\n');
	set_esc(true);
	r = ask("Its name", any, name, sizeof(name), &chosen);
	if (r == 0)
		r = ask("Command of cordon run", proposed(f), command, sizeof(command), &line);
	set_esc(false);
	if (r)
		return 0;
	worktree = xasprintf("--worktree=%s", str_eq(chosen, any) ? "" : chosen);
	return wait_read(start_with(line, worktree, step, err), err);
}

/* ---- the board ------------------------------------------------------------------------------- */

static int show(const struct board_flags *f, struct err *err)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "/";
	AUTO_FREE char *state = folders_state_dir(home);
	struct console_options opt = {0};
	struct config *config = NULL;
	int r = config_load(&config,
			    &(struct config_spec){.home = home,
						  .config_home = getenv("XDG_CONFIG_HOME"),
						  .state_dir = state},
			    err);

	if (r == 0) {
		folders_keep_out(state, home, NULL, config);
		console_options_set(&opt, config);
		opt.theme = f->theme ? f->theme : opt.theme;
		opt.keymap = f->keymap ? f->keymap : opt.keymap;
		r = console_board(&(struct attach_spec){.home = home, .state_dir = state}, &opt,
				  err);
	}
	config_free(config);
	return r;
}

int cmd_board(int argc, char **argv, struct err *err)
{
	struct board_flags f = {0};
	int r = flags_parse(&usage, argc, argv, &f, NULL, err);

	if (r > 0) /* --help was printed */
		return 0;
	if (r == 0 && !f.new && !f.fork && !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)))
		r = err_say(
			err, -ENOTTY,
			"board: needs a terminal on its input and output: cordon sessions lists "
			"them without one");
	if (r == 0)
		r = f.fork ? start_fork(&f, err) : f.new ? start_new(&f, err) : show(&f, err);
	return r < 0 ? CMD_FAILED : r;
}
