/* store - a folder's store: where it is placed, its lock, directories and trash. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/edits.h"
#include "core/journal/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/journal/store/store.h"
#include "core/os/process.h"
#include "core/os/statx.h"

#define MOMENT_MS 200

/* ---- placement --------------------------------------------------------------------------------
 */

/* Finds the id of the mount or, before Linux 5.8, of the device. */
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
	/* A passing error must not lead to a second, empty history elsewhere. */
	if (r < 0 && r != -ENOENT && r != -ENOTDIR && r != -EACCES)
		return err_set(err, r, "look at '%s'", spec->state_dir);
	if (r == 0 && here == there)
		*ret = path_join(spec->state_dir, name);
	else
		*ret = path_join(spec->folder, ".cordon");
	return 0;
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

int store_names(const struct journal *j, const char *dir, struct names *ret)
{
	AUTO_NAMES struct names names = {0};
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;

	if (fd < 0)
		return fd;
	d = fdopendir(fd);
	if (!d)
		return -errno;
	fd = -1;
	/* An error must not look like the end: an unlisted open step would be forgotten. */
	while ((errno = 0, e = readdir(d)))
		if (e->d_name[0] != '.')
			names_add(&names, xstrdup(e->d_name));
	if (errno)
		return -errno;
	if (names.n)
		qsort(names.list, names.n, sizeof(*names.list), by_number);
	*ret = names;
	names = (struct names){0};
	return 0;
}

int store_highest(const struct journal *j, const char *dir, uint64_t *ret)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, dir, &names);

	*ret = r == 0 && names.n ? (uint64_t)llabs(atoll(names.list[names.n - 1])) : 0;
	return r;
}

/* Entries to remove even if *stop is set: with short sessions, none would be removed otherwise. */
#define TRASH_LEAST 8

bool store_empty_trash(struct journal *j, const atomic_bool *stop)
{
	AUTO_CLOSE int dir = store_open_dir(j, "trash");
	AUTO_NAMES struct names names = {0};
	size_t gone = 0;

	if (dir < 0 || store_names(j, "trash", &names) < 0)
		return false;
	/* The rest only takes space; the next call tries again. */
	while (gone < names.n && (gone < TRASH_LEAST || !stop || !atomic_load(stop)) &&
	       io_remove_tree(dir, names.list[gone]) == 0)
		gone++;
	return gone > 0;
}

/* Returns whether a session that goes on has the lock (journal_stays()). A process that cannot be
 * seen from here may have ended. */
static bool is_held_for_long(int lock)
{
	char text[64] = "";
	struct pollfd p = {.fd = -1, .events = POLLIN};
	bool runs;

	if (pread(lock, text, sizeof(text) - 1, 0) < 0 || !strstr(text, STORE_STAYS))
		return false;
	p.fd = os_process_open(atoi(text));
	runs = p.fd >= 0 && poll(&p, 1, 0) == 0;
	util_close_fd(&p.fd);
	return runs;
}

/* Waits for another command, for the end of a session and for that of a killed process: a second.
 * A session that goes on is not waited for; its process may just be ending, so it is looked at
 * after a moment. */
static int wait_for_lock(int lock)
{
	int r = io_lock_within(lock, MOMENT_MS);

	return r == -EWOULDBLOCK && !is_held_for_long(lock) ? io_lock(lock) : r;
}

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
	if (wait_for_lock(lock) == 0)
		return take_fd(&lock);
	n = pread(lock, pid, sizeof(pid) - 1, 0);
	pid[n > 0 ? n : 0] = '\0';
	return err_say(err, -EBUSY, "another cordon (process %d) works in this folder: %s",
		       atoi(pid), todo);
}

const char *store_advice(int r)
{
	return r == -EBADMSG ? " (it is damaged: `cordon journal verify` says where, `cordon log "
			       "--discard` throws the history away)"
			     : "";
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

void store_slot_name(char out[24], uint64_t slot)
{
	snprintf(out, 24, "%" PRIx64, slot);
}
