/* worktree_left - finds and prints files of a worktree that are in no commit. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/worktree_left.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/external.h"
#include "core/base/path.h"
#include "tui/commands/git.h"
#include "tui/commands/show.h"

#define SHOWN	  20
#define NAMES_MAX ((size_t)64 << 20)

char *worktree_status(const char *place)
{
	return git_text(place, GIT("status", "--porcelain", "--untracked-files=normal",
				   "--ignore-submodules=none"));
}

void worktree_show_lines(const char *text)
{
	for (size_t i = 0; text && *text && i < SHOWN; i++) {
		size_t len = strcspn(text, "\n");

		printf("  ");
		show_text(text, len);
		putchar('\n');
		text += len + (text[len] == '\n');
	}
	if (text && *text)
		puts("  ...");
}

/* Prints a heading and the lines, if there are any. */
static void show_list(const char *heading, struct buf *lines)
{
	if (!lines->len)
		return;
	buf_truncate(lines, lines->len - 1);
	puts(heading);
	worktree_show_lines(lines->data);
}

static void show_ignored(const char *place)
{
	AUTO_FREE char *status =
		git_text(place, GIT("-c", "core.quotePath=true", "status", "--porcelain",
				    "--untracked-files=normal", "--ignored=matching"));
	AUTO_BUF struct buf names = BUF_INIT;

	for (const char *line = status; line && *line;
	     line += strcspn(line, "\n"), line += *line != 0)
		if (str_starts(line, "!! "))
			buf_fmt(&names, "%.*s\n", (int)strcspn(line + 3, "\n"), line + 3);
	if (!status)
		puts("What git ignores there cannot be listed, and goes, too.");
	show_list("Ignored by git, and removed as well:", &names);
}

/* Returns whether git-ls-files(1) -v marks the entry: assume-unchanged by a lower-case letter,
 * skip-worktree by an S. */
static bool is_marked(char tag)
{
	return tag == 'S' || (tag >= 'a' && tag <= 'z');
}

/* Shows marked entries, whose changes git does not show. */
static void show_marked(const char *place)
{
	size_t len = 0;
	AUTO_FREE char *all =
		git_output(place, GIT("ls-files", "-v", "-z"), EXTERNAL_NULL, NAMES_MAX, &len);
	AUTO_BUF struct buf names = BUF_INIT;

	for (const char *at = all; at && at < all + len; at += strlen(at) + 1) {
		AUTO_FREE char *path = is_marked(*at) && at[1] ? path_join(place, at + 2) : NULL;

		if (path && faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			buf_fmt(&names, "%s\n", at + 2);
	}
	if (!all)
		puts("Files that git does not look at cannot be listed, and go, too.");
	show_list("Git was told not to look at these (git update-index): edited or not, they are "
		  "removed as well:",
		  &names);
}

void worktree_show_unseen(const char *place)
{
	if (faccessat(AT_FDCWD, place, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	show_ignored(place);
	show_marked(place);
}
