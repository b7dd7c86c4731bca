/* overlay - copy-on-write directories, whose changes are kept separately. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/session/start/overlays.h"

/* Appends a path, escaped: overlayfs splits its options at ',' and lowerdir at ':'. */
static void add_path(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == ',' || *s == ':' || *s == '\\')
			buf_ch(b, '\\');
		buf_ch(b, *s);
	}
}

/* Makes a directory. Most parents exist, so one call usually suffices. */
static int make_dir(const char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return 0;
	return errno == ENOENT ? io_mkdir_p(AT_FDCWD, path, 0700) : -errno;
}

/* ---- whiteouts ------------------------------------------------------------------------------- */

int overlay_of_tool(const struct spawn_spec *spec, const char *path)
{
	int nearest = -1;

	for (int i = 0; spec->places && spec->overlays[i]; i++)
		if (spec->places[i].optional && path_is_beneath(path, spec->overlays[i]))
			nearest = i;
	return nearest;
}

/* Opens directory `name` of the upper layer, and makes it like the host's if it is missing. Returns
 * -ENOTDIR or -ELOOP if the host or the agent has another kind of file there: then the host's
 * directory does not show. */
static int enter(int upper, const char *host, const char *name)
{
	struct stat st;
	int fd;

	if (lstat(host, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	if (mkdirat(upper, name, st.st_mode & 07777) < 0 && errno != EEXIST)
		return -errno;
	fd = openat(upper, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int overlay_white_out(const struct spawn_spec *spec, int i, const char *path)
{
	AUTO_FREE char *upper = path_join(spec->places[i].dir, "upper");
	size_t at = strlen(spec->overlays[i]) + 1;
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int r = make_dir(upper);

	if (r < 0 || strlen(path) < at)
		return r < 0 ? r : -EINVAL;
	fd = open(upper, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	for (size_t end; path[end = at + strcspn(path + at, "/")]; at = end + 1) {
		AUTO_FREE char *host = xstrndup(path, end);
		int next = enter(fd, host, path_base(host));

		if (next < 0)
			return next == -ENOTDIR || next == -ELOOP ? 1 : next;
		util_close_fd(&fd);
		fd = next;
	}
	if (mknodat(fd, path + at, S_IFCHR, 0) == 0)
		return 0;
	if (errno != EEXIST || fstatat(fd, path + at, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISCHR(st.st_mode) ? 0 : 1;
}

/* ---- mounting -------------------------------------------------------------------------------- */

int overlay_prepare(char **ret_options, char **ret_upper, const struct spawn_spec *spec, size_t i,
		    struct err *err)
{
	const char *path = spec->overlays[i];
	const bool is_tools = spec->places && spec->places[i].dir;
	AUTO_FREE char *dir = is_tools ? xstrdup(spec->places[i].dir)
				       : overlay_dir(spec->state_dir, spec->session, i, path);
	AUTO_FREE char *upper = NULL, *work = NULL;
	AUTO_BUF struct buf b = BUF_INIT;
	struct stat st;
	int r;

	if (stat(path, &st) < 0)
		return err_set(err, -errno, "overlay '%s'", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, -ENOTDIR, "overlay '%s'", path);
	upper = xasprintf("%s/upper", dir);
	work = xasprintf("%s/work", dir);
	if (is_tools)
		overlay_drop_work(dir);
	r = make_dir(upper);
	if (r == 0)
		r = make_dir(work);
	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	/* The merged root has the mode of the upper directory. */
	if (chmod(upper, st.st_mode & 07777) < 0)
		return err_set(err, -errno, "set the mode of '%s'", upper);
	if (geteuid() == 0 && chown(upper, st.st_uid, st.st_gid) < 0)
		return err_set(err, -errno, "set the owner of '%s'", upper);
	/* Without an index the host may change the lower directory between sessions. */
	buf_str(&b, "userxattr,index=off,");
	/* Without `volatile` the session's end would flush all of that disk. */
	buf_str(&b, is_tools ? "volatile,lowerdir=" : "lowerdir=");
	add_path(&b, path);
	buf_str(&b, ",upperdir=");
	add_path(&b, upper);
	buf_str(&b, ",workdir=");
	add_path(&b, work);
	*ret_options = buf_take(&b);
	*ret_upper = take_ptr(&upper);
	return 0;
}
