/* git_store - hides a store that lies in the working folder from git. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/git_store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"

/*
 * `git clean -fdx` removes ignored files, but not a directory that looks like another repository (a
 * .git with HEAD, objects and refs; git-clean(1), -f). `git add` refuses such a directory unless it
 * is ignored, and only the outer repository can ignore it: so its info/exclude gets a line first
 * (gitignore(5)). The inner repository names an extension that git does not know, so that no
 * program works in it (gitrepository-layout(5)).
 */

#define EXCLUDE_MAX ((size_t)1 << 20)

static const char line[] = ".cordon/\n";

static bool has_line(const char *text)
{
	const char *at = strstr(text, line);

	while (at && at != text && at[-1] != '\n')
		at = strstr(at + 1, line);
	return at;
}

/* Opens .git of the folder's work tree. It must be a directory of this user, on the same file
 * system: the agent may have made it, in an earlier session. */
static int open_git(const struct journal *j)
{
	AUTO_FREE char *dir = xstrdup(j->folder);
	struct stat st, top;

	if (fstat(j->roots[0].fd, &top) < 0)
		return -errno;
	for (;;) {
		AUTO_FREE char *path = path_join(dir, ".git");
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		char *slash = strrchr(dir, '/');

		if (fd >= 0 && fstat(fd, &st) == 0)
			return st.st_dev == top.st_dev && st.st_uid == geteuid() ? take_fd(&fd)
										 : -EPERM;
		if (fd >= 0 || errno != ENOENT || slash == dir)
			return fd < 0 ? -errno : -EPERM;
		*slash = '\0';
	}
}

/* Appends the line. The file must be a regular one of this user, with one hard link. */
static int exclude(int git)
{
	AUTO_CLOSE int info = -1, fd = -1;
	AUTO_FREE char *text = NULL;
	struct stat st;
	size_t len;
	int r;

	if (mkdirat(git, "info", 0777) < 0 && errno != EEXIST)
		return -errno;
	info = openat(git, "info", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (info < 0)
		return -errno;
	fd = openat(info, "exclude",
		    O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode) || st.st_nlink != 1 || st.st_uid != geteuid())
		return -EPERM;
	r = io_read_all(fd, EXCLUDE_MAX, &text, &len);
	if (r < 0 || has_line(text))
		return r < 0 ? r : 0;
	if (len && text[len - 1] != '\n')
		r = io_write_all(fd, "\n", 1);
	return r < 0 ? r : io_write_all(fd, line, strlen(line));
}

/* Makes the store look like a repository. HEAD comes last: without it git sees none. */
static int mark(int store)
{
	static const char config[] = "[core]\n\trepositoryformatversion = 1\n"
				     "[extensions]\n\tcordon = true\n";
	static const char head[] = "ref: refs/heads/none\n";
	static const char *const dirs[] = {".git", ".git/objects", ".git/refs"};
	AUTO_CLOSE int git = -1;
	int r;

	if (faccessat(store, ".git/HEAD", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++)
		if (mkdirat(store, dirs[i], 0700) < 0 && errno != EEXIST)
			return -errno;
	git = openat(store, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (git < 0)
		return -errno;
	r = io_write_file(git, "config", 0600, config, strlen(config), false);
	return r < 0 ? r : io_write_file(git, "HEAD", 0600, head, strlen(head), false);
}

/* Hides the store. git: the .git of the work tree, or an error. */
static void hide(const struct journal *j, int git)
{
	int r = git;

	if (git >= 0)
		r = exclude(git);
	if (r >= 0)
		r = mark(j->store);
	if (r < 0 && git != -ENOENT && git != -ENOTDIR)
		log_warn("journal", "git may remove the undo store '%s': %s", j->store_path,
			 strerror(-r));
}

void git_store_hide(const struct journal *j)
{
	AUTO_CLOSE int git = j->inside ? open_git(j) : -ENOENT;

	hide(j, git);
}

void journal_hide_store(const struct journal *j, const char *common)
{
	AUTO_CLOSE int git = -ENOENT;

	if (!j->inside)
		return;
	git = open(common, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	hide(j, git < 0 ? -errno : git);
}
