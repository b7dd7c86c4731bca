/* evade - changes files in every way that an undo log might miss. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tests/escape/attack.h"

/* Each attack changes an existing file "f-<what>" of 64 KiB of 'x'. */

static void *map(const char *name, int *fd)
{
	*fd = open(name, O_RDWR);
	return mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_SHARED, *fd, 0);
}

static void by_mmap(const char *name)
{
	int fd;
	char *p = map(name, &fd);

	close(fd); /* closed before the first write */
	if (p != MAP_FAILED)
		memset(p, 'm', 4096);
}

static void by_mmap_later_child(const char *name)
{
	int fd;
	char *p = map(name, &fd);

	close(fd);
	unlink(name);
	if (fork() == 0) {
		memset(p, 'c', 4096);
		_exit(0);
	}
	wait(NULL);
}

static void by_trunc(const char *name)
{
	close(open(name, O_WRONLY | O_TRUNC));
}

static void by_rdonly_trunc(const char *name)
{
	close(open(name, O_RDONLY | O_TRUNC));
}

static void by_ftruncate(const char *name)
{
	int fd = open(name, O_WRONLY);

	(void)!ftruncate(fd, 10);
	(void)!ftruncate(fd, 100000);
	close(fd);
}

static void by_punch(const char *name)
{
	int fd = open(name, O_WRONLY);

	(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192);
	(void)!fallocate(fd, FALLOC_FL_ZERO_RANGE, 16384, 4096);
	(void)!fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 4096);
	close(fd);
}

static void by_copy_range(const char *name)
{
	int from = open("f-source", O_RDONLY), to = open(name, O_WRONLY);

	(void)!copy_file_range(from, NULL, to, NULL, 8192, 0);
	close(from);
	close(to);
}

static void by_sendfile(const char *name)
{
	int from = open("f-source", O_RDONLY), to = open(name, O_WRONLY);

	(void)!sendfile(to, from, NULL, 8192);
	close(from);
	close(to);
}

static void by_clone(const char *name)
{
	int from = open("f-source", O_RDONLY), to = open(name, O_WRONLY);

	(void)!ioctl(to, FICLONE, from);
	close(from);
	close(to);
}

static void by_splice(const char *name)
{
	int p[2], to = open(name, O_WRONLY);

	if (pipe(p) == 0 && write(p[1], "spliced", 7) == 7)
		(void)!splice(p[0], NULL, to, NULL, 7, 0);
	close(to);
}

static void by_rename_over(const char *name)
{
	close(open("new", O_WRONLY | O_CREAT, 0600));
	(void)!rename("new", name);
}

static void by_exchange(const char *name)
{
	close(open("other", O_WRONLY | O_CREAT, 0600));
	syscall(SYS_renameat2, AT_FDCWD, "other", AT_FDCWD, name, 2);
	unlink("other");
}

static void by_tmpfile(const char *name)
{
	char path[64];
	int fd = open(".", O_TMPFILE | O_RDWR, 0644);

	(void)!write(fd, "tmpfile", 7);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)!linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
	(void)!rename("linked", name);
	close(fd);
}

static void by_xattr(const char *name)
{
	setxattr(name, "user.evil", "1", 1, 0);
	removexattr(name, "user.kept");
}

static void by_metadata(const char *name)
{
	struct timespec ts[2] = {{1, 2}, {3, 4}};

	chmod(name, 04711);
	utimensat(AT_FDCWD, name, ts, 0);
	(void)!chown(name, getuid(), getgid());
}

static void by_fd_metadata(const char *name)
{
	struct timespec ts[2] = {{1, 2}, {3, 4}};
	int fd = open(name, O_RDONLY);

	fchmod(fd, 0600);
	futimens(fd, ts);
	fsetxattr(fd, "user.evil", "2", 1, 0);
	close(fd);
}

static void by_proc_fd(const char *name)
{
	char path[64];
	int fd = open(name, O_RDONLY);

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	close(open(path, O_WRONLY | O_TRUNC));
	close(fd);
}

static void by_hard_link(const char *name)
{
	int fd;

	(void)!link(name, "alias");
	fd = open("alias", O_WRONLY | O_TRUNC);
	(void)!write(fd, "alias", 5);
	close(fd);
	unlink("alias");
}

static void by_symlink(const char *name)
{
	int fd;

	(void)!symlink(name, "sym");
	fd = open("sym", O_WRONLY | O_APPEND);
	(void)!write(fd, "through a link", 14);
	close(fd);
	unlink("sym");
}

static void by_pwritev2(const char *name)
{
	char text[] = "vector";
	struct iovec iov = {text, 6};
	int fd = open(name, O_WRONLY | O_DSYNC);

	(void)!pwritev2(fd, &iov, 1, 100, 0);
	close(fd);
}

static void by_background(const char *name)
{
	int fd = open(name, O_WRONLY);

	if (fork() == 0) { /* outlives its parent, with the descriptor */
		setsid();
		(void)!pwrite(fd, "late", 4, 0);
		_exit(0);
	}
	close(fd);
	wait(NULL);
}

static void by_replacement(const char *name)
{
	unlink(name); /* replaced by a directory, a link, and a FIFO */
	mkdir(name, 0700);
	rmdir(name);
	(void)!symlink("/etc/passwd", name);
	unlink(name);
	mkfifo(name, 0600);
}

static void by_sparse(const char *name)
{
	int fd = open(name, O_WRONLY | O_TRUNC);

	(void)!pwrite(fd, "end", 3, 1 << 24);
	close(fd);
}

/* The unlinked file is still open: the undo store may have the same inode. */
static void by_unlinked(const char *name)
{
	struct timespec ts[2] = {{1, 2}, {3, 4}};
	char path[64];
	int fd = open(name, O_RDONLY), again;

	unlink(name);
	fchmod(fd, 0777);
	futimens(fd, ts);
	fsetxattr(fd, "user.evil", "3", 1, 0);
	(void)!ftruncate(fd, 5);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_RDWR);
	(void)!pwrite(again, "reopened", 8, 0);
	close(again);
	(void)!truncate(path, 7);
	chmod(path, 0600);
	(void)!linkat(AT_FDCWD, path, AT_FDCWD, "relinked", AT_SYMLINK_FOLLOW);
	unlink("relinked");
	close(fd);
}

/* Like by_unlinked(), with a descriptor that the keeper opened: O_CREAT is performed by the
 * keeper. */
static void by_unlinked_creat(const char *name)
{
	char path[64];
	int fd = open(name, O_RDONLY | O_CREAT, 0644), again;

	unlink(name);
	fchmod(fd, 0777);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	again = open(path, O_WRONLY | O_TRUNC);
	(void)!write(again, "reopened", 8);
	close(again);
	close(fd);
}

static void by_unlinked_writer(const char *name)
{
	int fd = open(name, O_RDWR);

	unlink(name);
	(void)!pwrite(fd, "unlinked", 8, 0);
	(void)!ftruncate(fd, 9);
	fchmod(fd, 0777);
	fsetxattr(fd, "user.evil", "4", 1, 0);
	close(fd);
}

static void by_replaced(const char *name)
{
	int fd = open(name, O_RDWR), held = open(name, O_RDONLY);

	close(open("new", O_WRONLY | O_CREAT, 0600));
	(void)!rename("new", name);
	(void)!pwrite(fd, "replaced", 8, 0);
	fchmod(held, 0700);
	close(fd);
	close(held);
}

static void by_insert(const char *name)
{
	int fd = open(name, O_WRONLY);

	(void)!fallocate(fd, FALLOC_FL_INSERT_RANGE, 4096, 4096);
	(void)!fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 8192);
	(void)!fallocate(fd, 0, 0, 1 << 20);
	close(fd);
}

static void by_clone_range(const char *name)
{
	int from = open("f-source", O_RDONLY), to = open(name, O_RDWR);
	struct file_clone_range range = {.src_fd = from, .src_length = 4096, .dest_offset = 8192};

	(void)!ioctl(to, FICLONERANGE, &range);
	(void)!pwrite(to, "y", 1, 0);
	close(from);
	close(to);
}

/* Uses a descriptor received from another process. */
static void by_passed_fd(const char *name)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec iov = {&byte, 1};
	struct cmsghdr *c;
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	int pair[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		return;
	if (fork() == 0) {
		c = CMSG_FIRSTHDR(&m);
		fd = open(name, O_WRONLY);
		if (!c)
			_exit(1);
		*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
				      .cmsg_level = SOL_SOCKET,
				      .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(c), &fd, sizeof(fd));
		_exit(sendmsg(pair[1], &m, 0) < 0);
	}
	wait(NULL);
	c = recvmsg(pair[0], &m, 0) == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	if (c) {
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		(void)!pwrite(fd, "passed", 6, 0);
		close(fd);
	}
	close(pair[0]);
	close(pair[1]);
}

static void by_mremap(const char *name)
{
	int fd;
	char *p = map(name, &fd);

	if (p == MAP_FAILED)
		return;
	p = mremap(p, 65536, 131072, MREMAP_MAYMOVE);
	if (p == MAP_FAILED)
		return;
	close(fd);
	memset(p + 60000, 'r', 5000);
	madvise(p, 4096, MADV_REMOVE); /* a hole, without a descriptor */
}

static const struct {
	const char *name;
	void (*run)(const char *name);
} ways[] = {
	{"f-mmap", by_mmap},
	{"f-mmap-child", by_mmap_later_child},
	{"f-trunc", by_trunc},
	{"f-rdonly-trunc", by_rdonly_trunc},
	{"f-ftruncate", by_ftruncate},
	{"f-punch", by_punch},
	{"f-copy-range", by_copy_range},
	{"f-sendfile", by_sendfile},
	{"f-clone", by_clone},
	{"f-splice", by_splice},
	{"f-rename-over", by_rename_over},
	{"f-exchange", by_exchange},
	{"f-tmpfile", by_tmpfile},
	{"f-xattr", by_xattr},
	{"f-metadata", by_metadata},
	{"f-fd-metadata", by_fd_metadata},
	{"f-proc-fd", by_proc_fd},
	{"f-hard-link", by_hard_link},
	{"f-symlink", by_symlink},
	{"f-pwritev2", by_pwritev2},
	{"f-background", by_background},
	{"f-replacement", by_replacement},
	{"f-sparse", by_sparse},
	{"f-unlinked", by_unlinked},
	{"f-unlinked-creat", by_unlinked_creat},
	{"f-unlinked-writer", by_unlinked_writer},
	{"f-replaced", by_replaced},
	{"f-insert", by_insert},
	{"f-clone-range", by_clone_range},
	{"f-passed", by_passed_fd},
	{"f-mremap", by_mremap},
};

static void prepare(const char *name)
{
	static char block[65536];
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	memset(block, 'x', sizeof(block));
	(void)!write(fd, block, sizeof(block));
	fsetxattr(fd, "user.kept", "kept", 4, 0);
	close(fd);
}

static void a_prepare(char **a)
{
	(void)a;
	prepare("f-source");
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		prepare(ways[i].name);
}

static void a_change(char **a)
{
	(void)a;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		ways[i].run(ways[i].name);
	puts("changed");
}

static void a_names(char **a)
{
	(void)a;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		puts(ways[i].name);
}

/* ---- taken away by another command ----------------------------------------------------------- */

static char taken[16];	      /* path of the file through a descriptor */
static volatile char way[16]; /* an argument of the call, which another thread changes meanwhile */
static volatile struct open_how how;
static volatile bool swapping;

static void *swap(void *unused)
{
	static const char bait[sizeof(way)] = "/tmp/bait";

	for (unsigned i = 0; swapping; i++) {
		for (size_t c = 0; c < sizeof(way); c++)
			way[c] = i & 2 ? taken[c] : bait[c];
		how.flags = i & 1 ? O_RDONLY | O_TRUNC : O_RDONLY;
	}
	return unused;
}

/* Changes path and flags of calls that are let through because they seem to change nothing. */
static void race_for(const char *what, int fd, bool second)
{
	struct stat before, now;
	pthread_t thread;

	close(open("/tmp/bait", O_WRONLY | O_CREAT, 0600));
	fstat(fd, &before);
	swapping = true;
	pthread_create(&thread, NULL, swap, NULL);
	for (int i = 0; i < 5000; i++) {
		int got = (int)(second ? syscall(SYS_openat2, AT_FDCWD, way, &how, sizeof(how))
				       : syscall(SYS_openat, AT_FDCWD, way, O_RDONLY | O_TRUNC));

		if (got >= 0)
			close(got);
	}
	swapping = false;
	pthread_join(thread, NULL);
	fstat(fd, &now);
	said_if(what, now.st_size == before.st_size, "as long as it was");
}

/* FILE, which this command writes to first, and which another command then removes or replaces. A
 * path that begins at a descriptor of the keeper's leads to the file on a writable mount. Earlier
 * records of this command's access to it prove nothing about that. */
static void a_taken(char **a)
{
	struct timespec ts[2] = {{1, 2}, {3, 4}};
	int w = open(a[0], O_RDWR), fd;
	char other[64];

	snprintf(other, sizeof(other), "/proc/self/fd/%d", w);
	fd = open(other, O_PATH);
	close(w);
	close(open("held", O_WRONLY | O_CREAT, 0600));
	snprintf(taken, sizeof(taken), "/proc/self/fd/%u", (unsigned)fd % 10);
	snprintf(other, sizeof(other), "/proc/%d/fd/%d", getpid(), fd);
	for (int i = 0; access("taken", F_OK) < 0;
	     i++) { /* until then the file is this command's */
		if (i == 20000) {
			puts("nobody took it");
			return;
		}
		usleep(10000);
	}
	race_for("openat2 with other flags", fd, true);
	race_for("openat with another path", fd, false);
	said("open to read and truncate", open(taken, O_RDONLY | O_TRUNC));
	said("open for nothing and truncate", open(taken, O_ACCMODE | O_TRUNC));
	if (fork() == 0) { /* through another process's number */
		said("truncate another's", open(other, O_RDONLY | O_TRUNC));
		said("truncate another's for nothing", open(other, O_ACCMODE | O_TRUNC));
		_exit(0);
	}
	wait(NULL);
	said("reopen", open(taken, O_RDWR));
	said("truncate", truncate(taken, 3));
	said("chmod", chmod(taken, 0777));
	said("utimensat", utimensat(AT_FDCWD, taken, ts, 0));
	said("setxattr", setxattr(taken, "user.evil", "1", 1, 0));
}

/* FILE, through a mapping that outlives the command: stores to a page that waits for writeback,
 * which changes no time stamp. */
static void a_mapped(char **a)
{
	int fd;
	char *p = map(a[0], &fd);

	close(fd);
	if (p == MAP_FAILED)
		return;
	p[0] = 'm';
	if (fork())
		return;
	setsid();
	for (int i = 0; i < 3000 && access("go", F_OK) < 0; i++)
		usleep(10000);
	p[0] = 'l';
	close(open("stored", O_WRONLY | O_CREAT, 0600));
	_exit(0);
}

static const struct attack list[] = {{"mapped", a_mapped, 1},
				     {"taken", a_taken, 1},
				     {"prepare", a_prepare, 0},
				     {"change", a_change, 0},
				     {"names", a_names, 0}};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
