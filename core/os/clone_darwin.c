/* clone_darwin - fclonefileat(2), which makes a new file that replaces an empty one. */
/* SPDX-License-Identifier: MIT */
#include "core/os/clone.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/clonefile.h>

#include "core/os/file.h"

int os_share(int src, int dst)
{
	(void)src, (void)dst;
	errno = EOPNOTSUPP;
	return -1;
}

/* Replaces dst by the clone. The clone has the source's mode, but captured files must be
 * private. */
static int take_place(const char *from, const char *to, int dst)
{
	int fd = open(from, O_RDWR | O_NOFOLLOW | O_CLOEXEC), r = -1;

	if (fd < 0)
		return -1;
	if (fchmod(fd, 0600) == 0 && rename(from, to) == 0 && dup2(fd, dst) >= 0)
		r = fcntl(dst, F_SETFD, FD_CLOEXEC);
	close(fd);
	return r;
}

int os_clone(int src, int dst)
{
	char to[PATH_MAX], from[PATH_MAX + 8];
	struct stat st;
	int e;

	if (fstat(dst, &st) < 0 || os_fd_name(dst, to, sizeof(to)) < 0)
		return -1;
	if (st.st_size || st.st_nlink != 1 || st.st_uid != geteuid()) {
		errno = EOPNOTSUPP;
		return -1;
	}
	snprintf(from, sizeof(from), "%s.clone", to);
	unlink(from);
	if (fclonefileat(src, AT_FDCWD, from, CLONE_NOOWNERCOPY) < 0)
		return -1;
	if (take_place(from, to, dst) == 0)
		return 0;
	e = errno;
	unlink(from);
	errno = e;
	return -1;
}
