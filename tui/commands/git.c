/* git - runs the user's git, outside the sandbox. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/git.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/external.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/file.h"
#include "core/os/socket.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

#define OWN_WORDS 6 /* git's own arguments before the caller's */

/* Fills argv with git's name, its options, and the words, which end with NULL. An agent may write
 * refs/replace, info/grafts and the commit graph, by which git would show and commit other objects
 * than HEAD's. Grafts are read from a path that cannot exist. */
static void git_words(const char *argv[OWN_WORDS + GIT_WORDS_MAX + 1], const char *dir,
		      const char *const *words)
{
	size_t n = 0;

	setenv("GIT_GRAFT_FILE", "/dev/null/none", 1);
	argv[n++] = "git";
	argv[n++] = "--no-replace-objects";
	argv[n++] = "-c";
	argv[n++] = "core.commitGraph=false";
	argv[n++] = "-C";
	argv[n++] = dir;
	for (; *words && n < OWN_WORDS + GIT_WORDS_MAX; words++)
		argv[n++] = *words;
	argv[n] = NULL;
}

int git_run(const char *dir, const char *const *words, struct err *err)
{
	const char *argv[OWN_WORDS + GIT_WORDS_MAX + 1];

	git_words(argv, dir, words);
	fflush(NULL);
	return external_run_here(argv, err);
}

static int exit_status(pid_t pid, struct err *err)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, -errno, "wait for git");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show_lines(int fd)
{
	AUTO_FREE char *line = NULL;
	FILE *from = fdopen(fd, "r");
	size_t cap = 0;
	ssize_t len;

	while (from && (len = getline(&line, &cap, from)) > 0) {
		bool whole = line[len - 1] == '\n', indented = *line == '\t';

		if (indented) /* names of files, below a sentence */
			fputs("        ", stdout);
		show_text(line + indented, (size_t)len - whole - indented);
		putchar('\n');
	}
	if (from)
		fclose(from);
	else
		close(fd);
}

int git_shown(const char *dir, const char *const *words, struct err *err)
{
	const char *argv[OWN_WORDS + GIT_WORDS_MAX + 1];
	int fds[2];
	pid_t pid;

	git_words(argv, dir, words);
	fflush(NULL);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, -errno, "run git");
	pid = external_start(
		&(struct external){.argv = argv, .in = EXTERNAL_NULL, .out = fds[1], .err = fds[1]},
		err);
	close(fds[1]);
	show_lines(fds[0]);
	return pid < 0 ? pid : exit_status(pid, err);
}

char *git_output(const char *dir, const char *const *words, int in, size_t max, size_t *len)
{
	const char *argv[OWN_WORDS + GIT_WORDS_MAX + 1];
	struct err err = {0};
	char *text = NULL;
	int fds[2], status;
	pid_t pid;

	git_words(argv, dir, words);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return NULL;
	pid = external_start(
		&(struct external){.argv = argv, .in = in, .out = fds[1], .err = EXTERNAL_NULL},
		&err);
	close(fds[1]);
	if (pid > 0 && io_read_all(fds[0], max, &text, len) < 0)
		text = NULL;
	close(fds[0]);
	if (pid <= 0 || waitpid(pid, &status, 0) != pid || status != 0) {
		free(text);
		return NULL;
	}
	return text;
}

char *git_text(const char *dir, const char *const *words)
{
	size_t len = 0;
	char *text = git_output(dir, words, EXTERNAL_NULL, GIT_OUT_MAX, &len);

	if (text && len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

/* ---- indexes --------------------------------------------------------------------------------- */

#define SCRATCH "git."

/* Removes directories of killed processes. */
static void remove_stale(const char *state_dir)
{
	AUTO_DIR DIR *d = opendir(state_dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		const char *number = e->d_name + strlen(SCRATCH);
		char *end = NULL;
		long pid = str_starts(e->d_name, SCRATCH) ? strtol(number, &end, 10) : 0;

		if (pid > 0 && !*end && kill((pid_t)pid, 0) < 0 && errno == ESRCH &&
		    io_remove_tree(dirfd(d), e->d_name) < 0)
			fprintf(stderr, "cordon: %s/%s is left\n", state_dir, e->d_name);
	}
}

char *git_scratch(const char *state_dir, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("%s/" SCRATCH "%d", state_dir, (int)getpid());

	remove_stale(state_dir);
	if (io_remove_tree(AT_FDCWD, dir) < 0 || mkdir(dir, 0700) < 0) {
		err_set(err, -errno, "make the directory '%s'", dir);
		return NULL;
	}
	return take_ptr(&dir);
}

int git_input(const void *data, size_t len)
{
	int fd = os_memory_file("git");
	int r = fd < 0 ? fd : io_write_all(fd, data, len);

	if (r == 0 && lseek(fd, 0, SEEK_SET) < 0)
		r = -errno;
	if (r < 0 && fd >= 0)
		close(fd);
	return r < 0 ? r : fd;
}

/* Returns the ID of the tree of the index's files: git computes all IDs, because the new index has
 * no cached ones. Heap, or NULL. */
static char *tree_of_index(const char *dir, const char *scratch)
{
	AUTO_FREE char *own = xstrdup(getenv(GIT_INDEX));
	AUTO_FREE char *fresh = path_join(scratch, "fresh");
	AUTO_FREE char *said = NULL;
	size_t len = 0, n;
	AUTO_FREE char *files = git_output(dir, GIT("ls-files", "-s", "-z", "--full-name", ":/"),
					   EXTERNAL_NULL, GIT_INDEX_MAX, &len);
	AUTO_CLOSE int in = files ? git_input(files, len) : -1;
	char *tree = NULL;

	setenv(GIT_INDEX, fresh, 1);
	if (in >= 0)
		said = git_output(dir, GIT("update-index", "-z", "--index-info"), in, GIT_OUT_MAX,
				  &n);
	if (said)
		tree = git_text(dir, GIT("write-tree", "--missing-ok"));
	setenv(GIT_INDEX, own, 1);
	return tree;
}

int git_check_index(const char *dir, const char *commit, const char *scratch, struct err *err)
{
	AUTO_FREE char *spec = xasprintf("%s^{tree}", commit);
	AUTO_FREE char *want = git_text(dir, GIT("rev-parse", "--verify", "-q", spec));
	AUTO_FREE char *is = tree_of_index(dir, scratch);

	if (want && is && str_eq(want, is))
		return 0;
	return err_say(err, -EIO,
		       "git does not read the files that commit %.12s was made with: its objects "
		       "were changed, maybe by an agent: see git fsck",
		       commit);
}

int git_check_commit(const char *dir, const char *commit, struct err *err)
{
	AUTO_HERE struct here at = {0};
	AUTO_FREE char *scratch = NULL, *index = NULL, *said = NULL;
	int r = here_find(&at, err);

	if (r < 0)
		return r;
	scratch = git_scratch(at.state_dir, err);
	if (!scratch)
		return err->code;
	index = path_join(scratch, "index");
	setenv(GIT_INDEX, index, 1);
	said = git_text(dir, GIT("read-tree", commit));
	r = said ? git_check_index(dir, commit, scratch, err)
		 : err_say(err, -EIO, "git cannot read the commit %s", commit);
	unsetenv(GIT_INDEX);
	if (io_remove_tree(AT_FDCWD, scratch) < 0)
		fprintf(stderr, "cordon: %s is left\n", scratch);
	return r;
}
