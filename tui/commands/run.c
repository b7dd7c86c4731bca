/* run - `cordon run` and `cordon learn`: from the command line to a console, or to a headless run.
 */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/diff/rewritten.h"
#include "core/session/folders.h"
#include "core/session/learned.h"
#include "core/session/session.h"
#include "tui/commands/alone.h"
#include "tui/commands/commands.h"
#include "tui/commands/headless.h"
#include "tui/commands/run.h"
#include "tui/commands/stdio.h"
#include "tui/console/console.h"

/* A line each. */
static void tell_what(const struct run *run, struct buf *out)
{
	buf_fmt(out, "backend %s, network %s\n", run->spec.backend->name,
		run->spec.allow_network ? "shared"
		: run->spec.ask_network ? "asked for by host"
					: "shut");
	for (size_t i = 0; i < run->folders.n; i++)
		buf_fmt(out, "working folder %s\n", run->folders.list[i]);
	for (size_t i = 0; i < run->hidden.n; i++)
		buf_fmt(out, "hidden %s\n", run->hidden.list[i]);
}

static void say_what(const struct run *run)
{
	AUTO_BUF struct buf b = BUF_INIT;

	tell_what(run, &b);
	for (const char *line = b.data; *line; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "cordon: %.*s\n", (int)strcspn(line, "\n"), line);
}

/* Nothing of it is loosened; but the human believes that it counts. */
static void say_changed(const struct run *run)
{
	if (config_project(run->config) == TRUST_CHANGED)
		fprintf(stderr,
			"cordon: %s/.cordon.conf has changed since you trusted it: it can only "
			"make things stricter: read it, then say cordon policy trust\n",
			run->cwd);
}

static void list_overlays(const struct run *run)
{
	for (const char *line = run->kept.data; *line; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "cordon: overlay of %.*s\n", (int)strcspn(line, "\n"), line);
}

/* git needs it, and it is not the project's: the human says so. */
static void say_repository(const struct run *run)
{
	AUTO_FREE char *git = run->folders.n ? folders_repository(run->folders.list[0]) : NULL;
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_BUF struct buf quoted = BUF_INIT;

	for (size_t i = 0; git && i < run->folders.n; i++)
		if (path_is_beneath(git, run->folders.list[i]))
			return;
	if (!git)
		return;
	text_shell_word(&quoted, git);
	text_escape(&shown, quoted.data, quoted.len);
	fprintf(stderr,
		"cordon: this folder's git repository is outside of it: for git to work inside, "
		"start with --rw %s (its hooks and settings stay protected)\n",
		shown.data);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int in_console(struct run *run, struct err *err)
{
	const struct run_options *o = &run->opt;
	const struct config *c = run->config;
	AUTO_BUF struct buf notes = BUF_INIT;
	struct console_options opt = {.record = o->record, .again = &run->again};

	if (o->verbose)
		tell_what(run, &notes);
	opt.notes = notes.data;
	console_options_set(&opt, c);
	opt.theme = o->theme ? o->theme : opt.theme;
	opt.keymap = o->keymap ? o->keymap : opt.keymap;
	opt.exit_at_end |= o->exit_at_end;
	return console_run(&run->spec, &opt, err);
}

/* Where the proposal for this folder goes: never to where settings are read from. */
static int write_learned(const struct run *run, struct learned *l, struct err *err)
{
	AUTO_FREE char *label = path_label(run->folders.list[0]);
	AUTO_FREE char *dir = path_join(run->state_dir, "learned");
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_CLOSE int fd = -1;
	int r = io_mkdir_p(AT_FDCWD, dir, 0700);

	learned_rules(l, &text);
	if (r == 0)
		fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (r == 0)
		r = fd < 0 ? -errno : io_write_file(fd, label, 0600, text.data, text.len, false);
	if (r < 0)
		return err_set(err, r, "write what was learned to %s/%s", dir, label);
	fprintf(stderr,
		"cordon: asked for %zu place%s: the rules for them are in %s/%s: read them, then "
		"append what is right to your settings\n",
		learned_count(l), learned_count(l) == 1 ? "" : "s", dir, label);
	return 0;
}

static int learn(struct run *run, struct err *err)
{
	struct learned *l = learned_new(run->home, path_base(run->opt.argv[0]));
	int status, r;

	run->spec.dynamic = run->spec.headless = true;
	status = headless_run(&run->spec, l, err);
	r = status < 0 ? status : learned_count(l) ? write_learned(run, l, err) : 0;
	if (status >= 0 && !learned_count(l))
		fprintf(stderr, "cordon: nothing was asked for: no rule is needed\n");
	learned_free(l);
	return r < 0 ? r : status;
}

static void say_line(void *data, const char *words)
{
	AUTO_BUF struct buf shown = BUF_INIT;

	(void)data;
	text_escape(&shown, words, strlen(words));
	fprintf(stderr, "cordon: %s\n", shown.data);
}

/* Old commits may have changed, which no diff of the working tree shows. */
static void say_rewritten(const struct run *run, int64_t since_us)
{
	const char *folder = run->folders.n ? run->folders.list[0] : NULL;
	const struct journal_spec spec = {
		.folder = folder, .state_dir = run->state_dir, .read_only = true};
	struct err ignored = {0};
	struct journal *j = NULL;

	if (!folder || !rewritten_may_be(folder, since_us) ||
	    journal_open(&j, &spec, NULL, &ignored) < 0)
		return;
	if (rewritten_each(j, folder, say_line, NULL, &ignored) < 0)
		fprintf(stderr, "cordon: whether history was rewritten is not known: %s\n",
			ignored.text);
	journal_close(j);
}

static int start(struct run *run, bool learning, struct err *err)
{
	if (learning)
		return learn(run, err);
	if (run->opt.stdio)
		return stdio_run(&run->spec, err);
	return run->opt.headless ? headless_run(&run->spec, NULL, err) : in_console(run, err);
}

/* The same program with the same words, in this process: it has the terminal, and everything of the
 * session has ended. */
static int run_again(struct err *err)
{
	AUTO_FREE char *words = NULL;
	AUTO_FREE char **argv = NULL;
	size_t len = 0, n = 0;
	int r = io_read_file(AT_FDCWD, "/proc/self/cmdline", 4u << 20, &words, &len);

	if (r < 0)
		return err_set(err, r, "start the agent anew") < 0 ? CMD_FAILED : 0;
	argv = xcalloc(len + 2, sizeof(char *));
	for (size_t at = 0; at < len; at += strlen(words + at) + 1)
		argv[n++] = words + at;
	signal(SIGPIPE, SIG_DFL);
	execv("/proc/self/exe", argv);
	err_set(err, -errno, "start the agent anew");
	return CMD_FAILED;
}

static int run_with(int argc, char **argv, bool learning, struct err *err)
{
	struct run run = {.kept = BUF_INIT};
	const int64_t began = clock_wall_us();
	bool again;
	int r = run_options_parse(&run.opt, argc, argv, err);

	if (r == 0 && run.opt.help) {
		printf("usage: cordon %s [OPTIONS] [--] COMMAND [ARGUMENT...]\n\n",
		       learning ? "learn" : "[run]");
		run_options_help(stdout);
		run_done(&run);
		return 0;
	}
	if (r == 0)
		r = run_prepare(&run, err);
	if (r == 0 && run.opt.verbose && (learning || run.opt.headless))
		say_what(&run);
	if (r == 0)
		say_changed(&run);
	if (r == 0 && !run.opt.stdio)
		say_repository(&run);
	if (r == 0)
		r = start(&run, learning, err);
	if (r >= 0 && (r < CMD_FAILED || r > 127) && !learning && !run.opt.headless &&
	    run.folders.n)
		alone_note(run.state_dir, run.folders.list[0], argc, argv);
	list_overlays(&run);
	if (r >= 0 && !run.opt.stdio)
		say_rewritten(&run, began);
	if (r >= 0 && !run.spec.headless && !run.opt.stdio) /* the console has covered it */
		say_changed(&run);
	again = run.again;
	run_done(&run);
	if (again)
		return run_again(err);
	return r < 0 ? CMD_FAILED : r;
}

int cmd_run(int argc, char **argv, struct err *err)
{
	return run_with(argc, argv, false, err);
}

int cmd_learn(int argc, char **argv, struct err *err)
{
	return run_with(argc, argv, true, err);
}
