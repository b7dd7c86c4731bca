/* saved_redo - `cordon redo --saved`: brings back files that were saved. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/saved_redo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

/* Opens the path's directory, and makes missing ones; follows no link. *name: the last
 * component. */
static int open_parent(const char *folder, const char *path, const char **name)
{
	const int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	AUTO_CLOSE int at = open(folder, flags);
	AUTO_FREE char *dirs = xstrdup(path);
	char *slash, *part = dirs;

	for (; at >= 0 && (slash = strchr(part, '/')); part = slash + 1) {
		int below;

		*slash = '\0';
		if (mkdirat(at, part, 0777) < 0 && errno != EEXIST)
			return -errno;
		below = openat(at, part, flags);
		close(at);
		at = below;
	}
	*name = path + (part - dirs);
	return at < 0 ? -errno : take_fd(&at);
}

struct version {
	uint64_t number;
	const char *path;
	size_t newer; /* number of newer versions */
};

/* Makes the file at its path, or beside an existing file. *ret: its path relative to the folder. */
static int make_file(const char *folder, const struct version *v, mode_t mode, char **ret)
{
	const int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	const char *path = v->path, *name = path;
	AUTO_FREE char *beside =
		v->newer ? xasprintf("%s.saved-%" PRIu64 "-%zu", path, v->number, v->newer + 1)
			 : xasprintf("%s.saved-%" PRIu64, path, v->number);
	AUTO_CLOSE int at = open_parent(folder, beside, &name);
	AUTO_FREE char *own = NULL;
	int fd;

	if (at < 0)
		return take_fd(&at);
	own = xstrndup(name, strlen(path) - (size_t)(name - beside));
	fd = openat(at, own, flags, mode & 0777);
	*ret = xstrdup(path);
	if (fd >= 0 || errno != EEXIST)
		return fd < 0 ? -errno : fd;
	free(*ret);
	*ret = xstrdup(beside);
	fd = openat(at, name, flags, mode & 0777);
	return fd < 0 ? -errno : fd;
}

static int bring_version(struct journal *j, const char *folder, const struct version *v,
			 struct err *err)
{
	AUTO_CLOSE int from = -1;
	AUTO_CLOSE int to = -1;
	AUTO_FREE char *where = NULL;
	struct stat st;
	int r = journal_saved_redo_open(j, v->number, v->path, v->newer, &from, err);

	if (r < 0)
		return r;
	r = fstat(from, &st) < 0 ? -errno : 0;
	if (r == 0)
		r = to = make_file(folder, v, st.st_mode, &where);
	if (r >= 0)
		r = object_copy_data(from, to);
	if (r < 0 || !where)
		return err_set(err, r, "bring back '%s'", where ? where : v->path);
	fputs("brought back: ", stdout);
	show_text(where, strlen(where));
	putchar('\n');
	return 0;
}

/* Restores all versions of the path, the newest first. */
static int bring_one(struct journal *j, const char *folder, uint64_t number, const char *path,
		     struct err *err)
{
	struct version v = {.number = number, .path = path};
	struct err why = {0};
	int r = bring_version(j, folder, &v, err);

	while (r == 0) {
		v.newer++;
		r = bring_version(j, folder, &v, &why);
	}
	if (v.newer && r == -ENOENT)
		return 0;
	if (v.newer && err)
		*err = why;
	return r;
}

static const struct saved_redo *find(const struct saved_redo *list, size_t n, uint64_t number)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].number == number)
			return &list[i];
	return NULL;
}

static int bring(struct journal *j, const char *folder, uint64_t number,
		 const struct strings *paths, struct err *err)
{
	struct saved_redo *list = NULL;
	const struct saved_redo *one;
	size_t n = 0;
	int r = journal_saved_redos(j, &list, &n, err);

	one = r == 0 ? find(list, n, number) : NULL;
	if (r == 0 && !one)
		r = err_say(err, -ENOENT,
			    "nothing was saved as %" PRIu64 ": `cordon log` lists what was",
			    number);
	for (size_t i = 0; r == 0 && i < paths->n; i++)
		r = bring_one(j, folder, number, paths->list[i], err);
	for (size_t i = 0; r == 0 && one && !paths->n && i < one->n_paths; i++)
		r = bring_one(j, folder, number, one->paths[i], err);
	saved_redos_free(list, n);
	return r;
}

int saved_redo_bring(uint64_t number, const struct strings *given, struct err *err)
{
	AUTO_HERE struct here p = {0};
	struct strings paths = {0};
	struct journal *j = NULL;
	int r = here_find(&p, err);

	if (r == 0)
		r = here_paths(&p, given, 0, &paths, err);
	if (r == 0)
		r = journal_open(&j,
				 &(struct journal_spec){.folder = p.folder,
							.state_dir = p.state_dir,
							.read_only = true},
				 NULL, err);
	if (r == -ENOENT && !(err && err->code))
		r = err_say(err, r, "there is no history here");
	if (r == 0)
		r = bring(j, p.folder, number, &paths, err);
	journal_close(j);
	here_paths_done(&paths);
	return r;
}
