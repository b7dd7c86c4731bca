/* ring - keeps the newest recordings in the state folder, which is hidden from the agent. */
/* SPDX-License-Identifier: MIT */
#include "core/record/ring.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/file.h"
#include "core/record/recording.h"

#define SUFFIX	".cast.zst"
#define SECONDS strlen("20261124-090000") /* of a name; the rest is random */

struct entry {
	char *name;
	int64_t size;
	struct timespec written;
};

struct entries {
	struct entry *list;
	size_t n;
};

static void entries_done(struct entries *e)
{
	for (size_t i = 0; i < e->n; i++)
		free(e->list[i].name);
	free(e->list);
}

/* Orders by the date in the name; equal ones by the time of their last byte. */
static int by_age(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int r = strncmp(x->name, y->name, SECONDS);

	if (r == 0)
		r = (x->written.tv_sec > y->written.tv_sec) -
		    (x->written.tv_sec < y->written.tv_sec);
	if (r == 0)
		r = (x->written.tv_nsec > y->written.tv_nsec) -
		    (x->written.tv_nsec < y->written.tv_nsec);
	return r ? r : strcmp(x->name, y->name);
}

static int list_entries(int dirfd, struct entries *ret)
{
	int copy = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = copy < 0 ? NULL : fdopendir(copy);
	const struct dirent *d;

	if (!dir)
		return -errno;
	while ((d = readdir(dir))) {
		struct stat st;

		if (*d->d_name == '.' || !str_ends(d->d_name, SUFFIX) ||
		    fstatat(dirfd, d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 || !S_ISREG(st.st_mode))
			continue;
		ret->list = xrealloc(ret->list, (ret->n + 1) * sizeof(*ret->list));
		ret->list[ret->n++] = (struct entry){.name = xstrdup(d->d_name),
						     .size = (int64_t)st.st_size,
						     .written = OS_MTIME(&st)};
	}
	if (ret->n)
		qsort(ret->list, ret->n, sizeof(*ret->list), by_age);
	return 0;
}

static int open_dir(const char *state_dir, bool make, int *ret, struct err *err)
{
	AUTO_FREE char *dir = path_join(state_dir, "recordings");
	int r = make ? io_mkdir_p(AT_FDCWD, dir, 0700) : 0;

	if (r == 0)
		*ret = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (r < 0 || *ret < 0)
		return err_set(err, r < 0 ? r : -errno, "%s", dir);
	return 0;
}

/* Removes a recording. Returns false if a session writes it. */
static bool remove_entry(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);

	return fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && unlinkat(dirfd, name, 0) == 0;
}

/* ---- making room ----------------------------------------------------------------------------- */

/* The number of newest recordings that no limit on size removes. */
#define LEAST 3

static char *folder_of(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
	struct recording *in = NULL;
	const char *folder = NULL;
	char *copy;

	if (fd >= 0 && recording_open(&in, take_fd(&fd), NULL) == 0)
		folder = recording_header(in)->folder;
	copy = xstrdup(folder ? folder : "");
	recording_free(in);
	return copy;
}

/* Returns what the folder of an entry uses: bytes, or the number of recordings. */
static int64_t share_of(const struct entries *e, char *const *folders, size_t i, bool bytes)
{
	int64_t sum = 0;

	for (size_t k = 0; k < e->n; k++)
		if (e->list[k].name && str_eq(folders[k], folders[i]))
			sum += bytes ? e->list[k].size : 1;
	return sum;
}

/* Finds the oldest one of the folder that uses most, so that one folder's flood does not remove the
 * recordings of others. */
static size_t find_victim(const struct entries *e, char *const *folders, bool bytes, size_t end)
{
	size_t found = SIZE_MAX;
	int64_t most = 0;

	for (size_t i = 0; i < end; i++) {
		int64_t share = e->list[i].name ? share_of(e, folders, i, bytes) : 0;

		if (share > most) {
			most = share;
			found = i;
		}
	}
	return found;
}

static void prune(int dirfd, const struct ring_spec *spec)
{
	CLEANUP(entries_done) struct entries all = {0};
	CLEANUP(util_free_list) char **folders = NULL;
	int64_t total = 0, n;

	if (list_entries(dirfd, &all) < 0)
		return;
	n = (int64_t)all.n;
	for (size_t i = 0; i < all.n; i++)
		total += all.list[i].size;
	for (;;) {
		bool many = n >= spec->keep, large = spec->size && total > spec->size / 4 * 3;
		size_t i;

		if (!many && !large)
			return;
		if (!folders) {
			folders = xcalloc(all.n + 1, sizeof(*folders));
			for (i = 0; i < all.n; i++)
				folders[i] = folder_of(dirfd, all.list[i].name);
		}
		i = find_victim(&all, folders, !many,
				many		? all.n
				: all.n > LEAST ? all.n - LEAST
						: 0);
		if (i == SIZE_MAX)
			return;
		if (remove_entry(dirfd, all.list[i].name)) {
			n--;
			total -= all.list[i].size;
		}
		free(all.list[i].name); /* it does not exist, or a session writes it */
		all.list[i].name = NULL;
	}
}

int ring_open(const struct ring_spec *spec, int *ret_fd, struct err *err)
{
	AUTO_FREE char *name = xasprintf("%s" SUFFIX, spec->session);
	AUTO_CLOSE int dirfd = -1;
	AUTO_CLOSE int fd = -1;
	int r = open_dir(spec->state_dir, true, &dirfd, err);

	if (r < 0)
		return r;
	prune(dirfd, spec);
	fd = openat(dirfd, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_set(err, -errno, "%s/recordings/%s", spec->state_dir, name);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		return err_set(err, -errno, "lock %s/recordings/%s", spec->state_dir, name);
	*ret_fd = take_fd(&fd);
	return 0;
}

void ring_remove(const char *state_dir, const char *session)
{
	AUTO_FREE char *name = xasprintf("%s" SUFFIX, session);
	AUTO_CLOSE int dirfd = -1;

	if (open_dir(state_dir, false, &dirfd, NULL) == 0)
		unlinkat(dirfd, name, 0);
}

/* Returns whether session is the name, "20261124-090000-1a2b", or its end, "1a2b". */
static bool is_called(const char *name, const char *session)
{
	size_t len = strlen(name) - strlen(SUFFIX), n = strlen(session);

	return n && n <= len && memcmp(name + len - n, session, n) == 0 &&
	       (n == len || name[len - n - 1] == '-');
}

int ring_newest(const char *state_dir, size_t back, int *ret_fd, struct err *err)
{
	CLEANUP(entries_done) struct entries all = {0};
	AUTO_CLOSE int dirfd = -1;
	int r = open_dir(state_dir, false, &dirfd, NULL);

	if (r == 0)
		r = list_entries(dirfd, &all);
	if (r < 0 || back >= all.n)
		return err_say(err, -ENOENT,
			       "no session is recorded: those in the console are, unless "
			       "record.keep is 0 or record.enabled is off");
	*ret_fd = openat(dirfd, all.list[all.n - 1 - back].name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	return *ret_fd < 0 ? err_set(err, -errno, "%s", all.list[all.n - 1 - back].name) : 0;
}

int ring_find(const char *state_dir, const char *session, int *ret_fd, struct err *err)
{
	CLEANUP(entries_done) struct entries all = {0};
	AUTO_CLOSE int dirfd = -1;
	int r = open_dir(state_dir, false, &dirfd, NULL);

	if (r == 0)
		r = list_entries(dirfd, &all);
	for (size_t i = r == 0 ? all.n : 0; i-- > 0;) {
		if (!is_called(all.list[i].name, session))
			continue;
		*ret_fd = openat(dirfd, all.list[i].name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
		return *ret_fd < 0 ? err_set(err, -errno, "%s", all.list[i].name) : 0;
	}
	return err_say(err, -ENOENT,
		       "'%s': neither a file nor a session that is recorded: cordon replay alone "
		       "shows the newest",
		       session);
}
