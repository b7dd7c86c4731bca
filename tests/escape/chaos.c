/* chaos - makes every trapped call with random arguments, from several threads at once. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "tests/escape/attack.h"

/* chaos SEED SECONDS, in a folder that may be ruined. Its workers are new processes every second,
 * because some calls replace them. The test checks which processes are alive afterwards, and what
 * undo reports. */
enum {
	PAGE = 4096,
	PAGES = 8, /* the page after them is missing */
	THREADS = 3,
};

/* Calls that the filter traps; those that open files twice. */
static const int calls[] = {
	SYS_openat,	 SYS_openat,	   SYS_openat2,	     SYS_openat2,    SYS_truncate,
	SYS_mkdirat,	 SYS_mknodat,	   SYS_unlinkat,     SYS_renameat,   SYS_renameat2,
	SYS_linkat,	 SYS_symlinkat,	   SYS_fchmod,	     SYS_fchmodat,   SYS_fchown,
	SYS_fchownat,	 SYS_utimensat,	   SYS_setxattr,     SYS_lsetxattr,  SYS_fsetxattr,
	SYS_removexattr, SYS_lremovexattr, SYS_fremovexattr, SYS_faccessat,  SYS_faccessat2,
	SYS_statfs,	 SYS_fstatfs,	   SYS_socket,	     SYS_socketpair, SYS_bind,
	SYS_connect,	 SYS_execve,	   SYS_execveat,     SYS_umask,	     452 /* fchmodat2 */,
#ifdef SYS_open
	SYS_open,	 SYS_creat,	   SYS_mkdir,	     SYS_mknod,	     SYS_unlink,
	SYS_rmdir,	 SYS_rename,	   SYS_link,	     SYS_symlink,    SYS_chmod,
	SYS_chown,	 SYS_lchown,	   SYS_utime,	     SYS_utimes,     SYS_futimesat,
	SYS_access,
#endif
};

static char *memory;
static _Thread_local uint32_t state;

static unsigned roll(unsigned n)
{
	state = state * 1664525u + 1013904223u;
	return (state >> 8) % n;
}

static void make_path(char *at, size_t size)
{
	static const char *const parts[] = {"a",
					    "b",
					    "d",
					    "d/e",
					    "..",
					    ".",
					    "/",
					    "//",
					    "a/",
					    "link",
					    "loop",
					    "fifo",
					    "sock",
					    "/proc/self/fd/3",
					    "/proc/self/cwd",
					    "/proc/self/root",
					    "/proc/1/root",
					    "/dev/fd/4",
					    "/proc/thread-self/fd/5",
					    "/dev/null",
					    "/etc/passwd",
					    "/tmp",
					    ".git",
					    ".GIT",
					    "hooks",
					    "config",
					    "/run/cordon/step/begin/x",
					    "/run/cordon/step/abort",
					    "\xff\xfe",
					    "\n",
					    "\033[31m",
					    "user.a",
					    "security.capability",
					    "system.posix_acl_access"};
	size_t used = 0;

	if (roll(50) == 0) { /* too long, or without a NUL */
		memset(at, 'a', size);
		at[size - 1] = roll(2) ? '\0' : 'a';
		return;
	}
	*at = '\0';
	for (unsigned n = roll(5) + 1; n > 0; n--) {
		const char *part = parts[roll(sizeof(parts) / sizeof(*parts))];
		size_t len = strlen(part);

		if (used + len + 2 > size)
			return;
		if (used > 0 && roll(4) > 0)
			at[used++] = '/';
		memcpy(at + used, part, len + 1);
		used += len;
	}
}

static uint64_t pointer(void)
{
	char *end = memory + (size_t)PAGES * PAGE, *at;

	switch (roll(16)) {
	case 0:
		return 0;
	case 1:
		return 0xffff800000000000u + roll(PAGE);
	case 2:
		return (uintptr_t)end;
	case 3: /* runs into the missing page */
		at = end - 1 - roll(40);
		memset(at, 'a', (size_t)(end - at));
		return (uintptr_t)at;
	default:
		at = memory + roll(PAGES - 2) * (size_t)PAGE + roll(200);
		make_path(at, roll(20) ? 300 : PAGE + 300);
		return (uintptr_t)at;
	}
}

static uint64_t number(void)
{
	switch (roll(8)) {
	case 0:
		return UINT64_MAX;
	case 1:
		return 1ull << roll(64);
	case 2:
		return (uint64_t)roll(1u << 24) << 32 | roll(1u << 24);
	case 3:
		return roll(PAGE);
	case 4:
		return roll(1u << 24);
	default:
		return roll(64);
	}
}

static uint64_t argument(void)
{
	unsigned kind = roll(8);

	if (kind < 3)
		return number();
	return kind == 3 ? (uint64_t)AT_FDCWD : kind == 4 ? roll(32) : pointer();
}

/* Gives half of the calls with a structure argument a valid one. */
static void shape(int nr, uint64_t *args)
{
	struct sockaddr_un *name = (struct sockaddr_un *)(memory + (PAGES - 2) * (size_t)PAGE);
	struct open_how *how = (struct open_how *)name;

	if (roll(2))
		return;
	if (nr == SYS_bind || nr == SYS_connect) {
		name->sun_family = AF_UNIX;
		make_path(name->sun_path, sizeof(name->sun_path));
		args[1] = (uintptr_t)name;
		args[2] = roll(4) ? sizeof(*name) : number();
	} else if (nr == SYS_openat2) {
		*how = (struct open_how){number(), number(), roll(64)};
		args[0] = (uint64_t)AT_FDCWD;
		args[1] = pointer();
		args[2] = (uintptr_t)how;
		args[3] = sizeof(*how);
	}
}

static void begin_again(const char *folder)
{
	syscall(SYS_close_range, 3 + roll(20), 1000, 0);
	(void)!chdir(folder);
	mkdir("d", 0755);
	mkdir("d/e", 0755);
	mkfifo("fifo", 0644);
	(void)!symlink("d", "link");
	(void)!symlink("loop", "loop");
	(void)!open("d", O_RDONLY);
	(void)!open("a", O_RDWR | O_CREAT, 0644);
	(void)!open(".", O_PATH);
	(void)!socket(AF_UNIX, SOCK_STREAM, 0);
}

static const char *folder;

static void *work(void *seed)
{
	state = *(const uint32_t *)seed;
	for (;;) {
		int nr = calls[roll(sizeof(calls) / sizeof(*calls))];
		uint64_t args[6];

		if (roll(200) == 0)
			begin_again(folder);
		for (size_t i = 0; i < 6; i++)
			args[i] = argument();
		shape(nr, args);
		syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]);
	}
	return NULL;
}

static void run_workers(uint32_t seed)
{
	uint32_t seeds[THREADS];
	pthread_t thread;

	signal(SIGALRM, SIG_DFL);
	alarm(1);
	memory = mmap(NULL, (PAGES + 1) * (size_t)PAGE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(memory + PAGES * (size_t)PAGE, PAGE);
	for (uint32_t i = 0; i < THREADS; i++) {
		seeds[i] = seed * THREADS + i;
		if (i > 0)
			pthread_create(&thread, NULL, work, &seeds[i]);
	}
	work(&seeds[0]);
}

int main(int argc, char **argv)
{
	uint32_t seed = argc > 2 ? (uint32_t)atoi(argv[1]) : 0;
	int seconds = argc > 2 ? atoi(argv[2]) : 0;

	folder = get_current_dir_name();
	for (; seconds > 0; seconds--) {
		pid_t pid = fork();

		if (pid == 0)
			run_workers(seed);
		waitpid(pid, NULL, 0);
		seed++;
	}
	printf("alive\n");
	return 0;
}
