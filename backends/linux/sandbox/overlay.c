/* overlay - copy-on-write directories: what the agent changes there is kept aside. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/overlay.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/session/overlays.h"

/* overlayfs splits its options at ',' and lowerdir at ':'. */
static void add_path(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (*s == ',' || *s == ':' || *s == '\\')
			buf_ch(b, '\\');
		buf_ch(b, *s);
	}
}

int overlay_prepare(char **ret_options, const struct spawn_spec *spec, size_t i, struct err *err)
{
	const char *path = spec->overlays[i];
	AUTO_FREE char *dir = overlay_dir(spec->state_dir, spec->session, i, path);
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
	r = io_mkdir_p(AT_FDCWD, upper, 0700);
	if (r == 0)
		r = io_mkdir_p(AT_FDCWD, work, 0700);
	if (r < 0)
		return err_set(err, r, "make '%s'", dir);
	/* The root of the merged tree has the upper directory's mode. */
	if (chmod(upper, st.st_mode & 07777) < 0)
		return err_set(err, -errno, "set the mode of '%s'", upper);
	if (geteuid() == 0 && chown(upper, st.st_uid, st.st_gid) < 0)
		return err_set(err, -errno, "set the owner of '%s'", upper);
	buf_str(&b, "userxattr,lowerdir=");
	add_path(&b, path);
	buf_str(&b, ",upperdir=");
	add_path(&b, upper);
	buf_str(&b, ",workdir=");
	add_path(&b, work);
	*ret_options = buf_take(&b);
	return 0;
}
