/* adopt - gives a folder the history of its old name, or one that was put aside. */
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
#include "core/journal/step/parts.h"
#include "core/journal/store/aside.h"
#include "core/journal/store/identity.h"
#include "core/journal/store/store.h"

/*
 * A renamed directory keeps its inode and birth time; a copy or a fresh clone has others. A
 * snapshot of the file system has the same ones, so a history is never taken over while the
 * original directory still exists under the old name. If the file system does not tell birth times,
 * no history is taken over: inode numbers are reused.
 */

#define IDENTITY_MAX 64
#define VERSION_MAX  65536

/* Writes "INODE BIRTH\n", as check_folder() does. Returns false if there is no birth time. */
static bool identity(int dirfd, const char *path, char out[IDENTITY_MAX])
{
	struct object o;

	if (object_stat(dirfd, path, &o) < 0 || !S_ISDIR(o.mode) || !o.btime_ns)
		return false;
	snprintf(out, IDENTITY_MAX, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	return true;
}

/* Returns the folder that the history in this directory names, if it has the identity `want`. */
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
	char *store; /* the directory with the history: a store, or one below its aside/ */
	char *lock;  /* the store */
	char *was;   /* the folder's old name */
};

static void found_done(struct found *f)
{
	free(f->store);
	free(f->lock);
	free(f->was);
}

/* Finds the newest history with this identity that was put aside in this store. */
static void look_aside(int store, const char *path, const char *want, struct found *ret)
{
	const struct journal at = {.store = store};
	AUTO_NAMES struct names names = {0};

	if (store_names(&at, ASIDE_DIR, &names) < 0)
		return;
	for (size_t i = names.n; i-- > 0 && !ret->was;) {
		AUTO_FREE char *below = xasprintf(ASIDE_DIR "/%s", names.list[i]);
		AUTO_CLOSE int dir = store_open_dir(&at, below);

		ret->was = dir < 0 ? NULL : name_of(dir, want);
		if (ret->was)
			ret->store = path_join(path, below);
	}
}

static void look_in(const char *path, bool own, const char *want, struct found *ret)
{
	AUTO_CLOSE int store = open_dir(AT_FDCWD, path);

	if (store < 0)
		return;
	ret->was = own ? NULL : name_of(store, want);
	if (ret->was)
		ret->store = xstrdup(path);
	else
		look_aside(store, path, want, ret);
	if (ret->was)
		ret->lock = xstrdup(path);
}

static void look_among(const struct journal_spec *spec, const char *own, const char *want,
		       struct found *ret)
{
	AUTO_DIR DIR *dir = opendir(spec->state_dir);
	struct dirent *e;

	while (dir && !ret->was && (e = readdir(dir))) {
		AUTO_FREE char *path = path_join(spec->state_dir, e->d_name);

		if (e->d_name[0] != '.' && !str_eq(path, own))
			look_in(path, false, want, ret);
	}
	if (!ret->was)
		look_in(own, true, want, ret);
}

/* Finds the folder's history. Returns 1, or 0 if there is none. *ret_own: the folder has a history
 * under its own name. */
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
			ret->lock = xstrdup(own); /* a store in the folder came along with it */
			ret->store = take_ptr(&own);
			return 1;
		}
		free(take_ptr(&ret->was));
		*ret_own = !aside_is_empty(store);
	}
	look_among(spec, own, want, ret);
	return ret->was != NULL;
}

int journal_find_moved(const struct journal_spec *spec, char **ret_was, struct err *err)
{
	CLEANUP(found_done) struct found f = {0};
	bool own = false;
	int r = find(spec, &f, &own, err);

	if (r <= 0 || own || str_eq(f.was, spec->folder))
		return MIN(r, 0);
	*ret_was = take_ptr(&f.was);
	return 1;
}

bool journal_has_aside(const struct journal *j)
{
	uint64_t number = 0;

	return store_highest(j, ASIDE_DIR, &number) == 0 && number;
}

bool journal_is_folders(const struct journal *j)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf is = BUF_INIT;
	struct object o;

	if (object_stat(j->roots[0].fd, "", &o) < 0 ||
	    io_read_file(j->store, "folder", IDENTITY_MAX, &text, NULL) < 0)
		return true;
	buf_fmt(&is, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	return str_eq(text, is.data);
}

/* ---- taking over ------------------------------------------------------------------------------
 */

/* Refuses steps with parts in other folders, whose stores know this folder by its old name. */
static int check_parts(int store, const char *was, struct err *err)
{
	static const char *const where[] = {"open", "steps", "redo"};

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

static int check_version(int history, const char *folder, struct err *err)
{
	AUTO_FREE char *text = NULL, *want = xasprintf("cordon journal %d\n", JOURNAL_VERSION);
	int r = io_read_file(history, "version", VERSION_MAX, &text, NULL);

	if (r == 0 && str_starts(text, want))
		return 0;
	return err_say(err, -EPROTO,
		       "the history that is put aside for '%s' is of another version of cordon: "
		       "that version can take it over",
		       folder);
}

/* Refuses an interrupted step or rollback: the next start would finish it in another directory, in
 * files that it never saw. */
static int check_settled(int history, const char *folder, struct err *err)
{
	const struct journal at = {.store = history};
	uint64_t open = 0;

	if (store_highest(&at, "open", &open) == 0 && !open &&
	    faccessat(history, ROLLBACK_FILE, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
		return 0;
	return err_say(err, -EOPNOTSUPP,
		       "a step or an undo was interrupted in the history that is put aside for "
		       "'%s': only the original directory can take it over",
		       folder);
}

/* The folder's own store, created if it is missing, and its lock. */
struct adopting {
	struct journal j; /* only store, store_path and inside */
	char identity[IDENTITY_MAX];
	int lock, other; /* other: of the store with the history */
};

static void adopting_done(struct adopting *a)
{
	free(a->j.store_path);
	util_close_fd(&a->j.store);
	util_close_fd(&a->lock);
	util_close_fd(&a->other);
}

static int lock_store(int store, const char *path, int *ret, struct err *err)
{
	*ret = store_lock(store, path, "end it first", err);
	return MIN(*ret, 0);
}

static int say_none(const struct journal_spec *spec, struct err *err)
{
	return err_say(err, -ENOENT, "no history of '%s' is kept under another name or put aside",
		       spec->folder);
}

static int open_own(struct adopting *a, const struct journal_spec *spec, bool found,
		    struct err *err)
{
	struct object o;
	int r = journal_store_path(&a->j.store_path, spec, err);

	if (r < 0)
		return r;
	if (found && mkdir(a->j.store_path, 0700) < 0 && errno != EEXIST)
		return err_set(err, -errno, "make the undo store '%s'", a->j.store_path);
	a->j.store = open_dir(AT_FDCWD, a->j.store_path);
	if (a->j.store < 0 && errno == ENOENT)
		return say_none(spec, err);
	if (a->j.store < 0)
		return err_set(err, -errno, "open the undo store '%s'", a->j.store_path);
	a->j.inside = path_is_beneath(a->j.store_path, spec->folder);
	r = object_stat(AT_FDCWD, spec->folder, &o);
	if (r < 0)
		return err_set(err, r, "look at '%s'", spec->folder);
	snprintf(a->identity, IDENTITY_MAX, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	return lock_store(a->j.store, a->j.store_path, &a->lock, err);
}

/* Refuses what the next start would put aside again. */
static int check_brought(int history, const struct journal_spec *spec, struct found *f,
			 struct err *err)
{
	const struct journal at = {.store = history,
				   .store_path = f->store,
				   .inside = path_is_beneath(f->store, spec->folder)};

	if (store_check_brought(&at, &(struct err){0}) == 0)
		return 0;
	return err_say(err, -EPROTO,
		       "the history that is put aside for '%s' is not taken over: others have a "
		       "right to its files, so a commit or an archive may have brought some",
		       spec->folder);
}

static int check_found(const struct journal_spec *spec, struct found *f, struct err *err)
{
	AUTO_CLOSE int history = open_dir(AT_FDCWD, f->store);
	int r = history < 0 ? err_set(err, -errno, "open the undo store '%s'", f->store) : 0;

	if (r == 0)
		r = check_version(history, spec->folder, err);
	if (r == 0)
		r = check_brought(history, spec, f, err);
	return r == 0 && !str_eq(f->was, spec->folder) ? check_parts(history, f->was, err) : r;
}

/* Takes the history of this very directory, under whatever name it is stored. */
static int take_found(struct adopting *a, const struct journal_spec *spec, struct found *f,
		      uint64_t *ret, struct err *err)
{
	bool elsewhere = !str_eq(f->lock, a->j.store_path);
	AUTO_CLOSE int store = elsewhere ? open_dir(AT_FDCWD, f->lock) : -1;
	int r = check_found(spec, f, err);

	if (r == 0 && elsewhere)
		r = store < 0 ? err_set(err, -errno, "open the undo store '%s'", f->lock)
			      : lock_store(store, f->lock, &a->other, err);
	if (r < 0)
		return r;
	if (elsewhere)
		return aside_bring(&a->j, f->store, ret, err);
	if (str_eq(f->store, a->j.store_path))
		return aside_put(&a->j, true, ret, err);
	*ret = strtoull(path_base(f->store), NULL, 10);
	return 0;
}

static bool is_own(const struct adopting *a)
{
	AUTO_FREE char *is = NULL;

	return io_read_file(a->j.store, "folder", IDENTITY_MAX, &is, NULL) == -ENOENT ||
	       (is && str_eq(is, a->identity));
}

/* Takes the history of another directory that had this name: the user says that it is the same. */
static int take_aside(struct adopting *a, const struct journal_spec *spec, uint64_t *ret,
		      struct err *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_CLOSE int history = -1;
	int r = 0;

	if (!a->j.inside && !is_own(a))
		r = aside_put(&a->j, false, NULL, err);
	if (r == 0 && (a->j.inside || store_highest(&a->j, ASIDE_DIR, ret) < 0 || !*ret))
		return say_none(spec, err);
	path = xasprintf(ASIDE_DIR "/%" PRIu64, *ret);
	history = store_open_dir(&a->j, path);
	if (r == 0)
		r = check_version(history, spec->folder, err);
	return r < 0 ? r : check_settled(history, spec->folder, err);
}

int journal_adopt(const struct journal_spec *spec, char **ret_was, struct err *err)
{
	CLEANUP(adopting_done)
	struct adopting a = {.j = {.store = -1}, .lock = -1, .other = -1};
	CLEANUP(found_done) struct found f = {0};
	char there[IDENTITY_MAX], here[IDENTITY_MAX];
	bool own = false;
	uint64_t number = 0;
	int r = find(spec, &f, &own, err);

	if (r < 0)
		return r;
	if (r > 0 && !str_eq(f.was, spec->folder) && identity(AT_FDCWD, spec->folder, here) &&
	    identity(AT_FDCWD, f.was, there) && str_eq(here, there))
		return err_say(err, -EEXIST,
			       "'%s' still exists, and is this folder under another name or the "
			       "original of this snapshot: undo there",
			       f.was);
	r = open_own(&a, spec, f.was, err);
	if (r == 0)
		r = f.was ? take_found(&a, spec, &f, &number, err)
			  : take_aside(&a, spec, &number, err);
	if (r == 0 && store_is_made(a.j.store)) /* the two histories change places */
		r = aside_put(&a.j, false, NULL, err);
	if (r == 0)
		r = aside_take(&a.j, number, spec->folder, a.identity, err);
	if (r == 0)
		*ret_was = f.was ? take_ptr(&f.was) : xstrdup(spec->folder);
	return r;
}
