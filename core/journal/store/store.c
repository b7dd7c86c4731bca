/* store - where the steps of a folder are kept: placement, lock, its directories, trash. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/store/identity.h"
#include "core/journal/store/pruned_concurrent.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/os/statx.h"
#include "core/os/volume.h"

/* ---- placement --------------------------------------------------------------------------------
 */

/* A mount, or where the kernel cannot tell (before Linux 5.8), a device. */
static int mount_of(const char *path, uint64_t *ret)
{
	struct statx x;

	if (statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS | STATX_MNT_ID, &x) < 0)
		return -errno;
	if (x.stx_mask & STATX_MNT_ID)
		*ret = x.stx_mnt_id;
	else
		*ret = (uint64_t)1 << 63 | (uint64_t)x.stx_dev_major << 32 | x.stx_dev_minor;
	return 0;
}

int journal_store_path(char **ret, const struct journal_spec *spec, struct err *err)
{
	AUTO_FREE char *name = path_label(spec->folder);
	uint64_t here = 0, there = 1;
	int r;

	r = mount_of(spec->folder, &here);
	if (r < 0)
		return err_set(err, r, "look at '%s'", spec->folder);
	r = mount_of(spec->state_dir, &there);
	if (r == -ENOENT && !spec->read_only && io_mkdir_p(AT_FDCWD, spec->state_dir, 0700) == 0)
		r = mount_of(spec->state_dir, &there);
	/* Trouble of the moment must not make a second, empty history elsewhere. */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EACCES)
		return err_set(err, r, "look at '%s'", spec->state_dir);
	if (r == 0 && here == there)
		*ret = path_join(spec->state_dir, name);
	else
		*ret = path_join(spec->folder, ".cordon");
	return 0;
}

/* The store in the folder must not show up in the human's `git status`, not in a repository that is
 * made later either. */
static int hide_from_git(const struct journal *j)
{
	return io_write_file(j->store, ".gitignore", 0600, "*\n", 2, false);
}

/* ---- small parts ------------------------------------------------------------------------------
 */

int store_open_dir(const struct journal *j, const char *name)
{
	int fd = openat(j->store, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return fd < 0 ? -errno : fd;
}

static int by_number(const void *a, const void *b)
{
	long long x = llabs(atoll(*(char *const *)a)), y = llabs(atoll(*(char *const *)b));

	return x < y ? -1 : x > y;
}

int store_names(const struct journal *j, const char *dir, char ***ret, size_t *ret_n)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	char **names = NULL;
	size_t n = 0;

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d)
		return -errno;
	fd = -1;
	/* An error is not the end: an open step that is not seen would be forgotten. */
	while ((errno = 0, e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (n % 64 == 0)
			names = xrealloc(names, (n + 64) * sizeof(*names));
		names[n++] = xstrdup(e->d_name);
	}
	if (errno) {
		int r = -errno;

		store_names_free(names, n);
		return r;
	}
	if (n)
		qsort(names, n, sizeof(*names), by_number);
	*ret = names;
	*ret_n = n;
	return 0;
}

int store_highest(const struct journal *j, const char *dir, uint64_t *ret)
{
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, dir, &names, &n);

	*ret = r == 0 && n ? (uint64_t)llabs(atoll(names[n - 1])) : 0;
	store_names_free(names, n);
	return r;
}

void store_names_free(char **names, size_t n)
{
	while (n)
		free(names[--n]);
	free(names);
}

int store_trash(struct journal *j, const char *name)
{
	AUTO_FREE char *to = xasprintf("trash/%" PRIu64, store_seq(j));

	return renameat(j->store, name, j->store, to) < 0 ? -errno : 0;
}

/* What one that has to stop removes all the same: else nobody did, where sessions are short. */
#define TRASH_LEAST 8

bool store_empty_trash(struct journal *j, const atomic_bool *stop)
{
	AUTO_CLOSE int dir = store_open_dir(j, "trash");
	char **names = NULL;
	size_t n = 0, gone = 0;

	if (dir < 0 || store_names(j, "trash", &names, &n) < 0)
		return false;
	/* It is only space; the next one tries the others again. */
	while (gone < n && (gone < TRASH_LEAST || !stop || !atomic_load(stop)) &&
	       io_remove_tree(dir, names[gone]) == 0)
		gone++;
	store_names_free(names, n);
	return gone > 0;
}

/* ---- open and close ---------------------------------------------------------------------------
 */

int store_lock(int store, const char *path, const char *todo, struct err *err)
{
	AUTO_CLOSE int lock =
		openat(store, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	char pid[32] = "";
	ssize_t n;

	if (lock < 0 && errno == EROFS)
		return err_say(err, -EROFS,
			       "lock the undo store '%s': Read-only file system: nothing is run or "
			       "undone before it can be written",
			       path);
	if (lock < 0)
		return err_set(err, -errno, "lock the undo store '%s'", path);
	if (io_lock(lock) == 0)
		return take_fd(&lock);
	n = pread(lock, pid, sizeof(pid) - 1, 0);
	pid[n > 0 ? n : 0] = '\0';
	return err_say(err, -EBUSY, "another cordon (process %d) works in this folder: %s",
		       atoi(pid), todo);
}

static int take_lock(struct journal *j, const char *path, struct err *err)
{
	char pid[32];
	int len;

	j->lock = store_lock(j->store, path,
			     "`cordon attach` shows it; undo in its own console, or end it first",
			     err);
	if (j->lock < 0)
		return j->lock;
	len = snprintf(pid, sizeof(pid), "%-20d\n", (int)getpid());
	if (io_pwrite_all(j->lock, pid, (size_t)len, 0) < 0)
		return 0; /* only words for the next one */
	return 0;
}

static int make_dirs(struct journal *j)
{
	static const char *const names[] = {"open",  "steps",	 "redo",    "trash",
					    "posts", "barriers", BESIDE_DIR};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (mkdirat(j->store, names[i], 0700) < 0 && errno != EEXIST)
			return -errno;
	return 0;
}

/* Something will run: a history that is not the folder's must not prevent it. */
static bool is_session(const struct journal_spec *spec)
{
	return spec->lasting && !spec->settled && !spec->read_only;
}

static int open_store(struct journal *j, const struct journal_spec *spec, struct err *err)
{
	struct stat st, up;
	int r;

	r = journal_store_path(&j->store_path, spec, err);
	if (r < 0)
		return r;
	j->fresh = !j->read_only && mkdir(j->store_path, 0700) == 0;
	if (!j->read_only && !j->fresh && errno != EEXIST)
		return err_set(err, -errno,
			       "make the undo store '%s' (XDG_STATE_HOME can name another place on "
			       "the folder's file system)",
			       j->store_path);
	j->store = open(j->store_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (j->store < 0 && errno == ENOENT && j->read_only)
		return -ENOENT;
	if (j->store < 0 || fstat(j->store, &st) < 0)
		return err_set(err, -errno, "open the undo store '%s'", j->store_path);
	if (fstatat(store_root_fd(j, 0), "", &up, AT_EMPTY_PATH) < 0)
		return err_set(err, -errno, "look at '%s'", j->folder);
	if (st.st_uid != geteuid() && geteuid() != 0)
		return err_say(err, -EPERM, "the undo store '%s' belongs to someone else",
			       j->store_path);
	j->in_memory = os_volume(j->store) == VOLUME_MEMORY;
	j->inside = path_is_beneath(j->store_path, j->folder);
	j->store_dev = st.st_dev;
	j->store_ino = st.st_ino;
	return j->inside && !is_session(spec) ? store_check_origin(j, err) : 0;
}

static int open_parts(struct journal *j, const struct journal_spec *spec, struct err *err)
{
	int r = store_check(j, is_session(spec), err);

	if (r < 0)
		return r;
	if (j->inside && !j->read_only && faccessat(j->store, ".gitignore", F_OK, 0) < 0 &&
	    (r = hide_from_git(j)) < 0)
		return err_set(err, r, "make the undo store '%s'", j->store_path);
	r = roots_load(j);
	if (r < 0)
		return err_set(err, r, "read the roots of the undo store '%s'", j->store_path);
	if (j->read_only)
		return 0;
	r = make_dirs(j);
	if (r == 0)
		r = state_load(j);
	if (r < 0)
		return err_set(err, r, "open the undo store '%s'%s", j->store_path,
			       store_advice(r));
	roots_level(j);
	r = bits_settle(j);
	if (r < 0)
		return err_set(err, r, "give back what was lent in '%s'", j->folder);
	room_open(j);
	if (spec->upkeep && faccessat(j->store, ROLLBACK_FILE, F_OK, 0) == 0)
		return err_say(
			err, -EBUSY,
			"an undo was interrupted: `cordon undo --dry-run` finishes it first");
	if (spec->upkeep) /* else nobody is to wait for it: a session's thread does it, or a full
			     disk */
		store_empty_trash(j, NULL);
	return 0;
}

static int finish_start(struct journal *j, size_t *ret_recovered, struct err *err)
{
	int r = undo_recover(j, ret_recovered, err);

	if (r < 0)
		return r;
	j->mended |= *ret_recovered > 0;
	r = boot_settled(j);
	if (r < 0)
		return err_set(err, r, "bring the undo store '%s' to the disk", j->store_path);
	return 0;
}

/* The limits; and from then on, in a session, what is there stays. */
static int apply_limits(struct journal *j, const struct journal_spec *spec, struct err *err)
{
	int r = 0;

	if (!spec->settled)
		r = spec->lasting ? store_fit_later(j) : store_fit(j);
	if (spec->lasting)
		store_hold(j);
	return r < 0 ? err_set(err, r, "remove the oldest steps from '%s'", j->store_path) : 0;
}

/* What was made for a store that cannot be opened goes (a full disk, say). Without the lock it may
 * be another's by now, who came after mkdir(): then it goes only if nothing is in it. */
static void unmake(struct journal *j)
{
	static const char *const files[] = {".gitignore", "room", "lock"};

	if (j->lock >= 0 && store_clear(j->store, j->store_path, NULL) < 0)
		return;
	if (j->lock >= 0)
		room_unmake(j);
	for (size_t i = 0; j->lock >= 0 && i < ARRAY_LEN(files); i++)
		if (unlinkat(j->store, files[i], 0) < 0 && errno != ENOENT)
			return;
	rmdir(j->store_path);
}

/* Reading the past keeps two descriptors open for each step (path_index.c), and a session may add
 * a thousand. */
#define FILES_WANTED 65536

static void raise_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= FILES_WANTED)
		return;
	lim.rlim_cur = MIN(lim.rlim_max, (rlim_t)FILES_WANTED);
	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		log_warn("journal", "a long history may not be read whole: %s", strerror(errno));
}

int store_open(struct journal **ret, const struct journal_spec *spec, bool recover,
	       size_t *ret_recovered, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof(*j));
	mode_t mask = umask(077);
	size_t recovered = 0;
	int r;

	j->unnoted = (struct buf)BUF_INIT;
	data_expect_breaks();
	raise_files();
	j->folder = xstrdup(spec->folder);
	j->state_dir = xstrdup(spec->state_dir);
	j->sibling = j;
	j->read_only = spec->read_only;
	j->options = spec->options;
	j->guards = spec->guards;
	j->saves = spec->saves;
	j->guards_data = spec->guards_data;
	j->session_us = spec->with ? spec->with->session_us : (uint64_t)clock_wall_us();
	j->store = j->lock = j->state_fd = j->room = j->near_fd = -1;
	root_add(j, j->folder);
	r = store_root_fd(j, 0);
	if (r < 0)
		err_set(err, r, "open the folder '%s'", spec->folder);
	else
		r = open_store(j, spec, err);
	if (r == 0 && !j->read_only)
		r = take_lock(j, j->store_path, err);
	if (r == 0 && is_session(spec))
		r = store_check_nested(j, err);
	if (r == 0)
		r = open_parts(j, spec, err);
	if (r == 0 && spec->with)
		siblings_join(j, spec->with);
	if (r == 0 && recover && !j->read_only && !spec->upkeep)
		r = finish_start(j, &recovered, err);
	if (r == 0 && recover && !j->read_only && !spec->upkeep)
		r = apply_limits(j, spec, err);
	umask(mask);
	if (r < 0) {
		if (r == -ENOENT && j->read_only && err && !err->code)
			err_say(err, r, "nothing has been recorded for '%s' yet", spec->folder);
		if (j->fresh)
			unmake(j);
		journal_close(j);
		return r;
	}
	if (ret_recovered)
		*ret_recovered = recovered;
	*ret = j;
	return 0;
}

bool journal_was_mended(const struct journal *j)
{
	bool mended = j->mended;

	for (const struct journal *k = j->sibling; k != j; k = k->sibling)
		mended |= k->mended;
	return mended;
}

int journal_open(struct journal **ret, const struct journal_spec *spec, size_t *ret_recovered,
		 struct err *err)
{
	return store_open(ret, spec, true, ret_recovered, err);
}

void journal_release(struct journal *j)
{
	tidy_end(j);
	state_leave(j);
	util_close_fd(&j->lock);
}

void journal_close(struct journal *j)
{
	if (!j)
		return;
	tidy_end(j);
	state_leave(j);
	while (j->open)
		step_drop(j->open);
	siblings_leave(j);
	journal_expect_nothing(j);
	writers_drop(j);
	names_done(&j->own);
	store_forget_near(j);
	trails_drop(j);
	for (int i = 0; i < j->n_roots; i++) {
		util_close_fd(&j->roots[i].fd);
		free(j->roots[i].path);
	}
	free(j->roots);
	free(j->state);
	util_close_fd(&j->state_fd);
	util_close_fd(&j->room);
	util_close_fd(&j->lock);
	util_close_fd(&j->store);
	free(j->news);
	buf_done(&j->unnoted);
	free(j->store_path);
	free(j->state_dir);
	free(j->folder);
	free(j);
}

const char *store_advice(int r)
{
	return r == -EBADMSG ? " (it is damaged: `cordon journal verify` says where, `cordon log "
			       "--discard` throws the history away)"
			     : "";
}

int journal_discard(const struct journal_spec *spec, struct err *err)
{
	AUTO_CLOSE int store = -1, lock = -1;
	AUTO_FREE char *path = NULL;
	int r = journal_store_path(&path, spec, err);

	if (r < 0 || !path)
		return r;
	store = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (store < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "open the undo store '%s'", path);
	lock = store_lock(store, path, "end it first", err);
	return lock < 0 ? lock : store_clear(store, path, err);
}

int journal_folder_fd(const struct journal *j)
{
	return j->roots[0].fd;
}

int journal_store_fd(const struct journal *j)
{
	return j->store;
}

uint64_t journal_dir_moves(const struct journal *j)
{
	return j->dir_moves;
}

void journal_store_inode(const struct journal *j, dev_t *dev, ino_t *ino)
{
	*dev = j->inside ? j->store_dev : 0;
	*ino = j->inside ? j->store_ino : 0;
}

int log_look(const struct journal *j, struct wal *log, int dirfd, const char *name)
{
	/* Without the lock it may be cut while we read. */
	return j->read_only ? wal_open(log, dirfd, name, false, false) : wal_view(log, dirfd, name);
}
