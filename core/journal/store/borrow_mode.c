/* borrow_mode - adds mode bits to a file of this user for the length of one call. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/borrow_mode.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/os/beneath.h"
#include "core/os/process.h"

/*
 * A mode may forbid its owner to read a file, but the owner may change the mode. A process that
 * dies in between would leave a wrong mode, so the old one is noted in the store first, in one file
 * "lent/<thread>-<inode>" per borrower: readers of a history borrow beside the process that holds
 * the store's lock. A process that opens the store for writing first restores the modes that are
 * still noted. The note has the path, but the inode counts. If the mode is not the one that the
 * borrower set, it was restored, or another process set it: then it stays.
 */

#define LENT_DIR "lent"

enum {
	BASE_STORE = -1 /* the path is relative to the store, else to that root */
};

static int base_fd(struct journal *j, int base)
{
	return base == BASE_STORE ? j->store : store_root_fd(j, base);
}

static int name_of(int fd, char ret[PATH_MAX])
{
	ssize_t n = os_fd_name(fd, ret, PATH_MAX);

	return n < 0 ? (int)n : 0;
}

/* Finds the base that fd is below, and the path from there. -ENOENT: it has no name there. */
static int place_of(struct journal *j, int fd, int *base, char path[PATH_MAX])
{
	char top[PATH_MAX];
	int r = name_of(fd, path);

	for (*base = BASE_STORE; r == 0 && *base < j->n_roots; ++*base) {
		int from = base_fd(j, *base);
		const char *below;

		if (from < 0 || name_of(from, top) < 0)
			continue;
		below = path_below(path, top);
		if (!below)
			continue;
		memmove(path, below, strlen(below) + 1);
		if (!*path)
			strcpy(path, ".");
		return 0;
	}
	return r < 0 ? r : -ENOENT;
}

/* Names a note. A thread borrows for one file at a time; a dead thread may have had its number. */
static void note_name(char ret[48], uint64_t ino)
{
	snprintf(ret, 48, LENT_DIR "/%d-%" PRIu64, os_thread(), ino);
}

static int make_dir(struct journal *j)
{
	if (mkdirat(j->store, LENT_DIR, 0700) < 0)
		return errno == EEXIST ? 0 : -errno;
	/* The umask is that of the process for which the keeper acts. */
	return fchmodat(j->store, LENT_DIR, 0700, 0) < 0 ? -errno : 0;
}

static int note(struct journal *j, int fd, const struct object *o, mode_t bits)
{
	AUTO_BUF struct buf b = BUF_INIT;
	char path[PATH_MAX], name[48];
	int base, r = place_of(j, fd, &base, path);

	if (r < 0) /* removed meanwhile: its mode does not matter */
		return r == -ENOENT ? 0 : r;
	codec_put_u64(&b, o->ino);
	codec_put_u64(&b, (uint64_t)o->btime_ns);
	codec_put_u32(&b, o->mode & 07777);
	codec_put_u32(&b, bits);
	codec_put_u32(&b, (uint32_t)base);
	codec_put_str(&b, path, strlen(path));
	note_name(name, o->ino);
	r = make_dir(j);
	return r < 0 ? r : io_write_file(j->store, name, 0600, b.data, b.len, false);
}

static void forget(struct journal *j, uint64_t ino)
{
	char name[48];

	note_name(name, ino);
	unlinkat(j->store, name, 0); /* if the note stays, the next start removes it */
}

/* A value for borrow_return() has the old mode bits, and above them the added ones. */
#define LENT_SHIFT 16

int borrow_bits(struct journal *j, int fd, mode_t bits, mode_t *was)
{
	struct object o;
	int r = object_stat(fd, "", &o);

	if (r < 0)
		return r;
	if (o.uid != geteuid())
		return -EACCES;
	*was = 0;
	if ((o.mode & bits) == bits) /* another process has added them just now */
		return 0;
	r = note(j, fd, &o, bits);
	if (r == 0)
		r = object_chmod(fd, o.mode | bits);
	if (r < 0)
		forget(j, o.ino);
	else
		*was = o.mode | bits << LENT_SHIFT;
	return r;
}

int borrow_return(struct journal *j, int fd, mode_t was)
{
	struct object o;
	int r;

	if (!was)
		return 0;
	r = object_stat(fd, "", &o);
	/* If another mode was set meanwhile, that stays. */
	if (r == 0 && ((o.mode ^ (was | was >> LENT_SHIFT)) & 07777) == 0)
		r = object_chmod(fd, was & 07777);
	if (r == 0)
		forget(j, o.ino);
	return r;
}

int borrow_open_file(struct journal *j, int dirfd, const char *name)
{
	AUTO_CLOSE int path = -1;
	char proc[OS_FD_PATH];
	struct object o;
	mode_t was;
	int fd, r, e, flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	path = object_open(dirfd, name);
	if (path < 0)
		return take_fd(&path);
	r = object_stat(path, "", &o);
	if (r < 0)
		return r;
	if (!S_ISREG(o.mode))
		return -EINVAL;
	os_fd_path(proc, path);
	fd = open(proc, flags | O_NOATIME);
	if (fd < 0 && errno == EPERM)
		fd = open(proc, flags);
	if (fd >= 0 || errno != EACCES)
		return fd < 0 ? -errno : fd;
	/* The file may be this user's and lack the read bit. */
	r = borrow_bits(j, path, S_IRUSR, &was);
	if (r < 0)
		return r;
	fd = open(proc, flags);
	r = fd < 0 ? -errno : fd;
	e = borrow_return(j, path, was);
	if (e < 0 && fd >= 0)
		close(fd);
	return e < 0 ? e : r;
}

int borrow_peek(struct journal *j, int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	return fd < 0 && errno == EACCES ? borrow_open_file(j, dirfd, name) : fd;
}

/* ---- notes of a dead process -------------------------------------------------------------------
 */

struct loan_note {
	char *name, *text; /* of the note's file */
	int bad;	   /* why it cannot be read */
	uint64_t ino;
	int64_t btime_ns;
	mode_t mode, bits;
	int base;
	const char *path; /* in the text */
};

static int parse(struct span text, struct loan_note *n)
{
	struct codec_reader g = {.p = text.data, .end = text.data + text.len};

	n->ino = codec_get_u64(&g);
	n->btime_ns = (int64_t)codec_get_u64(&g);
	n->mode = codec_get_u32(&g);
	n->bits = codec_get_u32(&g);
	n->base = (int)codec_get_u32(&g);
	n->path = codec_get_str(&g).data;
	if (g.bad)
		n->path = "";
	return g.bad || (n->mode | n->bits) & ~07777u || n->base < BASE_STORE ? -EBADMSG : 0;
}

static int give_back(struct journal *j, const struct loan_note *n)
{
	int from = n->base < j->n_roots ? base_fd(j, n->base) : -ENOENT;
	AUTO_CLOSE int fd = -1;
	struct object o;
	int r;

	if (from < 0)
		return from;
	fd = os_open_beneath(from, n->path, O_PATH | O_ITSELF | O_CLOEXEC,
			     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	if (fd < 0)
		return -errno;
	r = object_stat(fd, "", &o);
	if (r < 0 || o.ino != n->ino || o.btime_ns != n->btime_ns ||
	    (o.mode & 07777) != (n->mode | n->bits))
		return r;
	return object_chmod(fd, n->mode);
}

static void note_load(struct journal *j, const char *name, struct loan_note *n)
{
	size_t len = 0;

	*n = (struct loan_note){.name = xasprintf(LENT_DIR "/%s", name), .path = ""};
	n->bad = io_read_file(j->store, n->name, 2 * (size_t)PATH_MAX, &n->text, &len);
	if (n->bad == 0)
		n->bad = parse((struct span){.data = n->text, .len = len}, n);
}

/* Sorts the deepest path first: a file cannot be reached once its directory is locked again. */
static int by_depth(const void *a, const void *b)
{
	const struct loan_note *x = a, *y = b;

	return path_deeper(x->path, y->path);
}

static int settle_one(struct journal *j, const struct loan_note *n)
{
	int e = n->bad ? n->bad : give_back(j, n);

	if (e < 0 && e != -ENOENT && e != -EBADMSG)
		log_warn(
			"journal",
			"a file in '%s' keeps the permissions that cordon gave it for a moment: %s",
			j->folder, strerror(-e));
	return unlinkat(j->store, n->name, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int borrow_settle(struct journal *j)
{
	AUTO_FREE struct loan_note *list = NULL;
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, LENT_DIR, &names);

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	list = xcalloc(names.n + 1, sizeof(*list));
	for (size_t i = 0; i < names.n; i++)
		note_load(j, names.list[i], &list[i]);
	qsort(list, names.n, sizeof(*list), by_depth);
	for (size_t i = 0; i < names.n; i++) {
		if (r == 0)
			r = settle_one(j, &list[i]);
		free(list[i].name);
		free(list[i].text);
	}
	return r;
}
