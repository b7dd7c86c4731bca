/* unkept - a file opened for writing that is too large to capture, and may never be written. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/open_files.h"
#include "core/journal/step/unkept.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/os/file.h"
#include "core/os/volume.h"

#define TICK_NS 20000000 /* two changes within it may get the same time (100 Hz, twice) */

struct unkept {
	int fd; /* O_PATH */
	char *path;
	struct object was;
	bool changed;
};

const char *unkept_path(const struct step *s)
{
	return s->unkept ? s->unkept->path : NULL;
}

static bool is_it(const struct step *s, const struct object *o)
{
	return s->unkept && object_same(&s->unkept->was, o);
}

/* Notes it in the log, so that recovery after a crash reports the rollback as incomplete. */
static bool note_in_log(struct step *s, const char *path)
{
	AUTO_BUF struct buf why = BUF_INIT;
	struct rec rec = {.type = REC_MARK, .path = ""};

	buf_ch(&why, '\'');
	text_escape(&why, path, strnlen(path, 200));
	buf_str(&why, "' was open for writing and is too large to be kept");
	rec.meta = (struct span){.data = why.data, .len = why.len};
	return step_make(s) == 0 && capture_push(&s->side, &rec) == 0;
}

bool unkept_note(struct step *s, int root, const char *path, int dirfd, const char *name,
		 const struct object *o)
{
	int64_t now = clock_wall_us() * 1000;
	char proc[OS_FD_PATH];
	int fd;

	if (is_it(s, o))
		return true;
	if (s->unkept || s->bare || root != 0 || o->nlink != 1 ||
	    step_may_change_unseen(s, dirfd, o) || now - o->mtime_ns < TICK_NS)
		return false;
	/* A second descriptor for writing would delay the close event. */
	os_fd_path(proc, dirfd);
	fd = *name ? openat(dirfd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC)
		   : open(proc, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return false;
	s->unkept = xcalloc(1, sizeof(*s->unkept));
	*s->unkept = (struct unkept){.fd = fd, .path = xstrdup(path), .was = *o};
	if (note_in_log(s, path))
		return true;
	unkept_free(s);
	return false;
}

void unkept_look(struct step *s, const struct object *o)
{
	struct object now;

	if (is_it(s, o))
		s->unkept->changed |= object_stat(s->unkept->fd, "", &now) < 0 ||
				      now.size != s->unkept->was.size ||
				      now.mtime_ns != s->unkept->was.mtime_ns;
}

bool unkept_changed(struct step *s, uint64_t *ret_bytes)
{
	if (!s->unkept)
		return false;
	unkept_look(s, &s->unkept->was);
	*ret_bytes = s->unkept->was.blocks * 512;
	return s->unkept->changed;
}

void unkept_follow(struct step *s, const struct object *o)
{
	const struct timespec tick = {.tv_nsec = TICK_NS};

	if (!is_it(s, o) || s->unkept->changed)
		return;
	if (object_stat(s->unkept->fd, "", &s->unkept->was) < 0)
		s->unkept->changed = true;
	/* Later writes must get another time. */
	nanosleep(&tick, NULL);
}

void unkept_free(struct step *s)
{
	struct unkept *u = take_ptr(&s->unkept);

	if (!u)
		return;
	close(u->fd);
	free(u->path);
	free(u);
}

/* Stores through a mapping: tmpfs sets no time for them. Other file systems set it at the first
 * store into a page after it was written back, which may have been before the step; a clone writes
 * pages back. */
bool step_may_change_unseen(const struct step *s, int dirfd, const struct object *o)
{
	int volume = open_file_find(s->j, o) ? VOLUME_MEMORY : os_volume(dirfd);

	return volume < 0 || volume == VOLUME_MEMORY;
}
