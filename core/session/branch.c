/* branch - reads the branch of the working folder from its git directory. */
/* SPDX-License-Identifier: MIT */
#include "core/session/branch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/base/util.h"
#include "core/os/file.h"
#include "core/policy/git/git_settings.h"

#define HEAD_MAX   256
#define SHORT_HASH 7

/* Opens the git directory. In a linked worktree or a submodule the file `.git` names it. */
static int open_git_dir(const char *folder)
{
	AUTO_CLOSE int dir = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int git = openat(dir, ".git", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_FREE char *pointer = git < 0 ? git_pointer(folder, ".git", "gitdir:") : NULL;

	return pointer ? open(pointer, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : git;
}

static ssize_t read_head(const char *folder, char *out, size_t size)
{
	AUTO_CLOSE int git = open_git_dir(folder);
	AUTO_CLOSE int head = -1;
	struct stat st;

	if (git < 0)
		return -1;
	head = openat(git, "HEAD", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (head < 0 || fstat(head, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return read(head, out, size);
}

const char *branch_of(struct branch *b, const char *folder, int64_t now_us)
{
	static const char refs[] = "ref: refs/heads/";
	const char *name;
	char head[HEAD_MAX];
	ssize_t n;

	if (b->read_us && now_us - b->read_us < BRANCH_US)
		return b->name;
	b->read_us = now_us;
	b->name[0] = '\0';
	n = folder ? read_head(folder, head, sizeof(head) - 1) : -1;
	if (n <= 0)
		return b->name;
	head[n] = '\0';
	head[strcspn(head, "\n")] = '\0';
	name = strncmp(head, refs, sizeof(refs) - 1) == 0 ? head + sizeof(refs) - 1 : head;
	if (name == head)
		head[SHORT_HASH] = '\0';
	text_escape_into(b->name, sizeof(b->name), name, strlen(name));
	return b->name;
}
