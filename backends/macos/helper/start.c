/* start - the keeper's side of the helper: posix_spawn(2) with just the descriptors it needs. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <unistd.h>

#include "backends/macos/beside.h"
#include "backends/macos/helper/helper.h"
#include "core/os/socket.h"

extern char **environ;

/* Copies of the descriptors, numbered above all targets, because a source may have a target's
 * number. -1: none. */
struct copies {
	int fd[HELPER_LISTENER + 1];
};

static void copies_done(struct copies *c)
{
	for (size_t i = 0; i < ARRAY_LEN(c->fd); i++)
		if (c->fd[i] >= 0)
			(void)close(c->fd[i]);
}
#define AUTO_COPIES CLEANUP(copies_done)

static int copy_to(struct copies *c, int to, int fd)
{
	c->fd[to] = fcntl(fd, F_DUPFD_CLOEXEC, HELPER_LISTENER + 1);
	return c->fd[to] < 0 ? -errno : 0;
}

static int copy_all(struct copies *c, const struct helper_spec *s, int order)
{
	int r = copy_to(c, HELPER_ORDER, order);

	for (int i = 0; i < 3 && s->stdio && r == 0; i++)
		r = copy_to(c, i, s->stdio[i]);
	for (int i = 0; i < (int)ARRAY_LEN(s->fds) && r == 0; i++)
		if (s->fds[i] >= 0)
			r = copy_to(c, HELPER_ORDER + 1 + i, s->fds[i]);
	return r;
}

static int set_flags(posix_spawnattr_t *attr)
{
	short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID;
	sigset_t none, all;

#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT /* elsewhere the helper closes the others */
	flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
	sigemptyset(&none);
	sigfillset(&all);
	(void)posix_spawnattr_setsigmask(attr, &none);
	(void)posix_spawnattr_setsigdefault(attr, &all);
	return posix_spawnattr_setflags(attr, flags);
}

static int spawn(const char *program, const struct helper_spec *s, const struct copies *c,
		 pid_t *ret_pid)
{
	char *const argv[] = {(char *)(uintptr_t)HELPER_PROGRAM,
			      (char *)(uintptr_t)helper_words[s->role], NULL};
	char *const none[] = {NULL};
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int r;

	(void)posix_spawn_file_actions_init(&files);
	(void)posix_spawnattr_init(&attr);
	r = set_flags(&attr);
	for (int to = 0; to < (int)ARRAY_LEN(c->fd) && r == 0; to++)
		if (c->fd[to] >= 0)
			r = posix_spawn_file_actions_adddup2(&files, c->fd[to], to);
		else if (to < 3)
			r = posix_spawn_file_actions_addopen(&files, to, "/dev/null", O_RDWR, 0);
	if (r == 0)
		r = posix_spawn(ret_pid, program, &files, &attr, argv,
				s->with_env ? environ : none);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

int helper_start(const struct helper_spec *s, pid_t *ret_pid, int *ret_order, struct err *err)
{
	AUTO_FREE char *program = mac_beside(s->program, HELPER_PROGRAM, HELPER_DIR);
	AUTO_COPIES struct copies copies = {.fd = {-1, -1, -1, -1, -1, -1}};
	int order[2], r;
	pid_t pid = 0;

	if (!program)
		return err_say(err, -ENOENT,
			       "there is no " HELPER_PROGRAM
			       " beside this program: install cordon anew");
	if (pipe2(order, O_CLOEXEC) < 0)
		return err_set(err, -errno, "make a pipe");
	r = copy_all(&copies, s, order[0]);
	if (r == 0)
		r = spawn(program, s, &copies, &pid);
	(void)close(order[0]);
	if (r < 0) {
		(void)close(order[1]);
		return err_set(err, r, "start '%s'", program);
	}
	*ret_pid = pid;
	*ret_order = order[1];
	return 0;
}
