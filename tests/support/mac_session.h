/* mac_session - a keeper's session under a simulated Endpoint Security, for tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "tests/support/keeper_session.h"
#include "tests/support/fake_mac.h"
#include "tests/support/tree.h"

static void write_file(const struct session *f, const char *name, const char *text)
{
	AUTO_FREE char *path = path_join(f->folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	close(fd);
}

static void make_dir(const struct session *f, const char *name)
{
	AUTO_FREE char *path = path_join(f->folder, name);

	assert_int_equal(mkdir(path, 0755), 0);
}

static struct session *mac_session(void)
{
	struct session *f = session_new();

	mac.folder = f->folder;
	write_file(f, "old", "what was there\n");
	write_file(f, "other", "another one\n");
	make_dir(f, "dir");
	write_file(f, "dir/deep", "deep\n");
	make_dir(f, "empty");
	return f;
}

/* Lists names and contents, without times and numbers. */
static void list_into(struct buf *out, const char *dir, const char *below)
{
	struct dirent **list;
	int n = scandir(dir, &list, NULL, alphasort);

	assert_true(n >= 0);
	for (int i = 0; i < n; i++) {
		AUTO_FREE char *path = path_join(dir, list[i]->d_name);
		AUTO_FREE char *name = xasprintf("%s%s", below, list[i]->d_name);
		AUTO_FREE char *text = NULL;
		struct stat st;

		if (str_eq(list[i]->d_name, ".") || str_eq(list[i]->d_name, "..")) {
			free(list[i]);
			continue;
		}
		free(list[i]);
		assert_int_equal(lstat(path, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			AUTO_FREE char *under = xasprintf("%s/", name);

			buf_fmt(out, "%s %o\n", under, (unsigned)st.st_mode & 0777);
			list_into(out, path, under);
			continue;
		}
		assert_int_equal(io_read_file(AT_FDCWD, path, 4096, &text, NULL) < 0, 0);
		buf_fmt(out, "%s %o: %s\n", name, (unsigned)st.st_mode & 0777, text);
	}
	free(list);
}

UNUSED static char *listing(const struct session *f)
{
	struct buf out = BUF_INIT;

	list_into(&out, f->folder, "");
	return buf_take(&out);
}

static size_t steps_in(const char *log)
{
	size_t n = 0;

	while ((log = strstr(log, "kept=1"))) {
		log += strlen("kept=1");
		n++;
	}
	return n;
}

/* Undoes all steps, and compares the tree with the earlier one. */
UNUSED static void undo_all(struct session *f, const char *before)
{
	size_t n = steps_in(f->log.data);
	AUTO_FREE char *now = NULL;

	if (n && !request(f, client_undo(f->client, UNDO_BACK, n, 0, 0, 0)))
		fail_msg("undo: %s\n%s", f->words, f->log.data);
	now = tree_take(f->folder, NULL);
	assert_string_equal(now, before);
}

UNUSED static struct session *on_mac(void (*script)(void), bool mute)
{
	struct session *f = mac_session();

	f->mute = mute;
	session_start(f, &mac_backend, script, false);
	return f;
}

/* ---- in the agent ---------------------------------------------------------------------------- */

UNUSED static void must(int r)
{
	if (r < 0)
		_exit(100 + -r % 100);
}

UNUSED static int first_result(int r)
{
	return r == 0 ? 0 : r == -EACCES ? 13 : 1;
}
