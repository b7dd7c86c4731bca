/* fsfuzz - the parts of fsfuzz.c that choose arguments and print facts. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include <linux/openat2.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef RESOLVE_NO_XDEV
#define RESOLVE_NO_XDEV 1
#endif

#define NAMES  12
#define FDS    8
#define DEPTH  12
#define LINE   1024
#define LEN(a) ((int)(sizeof(a) / sizeof((a)[0])))

static uint64_t seed;
static char base[1024], top[2048], floor_dir[2048];
static int fds[FDS];
static char line[LINE];
static bool bad_pointers = true;

/* splitmix64: the same on every machine. */
static uint64_t next(void)
{
	uint64_t z = seed += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

static unsigned roll(unsigned n)
{
	return (unsigned)(next() % n);
}

static bool one_in(unsigned n)
{
	return roll(n) == 0;
}

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *fmt, ...)
{
	size_t used = strlen(line);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line + used, sizeof(line) - used, fmt, ap);
	va_end(ap);
}

/* ---- arguments ------------------------------------------------------------------ */

static const char *const names[NAMES] = {"a", "b", "c",	 "d",	"e",  "f",
					 "g", "l", "dd", "x y", "ln", "\xc3\xa9"};

static void add_component(char *out, size_t size)
{
	size_t used = strlen(out);
	const char *c = names[roll(NAMES)];

	if (one_in(24))
		c = "..";
	else if (one_in(24))
		c = ".";
	snprintf(out + used, size - used, "%s", c);
}

/* Makes a path: relative, absolute, through links and /proc/self. The printed text has no top. */
static const char *path(char *out, size_t size)
{
	unsigned depth = 1 + roll(3);
	char *start;

	out[0] = '\0';
	if (one_in(40))
		return out; /* "" */
	if (one_in(5))
		snprintf(out, size, "%s/", top);
	else if (one_in(40))
		snprintf(out, size, "/proc/self/cwd/");
	else if (one_in(60))
		snprintf(out, size, "/proc/self/root%s/", top);
	else if (one_in(60))
		snprintf(out, size, "/proc/thread-self/cwd/");
	else if (one_in(60))
		snprintf(out, size, "//%s//", top);
	else if (one_in(60))
		snprintf(out, size, "./");
	start = out + strlen(out);
	for (unsigned i = 0; i < depth; i++) {
		if (i > 0)
			strcat(out, one_in(30) ? "//" : "/");
		add_component(out, size);
	}
	if (one_in(12))
		strcat(out, one_in(4) ? "//" : "/");
	if (one_in(300)) { /* too long a name */
		memset(start, 'n', 300);
		start[300] = '\0';
	}
	return out;
}

static void say_path(const char *p)
{
	size_t n = strlen(top);

	say(" ");
	if (p == NULL) {
		say("NULL");
		return;
	}
	for (; *p != '\0'; p++) {
		if (strncmp(p, top, n) == 0) {
			say("TOP");
			p += n - 1;
		} else {
			say("%c", *p);
		}
	}
}

static char buffer[2][8192];

/* Sometimes points to missing memory. */
static const char *arg_path(int i)
{
	const char *p;

	if (bad_pointers && one_in(150)) {
		say(" BAD");
		return (const char *)(uintptr_t)(one_in(2) ? 8 : 0);
	}
	p = path(buffer[i], sizeof(buffer[i]) - 400);
	say_path(p);
	return p;
}

static int arg_dir(void)
{
	int i;

	if (!one_in(4)) {
		say(" cwd");
		return AT_FDCWD;
	}
	if (one_in(20)) {
		say(" badfd");
		return one_in(2) ? -1 : 900;
	}
	i = (int)roll(FDS);
	say(" #%d", i);
	return fds[i];
}

static int arg_fd(void)
{
	int i = (int)roll(FDS);

	if (one_in(40)) {
		say(" badfd");
		return 900;
	}
	say(" #%d", i);
	return fds[i];
}

/* Returns a descriptor whose metadata will be changed. A file without a name, open for reading
 * only, cannot be changed from outside its read-only mount: the one known difference, which is left
 * out. */
static int arg_object(void)
{
	int fd = arg_fd();
	char link[64], text[4096];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, text, sizeof(text) - 1);
	if (n < 10 || memcmp(text + n - 10, " (deleted)", 10) != 0)
		return fd;
	say(" lost");
	return -1;
}

static mode_t arg_mode(void)
{
	static const mode_t modes[] = {0644, 0600, 0755,  0700,	 0777, 0666,
				       0,    0400, 04755, 02755, 01777};
	mode_t m = modes[roll(LEN(modes))];

	/* Files inside get no set-id bits. Root inside has no capabilities except what the keeper
	 * does in its name. To keep both runs equal, what the owner may not do is left to an
	 * ordinary user's run. */
	m &= 01777;
	if (getuid() == 0)
		m |= 0700;
	say(" %o", m);
	return m;
}

/* Keeps a mode with which the owner can continue. */
static mode_t keep_mode(void)
{
	return 0700;
}

/* ---- results -------------------------------------------------------------------- */

static void result(long r)
{
	if (r < 0)
		say(" = -%s", strerrorname_np(errno));
	else
		say(" = %ld", r);
}

static void facts(const struct stat *st)
{
	say(" {%o %u:%u n%lu", st->st_mode, st->st_uid, st->st_gid,
	    S_ISDIR(st->st_mode) ? 0UL : (unsigned long)st->st_nlink);
	if (S_ISREG(st->st_mode))
		say(" s%lld", (long long)st->st_size);
	/* Times are facts only if a call has set them: long ago. */
	if (st->st_mtime < 100000 && !S_ISFIFO(st->st_mode))
		say(" m%lld.%09ld", (long long)st->st_mtime, st->st_mtim.tv_nsec);
	say("}");
}

static void facts_of(int dir, const char *p, int flags)
{
	struct stat st;

	if (fstatat(dir, p, &st, flags) == 0)
		facts(&st);
	else
		say(" {%s}", strerrorname_np(errno));
}

static void keep_fd(int fd)
{
	int i = (int)roll(FDS);
	int flags;

	if (fd < 0)
		return;
	flags = fcntl(fd, F_GETFL);
	say(" fl%o cx%d #%d", flags & ~(O_LARGEFILE | O_NOFOLLOW | 0100000), fcntl(fd, F_GETFD), i);
	close(fds[i]);
	fds[i] = fd;
}

/* ---- the tree ------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void show_entry(int dir, const char *where, const char *name)
{
	char target[4096], list[4096];
	struct stat st;
	ssize_t n;

	line[0] = '\0';
	say_path(where);
	say("/%s", name);
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return;
	facts(&st);
	if (S_ISLNK(st.st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = '\0';
		say_path(target);
	}
	snprintf(target, sizeof(target), "%s/%s", where, name);
	n = llistxattr(target, list, sizeof(list));
	if (n > 0)
		say(" xattrs %zd", n);
	printf("%s\n", line);
}

/* Depth is limited by the calls; directories to visit are in a queue. */
static void show_tree(void)
{
	static char *todo[20000];
	size_t head = 0, tail = 0;

	todo[tail++] = strdup(base);
	while (head < tail) {
		char *where = todo[head++];
		char **list = NULL;
		size_t n = 0;
		struct dirent *e;
		DIR *dir = opendir(where);

		while (dir != NULL && (e = readdir(dir)) != NULL) {
			if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
				continue;
			list = realloc(list, (n + 1) * sizeof(*list));
			list[n++] = strdup(e->d_name);
		}
		if (n > 0)
			qsort(list, n, sizeof(*list), by_name);
		for (size_t i = 0; i < n; i++) {
			char below[8192];
			struct stat st;

			show_entry(dirfd(dir), where, list[i]);
			snprintf(below, sizeof(below), "%s/%s", where, list[i]);
			if (tail < sizeof(todo) / sizeof(todo[0]) && lstat(below, &st) == 0 &&
			    S_ISDIR(st.st_mode))
				todo[tail++] = strdup(below);
			free(list[i]);
		}
		free(list);
		if (dir != NULL)
			closedir(dir);
		free(where);
	}
}
