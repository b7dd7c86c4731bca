/* lock_marks_linux - puts permission marks on every directory of a tree, and on new ones. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/keeper/watch/lock_priv.h"

#ifndef FAN_REPORT_TID /* Linux 4.20 */
#define FAN_REPORT_TID 0x00000100
#endif
#ifndef FAN_REPORT_DFID_NAME /* Linux 5.9 */
#define FAN_REPORT_DFID_NAME 0x00000c00
#endif
#ifndef FAN_EVENT_INFO_TYPE_DFID_NAME
#define FAN_EVENT_INFO_TYPE_DFID_NAME 2
#endif

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
#define DEPTH_MAX 256

int marks_init(struct marks *m, struct err *err)
{
	*m = (struct marks){.opens = -1, .names = -1};
	m->opens = fanotify_init(FAN_CLASS_CONTENT | FAN_REPORT_TID | FAN_CLOEXEC | FAN_NONBLOCK |
					 FAN_UNLIMITED_QUEUE | FAN_UNLIMITED_MARKS,
				 O_RDONLY | O_LARGEFILE | O_CLOEXEC | O_NONBLOCK);
	if (m->opens >= 0)
		m->names = fanotify_init(FAN_CLASS_NOTIF | FAN_REPORT_DFID_NAME | FAN_CLOEXEC |
						 FAN_NONBLOCK | FAN_UNLIMITED_QUEUE |
						 FAN_UNLIMITED_MARKS,
					 O_RDONLY | O_CLOEXEC);
	if (m->names >= 0)
		return 0;
	if (errno == EPERM)
		return err_say(err, -EPERM,
			       "undo.external = lock: it needs the right to administer this system "
			       "(CAP_SYS_ADMIN): start cordon as root, or set it to barrier");
	return err_set(err, -errno, "undo.external = lock: watch the folders (fanotify)");
}

void marks_done(struct marks *m)
{
	util_close_fd(&m->opens);
	util_close_fd(&m->names);
	for (size_t i = 0; i < m->n; i++)
		util_close_fd(&m->folders[i].fd);
	m->n = 0;
}

static int mark(const struct marks *m, int dir)
{
	/* Names are watched before the listing, which finds directories created in between. */
	if (fanotify_mark(m->names, FAN_MARK_ADD | FAN_MARK_ONLYDIR,
			  FAN_CREATE | FAN_MOVED_TO | FAN_ONDIR, dir, NULL) < 0 ||
	    fanotify_mark(m->opens, FAN_MARK_ADD | FAN_MARK_ONLYDIR,
			  FAN_OPEN_PERM | FAN_EVENT_ON_CHILD, dir, NULL) < 0)
		return -errno;
	return 0;
}

static int walk(const struct marks *m, int dir, dev_t dev, int depth)
{
	AUTO_CLOSE int own = openat(dir, ".", DIR_FLAGS);
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	struct stat st;
	int r;

	if (own < 0 || fstat(own, &st) < 0)
		return -errno;
	if (st.st_dev != dev || depth == DEPTH_MAX)
		return 0;
	r = mark(m, own);
	d = r == 0 ? fdopendir(own) : NULL;
	if (!d)
		return r < 0 ? r : -errno;
	(void)take_fd(&own);
	while ((e = readdir(d))) {
		AUTO_CLOSE int sub = -1;

		if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || str_eq(e->d_name, ".") ||
		    str_eq(e->d_name, ".."))
			continue;
		sub = openat(dirfd(d), e->d_name, DIR_FLAGS);
		if (sub >= 0)
			r = walk(m, sub, dev, depth + 1);
		if (r < 0)
			return r;
	}
	return 0;
}

static int walk_from(const struct marks *m, int dir)
{
	struct stat st;

	return fstat(dir, &st) < 0 ? -errno : walk(m, dir, st.st_dev, 0);
}

int marks_add(struct marks *m, const char *folder, struct err *err)
{
	AUTO_CLOSE int fd = open(folder, DIR_FLAGS);
	struct statfs fs;
	int r;

	if (m->n == FOLDERS_MOST)
		return err_say(err, -E2BIG, "undo.external = lock: more than %d working folders",
			       FOLDERS_MOST);
	if (fd < 0 || fstatfs(fd, &fs) < 0)
		return err_set(err, -errno, "lock '%s'", folder);
	r = walk_from(m, fd);
	if (r < 0)
		return err_set(err, r, "lock '%s'", folder);
	m->folders[m->n++] = (struct marked){take_fd(&fd), fs.f_fsid};
	return 0;
}

/* Returns a directory on the file system of the event: any will do to open its handle. */
static int folder_on(const struct marks *m, const void *fsid)
{
	for (size_t i = 0; i < m->n; i++)
		if (memcmp(&m->folders[i].fsid, fsid, sizeof(fsid_t)) == 0)
			return m->folders[i].fd;
	return -1;
}

/* Marks a new directory. The event has the handle of its parent, followed by its name. */
static void appeared(const struct marks *m, const struct fanotify_event_info_fid *info)
{
	struct file_handle *handle = (struct file_handle *)(uintptr_t)info->handle;
	const char *name = (const char *)handle->f_handle + handle->handle_bytes;
	AUTO_CLOSE int dir = open_by_handle_at(folder_on(m, &info->fsid), handle,
					       O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int sub = dir < 0 ? -1 : openat(dir, name, DIR_FLAGS);

	/* A failure means that it was removed again. An undo finds missed edits when it
	 * compares. */
	if (sub >= 0)
		(void)walk_from(m, sub);
}

void marks_read(const struct marks *m)
{
	_Alignas(struct fanotify_event_metadata) char buf[16384];
	ssize_t len = read(m->names, buf, sizeof(buf));
	struct fanotify_event_metadata *e = (void *)buf;

	for (; FAN_EVENT_OK(e, len); e = FAN_EVENT_NEXT(e, len)) {
		const struct fanotify_event_info_fid *info = (const void *)(e + 1);

		if (e->event_len > sizeof(*e) &&
		    info->hdr.info_type == FAN_EVENT_INFO_TYPE_DFID_NAME)
			appeared(m, info);
	}
}
