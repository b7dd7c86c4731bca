/* meta - mode, owner, times and extended attributes (ACLs are among them) as one blob. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "core/journal/priv.h"

/* Blob: u32 mode uid gid, u64 mtime sec, u32 nsec, u64 atime sec, u32 nsec, u32 n, n x (name,
 * value). */
#define XATTR_MAX 65536

static void proc_path(char out[40], int fd)
{
	snprintf(out, 40, "/proc/self/fd/%d", fd);
}

/* Names of all attributes, NUL-separated. File systems without them have none. */
static ssize_t list_names(const char *proc, char **ret)
{
	char small[1024];
	ssize_t n = listxattr(proc, small, sizeof(small));

	*ret = NULL;
	if (n < 0 && errno == ERANGE) {
		*ret = xmalloc(XATTR_MAX);
		n = listxattr(proc, *ret, XATTR_MAX);
	} else if (n > 0) {
		*ret = xmalloc((size_t)n);
		memcpy(*ret, small, (size_t)n);
	}
	if (n < 0)
		return errno == ENOTSUP || errno == ENOSYS ? 0 : -errno;
	return n;
}

/*
 * user.* attributes need the read bit to be read and the write bit to be set, from the owner too.
 * For setting them both are lent, and not given back: the mode is set next. False: it is not that.
 */
static bool lend(const char *proc, mode_t *mode)
{
	struct stat st;

	if (*mode || stat(proc, &st) < 0 || st.st_uid != geteuid() || (st.st_mode & 0600) == 0600 ||
	    chmod(proc, (st.st_mode & 07777) | 0600) < 0)
		return false;
	*mode = st.st_mode;
	return true;
}

static int read_xattrs(struct journal *j, int fd, struct buf *ret)
{
	AUTO_FREE char *names = NULL;
	AUTO_FREE char *value = NULL;
	size_t mark = ret->len;
	uint32_t count = 0;
	mode_t lent = 0;
	char proc[40];
	ssize_t n;

	put_u32(ret, 0);
	proc_path(proc, fd);
	n = list_names(proc, &names);
	if (n <= 0)
		return (int)n;
	value = xmalloc(XATTR_MAX);
	for (char *p = names; p < names + n; p += strlen(p) + 1) {
		ssize_t len = getxattr(proc, p, value, XATTR_MAX);

		if (len < 0 && errno == EACCES && !lent && bits_borrow(j, fd, S_IRUSR, &lent) == 0)
			len = getxattr(proc, p, value, XATTR_MAX);
		if (len < 0 && (errno == ENODATA || errno == EPERM || errno == EACCES))
			continue; /* gone meanwhile, or not ours to see: then not ours to change */
		if (len < 0) {
			int r = -errno, e = bits_return(j, fd, lent);

			return e < 0 ? e : r;
		}
		put_str(ret, p, strlen(p));
		put_str(ret, value, (size_t)len);
		count++;
	}
	memcpy(ret->data + mark, &count, sizeof(count));
	return bits_return(j, fd, lent);
}

int meta_read(struct journal *j, int fd, struct buf *ret)
{
	struct stat st;

	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	put_u32(ret, st.st_mode);
	put_u32(ret, st.st_uid);
	put_u32(ret, st.st_gid);
	put_u64(ret, (uint64_t)st.st_mtim.tv_sec);
	put_u32(ret, (uint32_t)st.st_mtim.tv_nsec);
	put_u64(ret, (uint64_t)st.st_atim.tv_sec);
	put_u32(ret, (uint32_t)st.st_atim.tv_nsec);
	return read_xattrs(j, fd, ret);
}

mode_t meta_mode(struct span meta)
{
	struct get g = {.p = meta.data, .end = meta.data + meta.len};

	return get_u32(&g);
}

bool meta_is_sound(struct span meta)
{
	struct get g = {.p = meta.data, .end = meta.data + meta.len};
	uint32_t n;

	for (int i = 0; i < 3; i++)
		get_u32(&g); /* mode, owner */
	for (int i = 0; i < 2; i++) {
		get_u64(&g);
		get_u32(&g); /* times */
	}
	n = get_u32(&g);
	for (uint32_t i = 0; i < n && !g.bad; i++) {
		get_str(&g);
		get_str(&g);
	}
	return !g.bad && g.p == g.end;
}

static const char *find_value(struct get g, uint32_t n, const char *name, struct span *value)
{
	while (n--) {
		struct span k = get_str(&g);
		struct span v = get_str(&g);

		if (str_eq(k.data, name)) {
			*value = v;
			return k.data;
		}
	}
	return NULL;
}

static int drop_xattrs(const char *proc, struct get g, uint32_t n, mode_t *lent)
{
	AUTO_FREE char *names = NULL;
	ssize_t len = list_names(proc, &names);
	struct span ignored;

	if (len < 0)
		return (int)len;
	for (char *p = names; len && p < names + len; p += strlen(p) + 1) {
		int r;

		if (find_value(g, n, p, &ignored))
			continue;
		r = removexattr(proc, p);
		if (r < 0 && errno == EACCES && lend(proc, lent))
			r = removexattr(proc, p);
		if (r < 0 && errno != ENODATA && !str_starts(p, "security."))
			return -errno;
	}
	return 0;
}

static int set_xattr(const char *proc, struct span name, struct span value, char *now, mode_t *lent)
{
	ssize_t len = getxattr(proc, name.data, now, XATTR_MAX);
	int r;

	if (len == (ssize_t)value.len && memcmp(now, value.data, value.len) == 0)
		return 0;
	r = setxattr(proc, name.data, value.data, value.len, 0);
	if (r < 0 && errno == EACCES && lend(proc, lent))
		r = setxattr(proc, name.data, value.data, value.len, 0);
	return r < 0 ? -errno : 0;
}

static int apply_xattrs(int fd, struct get *g)
{
	uint32_t n = get_u32(g);
	AUTO_FREE char *now = NULL;
	mode_t lent = 0;
	char proc[40];
	int r;

	proc_path(proc, fd);
	r = drop_xattrs(proc, *g, n, &lent);
	if (r == 0 && n)
		now = xmalloc(XATTR_MAX);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct span name = get_str(g);
		struct span value = get_str(g);

		r = g->bad ? -EBADMSG : set_xattr(proc, name, value, now, &lent);
	}
	return r;
}

static struct timespec get_time(struct get *g)
{
	struct timespec t;

	t.tv_sec = (time_t)get_u64(g);
	t.tv_nsec = get_u32(g);
	return t;
}

static int set_times(int fd, const struct timespec times[2])
{
	char proc[40];

	if (utimensat(fd, "", times, AT_EMPTY_PATH) == 0) /* Linux 5.8 */
		return 0;
	if (errno != EINVAL)
		return -errno;
	proc_path(proc, fd);
	return utimensat(AT_FDCWD, proc, times, 0) < 0 ? -errno : 0;
}

/* Set to what they are, times would be refused where nothing may be changed (chattr +i). */
static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

int meta_apply(int fd, struct span meta)
{
	struct get g = {.p = meta.data, .end = meta.data + meta.len};
	struct timespec times[2];
	struct stat st;
	mode_t mode = get_u32(&g);
	uid_t uid = get_u32(&g);
	gid_t gid = get_u32(&g);
	int r;

	times[1] = get_time(&g);
	times[0] = get_time(&g);
	if (g.bad)
		return -EBADMSG;
	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	/* The owner first: chown clears set-id bits and file capabilities. */
	if ((st.st_uid != uid || st.st_gid != gid) &&
	    fchownat(fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	r = apply_xattrs(fd, &g);
	/* Last but the times: an ACL, too, sets mode bits. */
	if (r == 0 && !S_ISLNK(mode) && fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		r = -errno;
	if (r == 0 && !S_ISLNK(mode) && (st.st_mode ^ mode) & 07777)
		r = meta_chmod(fd, mode);
	if (r == 0 && !(same_time(&st.st_mtim, &times[1]) && same_time(&st.st_atim, &times[0])))
		r = set_times(fd, times);
	return r;
}

int meta_set_mtime(int dirfd, const char *name, struct span meta)
{
	struct get g = {.p = meta.data, .end = meta.data + meta.len};
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	struct stat st;

	times[1] = get_time(&g);
	if (g.bad)
		return -EBADMSG;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	    same_time(&st.st_mtim, &times[1]))
		return 0;
	if (!*name)
		return set_times(dirfd, times);
	return utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
}
