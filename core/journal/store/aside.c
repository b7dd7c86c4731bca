/* aside - histories that are put aside in a store, because they are of another directory. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/aside.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"

/* Histories that stay: a folder that is wiped before each run (CI) would leave one for each. */
#define ASIDE_MOST 3

/* No directory has this identity (identity.c): the store belongs to none until it is whole. */
#define IDENTITY_NONE "0 0\n"

static int open_dir(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

bool aside_is_empty(int store)
{
	static const char *const dirs[] = {"open", "steps", "redo"};
	static const char *const files[] = {"rollback", "lent"};

	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		int fd = open_dir(store, dirs[i]);
		AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		struct dirent *e;

		if (!dir && errno != ENOENT)
			return false;
		while (dir && (e = readdir(dir)))
			if (e->d_name[0] != '.')
				return false;
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (faccessat(store, files[i], F_OK, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT)
			return false;
	return true;
}

static bool has_version(int dir)
{
	return faccessat(dir, "version", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool is_complete(const struct journal *j, const char *number)
{
	AUTO_FREE char *path = xasprintf(ASIDE_DIR "/%s", number);
	AUTO_CLOSE int dir = store_open_dir(j, path);

	return dir >= 0 && has_version(dir);
}

/* Finds the next number. *begun: a dead process has begun with it. */
static int next_number(const struct journal *j, uint64_t *ret, bool *begun)
{
	AUTO_NAMES struct names names = {0};
	int r;

	if (mkdirat(j->store, ASIDE_DIR, 0700) < 0 && errno != EEXIST)
		return -errno;
	r = store_names(j, ASIDE_DIR, &names);
	*ret = names.n ? strtoull(names.list[names.n - 1], NULL, 10) + 1 : 1;
	for (size_t i = 0; i < names.n && !*begun; i++) {
		*begun = !is_complete(j, names.list[i]);
		*ret = *begun ? strtoull(names.list[i], NULL, 10) : *ret;
	}
	return r;
}

static int make_number(const struct journal *j, const char *path)
{
	if (mkdirat(j->store, path, 0700) < 0 && errno != EEXIST)
		return -errno;
	return store_open_dir(j, path);
}

/* Returns whether the entry is moved before "version" and "folder", which decide. The lock, the
 * reserve and the other histories stay. */
static bool is_moved_first(const char *name)
{
	static const char *const others[] = {"lock",	"room",	   "spare",
					     ASIDE_DIR, "version", "folder"};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		if (str_eq(name, others[i]))
			return false;
	return true;
}

static int move_one(int from, const char *name, int to)
{
	return renameat(from, name, to, name) < 0 && errno != ENOENT ? -errno : 0;
}

/* Moves the entries for which is_moved_first() is true. */
static int move_entries(int from, int to)
{
	const struct journal at = {.store = from};
	AUTO_NAMES struct names names = {0};
	int r = store_names(&at, ".", &names);

	for (size_t i = 0; r == 0 && i < names.n; i++)
		if (is_moved_first(names.list[i]))
			r = move_one(from, names.list[i], to);
	return r;
}

static int move_aside(struct journal *j, int to)
{
	int r = move_entries(j->store, to);

	if (r == 0)
		r = move_one(j->store, "version", to);
	if (r == 0 && !has_version(to)) /* a store that came with the folder may lack it */
		r = io_write_file(to, "version", 0600, "?\n", 2, false);
	return r < 0 ? r : move_one(j->store, "folder", to);
}

static void drop_oldest(struct journal *j)
{
	AUTO_CLOSE int dir = store_open_dir(j, ASIDE_DIR);
	AUTO_NAMES struct names names = {0};

	if (dir < 0 || store_names(j, ASIDE_DIR, &names) < 0)
		return;
	for (size_t i = 0; i + ASIDE_MOST < names.n; i++)
		if (io_remove_tree(dir, names.list[i]) < 0)
			break; /* the rest only takes space */
}

int aside_put(struct journal *j, bool even_empty, uint64_t *ret, struct err *err)
{
	uint64_t number = 0;
	bool begun = false;
	int r = next_number(j, &number, &begun);
	bool empty = !begun && !even_empty && aside_is_empty(j->store);
	AUTO_FREE char *path = xasprintf(ASIDE_DIR "/%" PRIu64, number);
	AUTO_CLOSE int to = r == 0 ? make_number(j, path) : r;

	r = to < 0 ? to : move_aside(j, to);
	if (r == 0 && empty)
		r = io_remove_tree(j->store, path);
	if (r < 0)
		return err_set(err, r, "put the old history in '%s' aside", j->store_path);
	drop_oldest(j);
	if (ret)
		*ret = empty ? 0 : number;
	return 0;
}

int aside_bring(struct journal *j, const char *path, uint64_t *ret, struct err *err)
{
	AUTO_FREE char *to = NULL;
	uint64_t number = 0;
	int r = mkdirat(j->store, ASIDE_DIR, 0700) < 0 && errno != EEXIST ? -errno : 0;

	if (r == 0)
		r = store_highest(j, ASIDE_DIR, &number);
	to = xasprintf(ASIDE_DIR "/%" PRIu64, ++number);
	if (r == 0)
		r = move_noreplace(AT_FDCWD, path, j->store, to);
	if (r < 0)
		return err_set(err, r, "rename the undo store '%s'", path);
	*ret = number;
	return 0;
}

/* If the process dies after the first call, aside_put() moves the files of this store back. */
int aside_take(struct journal *j, uint64_t n, const char *folder, const char *identity,
	       struct err *err)
{
	AUTO_FREE char *path = xasprintf(ASIDE_DIR "/%" PRIu64, n);
	AUTO_BUF struct buf version = BUF_INIT;
	AUTO_CLOSE int from = store_open_dir(j, path);
	int r = from < 0 ? from : 0;

	buf_fmt(&version, "cordon journal %d\n%s\n", JOURNAL_VERSION, folder);
	if (r == 0)
		r = io_write_file(j->store, "folder", 0600, IDENTITY_NONE, strlen(IDENTITY_NONE),
				  true);
	if (r == 0)
		r = io_write_file(j->store, "version", 0600, version.data, version.len, true);
	if (r == 0 && unlinkat(from, "version", 0) < 0 && errno != ENOENT)
		r = -errno;
	if (r == 0)
		r = move_entries(from, j->store);
	if (r == 0)
		r = io_write_file(j->store, "folder", 0600, identity, strlen(identity), true);
	if (r < 0)
		return err_set(err, r, "take the history over in '%s'", j->store_path);
	if (io_remove_tree(j->store, path) < 0)
		log_warn("journal", "'%s/%s' stays", j->store_path, path);
	return 0;
}
