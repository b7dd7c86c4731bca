/* marks - restore points: the names that the user gave to moments of the history. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/journal/mark.h"
#include "core/journal/store/store.h"

/*
 * The file "marks" of the store has one line each, oldest first: "AFTER US NAME". It is replaced as
 * a whole (rename), under a lock of the store's directory, because the process that has the store
 * and a `cordon mark` beside it may both write it. If it is damaged, nothing is pruned.
 */

#define MARKS_FILE  "marks"
#define MARKS_BYTES (MARKS_MAX * (MARK_NAME_MAX + 64))

void marks_free(struct mark *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		free(list[i].name);
	free(list);
}

static int load(const struct journal *j, struct mark **ret, size_t *ret_n)
{
	AUTO_FREE char *text = NULL;
	struct mark *list;
	char *save = NULL;
	size_t n = 0;
	int r = io_read_file(j->store, MARKS_FILE, MARKS_BYTES, &text, NULL);

	*ret = NULL;
	*ret_n = 0;
	if (r < 0 && r != -ENOENT)
		return r;
	list = xcalloc(MARKS_MAX + 1, sizeof(*list));
	for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct mark m = {0};
		int at = 0;

		if (n == MARKS_MAX ||
		    sscanf(line, "%" SCNd64 " %" SCNd64 " %n", &m.after, &m.us, &at) != 2 || !at ||
		    !line[at]) {
			marks_free(list, n);
			return -EBADMSG;
		}
		m.name = xstrdup(line + at);
		list[n++] = m;
	}
	*ret = list;
	*ret_n = n;
	return 0;
}

static int save(const struct journal *j, const struct mark *list, size_t n)
{
	AUTO_BUF struct buf out = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_fmt(&out, "%" PRId64 " %" PRId64 " %s\n", list[i].after, list[i].us,
			list[i].name);
	return io_write_file(j->store, MARKS_FILE, 0600, out.data, out.len, true);
}

const struct mark *mark_find(const struct mark *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(list[i].name, name))
			return &list[i];
	return NULL;
}

static int fail(const struct journal *j, int r, struct err *err)
{
	return err_set(err, r, "restore points of '%s'", j->folder);
}

int journal_marks(struct journal *j, struct mark **ret, size_t *ret_n, struct err *err)
{
	int r = load(j, ret, ret_n);

	return r < 0 ? fail(j, r, err) : 0;
}

int64_t journal_marked(const struct journal *j)
{
	struct mark *list = NULL;
	int64_t oldest = INT64_MAX;
	size_t n = 0;

	if (load(j, &list, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++)
		oldest = MIN(oldest, list[i].after);
	marks_free(list, n);
	return oldest;
}

static int check_name(const char *name, struct err *err)
{
	bool sound = *name && *name != '-' && *name != ' ' && strlen(name) <= MARK_NAME_MAX;

	for (const char *p = name; sound && *p; p++)
		sound = (unsigned char)*p >= ' ' && *p != 0x7f;
	return sound ? 0
		     : err_say(err, -EINVAL,
			       "a restore point needs a name of 1 to %d bytes without control "
			       "characters, which begins with neither '-' nor a blank",
			       MARK_NAME_MAX);
}

/* Locks the store's directory. The lock lasts until the descriptor is closed. */
static int open_locked(const struct journal *j, struct err *err)
{
	int fd = openat(j->store, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int r = fd < 0 ? -errno : io_lock(fd);

	if (r == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return fail(j, r, err);
}

int journal_mark(struct journal *j, const char *name, struct err *err)
{
	AUTO_CLOSE int lock = -1;
	struct mark *list = NULL;
	uint64_t kept = 0, undone = 0;
	size_t n = 0;
	int r = check_name(name, err);

	if (r < 0)
		return r;
	lock = open_locked(j, err);
	if (lock < 0)
		return lock;
	r = load(j, &list, &n);
	if (r == 0)
		r = store_highest(j, "steps", &kept);
	if (r == 0)
		r = store_highest(j, "redo", &undone);
	if (r < 0) {
		r = fail(j, r, err);
	} else if (mark_find(list, n, name)) {
		r = err_say(err, -EEXIST, "there is a restore point '%s': cordon mark --remove %s",
			    name, name);
	} else if (n == MARKS_MAX) {
		r = err_say(err, -E2BIG, "there are %d restore points: remove one", MARKS_MAX);
	} else {
		list[n++] = (struct mark){.name = xstrdup(name),
					  .after = (int64_t)MAX(kept, undone),
					  .us = clock_wall_us()};
		r = save(j, list, n);
		r = r < 0 ? fail(j, r, err) : 0;
	}
	marks_free(list, n);
	return r;
}

int journal_unmark(struct journal *j, const char *name, struct err *err)
{
	AUTO_CLOSE int lock = open_locked(j, err);
	struct mark *list = NULL;
	size_t n = 0, kept = 0;
	int r = lock < 0 ? lock : journal_marks(j, &list, &n, err);

	if (r == 0 && !mark_find(list, n, name))
		r = err_say(err, -ENOENT,
			    "there is no restore point '%s': `cordon mark` lists them", name);
	for (size_t i = 0; r == 0 && i < n; i++) {
		if (str_eq(list[i].name, name))
			free(list[i].name);
		else
			list[kept++] = list[i];
	}
	if (r == 0) {
		n = kept;
		r = save(j, list, n);
		r = r < 0 ? fail(j, r, err) : 0;
	}
	marks_free(list, n);
	return r;
}
