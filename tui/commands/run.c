/* run - `cordon run` and `cordon learn`: from the command line to a console, or to a headless
 * run. */
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
#include "core/session/folders.h"
#include "core/session/answers/learned.h"
#include "core/session/start/repository.h"
#include "core/session/session.h"
#include "tui/commands/alone.h"
#include "tui/commands/cache.h"
#include "tui/commands/commands.h"
#include "tui/commands/headless.h"
#include "tui/commands/learn_last.h"
#include "tui/commands/run.h"
#include "tui/commands/stdio.h"
#include "tui/console/console.h"

/* Warns about a changed project file: it cannot loosen anything, although the user trusted it. */
static void say_changed(const struct run *run)
{
	if (config_project(run->config) == TRUST_CHANGED)
		fprintf(stderr,
			"cordon: %s/.cordon.conf has changed since you trusted it: it can only "
			"make things stricter: read it, then say cordon policy trust\n",
			run->cwd);
}

static void say_ignored(const struct run *run)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	const char *setting = config_ignored(run->config);

	if (!setting)
		return;
	text_escape(&shown, setting, strlen(setting));
	fprintf(stderr, "cordon: %s is no setting any more, and is ignored: remove it\n",
		shown.data);
}

static void list_overlays(const struct run *run)
{
	for (const char *line = run->kept.data; *line; line += strcspn(line, "\n") + 1)
		fprintf(stderr, "cordon: overlay of %.*s\n", (int)strcspn(line, "\n"), line);
}

/* Warns about a folder whose `.git` leads to a directory that does not name the folder: only the
 * user can say whether the agent may work there. */
static void say_strange(const char *folder, const struct repository *r)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_BUF struct buf quoted = BUF_INIT;
	AUTO_BUF struct buf place = BUF_INIT;

	text_escape(&place, folder, strlen(folder));
	text_shell_word(&quoted, r->common);
	text_escape(&shown, quoted.data, quoted.len);
	fprintf(stderr,
		"cordon: '%s/.git' leads to %s, which does not name this folder as its worktree: "
		"git will not work inside; if that directory is meant, start with --rw %s (its "
		"hooks and settings stay protected)\n",
		place.data, shown.data, shown.data);
}

static bool is_taken(const struct run *run, const char *path)
{
	const struct strings *const lists[] = {&run->folders, &run->read_only, &run->overlays};

	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		for (size_t k = 0; k < lists[i]->n; k++)
			if (path_is_beneath(path, lists[i]->list[k]))
				return true;
	return false;
}

static void say_repositories(const struct run *run)
{
	for (size_t i = 0; i < run->folders.n; i++) {
		CLEANUP(repository_done) struct repository r;

		if (repository_find(&r, run->folders.list[i]) == REPOSITORY_STRANGE &&
		    !is_taken(run, r.common))
			say_strange(run->folders.list[i], &r);
	}
}

/* Adds a note about a folder that is a part of a checkout: git, and the agent, see no repository.
 * separator: between its three lines. */
static void add_checkout(const struct run *run, struct buf *notes, const char *separator)
{
	AUTO_FREE char *top = repository_above(run->folders.list[0], run->home);

	if (top && !is_taken(run, top))
		buf_fmt(notes,
			"git finds no repository here: start in%s%s, or add%s--ro %s to look only",
			separator, top, separator, top);
}

static void say_checkout(const struct run *run)
{
	AUTO_BUF struct buf note = BUF_INIT;
	AUTO_BUF struct buf shown = BUF_INIT;

	add_checkout(run, &note, " ");
	text_escape(&shown, note.data, note.len);
	if (shown.len)
		fprintf(stderr, "cordon: %s\n", shown.data);
}

/* ---- the command ----------------------------------------------------------------------------- */

static int in_console(struct run *run, struct err *err)
{
	const struct run_options *o = &run->opt;
	const struct config *c = run->config;
	AUTO_BUF struct buf notes = BUF_INIT;
	struct console_options opt = {.record = o->record};

	run_offer_prompts(run, &notes);
	add_checkout(run, &notes, "\n");
	opt.notes = notes.data;
	console_options_set(&opt, c);
	opt.theme = o->theme ? o->theme : opt.theme;
	opt.keymap = o->keymap ? o->keymap : opt.keymap;
	opt.exit_at_end |= o->exit_at_end;
	return console_run(&run->spec, &opt, &run->end, err);
}

/* Writes the proposal for this folder, to a file that is never read as settings. */
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

static bool does_start(const struct backend *be)
{
	struct err why = {0};

	be->probe(NULL, &why);
	return !why.code;
}

/* Explains a failure to start by what `cordon doctor` finds missing on this host. */
static void explain(const struct backend *be)
{
	AUTO_BUF struct buf others = BUF_INIT;
	struct err why = {0};

	be->probe(NULL, &why);
	if (!why.code || session_is_inside()) /* reported already; no back end helps */
		return;
	fprintf(stderr, "cordon: the backend %s does not start on this host: %s\n", be->name,
		why.text);
	for (size_t i = 0; backends[i]; i++)
		if (backends[i] != be && does_start(backends[i]))
			buf_fmt(&others, "%s--backend %s", others.len ? ", " : "",
				backends[i]->name);
	if (others.len)
		fprintf(stderr, "cordon: here starts: %s (cordon doctor says what each gives)\n",
			others.data);
}

static int start(struct run *run, bool learning, struct err *err)
{
	if (learning)
		return learn(run, err);
	if (run->opt.stdio)
		return stdio_run(&run->spec, err);
	return run->opt.headless ? headless_run(&run->spec, NULL, err) : in_console(run, err);
}

/* Executes the same program with the same arguments: it has the terminal, and the session has ended
 * completely. */
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

/* Leaves a session that continues; this client may show another session. */
static int leave_detached(struct run *run, int status, struct err *err)
{
	AUTO_FREE char *next = take_ptr(&run->end.next);
	char *argv[] = {next, NULL};

	run_done(run);
	if (next)
		return cmd_attach(1, argv, err);
	return status;
}

static const char run_about[] =
	"usage: cordon [run] [OPTIONS] [--] COMMAND [ARGUMENT...]\n\n"
	"Run a command in the sandbox, in the console. The current directory is its\n"
	"working folder.\n\n";

static const char learn_about[] =
	"usage: cordon learn [OPTIONS] [--] COMMAND [ARGUMENT...]\n"
	"       cordon learn --last [--yes]\n\n"
	"Run a command without console, allow the reads that it asks for, and write rules\n"
	"for them to a file that you can look through. --last proposes rules for the\n"
	"requests of the last session instead.\n\n";

static int run_with(int argc, char **argv, bool learning, struct err *err)
{
	struct run run = {.kept = BUF_INIT};
	const int64_t began = clock_wall_us();
	bool again;
	int r = run_options_parse(&run.opt, argc, argv, err);

	if (r == 0 && run.opt.help) {
		fputs(learning ? learn_about : run_about, stdout);
		run_options_help(false);
		run_done(&run);
		return 0;
	}
	if (r == 0)
		r = run_prepare(&run, err);
	if (r == 0) {
		run.spec.line = run_options_line(&run.opt, run.cwd);
		strings_add(&run.owned, run.spec.line);
		say_changed(&run);
		say_ignored(&run);
	}
	if (r == 0 && !run.opt.stdio) {
		say_repositories(&run);
		if (run.opt.headless)
			say_checkout(&run);
	}
	if (r == 0)
		r = start(&run, learning, err);
	if ((r < 0 || r == CMD_FAILED) && run.spec.backend)
		explain(run.spec.backend);
	if (r >= 0 && (r < CMD_FAILED || r > 127) && !learning && !run.opt.headless &&
	    run.folders.n)
		alone_note(run.state_dir, run.folders.list[0], argc, argv);
	if (run.end.detached)
		return leave_detached(&run, r, err);
	list_overlays(&run);
	if (run.state_dir && run.config)
		cache_trim_daily(run.state_dir, config_int(run.config, "cache.size"));
	if (r >= 0 && !run.opt.stdio)
		run_say_rewritten(&run, began);
	if (r >= 0 && !run.spec.headless && !run.opt.stdio) /* the console has covered it */
		say_changed(&run);
	again = run.end.again;
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
	if (learn_last_is_meant(argc, argv))
		return learn_last(argc, argv, err);
	return run_with(argc, argv, true, err);
}
