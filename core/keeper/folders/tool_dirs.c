/* tool_dirs - makes directories of tools that the host does not have, at the agent's mkdir. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/tool_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/keeper/state.h"

/* Returns whether only the directory itself is missing. For a missing parent the kernel reports an
 * error. */
static bool is_missing(const char *path)
{
	AUTO_FREE char *parent = xstrndup(path, (size_t)(path_base(path) - path));
	struct stat st;

	return lstat(path, &st) < 0 && errno == ENOENT && stat(parent, &st) == 0;
}

static bool is_wanted(const struct keeper *k, const char *path)
{
	const struct absent_home *h = k->spec->spawn ? k->spec->spawn->absent_homes : NULL;

	for (; h && h->path; h++)
		if (str_eq(h->path, path))
			return is_missing(path);
	return false;
}

static int make_point(const char *points, const char *path)
{
	AUTO_CLOSE int at = open(points, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *name = path_label(path);

	return at < 0 || (mkdirat(at, name, 0700) < 0 && errno != EEXIST) ? -errno : 0;
}

int tool_dir_make(struct keeper *k, const char *path)
{
	int r;

	if (!is_wanted(k, path))
		return 0;
	if (k->frozen)
		return -EIO;
	r = make_point(k->spec->spawn->home_points, path);
	for (size_t i = 0; r == 0 && i < k->n_doors; i++)
		if (k->doors[i]->ops->show_tool_dir)
			r = k->doors[i]->ops->show_tool_dir(k->doors[i], path);
	return r < 0 ? r : 1;
}
