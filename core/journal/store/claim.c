/* claim - claims the folder that a process changes; refuses one that overlaps with another's. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/journal.h"
#include "core/journal/store/store.h"

#define CLAIM_MAX ((size_t)1 << 20)
#define TRIES	  100 /* ten milliseconds apart: see io_lock() */

/* A claim's file: a line with the process, a line "DEV:INO" for the folder and for each directory
 * above it, an empty line, the path. */
struct claim {
	char *text; /* heap */
	int pid;
	const char *inodes, *path; /* in text */
};

static bool add_inode(struct buf *text, const char *path)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return false;
	buf_fmt(text, "%" PRIu64 ":%" PRIu64 "\n", (uint64_t)st.st_dev, (uint64_t)st.st_ino);
	return true;
}

/* Writes the claim. Leaves out parents that cannot be examined: the path is compared, too. */
static void describe(const struct journal *j, struct buf *text)
{
	AUTO_FREE char *at = xstrdup(j->folder);
	char *slash;

	buf_fmt(text, "%d\n", j->pid);
	for (bool seen = add_inode(text, at); seen && (slash = strrchr(at, '/')) && slash > at;) {
		*slash = '\0';
		add_inode(text, at);
	}
	buf_fmt(text, "\n%s", j->folder);
}

/* Takes the text over. Returns false if it is torn: its process died. */
static bool claim_parse(struct claim *c, char *text)
{
	char *inodes = strchr(text, '\n'), *end = inodes ? strstr(inodes, "\n\n") : NULL;

	*c = (struct claim){.text = text, .pid = atoi(text)};
	if (!end)
		return false;
	end[1] = '\0';
	c->inodes = inodes + 1;
	c->path = end + 2;
	return true;
}

/* Returns whether the folder of a, its first inode, is among the directories of b. */
static bool holds(const struct claim *a, const struct claim *b)
{
	const char *at = b->inodes;
	size_t len;

	if (!a->inodes || !at)
		return false;
	len = strcspn(a->inodes, "\n");
	if (path_is_beneath(b->path, a->path))
		return true;
	for (; len && *at; at += strcspn(at, "\n"), at += *at == '\n')
		if (strncmp(at, a->inodes, len) == 0 && at[len] == '\n')
			return true;
	return false;
}

static int say_taken(const struct claim *mine, const struct claim *c, struct err *err)
{
	const bool around = holds(c, mine), in = holds(mine, c);

	return err_say(err, -EBUSY,
		       "another cordon (process %d) works in '%s', which %s '%s': two histories of "
		       "the same files would not fit: `cordon attach` there, or end it first",
		       c->pid, c->path,
		       around && in ? "is the same directory as"
		       : around	    ? "holds"
				    : "lies in",
		       mine->path);
}

/* Checks one claim. Returns 0 if its process is dead, or if the folders do not overlap. */
static int check_one(int dir, const char *name, const struct claim *mine, struct err *err)
{
	AUTO_CLOSE int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct claim c = {0};
	char *text;
	int r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_set(err, -errno, "open the claim '%s'", name);
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return unlinkat(dir, name, 0) < 0 && errno != ENOENT
			       ? err_set(err, -errno, "remove the dead claim '%s'", name)
			       : 0;
	r = io_read_all(fd, CLAIM_MAX, &text, NULL);
	if (r < 0)
		return err_set(err, r, "read the claim '%s'", name);
	if (claim_parse(&c, text) && (holds(&c, mine) || holds(mine, &c)))
		r = say_taken(mine, &c, err);
	free(c.text);
	return r;
}

static int check_all(int dir, const struct claim *mine, struct err *err)
{
	AUTO_CLOSE int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int r = 0;

	if (!d)
		return err_set(err, -errno, "list the claims");
	fd = -1;
	while (r == 0 && (errno = 0, e = readdir(d)))
		if (e->d_name[0] != '.')
			r = check_one(dir, e->d_name, mine, err);
	return r == 0 && errno ? err_set(err, -errno, "list the claims") : r;
}

static int open_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);

	return fd < 0 ? -errno : fd;
}

static int make(struct journal *j, int dir, const struct buf *text, struct err *err)
{
	AUTO_FREE char *name = path_label(j->folder);
	AUTO_CLOSE int fd = open_file(dir, name);
	int r = MIN(fd, 0);

	if (r == 0 && flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = -errno;
	if (r == 0)
		r = io_write_all(fd, text->data, text->len);
	if (r < 0)
		return err_set(err, r, "claim the folder '%s'", j->folder);
	j->claim = take_fd(&fd);
	return 0;
}

static int try_once(struct journal *j, int dir, const struct claim *mine, const struct buf *text,
		    struct err *err)
{
	AUTO_CLOSE int lock = open_file(dir, ".lock");
	int r;

	if (lock < 0)
		return err_set(err, lock, "claim the folder '%s'", j->folder);
	r = io_lock(lock);
	if (r == -EWOULDBLOCK)
		return err_say(err, -EAGAIN,
			       "another cordon is starting and does not respond: end it first");
	if (r < 0)
		return err_set(err, r, "claim the folder '%s'", j->folder);
	r = check_all(dir, mine, err);
	return r == 0 ? make(j, dir, text, err) : r;
}

static int open_claims(const char *state_dir, bool create)
{
	AUTO_FREE char *path = path_join(state_dir, "claims");
	int r = create ? io_mkdir_p(AT_FDCWD, path, 0700) : 0, fd;

	if (r < 0)
		return r;
	fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

/* Returns whether an undo may go on without its claim: a session would fail for the same reason, so
 * none can begin meanwhile. */
static bool can_do_without(int r)
{
	return r == -EROFS || r == -EACCES || r == -ENOSPC || r == -EDQUOT;
}

/* Returns whether the store is in the folder, because there is no state directory: then no process
 * has claims to compare, and the store's lock must be enough. */
static bool is_in_folder(const struct journal *j)
{
	return path_is_beneath(j->store_path, j->folder);
}

int claim_take(struct journal *j, bool session, struct err *err)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
	AUTO_CLOSE int dir = open_claims(j->state_dir, true);
	AUTO_BUF struct buf text = BUF_INIT;
	struct err why = {0};
	struct claim mine;
	int r = dir;

	describe(j, &text);
	claim_parse(&mine, xstrdup(text.data));
	if (dir < 0)
		err_set(&why, dir, "make the directory of claims in '%s'", j->state_dir);
	/* The children of a killed process may hold its lock for a moment. */
	for (int tries = 0; dir >= 0 && tries < TRIES; tries++) {
		r = try_once(j, dir, &mine, &text, &why);
		if (r != -EBUSY)
			break;
		nanosleep(&pause, NULL);
	}
	free(mine.text);
	if (r < 0 && ((!session && can_do_without(r)) || (dir < 0 && is_in_folder(j))))
		r = 0;
	if (r < 0 && err)
		*err = why;
	return MIN(r, 0);
}

void claim_release(struct journal *j)
{
	AUTO_FREE char *name = path_label(j->folder);
	AUTO_FREE char *path = xasprintf("%s/claims/%s", j->state_dir, name);

	if (j->claim >= 0)
		unlink(path);
	util_close_fd(&j->claim);
}

void journal_forget_claims(const char *state_dir)
{
	AUTO_CLOSE int dir = open_claims(state_dir, false);
	AUTO_CLOSE int lock = dir < 0 ? dir : open_file(dir, ".lock");
	const struct claim none = {0};
	struct err ignored = {0};

	if (lock >= 0 && io_lock(lock) == 0 && check_all(dir, &none, &ignored) < 0)
		log_warn("journal", "%s", ignored.text);
}
