/* files - jobs that read, write and list files, in a child of the runner. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/api/inside/inside_priv.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/os/file.h"

#define CONTENT_MAX ((size_t)64 << 20)
#define CONTENT_S   60 /* time until all content of a write must have arrived */

int files_fail(int error, const char *what, const char *path)
{
	dprintf(2, "%d %s '%s': %s\n", error, what, path, strerror(error));
	return 1;
}

static int64_t micros(const struct timespec *t)
{
	return (int64_t)t->tv_sec * 1000000 + t->tv_nsec / 1000;
}

/* ---- read ------------------------------------------------------------------------------------ */

static int copy_out(int fd, uint64_t most)
{
	static char bytes[RUNNER_BYTES];

	while (most) {
		ssize_t n = io_read_full(fd, bytes, (size_t)MIN(most, (uint64_t)sizeof(bytes)));

		if (n < 0)
			return (int)n;
		if (n == 0)
			break;
		if (io_write_all(1, bytes, (size_t)n) < 0)
			return -EPIPE;
		most -= (uint64_t)n;
	}
	return 0;
}

static int read_file(const char *path, const char *offset, const char *most)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return files_fail(errno, "read", path);
	if (S_ISDIR(st.st_mode))
		return files_fail(EISDIR, "read", path);
	if (!S_ISREG(st.st_mode))
		return files_fail(EINVAL, "read as a regular file:", path);
	if (lseek(fd, (off_t)strtoll(offset, NULL, 10), SEEK_SET) < 0)
		return files_fail(errno, "read", path);
	dprintf(1, "%" PRIu64 " %o %" PRId64 "\n", (uint64_t)st.st_size, st.st_mode & 07777,
		micros(&OS_MTIME(&st)));
	r = copy_out(fd, strtoull(most, NULL, 10));
	return r < 0 ? files_fail(-r, "read", path) : 0;
}

/* ---- write ----------------------------------------------------------------------------------- */

/* Writes in place: the file keeps its inode, owner, attributes and other names. */
static int write_file(const struct order *o)
{
	const char *path = o->argv[0];
	const char *how = o->argv[1];
	mode_t mode = (mode_t)strtoul(o->argv[2], NULL, 8);
	int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	AUTO_FREE char *content = NULL;
	AUTO_CLOSE int fd = -1;
	size_t len = 0;
	int r;

	alarm(CONTENT_S);
	r = io_read_all(0, CONTENT_MAX, &content, &len);
	alarm(0);
	if (r < 0)
		return files_fail(-r, "take the content of", path);
	if (str_eq(o->argv[3], "1") && strchr(path, '/')) {
		AUTO_FREE char *dir = xstrndup(path, (size_t)(path_base(path) - path));

		r = io_mkdir_p(AT_FDCWD, dir, 0777);
		if (r < 0)
			return files_fail(-r, "make the directory", dir);
	}
	if (str_eq(how, "create"))
		flags |= O_EXCL;
	else if (str_eq(how, "append"))
		flags |= O_APPEND;
	else
		flags |= O_TRUNC;
	fd = open(path, flags, mode);
	if (fd < 0)
		return files_fail(errno, "write", path);
	r = content ? io_write_all(fd, content, len) : 0;
	return r < 0 ? files_fail(-r, "write", path) : 0;
}

/* ---- list ------------------------------------------------------------------------------------ */

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFREG:
		return "file";
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symlink";
	case S_IFIFO:
		return "fifo";
	case S_IFSOCK:
		return "socket";
	default:
		return "device";
	}
}

static void list_entry(struct buf *out, int dir, const char *name)
{
	struct stat st = {0};
	char target[4096];
	ssize_t n;

	buf_ch(out, '{');
	json_member(out, "name", name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0) {
		buf_str(out, ",\"type\":\"unknown\"}\n");
		return;
	}
	buf_fmt(out, ",\"type\":\"%s\",\"size\":%" PRIu64 ",\"mode\":%u,\"mtime_us\":%" PRId64,
		type_name(st.st_mode), (uint64_t)st.st_size, st.st_mode & 07777,
		micros(&OS_MTIME(&st)));
	if (S_ISLNK(st.st_mode) && (n = readlinkat(dir, name, target, sizeof(target))) > 0) {
		buf_str(out, ",\"target\":");
		json_quote(out, target, (size_t)n);
	}
	buf_str(out, "}\n");
}

/* Lists one name more than `most`, which tells the other end that there are more. */
static int list_dir(const char *path, size_t most)
{
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_DIR DIR *dir = opendir(path);
	char **names = NULL;
	const struct dirent *e;
	size_t n = 0;

	if (!dir)
		return files_fail(errno, "list", path);
	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		names = xrealloc(names, (n + 1) * sizeof(*names));
		names[n++] = xstrdup(e->d_name);
	}
	if (n)
		qsort(names, n, sizeof(*names), util_by_text);
	for (size_t i = 0; i < n; i++) {
		if (i <= most)
			list_entry(&out, dirfd(dir), names[i]);
		free(names[i]);
	}
	free(names);
	return io_write_all(1, out.data, out.len) < 0;
}

int files_run(const struct order *o)
{
	char *const *a = o->argv;

	switch (o->flags & RUN_WHAT) {
	case RUN_READ:
		return o->n_argv == 3 ? read_file(a[0], a[1], a[2]) : 2;
	case RUN_WRITE:
		return o->n_argv == 4 ? write_file(o) : 2;
	case RUN_LIST:
		return o->n_argv == 2 ? list_dir(a[0], strtoul(a[1], NULL, 10)) : 2;
	case RUN_SCAN:
		return o->n_argv == 2 ? scan_run(a[0], strtoul(a[1], NULL, 10)) : 2;
	default:
		return 2;
	}
}
