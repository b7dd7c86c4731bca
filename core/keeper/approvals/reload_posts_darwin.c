/* reload_posts_darwin - reports changes of a few files, by EVFILT_VNODE of kqueue(2). */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/reload_posts.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/event.h>
#include <sys/types.h>
#include <unistd.h>

#include "core/base/util.h"

/*
 * A directory reports changes of its names, a file changes of its bytes. So each file is watched,
 * and its nearest existing directory. After any event all are looked up again.
 */
#define TOLD (NOTE_DELETE | NOTE_WRITE | NOTE_EXTEND | NOTE_ATTRIB | NOTE_RENAME | NOTE_REVOKE)

struct posts {
	int queue;
	char **files;
	int open[FILES_MAX * 2]; /* closing one ends its watch; -1: none */
};

static int watch(const struct posts *p, const char *path)
{
	struct kevent change;
	int fd = open(path, O_EVTONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	EV_SET(&change, (uintptr_t)fd, EVFILT_VNODE, EV_ADD | EV_CLEAR, TOLD, 0, NULL);
	if (kevent(p->queue, &change, 1, NULL, 0, NULL) < 0)
		util_close_fd(&fd);
	return fd;
}

static int watch_dir_of(const struct posts *p, const char *file)
{
	AUTO_FREE char *dir = xstrdup(file);
	char *slash = strrchr(dir, '/');
	int fd = -1;

	while (fd < 0 && slash) {
		slash[slash == dir] = '\0';
		fd = watch(p, dir);
		if (slash == dir)
			break;
		slash = strrchr(dir, '/');
	}
	return fd;
}

static void watch_all(struct posts *p)
{
	for (size_t i = 0; i < FILES_MAX && p->files[i]; i++) {
		util_close_fd(&p->open[2 * i]);
		util_close_fd(&p->open[2 * i + 1]);
		p->open[2 * i] = watch_dir_of(p, p->files[i]);
		p->open[2 * i + 1] = watch(p, p->files[i]);
	}
}

struct posts *posts_open(char **files)
{
	struct posts *p = xcalloc(1, sizeof(*p));

	p->files = files;
	for (size_t i = 0; i < ARRAY_LEN(p->open); i++)
		p->open[i] = -1;
	p->queue = kqueue();
	if (p->queue < 0) {
		posts_free(p);
		return NULL;
	}
	fcntl(p->queue, F_SETFD, FD_CLOEXEC);
	watch_all(p);
	return p;
}

int posts_fd(const struct posts *p)
{
	return p->queue;
}

/* Watches again before the caller reads, so that a change in between is reported once more. */
bool posts_read(struct posts *p)
{
	const struct timespec now = {0};
	struct kevent got[FILES_MAX * 2];
	bool some = false;

	while (kevent(p->queue, NULL, 0, got, ARRAY_LEN(got), &now) > 0)
		some = true;
	if (some)
		watch_all(p);
	return some;
}

void posts_free(struct posts *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < ARRAY_LEN(p->open); i++)
		util_close_fd(&p->open[i]);
	util_free_list(&p->files);
	free(p);
}
