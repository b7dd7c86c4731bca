/* tree - a directory tree as text: every byte and attribute that an undo must restore. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/buf.h"

/*
 * One line per object, sorted: path, type and mode, owner, size, mtime, the first name of the same
 * inode, hash of the content or link target, xattrs. Compare two with strcmp().
 */
struct tree_name {
	dev_t dev;
	ino_t ino;
	char *path;
};

static inline int tree_order(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static inline uint64_t tree_hash(const char *path)
{
	char block[65536];
	XXH3_state_t *x = XXH3_createState();
	FILE *f = fopen(path, "rbe");
	uint64_t h;
	size_t n;

	XXH3_64bits_reset(x);
	while (f && (n = fread(block, 1, sizeof(block), f)) > 0)
		XXH3_64bits_update(x, block, n);
	if (f)
		fclose(f);
	h = XXH3_64bits_digest(x);
	XXH3_freeState(x);
	return h;
}

/* Writes where the data is in a file with holes. Not on xfs, which fills holes around writes over
 * shared extents (128 KiB at a time). Allocated space is no hole. */
static inline void tree_holes(struct buf *b, const char *path, const struct stat *st)
{
	int fd = st->st_blocks * 512 < st->st_size ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	off_t data = 0, hole;
	struct statfs fs;

	if (fd < 0)
		return;
	if (fstatfs(fd, &fs) < 0 || fs.f_type == XFS_SUPER_MAGIC ||
	    lseek(fd, 0, SEEK_HOLE) >= st->st_size) {
		close(fd);
		return;
	}
	if (fsync(fd) < 0) /* delayed allocation may become either */
		perror(path);
	while ((data = lseek(fd, data, SEEK_DATA)) >= 0 &&
	       (hole = lseek(fd, data, SEEK_HOLE)) > 0) {
		buf_fmt(b, " data %lld-%lld", (long long)data, (long long)hole);
		data = hole;
	}
	close(fd);
}

static inline void tree_xattrs(struct buf *b, const char *path)
{
	char names[4096], value[4096];
	ssize_t n = llistxattr(path, names, sizeof(names));

	for (char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		ssize_t len = lgetxattr(path, p, value, sizeof(value));

		buf_fmt(b, " %s=%016llx", p,
			(unsigned long long)(len < 0 ? 0 : XXH3_64bits(value, (size_t)len)));
	}
}

static inline const char *tree_first_name(struct tree_name **names, size_t *n,
					  const struct stat *st, const char *path)
{
	for (size_t i = 0; i < *n; i++)
		if ((*names)[i].dev == st->st_dev && (*names)[i].ino == st->st_ino)
			return (*names)[i].path;
	*names = xrealloc(*names, (*n + 1) * sizeof(**names));
	(*names)[*n] = (struct tree_name){st->st_dev, st->st_ino, xstrdup(path)};
	return (*names)[(*n)++].path;
}

/* Returns the text of the tree below dir, without entries named skip (".cordon") at its top. */
static inline char *tree_take(const char *dir, const char *skip)
{
	char *argv[2] = {xstrdup(dir), NULL};
	struct buf b = BUF_INIT;
	struct tree_name *names = NULL;
	size_t n = 0;
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR, tree_order);
	FTSENT *e;

	while (fts && (e = fts_read(fts))) {
		const struct stat *st = e->fts_statp;
		const char *path = e->fts_path + strlen(dir);
		char target[4096];

		if (e->fts_info == FTS_DP)
			continue;
		if (skip && e->fts_level == 1 && str_eq(e->fts_name, skip)) {
			fts_set(fts, e, FTS_SKIP);
			continue;
		}
		buf_fmt(&b, "%s %o %u:%u %lld.%09ld", path, st->st_mode, st->st_uid, st->st_gid,
			(long long)st->st_mtim.tv_sec, st->st_mtim.tv_nsec);
		if (S_ISREG(st->st_mode))
			buf_fmt(&b, " size %lld hash %016llx", (long long)st->st_size,
				(unsigned long long)tree_hash(e->fts_accpath));
		if (S_ISREG(st->st_mode))
			tree_holes(&b, e->fts_accpath, st);
		if (S_ISLNK(st->st_mode)) {
			ssize_t len = readlink(e->fts_accpath, target, sizeof(target));

			buf_fmt(&b, " -> %.*s", (int)MAX(len, 0), target);
		}
		if (!S_ISDIR(st->st_mode) && st->st_nlink > 1) {
			const char *first = tree_first_name(&names, &n, st, path);

			if (!str_eq(first, path))
				buf_fmt(&b, " same as %s", first);
		}
		if (!S_ISLNK(st->st_mode))
			tree_xattrs(&b, e->fts_accpath);
		buf_ch(&b, '\n');
	}
	if (fts)
		fts_close(fts);
	while (n)
		free(names[--n].path);
	free(names);
	free(argv[0]);
	return buf_take(&b);
}

/* Returns whether both are equal; prints lines of only one of them on stderr. */
static inline bool tree_same(const char *want, const char *got)
{
	if (strcmp(want, got) == 0)
		return true;
	for (int side = 0; side < 2; side++) {
		AUTO_FREE char *copy = xstrdup(side ? got : want);
		char *save = NULL;

		for (char *line = strtok_r(copy, "\n", &save); line;
		     line = strtok_r(NULL, "\n", &save)) {
			AUTO_FREE char *whole = xasprintf("%s\n", line);

			if (!strstr(side ? want : got, whole))
				fprintf(stderr, "# %s %s\n", side ? "got " : "want", line);
		}
	}
	return false;
}
