/* alone - `cordon` without arguments: the console in this folder, with the last command. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/alone.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/api/socket/link.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/options.h"

#define LAST_MAX ((size_t)64 << 10)
#define ARGS_MAX 512

/* The state directory, which does not exist inside, has a file for each folder: the arguments, each
 * with its NUL. */

static char *last_dir(const char *state_dir)
{
	return path_join(state_dir, "last");
}

void alone_note(const char *state_dir, const char *folder, int argc, char **argv)
{
	AUTO_FREE char *dir = last_dir(state_dir), *label = path_label(folder);
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_CLOSE int fd = -1;

	for (int i = 0; i < argc; i++)
		buf_add(&text, argv[i], strlen(argv[i]) + 1);
	if (text.len > LAST_MAX || argc > ARGS_MAX || io_mkdir_p(AT_FDCWD, dir, 0700) < 0)
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && io_write_file(fd, label, 0600, text.data, text.len, false) < 0)
		log_warn("alone", "what ran in '%s' cannot be noted", folder);
}

struct last {
	char *text;
	char *argv[ARGS_MAX + 1]; /* point into text */
	int argc;
};

static void last_load(struct last *l, const char *state_dir, const char *folder)
{
	AUTO_FREE char *dir = last_dir(state_dir), *label = path_label(folder);
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const char *shell = getenv("SHELL");
	size_t len = 0;

	*l = (struct last){0};
	if (fd >= 0 && io_read_file(fd, label, LAST_MAX, &l->text, &len) < 0)
		len = 0;
	for (size_t at = 0; at < len && l->argc < ARGS_MAX; at += strlen(l->text + at) + 1)
		l->argv[l->argc++] = l->text + at;
	if (l->argc)
		return;
	free(l->text);
	l->text = xstrdup(shell && *shell == '/' ? shell : "/bin/sh");
	l->argv[l->argc++] = l->text;
}

void alone_command(const char *state_dir, const char *folder, char **ret_command,
		   char **ret_profile)
{
	struct run_options o = {0};
	struct err ignored = {0};
	struct last last;

	last_load(&last, state_dir, folder);
	*ret_command = *ret_profile = NULL;
	if (run_options_parse(&o, last.argc, last.argv, &ignored) == 0 && o.argv && o.argv[0]) {
		*ret_command = xstrdup(o.argv[0]);
		*ret_profile = o.profile ? xstrdup(o.profile) : NULL;
	}
	run_options_done(&o);
	free(last.text);
}

struct open_here {
	const char *folder;
	char *session, *command;
};

static int look_at(struct link *l, void *data, struct err *err)
{
	struct open_here *o = data;

	(void)err;
	if (!str_eq(link_field(l, "folder"), o->folder))
		return 0;
	o->session = xstrdup(l->session);
	o->command = xstrdup(link_field(l, "command"));
	return 1;
}

/* Asks whether to attach. Returns 1 for yes, 0 for no. */
static int asks(const struct open_here *o)
{
	AUTO_BUF struct buf shown = BUF_INIT;
	char answer[16] = "n";

	text_escape(&shown, o->command, strlen(o->command));
	printf("A session is open here: %s\nAttach to it? [Y/n] ", shown.data);
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		return 0;
	return *answer == '\n' || *answer == 'y' || *answer == 'Y';
}

/* Offers to attach to an open session. Returns 0 if none is open; else *status is the exit
 * status. */
static int offer(const char *folder, int *status, struct err *err)
{
	AUTO_BUF struct buf mute = BUF_INIT;
	struct open_here o = {.folder = folder};
	struct err ignored = {0};
	int found = link_each(NULL, look_at, &o, &mute, &ignored);

	if (found > 0 && asks(&o)) {
		char *argv[] = {o.session, NULL};

		*status = cmd_attach(1, argv, err);
	} else if (found > 0) {
		printf("cordon attach shows it; cordon sessions lists all.\n");
		*status = 0;
	}
	free(o.session);
	free(o.command);
	return found > 0;
}

int cmd_alone(struct err *err)
{
	AUTO_FREE char *home = NULL, *state_dir = NULL, *folder = NULL;
	struct last last;
	int status = CMD_FAILED, r = folders_home(&home, err);

	if (r < 0)
		return CMD_FAILED;
	state_dir = folders_state_dir(home);
	r = folders_of_cwd(&folder, state_dir, err);
	if (r < 0 || offer(folder, &status, err))
		return status;
	last_load(&last, state_dir, folder);
	status = cmd_run(last.argc, last.argv, err);
	free(last.text);
	return status;
}
