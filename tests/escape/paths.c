/* paths - attacks on names: links, races, descriptors, old calls, /proc. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <utime.h>

#include "tests/escape/attack.h"

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif

static void a_read(char **a)
{
	char buf[64];
	int fd = open(a[0], O_RDONLY);
	long r = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

	said("read", r);
}

static void a_write(char **a)
{
	int fd = open(a[0], O_WRONLY | O_CREAT, 0644);
	long r = fd < 0 ? -1 : write(fd, "pwned\n", 6);

	said("write", r);
}

static void a_list(char **a)
{
	DIR *d = opendir(a[0]);

	said("list", d ? 0 : -1);
}

/* ---- races: one thread exchanges, the other opens for writing -------------------------------- */

static atomic_bool stop;
static char shared_path[4096];
static char *flip_a, *flip_b;

static void *flip_names(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop))
		syscall(SYS_renameat2, AT_FDCWD, flip_a, AT_FDCWD, flip_b, 2 /* EXCHANGE */);
	return NULL;
}

static void *flip_bytes(void *unused)
{
	(void)unused;
	for (unsigned i = 0; !atomic_load(&stop); i++)
		strcpy(shared_path, i & 1 ? flip_a : flip_b);
	return NULL;
}

/* The host checks whether bad bytes landed anywhere; this counts the tries. */
static void race(void *(*flip)(void *), const char *path, int tries)
{
	pthread_t t;
	int opened = 0;

	pthread_create(&t, NULL, flip, NULL);
	for (int i = 0; i < tries; i++) {
		int fd = open(path, O_WRONLY | O_CREAT, 0755);

		if (fd < 0)
			continue;
		opened++;
		(void)!write(fd, "raced\n", 6);
		close(fd);
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	printf("opened %d of %d\n", opened, tries);
}

/* GOOD BAD THROUGH TRIES: exchanges two names while THROUGH is opened for writing. */
static void a_race_names(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	race(flip_names, a[2], atoi(a[3]));
}

/* GOOD BAD TRIES: changes the bytes of the path during the call. */
static void a_race_bytes(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	strcpy(shared_path, flip_a);
	race(flip_bytes, shared_path, atoi(a[2]));
}

/* TARGET TRIES: like a_race_names, but reads a secret. SELF and SECRET are links in the folder. */
static void a_race_read(char **a)
{
	pthread_t t;
	int tries = atoi(a[3]), leaked = 0;

	flip_a = a[0];
	flip_b = a[1];
	pthread_create(&t, NULL, flip_names, NULL);
	for (int i = 0; i < tries; i++) {
		char buf[64] = "";
		int fd = open(a[2], O_RDONLY);

		if (fd < 0)
			continue;
		if (read(fd, buf, sizeof(buf) - 1) > 0 && strstr(buf, "SECRET"))
			leaked++;
		close(fd);
	}
	atomic_store(&stop, true);
	pthread_join(t, NULL);
	said_if("race-read", leaked == 0, "clean");
}

static void *chdir_flip(void *unused)
{
	(void)unused;
	while (!atomic_load(&stop)) {
		(void)!chdir(flip_a);
		(void)!chdir(flip_b);
	}
	return NULL;
}

/* GOODDIR BADDIR NAME TRIES: another thread changes the directory that NAME is relative to. */
static void a_race_chdir(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	(void)!chdir(flip_a);
	race(chdir_flip, a[2], atoi(a[3]));
}

/* ---- descriptors and resolution ------------------------------------------------------------- */

/* FOLDER OUTSIDE: tries to leave the folder from a descriptor in it. OUTSIDE is "../x", relative to
 * it. */
static void a_dirfd(char **a)
{
	int d = open(a[0], O_RDONLY | O_DIRECTORY);
	int p = open(a[0], O_PATH | O_DIRECTORY);
	char sub[] = "gone-XXXXXX";

	said("openat-dotdot", openat(d, a[1], O_WRONLY | O_CREAT, 0644));
	said("openat-path-dotdot", openat(p, a[1], O_WRONLY | O_CREAT, 0644));
	said("openat-high-bits",
	     syscall(SYS_openat, (long)d, a[1], O_WRONLY | O_CREAT | HIGH_BITS, 0644L));
	said("mkdirat-dotdot", mkdirat(d, a[1], 0755));
	(void)!fchdir(d);
	said("cwd-dotdot", open(a[1], O_WRONLY | O_CREAT, 0644));
	if (mkdtemp(sub) && chdir(sub) == 0 && rmdir(".") < 0) {
		char *up = NULL;

		if (asprintf(&up, "../%s", sub) > 0)
			rmdir(up);
		free(up);
		said("deleted-cwd", open("x", O_WRONLY | O_CREAT, 0644));
	}
}

static long try_openat2(const char *path, uint64_t flags, uint64_t resolve, size_t size)
{
	struct {
		struct open_how how;
		uint64_t more[4];
	} big = {.how = {.flags = flags, .mode = 0755, .resolve = resolve}};

	return syscall(SYS_openat2, AT_FDCWD, path, &big, size);
}

/* PATH must not become writable, with any flags of openat2. */
static void a_openat2(char **a)
{
	const uint64_t w = O_WRONLY | O_CREAT;

	said("openat2-plain", try_openat2(a[0], w, 0, sizeof(struct open_how)));
	said("openat2-no-symlinks", try_openat2(a[0], w, RESOLVE_NO_SYMLINKS, 24));
	said("openat2-no-magiclinks", try_openat2(a[0], w, RESOLVE_NO_MAGICLINKS, 24));
	said("openat2-no-xdev", try_openat2(a[0], w, RESOLVE_NO_XDEV, 24));
	said("openat2-beneath", try_openat2(a[0], w, RESOLVE_BENEATH, 24));
	said("openat2-in-root", try_openat2(a[0], w, RESOLVE_IN_ROOT, 24));
	said("openat2-unknown-resolve", try_openat2(a[0], w, 1ULL << 40, 24));
	said("openat2-unknown-flag", try_openat2(a[0], w | 1ULL << 40, 0, 24));
	said("openat2-undersize", try_openat2(a[0], w, 0, 16));
	said("openat2-oversize", try_openat2(a[0], w, 0, sizeof(struct open_how) + 32));
	said("openat2-huge", try_openat2(a[0], w, 0, 1 << 20));
}

/* PATH, which can be read, must not be writable through its descriptor. */
static void a_reopen(char **a)
{
	static const char *const forms[] = {"/proc/self/fd", "/dev/fd", "/proc/thread-self/fd",
					    "/proc/self/task/../fd"};
	int fds[2] = {open(a[0], O_PATH), open(a[0], O_RDONLY)};

	for (int i = 0; i < 2; i++) {
		for (size_t f = 0; f < sizeof(forms) / sizeof(*forms); f++) {
			char path[64], what[96];

			snprintf(path, sizeof(path), "%s/%d", forms[f], fds[i]);
			snprintf(what, sizeof(what), "reopen %s %s", i ? "read" : "path", path);
			said(what, open(path, O_WRONLY));
			snprintf(what, sizeof(what), "truncate %s %s", i ? "read" : "path", path);
			said(what, truncate(path, 0));
			snprintf(what, sizeof(what), "chmod %s %s", i ? "read" : "path", path);
			said(what, chmod(path, 0777));
		}
	}
	said("fchmod", fchmod(fds[1], 0777));
	said("fchown", fchown(fds[1], getuid(), getgid()));
	said("futimens", futimens(fds[1], NULL));
	said("fsetxattr", fsetxattr(fds[1], "user.x", "1", 1, 0));
	said("fchmodat2-empty", syscall(SYS_fchmodat2, fds[0], "", 0777, AT_EMPTY_PATH));
	said("fchownat-empty", fchownat(fds[0], "", getuid(), getgid(), AT_EMPTY_PATH));
	said("ftruncate", ftruncate(fds[1], 0));
	said("mmap-shared-write",
	     mmap(NULL, 4096, PROT_WRITE, MAP_SHARED, fds[1], 0) == MAP_FAILED ? -1 : 0);
}

/* EXISTING ABSENT SPARE: every call that changes names or metadata. SPARE may be used up. */
static void a_calls(char **a)
{
	const char *e = a[0], *n = a[1], *s = a[2];
	struct utimbuf ub = {1, 1};
	struct timeval tv[2] = {{1, 0}, {1, 0}};
	struct timespec ts[2] = {{1, 0}, {1, 0}};

#ifdef SYS_open
	said("open", syscall(SYS_open, e, O_RDWR, 0));
	said("open-high-bits", syscall(SYS_open, e, O_RDWR | HIGH_BITS, 0));
	said("creat", syscall(SYS_creat, n, 0755));
	said("mknod", syscall(SYS_mknod, n, S_IFREG | 0755, 0));
	said("mkdir", syscall(SYS_mkdir, n, 0755));
	said("link", syscall(SYS_link, s, n));
	said("symlink", syscall(SYS_symlink, "/bin/sh", n));
	said("rename-to", syscall(SYS_rename, s, n));
	said("rename-over", syscall(SYS_rename, s, e));
	said("chmod", syscall(SYS_chmod, e, 0777));
	said("chown", syscall(SYS_chown, e, getuid(), getgid()));
	said("lchown", syscall(SYS_lchown, e, getuid(), getgid()));
	said("utime", syscall(SYS_utime, e, &ub));
	said("utimes", syscall(SYS_utimes, e, tv));
	said("futimesat", syscall(SYS_futimesat, AT_FDCWD, e, tv));
#else
	(void)ub;
#endif
	said("openat", syscall(SYS_openat, AT_FDCWD, e, O_RDWR, 0));
	said("openat-trunc", syscall(SYS_openat, AT_FDCWD, e, O_RDONLY | O_TRUNC, 0));
	said("openat-create", syscall(SYS_openat, AT_FDCWD, n, O_RDONLY | O_CREAT, 0755));
	said("openat-high-dirfd",
	     syscall(SYS_openat, (AT_FDCWD & 0xffffffffUL) | HIGH_BITS, e, O_RDWR, 0));
	said("mknodat", syscall(SYS_mknodat, AT_FDCWD, n, S_IFREG | 0755, 0));
	said("mkdirat", syscall(SYS_mkdirat, AT_FDCWD, n, 0755));
	said("linkat", syscall(SYS_linkat, AT_FDCWD, s, AT_FDCWD, n, 0));
	said("symlinkat", syscall(SYS_symlinkat, "/bin/sh", AT_FDCWD, n));
	said("renameat2", syscall(SYS_renameat2, AT_FDCWD, s, AT_FDCWD, n, 0));
	said("renameat2-over", syscall(SYS_renameat2, AT_FDCWD, s, AT_FDCWD, e, 0));
	said("renameat2-exchange", syscall(SYS_renameat2, AT_FDCWD, s, AT_FDCWD, e, 2));
	said("renameat2-noreplace", syscall(SYS_renameat2, AT_FDCWD, s, AT_FDCWD, n, 1));
	said("truncate", truncate(e, 0));
	said("fchmodat", syscall(SYS_fchmodat, AT_FDCWD, e, 0777));
	said("fchmodat2", syscall(SYS_fchmodat2, AT_FDCWD, e, 0777, 0));
	said("fchownat", syscall(SYS_fchownat, AT_FDCWD, e, getuid(), getgid(), 0));
	said("utimensat", syscall(SYS_utimensat, AT_FDCWD, e, ts, 0));
	said("setxattr", setxattr(e, "user.x", "1", 1, 0));
	said("lsetxattr", lsetxattr(e, "user.x", "1", 1, 0));
	said("unlink", unlink(e));
	said("unlinkat", syscall(SYS_unlinkat, AT_FDCWD, e, 0));
	said("rename-away", rename(e, s));
}

/* OUTSIDE-DIR: an unnamed file of the folder must not get a name elsewhere. TO is that name. */
static void a_tmpfile_link(char **a)
{
	char path[64];
	int fd = open(a[0], O_TMPFILE | O_RDWR, 0755);

	if (fd < 0) {
		said("tmpfile-link (no O_TMPFILE here)", -1);
		return;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	said("tmpfile-link", linkat(AT_FDCWD, path, AT_FDCWD, a[1], AT_SYMLINK_FOLLOW));
	said("tmpfile-link-empty", linkat(fd, "", AT_FDCWD, a[1], AT_EMPTY_PATH));
}

static void a_handle(char **a)
{
	struct {
		struct file_handle h;
		char more[128];
	} fh = {.h.handle_bytes = 128};
	int mount_id = 0;
	int root = open("/", O_RDONLY | O_DIRECTORY);

	if (name_to_handle_at(AT_FDCWD, a[0], &fh.h, &mount_id, 0) < 0) {
		said("name-to-handle", -1);
		return;
	}
	said("open-by-handle", open_by_handle_at(root, &fh.h, O_RDWR));
}

/* A directory of links may be listed; their targets must stay out of reach. */
static long follow_any(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		return -1;
	while ((e = readdir(d))) {
		char to[64];

		if (e->d_name[0] != '.' && readlinkat(dirfd(d), e->d_name, to, sizeof(to)) >= 0)
			return 0;
	}
	errno = EACCES;
	return -1;
}

/* PID of a process that is not the attacker's: what /proc shows of it. */
static void a_proc(char **a)
{
	static const char *const links[] = {"root", "cwd", "fd", "map_files", "ns"};
	static const char *const files[] = {"environ", "mem",	     "maps",
					    "auxv",    "task/1/mem", "stack"};
	char path[128], buf[64];

	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++) {
		snprintf(path, sizeof(path), "/proc/%s/%s", a[0], links[i]);
		said(path, i < 2 ? open(path, O_RDONLY) : follow_any(path));
	}
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%s/%s", a[0], files[i]);
		fd = open(path, O_RDONLY);
		/* the open may succeed, and the read fail or return nothing */
		said(path, fd < 0 ? -1 : (read(fd, buf, 64) > 0 ? 0 : (errno = EIO, -1)));
	}
}

/* The process must start with descriptors 0, 1 and 2 only. */
static void a_fds(char **a)
{
	DIR *d = opendir("/proc/self/fd");
	struct dirent *e;
	int extra = 0;

	(void)a;
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.' && atoi(e->d_name) > 2 && atoi(e->d_name) != dirfd(d))
			extra++;
	said_if("inherited-fds", d && extra == 0, "none");
}

static void on_alarm(int sig)
{
	(void)sig;
}

/* COUNT: creates and removes files under a storm of signals: every call must return its own
 * result. */
static void a_storm(char **a)
{
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval it = {{0, 1000}, {0, 1000}};
	int n = atoi(a[0]), bad = 0;

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	for (int i = 0; i < n; i++) {
		char name[32];
		struct stat st;
		int fd;

		snprintf(name, sizeof(name), "storm-%d", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0 || fstat(fd, &st) < 0 || st.st_nlink != 1)
			bad++;
		if (fd >= 0)
			close(fd);
		if (i % 2 && unlink(name) < 0)
			bad++;
	}
	said_if("storm", bad == 0, "steady");
}

/* Changes mode, owner, times and attributes of a kernel's file, and back where that succeeds. */
static void a_kernels(char **a)
{
	int fd = open(a[0], O_RDONLY), by_path = open(a[0], O_PATH);
	char link[32];
	struct stat st;

	if (stat(a[0], &st) < 0) {
		said("stat", -1);
		return;
	}
	snprintf(link, sizeof(link), "/proc/self/fd/%d", by_path);
	said("chmod", chmod(a[0], st.st_mode & 07777));
	said("chmod-fd-path", chmod(link, st.st_mode & 07777));
	said("chown", chown(a[0], st.st_uid, st.st_gid));
	said("lchown", lchown(a[0], st.st_uid, st.st_gid));
	said("fchownat-empty", fchownat(by_path, "", st.st_uid, st.st_gid, AT_EMPTY_PATH));
	said("setxattr", setxattr(a[0], "user.x", "y", 1, 0));
	if (fd >= 0) {
		said("fchmod", fchmod(fd, st.st_mode & 07777));
		said("fchown", fchown(fd, st.st_uid, st.st_gid));
	}
}

static const struct attack list[] = {
	{"read", a_read, 1},
	{"write", a_write, 1},
	{"list", a_list, 1},
	{"race-names", a_race_names, 4},
	{"race-bytes", a_race_bytes, 3},
	{"race-read", a_race_read, 4},
	{"race-chdir", a_race_chdir, 4},
	{"dirfd", a_dirfd, 2},
	{"openat2", a_openat2, 1},
	{"reopen", a_reopen, 1},
	{"calls", a_calls, 3},
	{"tmpfile-link", a_tmpfile_link, 2},
	{"handle", a_handle, 1},
	{"proc", a_proc, 1},
	{"fds", a_fds, 0},
	{"storm", a_storm, 1},
	{"kernels", a_kernels, 1},
};

int main(int argc, char **argv)
{
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
