/* held - changes the arguments of opens that wait for an answer. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "tests/escape/attack.h"

/*
 * The answers allow one path and refuse all others. So an opened file must be that one: its content
 * begins with GRANTED, that of all others with SECRET. As a process is not asked again about an
 * allowed path, each try is a process of its own. The path is in memory shared by all, and one
 * process changes it all the time.
 */
enum outcome {
	OPENED,
	REFUSED,
	LEAKED,
	INTERRUPTED,
	OUTCOMES
};

static char *shared; /* the path */
static char *flip_a, *flip_b;

static void flip_names(void)
{
	for (;;)
		syscall(SYS_renameat2, AT_FDCWD, flip_a, AT_FDCWD, flip_b, 2 /* EXCHANGE */);
}

static void flip_bytes(void)
{
	size_t n = strlen(flip_a) + 1;

	for (unsigned i = 0;; i++)
		for (size_t at = 0; at < n; at++)
			((volatile char *)shared)[at] = (i & 1 ? flip_a : flip_b)[at];
}

static enum outcome read_once(const char *path)
{
	char buf[64] = "";
	int fd = open(path, O_RDONLY);

	if (fd < 0)
		return errno == EINTR ? INTERRUPTED : REFUSED;
	if (read(fd, buf, sizeof(buf) - 1) <= 0 || strncmp(buf, "GRANTED", 7) != 0)
		return LEAKED;
	return OPENED;
}

/* Only the host can see where the bytes went. */
static enum outcome write_once(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0755);

	if (fd < 0)
		return errno == EINTR ? INTERRUPTED : REFUSED;
	return write(fd, "raced\n", 6) == 6 ? OPENED : LEAKED;
}

static enum outcome in_child(enum outcome (*once)(const char *), const char *path)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(once(path));
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return WIFEXITED(status) && WEXITSTATUS(status) < OUTCOMES ? WEXITSTATUS(status) : LEAKED;
}

/* A slow machine needs more tries until both paths were used. */
static void race(const char *what, void (*flip)(void), enum outcome (*once)(const char *),
		 const char *path, int tries)
{
	int n[OUTCOMES] = {0};
	pid_t flipper = fork();
	char how[64];

	if (flipper == 0)
		flip();
	for (int i = 0; i < tries || (i < 20 * tries && (!n[OPENED] || !n[REFUSED])); i++)
		n[in_child(once, path)]++;
	kill(flipper, SIGKILL);
	waitpid(flipper, NULL, 0);
	snprintf(how, sizeof(how), "opened %d refused %d", n[OPENED], n[REFUSED]);
	said_if(what, n[LEAKED] + n[INTERRUPTED] == 0, how);
}

/* GRANTED OTHER TRIES: the bytes of the path change while the call is held; both have the same
 * length. */
static void a_bytes(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	strcpy(shared, flip_a);
	race("held-bytes", flip_bytes, read_once, shared, atoi(a[2]));
}

static void a_bytes_write(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	strcpy(shared, flip_a);
	race("held-bytes-write", flip_bytes, write_once, shared, atoi(a[2]));
}

/* NAME NAME2 THROUGH TRIES: exchanges two names, of files or directories. */
static void a_names(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	race("held-names", flip_names, read_once, a[2], atoi(a[3]));
}

static void a_names_write(char **a)
{
	flip_a = a[0];
	flip_b = a[1];
	race("held-names-write", flip_names, write_once, a[2], atoi(a[3]));
}

static bool restarts;

static void on_alarm(int sig)
{
	(void)sig;
}

static enum outcome stormed(const char *path)
{
	struct itimerval it = {{0, 1000}, {0, 1000}};
	struct sigaction sa = {.sa_handler = on_alarm, .sa_flags = restarts ? SA_RESTART : 0};

	sigaction(SIGALRM, &sa, NULL);
	setitimer(ITIMER_REAL, &it, NULL);
	return read_once(path);
}

/* PATH TRIES: with a signal each millisecond, with and without SA_RESTART, the call returns EINTR,
 * or is allowed. */
static void a_storm(char **a)
{
	int n[OUTCOMES] = {0};
	char how[64];

	for (int i = 0; i < atoi(a[1]); i++) {
		restarts = i & 1;
		n[in_child(stormed, a[0])]++;
	}
	snprintf(how, sizeof(how), "opened %d interrupted %d", n[OPENED], n[INTERRUPTED]);
	said_if("held-storm", n[LEAKED] + n[REFUSED] == 0, how);
}

static const struct attack list[] = {
	{"bytes", a_bytes, 3}, {"bytes-write", a_bytes_write, 3},
	{"names", a_names, 4}, {"names-write", a_names_write, 4},
	{"storm", a_storm, 2},
};

int main(int argc, char **argv)
{
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	return attack_main(argc, argv, list, sizeof(list) / sizeof(*list));
}
