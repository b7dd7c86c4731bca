/* adopt - gives a renamed folder the history that was kept under its old name. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/step.h"
#include "core/journal/store/store.h"

/*
 * A directory keeps its inode and birth when it is renamed; a copy or a fresh clone has others. A
 * snapshot of the file system has the same, so nothing is taken over while the original is still
 * there under the old name. Where the file system does not tell the birth nothing can be known: an
 * inode number alone is used again.
 */

#define IDENTITY_MAX 64
#define VERSION_MAX  65536

/* "INODE BIRTH\n", as check_folder() keeps it; false: no directory, or it has no birth. */
static bool identity(int dirfd, const char *path, char out[IDENTITY_MAX])
{
	struct obj o;

	if (obj_stat(dirfd, path, &o) < 0 || !S_ISDIR(o.mode) || !o.btime_ns)
		return false;
	snprintf(out, IDENTITY_MAX, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	return true;
}

/* The folder that this store's history is of, when it is the one with this identity. Heap or NULL.
 */
static char *name_of(int store, const char *want)
{
	AUTO_FREE char *is = NULL, *version = NULL;
	char *path, *end;

	if (io_read_file(store, "folder", IDENTITY_MAX, &is, NULL) < 0 || !str_eq(is, want) ||
	    io_read_file(store, "version", VERSION_MAX, &version, NULL) < 0)
		return NULL;
	path = strchr(version, '\n');
	end = path ? strrchr(path, '\n') : NULL;
	if (!path || path[1] != '/' || end <= path)
		return NULL;
	*end = '\0';
	return xstrdup(path + 1);
}

static int open_dir(int at, const char *path)
{
	return openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

struct found {
	char *store; /* where it is */
	char *was;   /* the folder's old name */
};

static void found_done(struct found *f)
{
	free(f->store);
	free(f->was);
}

static void look_among(const struct journal_spec *spec, const char *own, const char *want,
		       struct found *ret)
{
	AUTO_DIR DIR *dir = opendir(spec->state_dir);
	struct dirent *e;

	while (dir && !ret->was && (e = readdir(dir))) {
		AUTO_FREE char *path = path_join(spec->state_dir, e->d_name);
		AUTO_CLOSE int store = -1;

		if (e->d_name[0] == '.' || str_eq(path, own))
			continue;
		store = open_dir(AT_FDCWD, path);
		ret->was = store < 0 ? NULL : name_of(store, want);
		if (ret->was)
			ret->store = take_ptr(&path);
	}
}

/* Nothing in it that could be undone, redone or finished: one that an undo or a run made which
 * found the folder under its new name. */
static bool is_empty(int store)
{
	static const char *const dirs[] = {"open", "steps", "redo"};
	static const char *const files[] = {"rollback", JOINT_FILE, "doomed", "lent"};

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

/* 1: found; 0: there is none, or the folder has a history under its own name, which is told by
 * *ret_own then. */
static int find(const struct journal_spec *spec, struct found *ret, bool *ret_own, struct err *err)
{
	struct journal_spec look = *spec;
	AUTO_FREE char *own = NULL;
	AUTO_CLOSE int store = -1;
	char want[IDENTITY_MAX];
	int r;

	look.read_only = true;
	r = journal_store_path(&own, &look, err);
	if (r < 0 || !own || !identity(AT_FDCWD, spec->folder, want))
		return MIN(r, 0);
	store = open_dir(AT_FDCWD, own);
	if (store >= 0 && store_is_made(store)) {
		ret->was = name_of(store, want);
		if (ret->was && !str_eq(ret->was, spec->folder)) {
			ret->store = take_ptr(&own); /* it came along, or was on its way here */
			return 1;
		}
		free(take_ptr(&ret->was));
		*ret_own = !is_empty(store);
	}
	look_among(spec, own, want, ret);
	return ret->was && !*ret_own;
}

int journal_find_moved(const struct journal_spec *spec, char **ret_was, struct err *err)
{
	CLEANUP(found_done) struct found f = {0};
	bool own = false;
	int r = find(spec, &f, &own, err);

	if (r > 0)
		*ret_was = take_ptr(&f.was);
	return r;
}

bool journal_is_folders(const struct journal *j)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf is = BUF_INIT;
	struct obj o;

	if (obj_stat(j->roots[0].fd, "", &o) < 0 ||
	    io_read_file(j->store, "folder", IDENTITY_MAX, &text, NULL) < 0)
		return true;
	buf_fmt(&is, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	return str_eq(text, is.data);
}

/* ---- taking it over ---------------------------------------------------------------------------
 */

/* A step with parts elsewhere names all of its folders, in all of their stores. So does a rollback
 * that is not through. */
static int check_parts(int store, const char *was, struct err *err)
{
	static const char *const where[] = {"open", "steps", "redo"};

	if (faccessat(store, JOINT_FILE, F_OK, 0) == 0)
		return err_say(err, -EOPNOTSUPP,
			       "a rollback in several folders, of which one is '%s', was "
			       "interrupted: move it back there and run cordon once, which "
			       "finishes it",
			       was);
	for (size_t i = 0; i < ARRAY_LEN(where); i++) {
		int fd = open_dir(store, where[i]);
		AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
		struct dirent *e;

		while (dir && (e = readdir(dir))) {
			AUTO_FREE char *parts = xasprintf("%s/" PARTS_FILE, e->d_name);

			if (e->d_name[0] != '.' && faccessat(dirfd(dir), parts, F_OK, 0) == 0)
				return err_say(err, -EOPNOTSUPP,
					       "step %s changed other folders as well, which know "
					       "this one as '%s': move it back there to undo, or "
					       "`cordon log --discard` starts anew",
					       e->d_name, was);
		}
	}
	return 0;
}

static int move_store(const char *from, const char *to)
{
	int r = move_noreplace(AT_FDCWD, from, AT_FDCWD, to);

	/* An empty one, whose history was discarded, is in the way: they change places. */
	return r == -EEXIST ? move_exchange(AT_FDCWD, from, AT_FDCWD, to) : r;
}

static int lock_store(int store, const char *path, int *ret, struct err *err)
{
	*ret = store_lock(store, path, "end it first", err);
	return MIN(*ret, 0);
}

/* What has the folder's own name goes, if it is still empty now that nobody else can write there.
 */
static int make_way(const struct journal_spec *spec, const char *own, int *ret_lock,
		    struct err *err)
{
	AUTO_CLOSE int store = open_dir(AT_FDCWD, own);
	int r = store < 0 ? -errno : lock_store(store, own, ret_lock, err);

	if (store < 0)
		return r == -ENOENT ? 0 : err_set(err, r, "open the undo store '%s'", own);
	if (r == 0 && !is_empty(store))
		return err_say(err, -EBUSY, "another cordon has just worked in '%s': look again",
			       spec->folder);
	return r == 0 ? store_clear(store, own, err) : r;
}

static int take_over(const struct journal_spec *spec, const struct found *f, struct err *err)
{
	AUTO_BUF struct buf version = BUF_INIT;
	AUTO_FREE char *own = NULL;
	AUTO_CLOSE int store = open_dir(AT_FDCWD, f->store), lock = -1, other = -1;
	int r = store < 0 ? err_set(err, -errno, "open the undo store '%s'", f->store)
			  : journal_store_path(&own, spec, err);
	bool elsewhere;

	if (r == 0)
		r = lock_store(store, f->store, &lock, err);
	if (r == 0)
		r = check_parts(store, f->was, err);
	elsewhere = own && !str_eq(own, f->store);
	if (r == 0 && elsewhere)
		r = make_way(spec, own, &other, err);
	if (r < 0)
		return r;
	if (elsewhere && (r = move_store(f->store, own)) < 0)
		return err_set(err, r, "rename the undo store '%s'", f->store);
	buf_fmt(&version, "cordon journal %d\n%s\n", JOURNAL_VERSION, spec->folder);
	r = io_write_file(store, "version", 0600, version.data, version.len, true);
	return r < 0 ? err_set(err, r, "write to the undo store '%s'", own) : 0;
}

int journal_adopt(const struct journal_spec *spec, char **ret_was, struct err *err)
{
	CLEANUP(found_done) struct found f = {0};
	char here[IDENTITY_MAX], there[IDENTITY_MAX];
	bool own = false;
	int r = find(spec, &f, &own, err);

	if (r < 0)
		return r;
	if (!f.was)
		return err_say(err, -ENOENT, "no history of '%s' is kept under another name",
			       spec->folder);
	if (own)
		return err_say(
			err, -ENOENT,
			"'%s' has a history under this name, too: `cordon log` lists it, "
			"`cordon log --discard` throws it away, and then that of '%s' can be "
			"taken over",
			spec->folder, f.was);
	if (identity(AT_FDCWD, spec->folder, here) && identity(AT_FDCWD, f.was, there) &&
	    str_eq(here, there))
		return err_say(err, -EEXIST,
			       "'%s' is still there, and it is this very folder or what this one "
			       "is a snapshot of: undo there",
			       f.was);
	r = take_over(spec, &f, err);
	if (r == 0)
		*ret_was = take_ptr(&f.was);
	return r;
}
