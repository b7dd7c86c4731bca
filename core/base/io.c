/* io - complete reads and writes, small files, directories, descriptors over sockets. */
/* SPDX-License-Identifier: MIT */
#include "core/base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/path.h"
#include "core/os/file.h"
#include "core/os/process.h"
#include "core/os/socket.h"

int io_write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

int io_pwrite_all(int fd, const void *data, size_t len, off_t at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return 0;
}

/* Reads at the file's own position if `at` is negative. */
static ssize_t read_full(int fd, char *p, size_t len, off_t at)
{
	size_t got = 0;

	while (got < len) {
		ssize_t n = at < 0 ? read(fd, p + got, len - got)
				   : pread(fd, p + got, len - got, at + (off_t)got);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

ssize_t io_read_full(int fd, void *data, size_t len)
{
	return read_full(fd, data, len, -1);
}

ssize_t io_pread_full(int fd, void *data, size_t len, off_t at)
{
	return at < 0 ? -EINVAL : read_full(fd, data, len, at);
}

int io_read_all(int fd, size_t max, char **ret, size_t *ret_len)
{
	AUTO_BUF struct buf b = BUF_INIT;

	for (;;) {
		size_t piece = MAX(b.len, (size_t)8192);
		ssize_t n;

		buf_reserve(&b, piece);
		n = io_read_full(fd, b.data + b.len, piece);
		if (n < 0)
			return (int)n;
		b.len += (size_t)n;
		b.data[b.len] = '\0';
		if (b.len > max)
			return -EFBIG;
		if ((size_t)n < piece)
			break;
	}
	if (ret_len)
		*ret_len = b.len;
	*ret = buf_take(&b);
	return 0;
}

int io_read_file(int dirfd, const char *name, size_t max, char **ret, size_t *ret_len)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;

	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	return io_read_all(fd, max, ret, ret_len);
}

int io_write_file(int dirfd, const char *name, mode_t mode, const void *data, size_t len,
		  bool durable)
{
	AUTO_FREE char *tmp = xasprintf("%s.tmp", name);
	AUTO_CLOSE int fd = -1;
	int r;

	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return -errno;
	/* The mode is set explicitly, because the keeper's umask is that of its caller. */
	r = fchmod(fd, mode) < 0 ? -errno : io_write_all(fd, data, len);
	if (r == 0 && durable && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(dirfd, tmp, dirfd, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dirfd, tmp, 0);
	return r;
}

static int make_all(int dirfd, char *path, mode_t mode)
{
	for (char *slash = path + (*path == '/'); (slash = strchr(slash, '/')); slash++) {
		int r;

		*slash = '\0';
		r = mkdirat(dirfd, path, mode) < 0 ? -errno : 0;
		*slash = '/';
		if (r < 0 && r != -EEXIST && r != -EROFS)
			return r;
	}
	return mkdirat(dirfd, path, mode) < 0 && errno != EEXIST ? -errno : 0;
}

int io_mkdir_p(int dirfd, const char *path, mode_t mode)
{
	AUTO_FREE char *p = xstrdup(path);
	int r = mkdirat(dirfd, path, mode) < 0 && errno != EEXIST ? -errno : 0;

	if (r == -ENOENT)
		r = make_all(dirfd, p, mode);

	/* Another process may have removed an empty directory on the way. */
	for (int tries = 0; r == -ENOENT && tries < 100; tries++)
		r = make_all(dirfd, p, mode);
	return r;
}

/* Removes any tree, even one that an adversary made: makes closed directories accessible, and moves
 * parts below DEPTH to the top, where they are removed later. Another process may remove the tree
 * at the same time. */
struct removal {
	int top;
	unsigned moved;
};
#define DEPTH 64

static int open_to_empty(int dirfd, const char *name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW;
	struct stat st;
	int fd = openat(dirfd, name, flags);

	if (fd < 0 && errno == EACCES && fchmodat(dirfd, name, 0700, AT_SYMLINK_NOFOLLOW) == 0)
		fd = openat(dirfd, name, flags);
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) == 0 && (st.st_mode & 0700) != 0700)
		fchmod(fd, 0700);
	return fd;
}

static int move_to_top(struct removal *rm, int dirfd, const char *name)
{
	char to[32];

	do {
		snprintf(to, sizeof(to), ".deep-%u", ++rm->moved);
	} while (renameat2(dirfd, name, rm->top, to, RENAME_NOREPLACE) < 0 && errno == EEXIST);
	return faccessat(rm->top, to, F_OK, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}

static int empty_dir(struct removal *rm, int dirfd, int depth);

static int remove_one(struct removal *rm, int dirfd, const char *name, int depth)
{
	AUTO_CLOSE int sub = -1;
	int r;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -errno;
	sub = open_to_empty(dirfd, name);
	if (sub < 0)
		return sub == -ENOENT ? 0 : sub;
	if (depth == DEPTH)
		return move_to_top(rm, dirfd, name);
	r = empty_dir(rm, sub, depth + 1);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

/* Unlink everything in the open directory; subdirectories are pushed by reopening, depth first. */
static int empty_dir(struct removal *rm, int dirfd, int depth)
{
	AUTO_DIR DIR *dir = NULL;
	AUTO_CLOSE int own = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct dirent *e;

	if (own < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(own);
	if (!dir)
		return -errno;
	own = -1;
	while ((errno = 0, e = readdir(dir))) {
		int r;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		r = remove_one(rm, dirfd, e->d_name, depth);
		if (r < 0)
			return r;
	}
	return -errno;
}

int io_remove_tree(int dirfd, const char *name)
{
	AUTO_CLOSE int fd = -1;
	struct removal rm = {0};
	unsigned moved;
	int r;

	if (unlinkat(dirfd, name, 0) == 0 || errno == ENOENT)
		return 0;
	fd = open_to_empty(dirfd, name);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	rm.top = fd;
	do {
		moved = rm.moved;
		r = empty_dir(&rm, fd, 0);
	} while (r == 0 && rm.moved != moved);
	if (r < 0)
		return r;
	return unlinkat(dirfd, name, AT_REMOVEDIR) < 0 && errno != ENOENT ? -errno : 0;
}

static int send_fd(int sock, const void *data, size_t len, int fd, int flags)
{
	union {
		char raw[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
	ssize_t n;

	if (fd >= 0) {
		struct cmsghdr *c;

		msg.msg_control = control.raw;
		msg.msg_controllen = sizeof(control.raw);
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do {
		n = sendmsg(sock, &msg, MSG_NOSIGNAL | flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EMSGSIZE;
}

int io_send_fd(int sock, const void *data, size_t len, int fd)
{
	return send_fd(sock, data, len, fd, 0);
}

int io_try_send_fd(int sock, const void *data, size_t len, int fd)
{
	return send_fd(sock, data, len, fd, MSG_DONTWAIT);
}

static ssize_t recv_fd(int sock, void *data, size_t len, int *ret_fd, int flags)
{
	union {
		char raw[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct iovec iov = {.iov_base = data, .iov_len = len};
	struct msghdr msg = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control.raw,
			     .msg_controllen = sizeof(control.raw)};
	ssize_t n;

	if (ret_fd)
		*ret_fd = -1;
	do {
		n = recvmsg(sock, &msg, MSG_CMSG_CLOEXEC | flags);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	for (struct cmsghdr *c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		int fd;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&fd, CMSG_DATA(c), sizeof(int));
		if (ret_fd && *ret_fd < 0)
			*ret_fd = fd;
		else
			close(fd);
	}
	return n;
}

ssize_t io_recv_fd(int sock, void *data, size_t len, int *ret_fd)
{
	return recv_fd(sock, data, len, ret_fd, 0);
}

ssize_t io_try_recv_fd(int sock, void *data, size_t len, int *ret_fd)
{
	return recv_fd(sock, data, len, ret_fd, MSG_DONTWAIT);
}

static int lock_as(int fd, int how)
{
	const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};

	for (int tries = 0; flock(fd, how | LOCK_NB) < 0; tries++) {
		if (errno == EINTR)
			continue;
		if (errno != EWOULDBLOCK || tries == 100)
			return -errno;
		nanosleep(&pause, NULL);
	}
	return 0;
}

int io_lock(int fd)
{
	return lock_as(fd, LOCK_EX);
}

int io_lock_shared(int fd)
{
	return lock_as(fd, LOCK_SH);
}

bool io_is_at(const char *path, const struct stat *st)
{
	struct stat there;

	return lstat(path, &there) == 0 && there.st_ino == st->st_ino && there.st_dev == st->st_dev;
}

int io_hold_stdio(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0)
			continue;
		if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			return -EBADF;
	}
	return 0;
}

void io_close_all_but(int from, const int *keep, size_t n)
{
	for (;;) {
		int next = INT_MAX;

		for (size_t i = 0; i < n; i++)
			if (keep[i] >= from)
				next = MIN(next, keep[i]);
		if (next > from)
			os_close_range((unsigned)from, next == INT_MAX ? ~0u : (unsigned)next - 1);
		if (next == INT_MAX)
			return;
		from = next + 1;
	}
}

static int open_slave(int master)
{
	char name[64];
	int fd = -1;

#ifdef TIOCGPTPEER /* Linux 4.13; needs no path to the pty */
	fd = ioctl(master, TIOCGPTPEER, O_RDWR | O_NOCTTY | O_CLOEXEC);
#endif
	if (fd < 0 && ptsname_r(master, name, sizeof(name)) == 0)
		fd = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int io_open_pty(int *ret_slave)
{
	AUTO_CLOSE int master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
	AUTO_CLOSE int slave = -1;
	struct termios tio;

	if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
		return -errno;
	slave = open_slave(master);
	if (slave < 0)
		return slave;
	if (tcgetattr(slave, &tio) == 0) {
		tio.c_iflag |= IUTF8;
		tcsetattr(slave, TCSANOW, &tio);
	}
	*ret_slave = take_fd(&slave);
	return take_fd(&master);
}

bool io_has(const char *dir, const char *name)
{
	AUTO_FREE char *path = path_join(dir, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int io_set_nonblock(int fd, bool on)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0)
		return -errno;
	flags = on ? flags | O_NONBLOCK : flags & ~O_NONBLOCK;
	return fcntl(fd, F_SETFL, flags) < 0 ? -errno : 0;
}

int io_set_cloexec(int fd, bool on)
{
	return fcntl(fd, F_SETFD, on ? FD_CLOEXEC : 0) < 0 ? -errno : 0;
}
