/* hold - keeps a file open or mapped beyond the step that opened it, and changes it later. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>

#include "tests/escape/attack.h"

/* Files are 64 KiB. A holder listens on a socket outside the folder and obeys commands. */
#define SIZE 65536

static void *mapped;

static int reopen(int fd, int flags)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return open(path, flags);
}

static void do_write(int fd)
{
	(void)!pwrite(fd, "later", 5, 4000);
}

static void do_map(int fd)
{
	char *p = mapped ? mapped : mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED)
		memset(p + 8000, 'M', 8192);
}

static void do_truncate(int fd)
{
	(void)!ftruncate(fd, 100);
}

static void do_grow(int fd)
{
	(void)!ftruncate(fd, 1 << 20);
}

static void do_punch(int fd)
{
	(void)!fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 4096, 8192);
}

static void do_zero(int fd)
{
	(void)!fallocate(fd, FALLOC_FL_ZERO_RANGE, 4096, 8192);
}

static void do_collapse(int fd)
{
	(void)!fallocate(fd, FALLOC_FL_COLLAPSE_RANGE, 0, 8192);
}

static void do_copy_range(int fd)
{
	int from = open("source", O_RDONLY);
	loff_t to = 4096;

	(void)!copy_file_range(from, NULL, fd, &to, 8192, 0);
	close(from);
}

static void do_clone(int fd)
{
	int from = open("source", O_RDONLY);

	(void)!ioctl(fd, FICLONE, from);
	close(from);
}

static void do_chmod(int fd)
{
	fchmod(fd, 0700);
}

static void do_times(int fd)
{
	const struct timespec ts[2] = {{5, 6}, {7, 8}};

	futimens(fd, ts);
}

static void do_xattr(int fd)
{
	fsetxattr(fd, "user.later", "1", 1, 0);
}

static void do_reopen(int fd)
{
	int again = reopen(fd, O_WRONLY | O_TRUNC);

	(void)!write(again, "again", 5);
	close(again);
}

static void do_link(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	(void)!linkat(AT_FDCWD, path, AT_FDCWD, "linked", AT_SYMLINK_FOLLOW);
	(void)!pwrite(fd, "linked", 6, 0);
}

static const struct {
	const char *name;
	void (*run)(int fd);
} ways[] = {
	{"write", do_write},	   {"map", do_map},
	{"truncate", do_truncate}, {"grow", do_grow},
	{"punch", do_punch},	   {"zero", do_zero},
	{"collapse", do_collapse}, {"copy-range", do_copy_range},
	{"clone", do_clone},	   {"chmod", do_chmod},
	{"times", do_times},	   {"xattr", do_xattr},
	{"reopen", do_reopen},	   {"link", do_link},
};

static void act(const char *way, int fd)
{
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (strcmp(way, ways[i].name) == 0)
			ways[i].run(fd);
}

static int address(struct sockaddr_un *un, const char *path)
{
	*un = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(un->sun_path, sizeof(un->sun_path), "%s", path);
	return socket(AF_UNIX, SOCK_STREAM, 0);
}

static void pass(int sock, int fd)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte = 0;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	if (!c)
		return;
	*c = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof(int)),
			      .cmsg_level = SOL_SOCKET,
			      .cmsg_type = SCM_RIGHTS};
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	(void)!sendmsg(sock, &m, 0);
}

static void serve(int sock, int fd)
{
	for (;;) {
		char way[32] = {0};
		int peer = accept(sock, NULL, NULL);

		if (peer < 0 || read(peer, way, sizeof(way) - 1) <= 0)
			_exit(0);
		if (strcmp(way, "fd") == 0)
			pass(peer, fd);
		else
			act(way, fd);
		(void)!write(peer, "", 1);
		close(peer);
	}
}

/* serve FILE HOW SOCKET: HOW is fd, or map (without a descriptor). Returns once it listens. */
static void a_serve(char **a)
{
	int fd = open(a[0], strcmp(a[0], ".") ? O_RDWR : O_TMPFILE | O_RDWR, 0644);
	struct sockaddr_un un;
	int sock = address(&un, a[2]);

	(void)!pwrite(fd, "first", 5, 0);
	if (strcmp(a[1], "map") == 0) {
		mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		close(fd);
		fd = -1;
		memset(mapped, 'm', SIZE); /* every page: later stores do not fault */
	}
	if (bind(sock, (struct sockaddr *)&un, sizeof(un)) < 0 || listen(sock, 8) < 0)
		_exit(1);
	if (fork() == 0) {
		setsid();
		close(0);
		close(1);
		close(2);
		serve(sock, fd);
	}
	_exit(0);
}

static int ask(const char *path, const char *way)
{
	struct sockaddr_un un;
	int sock = address(&un, path);

	if (connect(sock, (struct sockaddr *)&un, sizeof(un)) < 0 ||
	    write(sock, way, strlen(way)) < 0)
		_exit(1);
	return sock;
}

/* ask SOCKET WAY: the holder changes the file. */
static void a_ask(char **a)
{
	char done;
	int sock = ask(a[0], a[1]);

	_exit(read(sock, &done, 1) != 1);
}

/* take SOCKET WAY: the holder sends its descriptor, by which the file is changed here. */
static void a_take(char **a)
{
	char room[CMSG_SPACE(sizeof(int))] = {0}, byte;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = room,
			   .msg_controllen = sizeof(room)};
	struct cmsghdr *c = recvmsg(ask(a[0], "fd"), &m, 0) == 1 ? CMSG_FIRSTHDR(&m) : NULL;
	int fd;

	if (!c)
		_exit(1);
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	act(a[1], fd);
}

/* inherit FD WAY: changes the file of an inherited descriptor. */
static void a_inherit(char **a)
{
	act(a[1], atoi(a[0]));
}

/* over FILE FD: another file takes the name; then changes the file through FD, which is open for
 * reading. */
static void a_over(char **a)
{
	static void (*const changes[])(int) = {do_chmod, do_times, do_xattr, do_reopen};
	int fd = open("taker", O_WRONLY | O_CREAT, 0600);

	close(fd);
	if (rename("taker", a[0]) < 0)
		_exit(1);
	for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++)
		changes[i](atoi(a[1]));
}

static void a_ways(char **a)
{
	(void)a;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		puts(ways[i].name);
}

static const struct attack list[] = {{"serve", a_serve, 3}, {"ask", a_ask, 2},
				     {"take", a_take, 2},   {"inherit", a_inherit, 2},
				     {"over", a_over, 2},   {"ways", a_ways, 0}};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
