/* xattr - extended attributes, as Linux calls them. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/xattr.h>

/* ENODATA is ENOATTR on macOS. An attribute that is no longer there answers so on both. */
#ifndef __linux__
#include <errno.h>

#undef ENODATA
#define ENODATA ENOATTR

static inline ssize_t os_listxattr(const char *path, char *names, size_t size)
{
	return listxattr(path, names, size, 0);
}
static inline ssize_t llistxattr(const char *path, char *names, size_t size)
{
	return listxattr(path, names, size, XATTR_NOFOLLOW);
}
static inline ssize_t os_getxattr(const char *path, const char *name, void *value, size_t size)
{
	return getxattr(path, name, value, size, 0, 0);
}
static inline ssize_t lgetxattr(const char *path, const char *name, void *value, size_t size)
{
	return getxattr(path, name, value, size, 0, XATTR_NOFOLLOW);
}
#define listxattr			       os_listxattr
#define getxattr			       os_getxattr
#define flistxattr(fd, names, size)	       flistxattr(fd, names, size, 0)
#define fgetxattr(fd, name, value, size)       fgetxattr(fd, name, value, size, 0, 0)
#define setxattr(path, name, value, size, how) setxattr(path, name, value, size, 0, how)
#define removexattr(path, name)		       removexattr(path, name, 0)
#endif
