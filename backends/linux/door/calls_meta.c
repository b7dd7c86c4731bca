/* calls_meta - changes mode, owner, times and extended attributes; access and statfs. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_meta.h"

#include <sys/syscall.h>
#include <errno.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <utime.h>

#include "backends/linux/door/locate.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/privileges.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"

/* The keeper performs these calls outside the folders too, on a descriptor of the very object. With
 * CONTINUE the caller could replace the path by that of an inherited descriptor, and neither
 * Landlock nor a read-only mount would stop a change of its mode. A descriptor that the keeper
 * itself gave out (opened for writing in this step) is changed directly, because the state before
 * is captured already. */
/* Of an object outside the folders the mounts of the sandbox decide whether a call by name may
 * change it. By descriptor, an object with a path in the sandbox is changed there; one without a
 * path (a pipe, a memfd, a deleted temporary file) is visible to no other process. Any other
 * descriptor came from outside (standard output, the terminal), and the agent must not change
 * it. */
static bool is_device(const struct stat *st)
{
	unsigned terminal = major(st->st_rdev);

	if (S_ISCHR(st->st_mode) && terminal >= 136 && terminal <= 143) /* Unix98 pty slaves */
		return false;
	return S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode);
}

/* Returns whether the file is on a file system of the kernel. Its inode is the same for the whole
 * host, in every mount and namespace, and no mount option protects its mode and owner. A link in
 * /proc to an open file is that file. */
static bool is_kernels(int fd)
{
	static const long types[] = {PROC_SUPER_MAGIC,	  SYSFS_MAGIC,	      CGROUP_SUPER_MAGIC,
				     CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC,      TRACEFS_MAGIC,
				     SECURITYFS_MAGIC,	  BPF_FS_MAGIC,	      NSFS_MAGIC,
				     EFIVARFS_MAGIC,	  PSTOREFS_MAGIC,     SELINUX_MAGIC,
				     BINFMTFS_MAGIC,	  ANON_INODE_FS_MAGIC};
	struct statfs fs;

	if (fstatfs(fd, &fs) < 0)
		return true;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (fs.f_type == types[i])
			return true;
	return false;
}

static int change_outside(struct ldoor *d, struct request *r, on_fd change)
{
	struct place *p = r->place[0];
	AUTO_CLOSE int fd = -1;
	struct stat st;
	int got;

	if (!p->known)
		return -ENOENT;
	if (is_device(&p->st)) { /* /dev/null is the host's own, on any mount */
		keeper_deny(d->k, &r->caller, p->text, -EPERM, "a device of the host");
		return -EPERM;
	}
	if (is_kernels(p->seen)) {
		keeper_deny(d->k, &r->caller, p->text, -EPERM, "a file of the kernel's");
		return -EPERM;
	}
	if (d->floor.own != NULL && !p->special && p->st.st_nlink > 0 && !place_is_own(d, p)) {
		/* The mounts would refuse it. Here only this check does, as Landlock does not know
		 * such changes. */
		got = p->object ? 0 : place_outside(d, &r->caller, p);
		if (got != 0)
			return place_granted(got);
		keeper_deny(d->k, &r->caller, p->text, -EROFS, "outside the working folders");
		return -EROFS;
	}
	if (!p->object) {
		got = place_outside(d, &r->caller, p);
		return got == 0 ? change(r, p->seen) : place_granted(got);
	}
	if (p->special || p->st.st_nlink == 0)
		return change(r, p->seen);
	fd = open_in_sandbox(d, p->text);
	if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev != p->st.st_dev ||
	    st.st_ino != p->st.st_ino) {
		keeper_deny(d->k, &r->caller, p->text, -EROFS, "inherited from outside");
		return -EROFS;
	}
	r->how[0] = HOW_OBJECT; /* ours is O_PATH, which futimens() and similar calls refuse */
	return change(r, fd);
}

int change_direct(struct ldoor *d, struct request *r, on_fd change, int *ret)
{
	struct place *p = r->place[0];
	int got;

	if (p->kept) {
		*ret = change(r, p->seen);
		if (*ret != -EROFS)
			return 1;
		/* The caller opened it itself, through its read-only mount: find the file
		 * outside. */
		p->kept = false;
		got = locate_fd(d, p, take_fd(&p->seen), r->opath_ok);
		if (got < 0)
			return got;
	}
	if (p->folder != NULL && !p->orphan)
		return 0;
	if (p->folder == NULL)
		*ret = change_outside(d, r, change);
	else
		*ret = place_orphan_is_kept(&r->caller, p) ? change(r, p->at.dirfd) : -EROFS;
	return 1;
}

static const char *fd_link(int fd, char out[32])
{
	snprintf(out, 32, "/proc/self/fd/%d", fd);
	return out;
}

/* Returns AT_SYMLINK_NOFOLLOW and AT_EMPTY_PATH as the caller gave them. */
static int at_flags(struct request *r, int flags)
{
	if (flags & ~(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
		return -EINVAL;
	if (flags & AT_SYMLINK_NOFOLLOW)
		r->how[0] = HOW_LINK;
	r->empty_ok[0] = flags & AT_EMPTY_PATH;
	r->opath_ok = r->empty_ok[0];
	return 0;
}

/* Returns whether the call is done, with its result in *ret: performed here because its object is
 * in no folder, or failed because there is no object or it is a symbolic link. link_errno: the
 * result for a link; 0: it is changed like a file. */
static bool is_over(struct ldoor *d, struct request *r, on_fd change, int link_errno, int *ret)
{
	const struct place *p = r->place[0];
	int direct = change_direct(d, r, change, ret);

	if (direct == 0)
		*ret = !p->known ? -ENOENT : S_ISLNK(p->st.st_mode) ? link_errno : 0;
	else if (direct < 0)
		*ret = direct;
	return direct != 0 || *ret < 0;
}

/* ---- mode ----------------------------------------------------------------------- */

int prepare_chmod(struct ldoor *d, struct request *r)
{
	bool at = r->call->nr == SYS_fchmodat || r->call->nr == SYS_fchmodat2;

	(void)d;
	r->mode = (mode_t)r->args[at ? 2 : 1] & 07777;
	return r->call->nr == SYS_fchmodat2 ? at_flags(r, (int)r->args[3]) : 0;
}

static int chmod_fd(struct request *r, int fd)
{
	char link[32];
	struct stat st;
	mode_t mode = r->mode;

	if (mode & (S_ISUID | S_ISGID)) { /* else there are no bits to clear */
		if (fstat(fd, &st) < 0)
			return -errno;
		mode = privileges_mode(mode, &st);
	}
	if (r->how[0] == HOW_FD)
		return fchmod(fd, mode) < 0 ? -errno : 0;
	return chmod(fd_link(fd, link), mode) < 0 ? -errno : 0;
}

int perform_chmod(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int got;

	if (is_over(d, r, chmod_fd, -EOPNOTSUPP, &got))
		return got;
	return folder_chmod(p->folder, &r->caller, &p->at, privileges_mode(r->mode, &p->st));
}

/* ---- owner ---------------------------------------------------------------------- */

int prepare_chown(struct ldoor *d, struct request *r)
{
	(void)d;
	return r->call->nr == SYS_fchownat ? at_flags(r, (int)r->args[4]) : 0;
}

static unsigned owner_args(const struct request *r)
{
	return r->call->nr == SYS_fchownat ? 2 : 1;
}

static int chown_fd(struct request *r, int fd)
{
	unsigned i = owner_args(r);

	if (r->how[0] == HOW_FD)
		return fchown(fd, (uid_t)r->args[i], (gid_t)r->args[i + 1]) < 0 ? -errno : 0;
	return fchownat(fd, "", (uid_t)r->args[i], (gid_t)r->args[i + 1], AT_EMPTY_PATH) < 0
		       ? -errno
		       : 0;
}

int perform_chown(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	unsigned i = owner_args(r);
	int got;

	if (is_over(d, r, chown_fd, 0, &got))
		return got;
	return folder_chown(p->folder, &r->caller, &p->at, (uid_t)r->args[i],
			    (gid_t)r->args[i + 1]);
}

/* ---- times ---------------------------------------------------------------------- */

static int copy_times(struct ldoor *d, struct request *r, uint64_t addr, bool micro)
{
	int64_t v[4];
	int got;

	r->times[0] = r->times[1] = (struct timespec){.tv_nsec = UTIME_NOW};
	if (addr == 0)
		return 0;
	got = request_mem(d, r, SLOT_EXTRA, addr, sizeof(v));
	if (got < 0)
		return got;
	memcpy(v, r->slot[SLOT_EXTRA].data, sizeof(v));
	for (int i = 0; i < 2; i++) {
		int64_t part = v[2 * i + 1];

		if (micro && (part < 0 || part >= 1000000))
			return -EINVAL;
		r->times[i].tv_sec = v[2 * i];
		r->times[i].tv_nsec = micro ? part * 1000 : part;
	}
	return 0;
}

#ifdef SYS_open
static int copy_utime(struct ldoor *d, struct request *r, uint64_t addr)
{
	struct utimbuf u;
	int got;

	if (addr == 0)
		return copy_times(d, r, 0, false);
	got = request_mem(d, r, SLOT_EXTRA, addr, sizeof(u));
	if (got < 0)
		return got;
	memcpy(&u, r->slot[SLOT_EXTRA].data, sizeof(u));
	r->times[0] = (struct timespec){.tv_sec = u.actime};
	r->times[1] = (struct timespec){.tv_sec = u.modtime};
	return 0;
}
#endif

int prepare_times(struct ldoor *d, struct request *r)
{
	int got;

#ifdef SYS_open
	if (r->call->nr == SYS_utime)
		return copy_utime(d, r, r->args[1]);
	if (r->call->nr == SYS_utimes)
		return copy_times(d, r, r->args[1], true);
	if (r->call->nr == SYS_futimesat) {
		if (r->args[1] == 0)
			r->how[0] = HOW_FD;
		return copy_times(d, r, r->args[2], true);
	}
#endif
	got = copy_times(d, r, r->args[2], false);
	if (got < 0)
		return got;
	if (r->times[0].tv_nsec == UTIME_OMIT && r->times[1].tv_nsec == UTIME_OMIT)
		return DOOR_NOTHING; /* the kernel does not even read the path */
	if (r->args[1] == 0 && (int)r->args[0] != AT_FDCWD) {
		r->how[0] = HOW_FD;
		return (int)r->args[3] != 0 ? -EINVAL : 0;
	}
	return at_flags(r, (int)r->args[3]);
}

static int times_fd(struct request *r, int fd)
{
	char link[32];

	if (r->how[0] == HOW_FD)
		return futimens(fd, r->times) < 0 ? -errno : 0;
	return utimensat(AT_FDCWD, fd_link(fd, link), r->times, 0) < 0 ? -errno : 0;
}

static bool valid_nsec(const struct timespec *t)
{
	return t->tv_nsec == UTIME_NOW || t->tv_nsec == UTIME_OMIT ||
	       (t->tv_nsec >= 0 && t->tv_nsec < 1000000000);
}

int perform_times(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int got;

	if (is_over(d, r, times_fd, 0, &got))
		return got;
	if (!valid_nsec(&r->times[0]) || !valid_nsec(&r->times[1]))
		return -EINVAL;
	return folder_utimens(p->folder, &r->caller, &p->at, r->times);
}

/* ---- extended attributes -------------------------------------------------------- */

static bool sets(const struct request *r)
{
	return r->call->perform == perform_setxattr;
}

int prepare_xattr(struct ldoor *d, struct request *r)
{
	uint64_t size = r->args[3];
	int got;

	if (sets(r)) {
		r->flags = (int)r->args[4];
		if (r->flags & ~(XATTR_CREATE | XATTR_REPLACE))
			return -EINVAL;
		request_name_and_value(r, r->args[1], r->args[2], size);
	}
	got = request_text(d, r, SLOT_EXTRA, r->args[1], XATTR_NAME_MAX + 1);
	if (got == -E2BIG || (got == 0 && r->slot[SLOT_EXTRA].len == 0))
		return -ERANGE;
	if (got < 0 || !sets(r))
		return got;
	if (size > XATTR_SIZE_MAX)
		return -E2BIG;
	return request_mem(d, r, SLOT_VALUE, r->args[2], size);
}

static int setxattr_fd(struct request *r, int fd)
{
	const struct copy *value = &r->slot[SLOT_VALUE];
	int got = privileged_attribute(r->slot[SLOT_EXTRA].data);
	char link[32];

	if (got < 0)
		return got;
	if (r->how[0] == HOW_FD)
		got = fsetxattr(fd, r->slot[SLOT_EXTRA].data, value->data, value->len, r->flags);
	else
		got = setxattr(fd_link(fd, link), r->slot[SLOT_EXTRA].data, value->data, value->len,
			       r->flags);
	return got < 0 ? -errno : 0;
}

int perform_setxattr(struct ldoor *d, struct request *r)
{
	const struct copy *value = &r->slot[SLOT_VALUE];
	struct place *p = r->place[0];
	int got;

	if (is_over(d, r, setxattr_fd, 0, &got))
		return got;
	got = privileged_attribute(r->slot[SLOT_EXTRA].data);
	if (got < 0)
		return got;
	return folder_setxattr(p->folder, &r->caller, &p->at, r->slot[SLOT_EXTRA].data, value->data,
			       value->len, r->flags);
}

static int removexattr_fd(struct request *r, int fd)
{
	int got = privileged_attribute(r->slot[SLOT_EXTRA].data);
	char link[32];

	if (got < 0)
		return got;
	got = r->how[0] == HOW_FD ? fremovexattr(fd, r->slot[SLOT_EXTRA].data)
				  : removexattr(fd_link(fd, link), r->slot[SLOT_EXTRA].data);
	return got < 0 ? -errno : 0;
}

int perform_removexattr(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int got;

	if (is_over(d, r, removexattr_fd, 0, &got))
		return got;
	got = privileged_attribute(r->slot[SLOT_EXTRA].data);
	if (got < 0)
		return got;
	return folder_removexattr(p->folder, &r->caller, &p->at, r->slot[SLOT_EXTRA].data);
}

/* ---- questions ------------------------------------------------------------------ */

int prepare_access(struct ldoor *d, struct request *r)
{
	bool old = r->call->path[0].dirfd < 0;

	(void)d;
	r->mode = (mode_t)r->args[old ? 1 : 2];
	if ((int)r->mode & ~(R_OK | W_OK | X_OK))
		return -EINVAL;
	r->flags = r->call->nr == SYS_faccessat2 ? (int)r->args[3] : 0;
	return at_flags(r, r->flags & ~AT_EACCESS);
}

int perform_access(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int flags = (r->flags & AT_EACCESS) | AT_SYMLINK_NOFOLLOW;

	(void)d;
	if (!p->known)
		return -ENOENT;
	if (p->at.name[0] == '\0')
		flags |= AT_EMPTY_PATH;
	return syscall(SYS_faccessat2, p->at.dirfd, p->at.name, r->mode, flags) < 0 ? -errno : 0;
}

int prepare_fstatfs(struct ldoor *d, struct request *r)
{
	(void)d;
	r->opath_ok = true;
	return 0;
}

int perform_statfs(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	AUTO_CLOSE int fd = -1;
	struct statfs own, mount;

	(void)d;
	if (p->folder == NULL)
		return DOOR_CONTINUE; /* only reads, so any descriptor will do */
	if (!p->known)
		return -ENOENT;
	if (p->at.name[0] != '\0') {
		fd = openat(p->at.dirfd, p->at.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
	}
	if (fstatfs(fd >= 0 ? fd : p->at.dirfd, &own) < 0 ||
	    (p->orphan && fstatfs(folder_fd(p->folder), &mount) < 0))
		return -errno;
	if (p->orphan) /* the descriptor is from the caller's read-only mount */
		own.f_flags = mount.f_flags;
	return request_write(r, r->args[1], &own, sizeof(own));
}
