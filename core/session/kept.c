/* kept - finds the files of each label in the state directory; see kept.h. */
/* SPDX-License-Identifier: MIT */
#include "core/session/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/audit/reader.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/os/file.h"

/* Prefix of a store that is being removed. No label begins with it. */
#define GONE_PREFIX ".gone-"

#define LINE_MAX_BYTES 65536

static const struct part {
	enum kept_part part;
	const char *dir, *suffix; /* below the state directory, or "" for it */
} parts[] = {
	{KEPT_HISTORY, "", ""},
	{KEPT_AUDIT, "audit", ".ndjson"},
	{KEPT_AUDIT, "audit", ".ndjson.1"},
	{KEPT_AUDIT, "audit", ".ndjson.head"},
	{KEPT_CACHE, "cache", ""},
	{KEPT_CACHE, "homes", ""},
	{KEPT_DISK, "vm/disks", ".img"},
	{KEPT_DISK, "vm/disks", ".new"},
	{KEPT_DISK, "vm/disks", ".folder"},
	{KEPT_NOTES, "trust", ""},
	{KEPT_NOTES, "last", ""},
	{KEPT_NOTES, "learned", ""},
	{KEPT_NOTES, "seen", ""},
};

static char *part_path(const char *state_dir, const struct part *p, const char *label)
{
	return xasprintf("%s/%s%s%s%s", state_dir, p->dir, *p->dir ? "/" : "", label, p->suffix);
}

/* ---- what there is ----------------------------------------------------------------------------
 */

/* Returns whether the name ends as path_label() ends: "-" and twelve digits. */
static bool is_label(const char *name, size_t len)
{
	return len > 13 && name[len - 13] == '-' &&
	       strspn(name + len - 12, "0123456789abcdef") >= 12;
}

/* Returns the length of the label that an entry of p's directory begins with, or 0. */
static size_t label_of(const struct part *p, const char *name)
{
	size_t len = strlen(name), end = strlen(p->suffix);

	if (len <= end || !str_eq(name + len - end, p->suffix) || !is_label(name, len - end))
		return 0;
	return len - end;
}

struct listing {
	struct kept *list;
	size_t n;
};

static void add_label(struct listing *l, const char *name, size_t len)
{
	AUTO_FREE char *label = xstrndup(name, len);

	for (size_t i = 0; i < l->n; i++)
		if (str_eq(l->list[i].label, label))
			return;
	l->list = xrealloc(l->list, (l->n + 1) * sizeof(*l->list));
	l->list[l->n++] = (struct kept){.label = take_ptr(&label)};
}

static int find_labels(struct listing *l, const char *state_dir, const struct part *p,
		       struct err *err)
{
	AUTO_FREE char *path = path_join(state_dir, p->dir);
	AUTO_DIR DIR *dir = opendir(path);
	struct dirent *e;

	if (!dir)
		return errno == ENOENT ? 0 : err_set(err, -errno, "list '%s'", path);
	while ((e = readdir(dir))) {
		size_t len = e->d_name[0] == '.' ? 0 : label_of(p, e->d_name);

		if (len)
			add_label(l, e->d_name, len);
	}
	return 0;
}

/* ---- whose it is ------------------------------------------------------------------------------
 */

static char *folder_of_store(const char *store)
{
	AUTO_CLOSE int dir = open(store, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	AUTO_FREE char *text = NULL;
	char *line;

	if (dir < 0 || io_read_file(dir, "version", LINE_MAX_BYTES, &text, NULL) < 0)
		return NULL;
	line = strchr(text, '\n');
	if (!line || *++line != '/')
		return NULL;
	line[strcspn(line, "\n")] = '\0';
	return xstrdup(line);
}

/* Returns the folder from the first line of an audit log, which is the start of a session. */
static char *folder_of_log(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AUTO_FREE char *text = xmalloc(LINE_MAX_BYTES);
	ssize_t n = fd < 0 ? fd : io_pread_full(fd, text, LINE_MAX_BYTES, 0);
	char *end = n > 0 ? memchr(text, '\n', (size_t)n) : NULL, *folder = NULL;
	struct audit_record r;

	audit_record_init(&r);
	if (end && audit_record_parse(&r, text, (size_t)(end - text)) == 0 &&
	    audit_record_get(&r, "path", NULL))
		folder = xstrdup(audit_record_get(&r, "path", NULL));
	audit_record_done(&r);
	return folder;
}

static char *folder_of(const char *state_dir, const char *label)
{
	AUTO_FREE char *store = path_join(state_dir, label);
	AUTO_FREE char *log = xasprintf("%s/audit/%s.ndjson", state_dir, label);
	AUTO_FREE char *folder = folder_of_store(store), *is = NULL;

	if (!folder)
		folder = folder_of_log(log);
	is = folder && *folder == '/' ? path_label(folder) : NULL;
	return is && str_eq(is, label) ? take_ptr(&folder) : NULL;
}

/* Returns microseconds, or 0 without such a file. */
static int64_t changed_us(const char *path)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return 0;
	return (int64_t)OS_MTIME(&st).tv_sec * 1000000 + OS_MTIME(&st).tv_nsec / 1000;
}

static size_t count_steps(const char *store)
{
	AUTO_FREE char *path = path_join(store, "steps");
	AUTO_DIR DIR *dir = opendir(path);
	struct dirent *e;
	size_t n = 0;

	while (dir && (e = readdir(dir)))
		n += e->d_name[0] != '.';
	return n;
}

/* Returns the path of k's store, in the state directory or in the folder. Heap. */
static char *store_of(const char *state_dir, const struct kept *k)
{
	return k->beside && k->folder ? path_join(k->folder, ".cordon")
				      : path_join(state_dir, k->label);
}

static bool is_gone(const char *folder)
{
	struct stat st;

	return lstat(folder, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static void look_at(struct kept *k, const char *state_dir)
{
	AUTO_FREE char *own = path_join(state_dir, k->label);
	AUTO_FREE char *log = xasprintf("%s/audit/%s.ndjson", state_dir, k->label);
	AUTO_FREE char *store = NULL, *lock = NULL;
	struct stat st;

	k->folder = folder_of(state_dir, k->label);
	k->beside = lstat(own, &st) < 0;
	k->gone = k->folder && is_gone(k->folder);
	store = store_of(state_dir, k);
	lock = path_join(store, "lock");
	k->steps = count_steps(store);
	k->used_us = changed_us(log); /* by sessions and undos; pruning takes the lock alone */
	if (!k->used_us)
		k->used_us = changed_us(lock);
}

/* ---- how much ---------------------------------------------------------------------------------
 */

/* Returns the bytes of all blocks below a path. A file with n names counts as 1/n for each. */
static uint64_t bytes_below(const char *path)
{
	char *argv[] = {(char *)(uintptr_t)path, NULL};
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	uint64_t sum = 0;
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_DP && e->fts_info != FTS_NS && e->fts_statp->st_nlink)
			sum += (uint64_t)e->fts_statp->st_blocks * 512 /
			       (e->fts_info == FTS_D ? 1 : e->fts_statp->st_nlink);
	if (fts)
		fts_close(fts);
	return sum;
}

static void measure_one(struct kept *k, const char *state_dir)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		AUTO_FREE char *path = parts[i].part == KEPT_HISTORY
					       ? store_of(state_dir, k)
					       : part_path(state_dir, &parts[i], k->label);

		k->bytes[parts[i].part] += bytes_below(path);
	}
}

uint64_t kept_bytes(const struct kept *k)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < KEPT_PARTS; i++)
		sum += k->bytes[i];
	return sum;
}

uint64_t kept_all_bytes(const char *state_dir)
{
	return bytes_below(state_dir);
}

static int by_use(const void *a, const void *b)
{
	const struct kept *x = a, *y = b;

	if (x->used_us != y->used_us)
		return x->used_us < y->used_us ? -1 : 1;
	return strcmp(x->label, y->label);
}

int kept_list(struct kept **ret, size_t *ret_n, const char *state_dir, bool measure,
	      struct err *err)
{
	struct listing l = {0};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++)
		r = find_labels(&l, state_dir, &parts[i], err);
	for (size_t i = 0; r == 0 && i < l.n; i++) {
		look_at(&l.list[i], state_dir);
		if (measure)
			measure_one(&l.list[i], state_dir);
	}
	if (r < 0) {
		kept_free(l.list, l.n);
		return r;
	}
	if (l.n)
		qsort(l.list, l.n, sizeof(*l.list), by_use);
	*ret = l.list;
	*ret_n = l.n;
	return 0;
}

void kept_free(struct kept *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(list[i].label);
		free(list[i].folder);
	}
	free(list);
}

/* ---- removing ---------------------------------------------------------------------------------
 */

/* Locks a file. Without such a file *ret stays -1. */
static int lock_file(const char *path, int *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (io_lock(fd) < 0)
		return -EBUSY;
	*ret = take_fd(&fd);
	return 0;
}

/* Removes all stores with GONE_PREFIX, also those that a killed process left. */
static int sweep(int state)
{
	AUTO_CLOSE int fd = openat(state, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!dir)
		return -errno;
	fd = -1;
	while (r == 0 && (e = readdir(dir)))
		if (str_starts(e->d_name, GONE_PREFIX))
			r = io_remove_tree(state, e->d_name);
	return r;
}

static int remove_own_store(const char *state_dir, const char *label)
{
	AUTO_CLOSE int state = open(state_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *to = xasprintf(GONE_PREFIX "%s", label);
	int r = state < 0 ? -errno : io_remove_tree(state, to);

	if (r == 0 && renameat(state, label, state, to) < 0 && errno != ENOENT)
		r = -errno;
	return r < 0 ? r : sweep(state);
}

/* Removes the store in the folder if it still names the folder: the directory may be another
 * user's. */
static int remove_store_beside(const struct kept *k)
{
	AUTO_FREE char *store = path_join(k->folder, ".cordon"), *is = folder_of_store(store);
	AUTO_CLOSE int dir = open(k->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	return dir >= 0 && is && str_eq(is, k->folder) ? io_remove_tree(dir, ".cordon") : 0;
}

static int remove_store(const char *state_dir, const struct kept *k, struct err *err)
{
	int r = k->beside && k->folder ? remove_store_beside(k)
				       : remove_own_store(state_dir, k->label);

	return r < 0 ? err_set(err, r, "remove the history of '%s'",
			       k->folder ? k->folder : k->label)
		     : 0;
}

static int remove_parts(const char *state_dir, const struct kept *k, struct err *err)
{
	int r = remove_store(state_dir, k, err);

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(parts); i++) {
		AUTO_FREE char *path = part_path(state_dir, &parts[i], k->label);

		if (parts[i].part != KEPT_HISTORY && (r = io_remove_tree(AT_FDCWD, path)) < 0)
			return err_set(err, r, "remove '%s'", path);
	}
	return r;
}

#define LOCKS 3

/* Takes the locks that a session, an undo and a virtual machine hold. */
static int lock_all(const char *state_dir, const struct kept *k, int fds[LOCKS], struct err *err)
{
	AUTO_FREE char *store = store_of(state_dir, k), *lock = path_join(store, "lock");
	AUTO_FREE char *log = xasprintf("%s/audit/%s.ndjson", state_dir, k->label);
	AUTO_FREE char *disk = xasprintf("%s/vm/disks/%s.img", state_dir, k->label);
	const char *const files[LOCKS] = {lock, log, disk};
	const char *name = k->folder ? k->folder : k->label;
	int r = 0;

	for (size_t i = 0; i < LOCKS; i++)
		fds[i] = -1;
	for (size_t i = 0; r == 0 && i < LOCKS; i++)
		r = lock_file(files[i], &fds[i]);
	if (r == -EBUSY)
		return err_say(err, r, "a session or an undo works with '%s': end it first", name);
	return r < 0 ? err_set(err, r, "lock what is kept of '%s'", name) : 0;
}

static void unlock_all(int fds[LOCKS])
{
	for (size_t i = 0; i < LOCKS; i++)
		util_close_fd(&fds[i]);
}

int kept_remove(const char *state_dir, const struct kept *k, struct err *err)
{
	int fds[LOCKS], r = lock_all(state_dir, k, fds, err);

	/* The user may have mounted or restored the folder before answering. */
	if (r == 0 && k->gone && !is_gone(k->folder))
		r = err_say(err, -EEXIST, "'%s' is there again: its history stays", k->folder);
	if (r == 0)
		r = remove_parts(state_dir, k, err);
	unlock_all(fds);
	return r;
}

int kept_remove_all(const char *state_dir, struct err *err)
{
	struct kept *list = NULL;
	size_t n = 0;
	int r = kept_list(&list, &n, state_dir, false, err);

	for (size_t i = 0; r == 0 && i < n; i++) {
		int fds[LOCKS];

		r = lock_all(state_dir, &list[i], fds, err);
		unlock_all(fds);
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		r = kept_remove(state_dir, &list[i], err);
	kept_free(list, n);
	if (r < 0)
		return r;
	r = io_remove_tree(AT_FDCWD, state_dir);
	return r < 0 ? err_set(err, r, "remove '%s'", state_dir) : 0;
}
