/* open_store - opens a store: its directory, lock, claim, state and roots. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/open_store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/store/borrow_mode.h"
#include "core/journal/store/claim.h"
#include "core/journal/store/identity.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/siblings.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"
#include "core/os/volume.h"

/* Hides a store in the folder from `git status`, also in a repository that is created later. */
static int hide_from_git(const struct journal *j)
{
	return io_write_file(j->store, ".gitignore", 0600, "*\n", 2, false);
}

static int take_lock(struct journal *j, const char *path, struct err *err)
{
	char pid[STORE_PID_LEN + 1];

	j->lock = store_lock(
		j->store, path,
		"undo in its console, by `cordon attach`; work beside it, by `cordon run "
		"--worktree`; or end it first",
		err);
	if (j->lock < 0)
		return j->lock;
	snprintf(pid, sizeof(pid), "%-*d\n", STORE_PID_LEN - 1, j->pid);
	journal_stays(j, false);
	if (io_pwrite_all(j->lock, pid, STORE_PID_LEN, 0) < 0)
		return 0; /* the pid is only for a message */
	return 0;
}

void journal_stays(struct journal *j, bool stays)
{
	char text[sizeof(STORE_STAYS)];

	snprintf(text, sizeof(text), "%-*s", (int)sizeof(text) - 1, stays ? STORE_STAYS : "");
	if (j->lock >= 0 && io_pwrite_all(j->lock, text, sizeof(text) - 1, STORE_PID_LEN) < 0)
		return; /* then others wait for a second */
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

bool store_is_session(const struct journal_spec *spec)
{
	return spec->lasting && !spec->settled && !spec->read_only;
}

/* Returns whether a new file in the store gets this owner: NFS and shares of a virtual machine may
 * give root's files another one. */
static bool gets_owner(int store, uid_t owner)
{
	static const char name[] = "owner.tmp";
	AUTO_CLOSE int fd =
		openat(store, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	struct stat st;

	return fd >= 0 && unlinkat(store, name, 0) == 0 && fstat(fd, &st) == 0 &&
	       st.st_uid == owner;
}

/* Returns whether to apply the records of the store. Root reads a user's, but a user could make one
 * for root in a folder. */
static bool is_trusted(const struct journal *j, uid_t owner)
{
	if (owner == geteuid())
		return true;
	return geteuid() == 0 && (!j->inside || j->read_only || gets_owner(j->store, owner));
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
	j->inside = path_is_beneath(j->store_path, j->folder);
	if (!is_trusted(j, st.st_uid))
		return err_say(err, -EPERM,
			       "the undo store '%s' belongs to another user: run cordon as that "
			       "user",
			       j->store_path);
	j->in_memory = os_volume(j->store) == VOLUME_MEMORY;
	j->store_dev = st.st_dev;
	j->store_ino = st.st_ino;
	return j->inside && !store_is_session(spec) ? store_check_origin(j, err) : 0;
}

static int open_parts(struct journal *j, const struct journal_spec *spec, struct err *err)
{
	int r = store_check(j, store_is_session(spec), err);

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
	r = borrow_settle(j);
	if (r < 0)
		return err_set(err, r,
			       "restore the permissions that cordon changed for a moment in '%s'",
			       j->folder);
	reserve_open(j);
	if (spec->upkeep && faccessat(j->store, ROLLBACK_FILE, F_OK, 0) == 0)
		return err_say(
			err, -EBUSY,
			"an undo was interrupted: `cordon undo --dry-run` finishes it first");
	if (spec->upkeep) /* else a session's thread empties it, or a full disk */
		store_empty_trash(j, NULL);
	return 0;
}

/* Removes a store that could not be opened (on a full disk, say). Without the lock, another process
 * may have taken it after mkdir(): then only an empty directory is removed. */
void store_unmake(struct journal *j)
{
	static const char *const files[] = {".gitignore", "room", "turns", "lock"};

	if (j->lock >= 0 && store_clear(j->store, j->store_path, NULL) < 0)
		return;
	if (j->lock >= 0)
		reserve_unmake(j);
	for (size_t i = 0; j->lock >= 0 && i < ARRAY_LEN(files); i++)
		if (unlinkat(j->store, files[i], 0) < 0 && errno != ENOENT)
			return;
	rmdir(j->store_path);
}

/* An undo may keep a descriptor open for each step, and a session may add a thousand. */
#define FILES_WANTED 65536

static void raise_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) < 0 || lim.rlim_cur >= FILES_WANTED)
		return;
	lim.rlim_cur = MIN(lim.rlim_max, (rlim_t)FILES_WANTED);
	if (setrlimit(RLIMIT_NOFILE, &lim) < 0)
		log_warn("journal", "many steps may not be undone at once: %s", strerror(errno));
}

int store_open(struct journal **ret, const struct journal_spec *spec,
	       const struct store_hooks *hooks, struct err *err)
{
	struct journal *j = xcalloc(1, sizeof(*j));
	int r;

	j->hooks = hooks;
	j->unnoted = (struct buf)BUF_INIT;
	object_expect_breaks();
	raise_files();
	j->folder = xstrdup(spec->folder);
	j->state_dir = xstrdup(spec->state_dir);
	j->sibling = j;
	j->read_only = spec->read_only;
	j->options = spec->options;
	j->pid = spec->pid ? spec->pid : (int)getpid();
	j->guards = spec->guards;
	j->saves = spec->saves;
	j->guards_data = spec->guards_data;
	j->session_us = spec->with ? spec->with->session_us : (uint64_t)clock_wall_us();
	j->store = j->lock = j->claim = j->state_fd = j->room = j->near_fd = -1;
	root_add(j, j->folder);
	r = store_root_fd(j, 0);
	if (r < 0)
		err_set(err, r, "open the folder '%s'", spec->folder);
	else
		r = open_store(j, spec, err);
	if (r == 0 && !j->read_only)
		r = take_lock(j, j->store_path, err);
	if (r == 0 && !j->read_only && !spec->upkeep)
		r = claim_take(j, store_is_session(spec), err);
	if (r == 0)
		r = open_parts(j, spec, err);
	if (r == 0 && spec->with)
		siblings_join(j, spec->with);
	if (r == -ENOENT && j->read_only && err && !err->code)
		err_say(err, r, "nothing has been recorded for '%s' yet", spec->folder);
	*ret = j;
	return r;
}
