/* privileges - refuses file changes that take a capability which the caller does not have. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/privileges.h"

#include <errno.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/base/util.h"

#define SET_ID	     (S_ISUID | S_ISGID)
#define CAPABILITIES "security.capability"

int privileged_attribute(const char *name)
{
	return str_starts(name, "security.") || str_starts(name, "trusted.") ? -EPERM : 0;
}

mode_t privileges_new(mode_t mode)
{
	return mode & ~(mode_t)SET_ID;
}

mode_t privileges_mode(mode_t mode, const struct stat *was)
{
	if (S_ISDIR(was->st_mode)) /* there they set the owner of new entries */
		return mode;
	return privileges_new(mode) | (mode & was->st_mode & SET_ID);
}

int privileges_drop(int fd)
{
	const bool root = geteuid() == 0;
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return 0;
	if (st.st_mode & SET_ID && fchmod(fd, privileges_new(st.st_mode & 07777)) < 0 && root)
		return -errno; /* a user may not own it, and has to leave it to the kernel */
	if (root && fgetxattr(fd, CAPABILITIES, NULL, 0) > 0 && fremovexattr(fd, CAPABILITIES) < 0)
		return -errno;
	return 0;
}
