/* held - descriptors and mappings that stay open over calls, steps and rollbacks. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/falloc.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/journal/op.h"
#include "tests/model/worker.h"

#define MAP_LEN	      4096
#define IOCTL_FICLONE 0x40049409 /* FICLONE of linux/fs.h, which clashes with sys/mount.h */

void held_drop(struct held *h)
{
	if (h->map)
		munmap(h->map, MAP_LEN);
	util_close_fd(&h->fd);
	util_close_fd(&h->place);
	*h = (struct held){.fd = -1, .place = -1};
}

static void proc_path(char out[40], int fd)
{
	snprintf(out, 40, "/proc/self/fd/%d", fd);
}

void held_path(const struct held *h, char path[PATH_MAX])
{
	char proc[40];
	ssize_t n;

	proc_path(proc, h->place);
	n = h->place < 0 ? 0 : readlink(proc, path, PATH_MAX - 1);
	path[MAX(n, 0)] = '\0';
}

void held_take(struct inside *in, const struct act *a, int fd, bool map)
{
	struct held *h = &in->held[(a->x >> 8) % HELD_MAX];
	char proc[40];

	held_drop(h);
	proc_path(proc, fd);
	h->place = open(proc, O_PATH | O_CLOEXEC);
	h->fd = fd;
	h->born = step_id(in->steps[a->who]);
	h->second = in_second(in, a->a);
	if (!map || (fcntl(fd, F_GETFL) & O_ACCMODE) != O_RDWR)
		return;
	h->map = mmap(NULL, MAP_LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (h->map == MAP_FAILED)
		h->map = NULL;
	else
		util_close_fd(&h->fd);
}

static int poke_map(struct held *h, unsigned turn)
{
	struct stat st;

	/* A store beyond the end would be SIGBUS. */
	if (fstat(h->place, &st) < 0 || st.st_size < 8)
		return -ENODATA;
	memcpy(h->map, &turn, sizeof(turn));
	return 0;
}

static int poke_from(struct inside *in, const struct held *h, bool clone)
{
	for (int i = 0; i < HELD_MAX; i++) {
		AUTO_CLOSE int src = -1;
		char proc[40];
		ssize_t n;

		if (in->held[i].fd < 0 || in->held[i].fd == h->fd)
			continue;
		proc_path(proc, in->held[i].fd);
		src = open(proc, O_RDONLY | O_CLOEXEC);
		if (src < 0)
			return -errno;
		if (clone)
			return ioctl(h->fd, IOCTL_FICLONE, src) < 0 ? -errno : 0;
		n = copy_file_range(src, NULL, h->fd, NULL, 100, 0);
		return n < 0 ? -errno : 0;
	}
	return -ENOENT;
}

/* Allocates, and writes each page: tmpfs reports pages that were not written as data or as hole.
 * Not for files that cannot be read first, and not by a descriptor that always appends. */
static int allocate(int fd, off_t len)
{
	AUTO_CLOSE int own = -1;
	char proc[40];

	proc_path(proc, fd);
	own = open(proc, O_RDWR | O_CLOEXEC);
	if (own < 0 || fallocate(own, 0, 0, len) < 0)
		return -errno;
	for (off_t at = 0; at < len; at += 4096) {
		char byte = 0;

		if (pread(own, &byte, 1, at) != 1 || pwrite(own, &byte, 1, at) != 1)
			return -EIO;
	}
	return 0;
}

/* Returns whether it is in a directory that its owner may not search: no step finds it there. */
static bool is_shut_away(const struct held *h)
{
	char path[PATH_MAX];
	struct stat st;

	held_path(h, path);
	return *path && lstat(path, &st) < 0 && errno == EACCES;
}

/* Performs changes that are native inside: without a system call that the keeper would see. */
void act_poke(struct inside *in, const struct act *a)
{
	struct held *h = &in->held[a->x % HELD_MAX];
	struct reply *re = &in->sh->reply;

	re->born = h->born;
	re->stray = h->moved || is_shut_away(h);
	in->turn++;
	if (h->map) {
		re->r = poke_map(h, in->turn);
		return;
	}
	if (h->fd < 0) {
		re->r = -EBADF;
		return;
	}
	re->r = 0;
	switch (a->y % 7) {
	case 0:
		re->r = ftruncate(h->fd, a->y % 300) < 0 ? -errno : 0;
		break;
	case 1:
		re->r = fallocate(h->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
		break;
	case 2:
		re->r = allocate(h->fd, a->y % 20000 + 1);
		break;
	case 3:
		re->r = poke_from(in, h, false);
		break;
	case 4:
		re->r = poke_from(in, h, true);
		break;
	default:
		fill_data(in, h->fd, a->y / 8);
	}
}

/* Finds its current path, as a door does: by /proc. */
static void at_of_held(struct inside *in, struct held *h, struct at *at, char dir[512])
{
	const char *folder = h->second ? in->second : in->folder;
	size_t len = strlen(folder);
	char proc[40], *slash;
	ssize_t n;

	proc_path(proc, h->fd);
	n = readlink(proc, dir, 511);
	*at = (struct at){.dirfd = h->place, .dir = "", .name = ""};
	if (n <= (ssize_t)len)
		return;
	dir[n] = '\0';
	if (strncmp(dir, folder, len) != 0 || dir[len] != '/' || str_ends(dir, " (deleted)"))
		return;
	memmove(dir, dir + len + 1, strlen(dir + len + 1) + 1);
	if (str_starts(dir, ".cordon/"))
		return;
	slash = strrchr(dir, '/');
	at->leaf = slash ? slash + 1 : dir;
	if (slash) {
		*slash = '\0';
		at->dir = dir;
	}
}

static int held_link(struct inside *in, struct held *h, const struct act *a)
{
	char dir[16], from_dir[512];
	struct at from, to;
	int r;

	if (h->second != in_second(in, a->a))
		return -EXDEV;
	if (!place_of(in, a->a, &to, dir))
		return -ENOENT;
	at_of_held(in, h, &from, from_dir);
	r = op_link(part_of(in, a->who, h->second), &from, &to, NULL);
	close(to.dirfd);
	return r;
}

static int make_tmpfile(struct inside *in, const struct act *a)
{
	char dir[16];
	struct at at;
	int fd;

	if (!place_of(in, a->a, &at, dir))
		return -ENOENT;
	fd = op_tmpfile(part_of(in, a->who, in_second(in, a->a)), &at, O_TMPFILE | O_RDWR, 0640);
	close(at.dirfd);
	if (fd < 0)
		return fd;
	fill_data(in, fd, a->y);
	held_take(in, a, fd, false);
	return 0;
}

void act_held(struct inside *in, const struct act *a)
{
	struct held *h = &in->held[a->x % HELD_MAX];
	char dir[512];
	struct at at;
	int r = 0;

	if (a->kind == ACT_TMPFILE) {
		r = make_tmpfile(in, a);
	} else if (h->fd < 0) {
		r = -EBADF;
	} else if (a->kind == ACT_FDLINK) {
		r = held_link(in, h, a);
	} else {
		at_of_held(in, h, &at, dir);
		in->sh->reply.stray = !at.leaf;
		r = meta_of(in, part_of(in, a->who, h->second), &at, a);
	}
	in->sh->reply.r = r;
}
