/* attributes - reads and restores mode, owner, times and extended attributes, as one blob. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/util/codec.h"
#include "core/os/statx.h"
#include "core/os/xattr.h"

/* Blob: u32 mode uid gid, u64 mtime sec, u32 nsec, u64 atime sec, u32 nsec, u32 n, n x (name,
 * value). */
#define XATTR_MAX 65536

struct bearer {		  /* an object with attributes */
	const char *path; /* NULL: fd, open for reading */
	int fd;
	bool itself; /* of the link at `path` itself, not of its target */
};

static ssize_t list(const struct bearer *of, char *names, size_t size)
{
	if (!of->path)
		return flistxattr(of->fd, names, size);
	return (of->itself ? llistxattr : listxattr)(of->path, names, size);
}

static ssize_t get_value(const struct bearer *of, const char *name, void *value, size_t size)
{
	if (!of->path)
		return fgetxattr(of->fd, name, value, size);
	return (of->itself ? lgetxattr : getxattr)(of->path, name, value, size);
}

/* Lists the names of all attributes, NUL-separated. Returns 0 if the file system has none. */
static ssize_t list_names(const struct bearer *of, char **ret)
{
	char small[1024];
	ssize_t n = list(of, small, sizeof(small));

	*ret = NULL;
	if (n < 0 && errno == ERANGE) {
		*ret = xmalloc(XATTR_MAX);
		n = list(of, *ret, XATTR_MAX);
	} else if (n > 0) {
		*ret = xmalloc((size_t)n);
		memcpy(*ret, small, (size_t)n);
	}
	if (n < 0)
		return errno == ENOTSUP || errno == ENOSYS ? 0 : -errno;
	return n;
}

static int read_xattrs(struct journal *j, int fd, struct buf *ret)
{
	AUTO_FREE char *names = NULL;
	AUTO_FREE char *value = NULL;
	size_t mark = ret->len;
	uint32_t count = 0;
	mode_t borrowed = 0;
	char proc[OS_FD_PATH];
	const struct bearer of = {.path = proc};
	ssize_t n;

	codec_put_u32(ret, 0);
	os_fd_path(proc, fd);
	n = list_names(&of, &names);
	if (n <= 0)
		return (int)n;
	value = xmalloc(XATTR_MAX);
	for (char *p = names; p < names + n; p += strlen(p) + 1) {
		ssize_t len = get_value(&of, p, value, XATTR_MAX);

		if (len < 0 && errno == EACCES && !borrowed &&
		    borrow_bits(j, fd, S_IRUSR, &borrowed) == 0)
			len = get_value(&of, p, value, XATTR_MAX);
		if (len < 0 && (errno == ENODATA || errno == EPERM || errno == EACCES))
			continue; /* gone, or unreadable: then not changed either */
		if (len < 0) {
			int r = -errno, e = borrow_return(j, fd, borrowed);

			return e < 0 ? e : r;
		}
		codec_put_str(ret, p, strlen(p));
		codec_put_str(ret, value, (size_t)len);
		count++;
	}
	memcpy(ret->data + mark, &count, sizeof(count));
	return borrow_return(j, fd, borrowed);
}

int attributes_read(struct journal *j, int fd, struct buf *ret)
{
	struct stat st;
	mode_t mode;

	if (fstatat(fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	mode = st.st_mode;
	if (S_ISDIR(mode))
		mode = borrowed_mode(j, (uint64_t)major(st.st_dev) << 32 | minor(st.st_dev),
				     st.st_ino, mode);
	codec_put_u32(ret, mode);
	codec_put_u32(ret, st.st_uid);
	codec_put_u32(ret, st.st_gid);
	codec_put_u64(ret, (uint64_t)OS_MTIME(&st).tv_sec);
	codec_put_u32(ret, (uint32_t)OS_MTIME(&st).tv_nsec);
	codec_put_u64(ret, (uint64_t)OS_ATIME(&st).tv_sec);
	codec_put_u32(ret, (uint32_t)OS_ATIME(&st).tv_nsec);
	return read_xattrs(j, fd, ret);
}

/* Returns whether users and programs set this attribute, and not the kernel and its modules. */
static bool is_theirs(const char *name)
{
	return str_starts(name, "user.") || str_starts(name, "system.posix_acl_");
}

static uint64_t xattr_hash(const char *name, const char *value, size_t len)
{
	return XXH3_64bits_withSeed(value, len, XXH3_64bits(name, strlen(name)));
}

static uint64_t attrs_hash(const struct bearer *of)
{
	AUTO_FREE char *names = NULL;
	AUTO_FREE char *value = NULL;
	ssize_t n = list_names(of, &names);
	uint64_t hash = 0;

	/* A sum, because the order of the list depends on the order of creation. */
	for (char *p = names; n > 0 && p < names + n; p += strlen(p) + 1) {
		ssize_t len;

		if (!is_theirs(p))
			continue;
		value = value ? value : xmalloc(XATTR_MAX);
		len = get_value(of, p, value, XATTR_MAX);
		hash += xattr_hash(p, value, len > 0 ? (size_t)len : 0);
	}
	return hash;
}

uint64_t attributes_hash_xattrs(int fd)
{
	return attrs_hash(&(struct bearer){.fd = fd});
}

uint64_t attributes_hash_xattrs_at(int dirfd, const char *name)
{
	AUTO_FREE char *path = NULL;
	char dir[OS_FD_PATH];

	os_fd_path(dir, dirfd);
	path = xasprintf("%s/%s", dir, name);
	return attrs_hash(&(struct bearer){.path = path, .itself = true});
}

/* Skips mode, owner and times. Returns the number of attributes. */
static uint32_t skip_to_xattrs(struct codec_reader *g)
{
	for (int i = 0; i < 3; i++)
		codec_get_u32(g); /* mode, owner */
	for (int i = 0; i < 2; i++) {
		codec_get_u64(g);
		codec_get_u32(g); /* times */
	}
	return codec_get_u32(g);
}

uint64_t attributes_hash_kept(struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint64_t hash = 0;
	uint32_t n = skip_to_xattrs(&g);

	for (uint32_t i = 0; i < n && !g.bad; i++) {
		struct span name = codec_get_str(&g);
		struct span value = codec_get_str(&g);

		if (!g.bad && is_theirs(name.data))
			hash += xattr_hash(name.data, value.data, value.len);
	}
	return hash;
}

mode_t attributes_mode(struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};

	return codec_get_u32(&g);
}

int64_t attributes_ns(uint64_t sec, uint32_t nsec)
{
	int64_t ns, s = (int64_t)sec;

	if (__builtin_mul_overflow(s, (int64_t)1000000000, &ns) ||
	    __builtin_add_overflow(ns, (int64_t)nsec, &ns))
		return s < 0 ? INT64_MIN : INT64_MAX;
	return ns;
}

int64_t attributes_mtime(struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint64_t sec;
	uint32_t nsec;

	codec_get_u32(&g), codec_get_u32(&g), codec_get_u32(&g); /* mode, owner */
	sec = codec_get_u64(&g);
	nsec = codec_get_u32(&g);
	return g.bad ? -1 : attributes_ns(sec, nsec);
}

bool attributes_are_sound(struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	uint32_t n = skip_to_xattrs(&g);

	for (uint32_t i = 0; i < n && !g.bad; i++) {
		codec_get_str(&g);
		codec_get_str(&g);
	}
	return !g.bad && g.p == g.end;
}

static const char *find_value(struct codec_reader g, uint32_t n, const char *name,
			      struct span *value)
{
	while (n--) {
		struct span k = codec_get_str(&g);
		struct span v = codec_get_str(&g);

		if (str_eq(k.data, name)) {
			*value = v;
			return k.data;
		}
	}
	return NULL;
}

/* ---- setting ----------------------------------------------------------------------------------
 */

struct attrs_target {
	int fd;
	char proc[OS_FD_PATH];
	bool lax;   /* ignore attributes that this user may not set */
	bool lacks; /* some were ignored */
	mode_t borrowed;
};

/* Returns whether only another user may do it: its owner or root. With chattr +i or +a none may. */
static bool is_not_ours(int fd, int r)
{
	struct statx x;

	return r == -EPERM && statx(fd, "", AT_EMPTY_PATH, 0, &x) == 0 &&
	       !(x.stx_attributes & (STATX_ATTR_IMMUTABLE | STATX_ATTR_APPEND));
}

static int pardon(struct attrs_target *d, int r)
{
	if (!d->lax || !is_not_ours(d->fd, r))
		return r;
	d->lacks = true;
	return 0;
}

/*
 * Adds the mode bits that user.* attributes need, from the owner too: the read bit to be read and
 * the write bit to be set. Does not remove them, because the mode is set next. Returns false if the
 * bits are not the reason.
 */
static bool lend(struct attrs_target *d)
{
	struct stat st;

	if (d->borrowed || stat(d->proc, &st) < 0 || st.st_uid != geteuid() ||
	    (st.st_mode & 0600) == 0600 || chmod(d->proc, (st.st_mode & 07777) | 0600) < 0)
		return false;
	d->borrowed = st.st_mode;
	return true;
}

static int drop_xattrs(struct attrs_target *d, struct codec_reader g, uint32_t n)
{
	AUTO_FREE char *names = NULL;
	ssize_t len = list_names(&(struct bearer){.path = d->proc}, &names);
	struct span ignored;
	int r = len < 0 ? (int)len : 0;

	for (char *p = names; r == 0 && len && p < names + len; p += strlen(p) + 1) {
		if (find_value(g, n, p, &ignored))
			continue;
		r = removexattr(d->proc, p);
		if (r < 0 && errno == EACCES && lend(d))
			r = removexattr(d->proc, p);
		if (r < 0 && errno != ENODATA && !str_starts(p, "security."))
			r = pardon(d, -errno);
		else
			r = 0;
	}
	return r;
}

static int set_xattr(struct attrs_target *d, struct span name, struct span value, char *now)
{
	ssize_t len = getxattr(d->proc, name.data, now, XATTR_MAX);
	int r;

	if (len == (ssize_t)value.len && memcmp(now, value.data, value.len) == 0)
		return 0;
	r = setxattr(d->proc, name.data, value.data, value.len, 0);
	if (r < 0 && errno == EACCES && lend(d))
		r = setxattr(d->proc, name.data, value.data, value.len, 0);
	return r < 0 ? pardon(d, -errno) : 0;
}

static int apply_xattrs(struct attrs_target *d, struct codec_reader *g)
{
	uint32_t n = codec_get_u32(g);
	AUTO_FREE char *now = NULL;
	int r = drop_xattrs(d, *g, n);

	if (r == 0 && n)
		now = xmalloc(XATTR_MAX);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		struct span name = codec_get_str(g);
		struct span value = codec_get_str(g);

		r = g->bad ? -EBADMSG : set_xattr(d, name, value, now);
	}
	return r;
}

static struct timespec get_time(struct codec_reader *g)
{
	struct timespec t;

	t.tv_sec = (time_t)codec_get_u64(g);
	t.tv_nsec = codec_get_u32(g);
	return t;
}

static int set_times(int fd, const struct timespec times[2])
{
	char proc[OS_FD_PATH];

	if (utimensat(fd, "", times, AT_EMPTY_PATH) == 0) /* Linux 5.8 */
		return 0;
	if (errno != EINVAL)
		return -errno;
	os_fd_path(proc, fd);
	return utimensat(AT_FDCWD, proc, times, 0) < 0 ? -errno : 0;
}

/* Returns whether the times are equal: an immutable file (chattr +i) refuses to set even those. */
static bool same_time(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec == b->tv_sec && a->tv_nsec == b->tv_nsec;
}

/* Sets the owner, before all others: chown clears set-id bits and file capabilities. */
static int apply_owner(struct attrs_target *d, uid_t uid, gid_t gid)
{
	struct stat st;

	if (fstatat(d->fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	if (st.st_uid == uid && st.st_gid == gid)
		return 0;
	if (fchownat(d->fd, "", uid, gid, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
		return pardon(d, -errno);
	return 0;
}

/* Sets the mode, after the xattrs: an ACL sets mode bits, too. */
static int apply_mode(struct attrs_target *d, mode_t mode)
{
	struct stat st;

	if (S_ISLNK(mode))
		return 0;
	if (fstatat(d->fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	return (st.st_mode ^ mode) & 07777 ? pardon(d, object_chmod(d->fd, mode)) : 0;
}

/* Sets the times. Another user's file can only get the present time: that error is ignored. */
static int apply_times(const struct attrs_target *d, const struct timespec times[2])
{
	struct stat st;
	int r;

	if (fstatat(d->fd, "", &st, AT_EMPTY_PATH) < 0)
		return -errno;
	if (same_time(&OS_MTIME(&st), &times[1]) && same_time(&OS_ATIME(&st), &times[0]))
		return 0;
	r = set_times(d->fd, times);
	return d->lax && is_not_ours(d->fd, r) ? 0 : r;
}

static int set_attrs(struct attrs_target *d, struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	struct timespec times[2];
	mode_t mode = codec_get_u32(&g);
	uid_t uid = codec_get_u32(&g);
	gid_t gid = codec_get_u32(&g);
	int r;

	times[1] = get_time(&g);
	times[0] = get_time(&g);
	if (g.bad)
		return -EBADMSG;
	os_fd_path(d->proc, d->fd);
	r = apply_owner(d, uid, gid);
	if (r == 0)
		r = apply_xattrs(d, &g);
	if (r == 0)
		r = apply_mode(d, mode);
	return r < 0 ? r : apply_times(d, times);
}

int attributes_apply(int fd, struct span meta)
{
	return set_attrs(&(struct attrs_target){.fd = fd}, meta);
}

int attributes_apply_ours(int fd, struct span meta)
{
	struct attrs_target d = {.fd = fd, .lax = true};
	int r = set_attrs(&d, meta);

	return r < 0 ? r : d.lacks;
}

int attributes_set_mtime(int dirfd, const char *name, struct span meta)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};
	struct stat st;
	int r;

	times[1] = get_time(&g);
	if (g.bad)
		return -EBADMSG;
	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0 &&
	    same_time(&OS_MTIME(&st), &times[1]))
		return 0;
	if (*name)
		return utimensat(dirfd, name, times, AT_SYMLINK_NOFOLLOW) < 0 ? -errno : 0;
	r = set_times(dirfd, times);
	return is_not_ours(dirfd, r) ? 0 : r;
}
