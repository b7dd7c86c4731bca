/* mounts - checks that file systems with a server (FUSE, NFS) answer. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/mountinfo.h"
#include "core/base/path.h"
#include "core/os/process.h"
#include "core/os/statx.h"

#define ANSWER_MS 2000

static bool has_server(const char *type)
{
	static const char *const types[] = {"nfs", "nfs4",   "cifs", "smb3",  "9p", "ceph",
					    "afs", "lustre", "gfs2", "ocfs2", NULL};

	return str_one_of(type, types) || str_starts(type, "fuse");
}

/* Returns whether the file system answers. A fatal signal ends such a wait; otherwise the child is
 * left behind, and init reaps it. */
static bool answers(const char *path)
{
	struct pollfd p = {.fd = -1, .events = POLLIN};
	pid_t child = fork();
	int r;

	if (child == 0) {
		struct statx st;

		/* Nothing ends it while the server holds its request: close everything. */
		os_close_range(0, ~0u);
		/* An error is an answer, too. */
		if (statx(AT_FDCWD, path, AT_STATX_FORCE_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE, &st) <
		    0)
			_exit(1);
		_exit(0);
	}
	if (child < 0)
		return true;
	p.fd = os_process_open(child);
	do
		r = p.fd < 0 ? 1 : poll(&p, 1, ANSWER_MS);
	while (r < 0 && errno == EINTR);
	if (r == 0)
		kill(child, SIGKILL);
	while (waitpid(child, NULL, r == 0 ? WNOHANG : 0) < 0 && errno == EINTR)
		continue;
	util_close_fd(&p.fd);
	return r != 0;
}

static bool concerns(const char *point, const char *const *list, bool tree)
{
	for (; *list; list++)
		if (path_is_beneath(*list, point) || (tree && path_is_beneath(point, *list)))
			return true;
	return false;
}

int mounts_answer(const char *const *trees, const char *const *paths, struct err *err)
{
	AUTO_FREE char *text = mountinfo_read();
	struct mount_line m;
	int r = 0;

	for (char *at = text; r == 0 && mountinfo_next(&at, &m);)
		if (has_server(m.type) &&
		    (concerns(m.point, trees, true) || concerns(m.point, paths, false)) &&
		    !answers(m.point))
			r = err_say(
				err, -ETIMEDOUT,
				"the file system at '%s' (%s) does not answer: start its server "
				"anew, or take it away with umount -l '%s'",
				m.point, m.type, m.point);
	return r;
}
