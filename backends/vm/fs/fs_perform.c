/* fs_perform - the keeper's side: performs a change that the fs server asks for. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/fs/fs_perform.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <linux/fs.h>
#include <linux/limits.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "backends/vm/fs/fs_place.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/os/file.h"

/* The flags of open(2) that a guest may use. */
#define OPEN_FLAGS (O_ACCMODE | O_APPEND | O_CREAT | O_EXCL | O_TRUNC | O_NOATIME)

struct job {
	struct folder *f;
	struct caller *c;
	const struct fs_note *note;
	const struct fs_note_parts *part;
	struct fs_place place[2];
};

/*
 * Gives a new entry to the user and group of the guest's process, as natively, if the keeper is
 * root. In a set-group-ID directory the entry keeps the directory's group. Returns r.
 */
static int give_owner(struct job *j, int r)
{
	const struct fs_note *n = j->note;
	struct at *at = &j->place[0].at;
	struct stat dir, st;
	gid_t gid;

	if (r < 0 || geteuid() != 0 || fstat(at->dirfd, &dir) < 0 ||
	    fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return r;
	gid = dir.st_mode & S_ISGID ? st.st_gid : n->gid;
	if (st.st_uid == n->uid && st.st_gid == gid)
		return r;
	/* If this fails, the keeper stays the owner. */
	if (folder_chown(j->f, j->c, at, n->uid, gid) < 0)
		log_info("fs", "'%s' stays root's", at->name);
	return r;
}

/* Files get no set-id bits: on the host they would run with the rights of the keeper's user. */
static mode_t safe_mode(mode_t mode, bool dir)
{
	return dir ? mode & 07777 : mode & 01777;
}

/* Returns 0 for user attributes alone. Capabilities and labels are refused, as set-id bits are. */
static int check_attribute(const char *name)
{
	if (str_starts(name, "user."))
		return 0;
	return str_starts(name, "system.") ? -EOPNOTSUPP : -EPERM;
}

/* ---- names ----------------------------------------------------------------------------------- */

/* Clears set-id bits, as the kernel does at a write without privileges. st is from before the open.
 * Returns r, or an error. */
static int make_plain(struct job *j, const struct stat *st, int r)
{
	int got;

	if (r < 0 || !(j->note->set & FS_SET_PLAIN) || !S_ISREG(st->st_mode) ||
	    !(st->st_mode & (S_ISUID | S_ISGID)))
		return r;
	got = folder_chmod(j->f, j->c, &j->place[0].at, st->st_mode & 01777);
	if (got < 0 && j->note->what != FS_SETATTR)
		close(r);
	return got < 0 ? got : r;
}

static int do_open(struct job *j)
{
	struct at *at = &j->place[0].at;
	int flags = (int)j->note->flags & OPEN_FLAGS & ~(O_CREAT | O_EXCL);
	struct stat st;

	/* Devices, and pipes that have a waiting process, are never opened for the guest. */
	if (fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -ENXIO;
	/* The guest's kernel does not say that an open of an existing file has O_CREAT. O_TRUNC
	 * counts as O_CREAT, because git rewrites a submodule's ".git" so. */
	if (flags & O_TRUNC)
		flags |= O_CREAT;
	return make_plain(j, &st, folder_open(j->f, j->c, at, flags | O_NONBLOCK, 0600));
}

static int do_create(struct job *j)
{
	struct at *at = &j->place[0].at;
	int flags = ((int)j->note->flags & OPEN_FLAGS) | O_CREAT;
	struct stat st;
	bool is_new = fstatat(at->dirfd, at->name, &st, AT_SYMLINK_NOFOLLOW) < 0;
	int r;

	if (!is_new && !S_ISREG(st.st_mode) && !(flags & O_EXCL))
		return S_ISDIR(st.st_mode) ? -EISDIR : S_ISLNK(st.st_mode) ? -ELOOP : -ENXIO;
	r = folder_open(j->f, j->c, at, flags | O_NONBLOCK, safe_mode(j->note->mode, false));
	return is_new ? give_owner(j, r) : make_plain(j, &st, r);
}

static int do_mkdir(struct job *j)
{
	return give_owner(j, folder_mkdir(j->f, j->c, &j->place[0].at, j->note->mode & 07777));
}

/* Creates a file, pipe or socket. Devices are refused. */
static int do_mknod(struct job *j)
{
	mode_t mode = (j->note->mode & S_IFMT) | safe_mode(j->note->mode, false);

	if (!S_ISREG(mode) && !S_ISFIFO(mode) && !S_ISSOCK(mode))
		return -EPERM;
	return give_owner(j, folder_mknod(j->f, j->c, &j->place[0].at, mode, 0));
}

static int do_symlink(struct job *j)
{
	if (j->note->text_len == 0 || j->note->text_len >= PATH_MAX)
		return j->note->text_len ? -ENAMETOOLONG : -ENOENT;
	return give_owner(j, folder_symlink(j->f, j->c, j->part->text, &j->place[0].at));
}

static int do_link(struct job *j)
{
	return folder_link(j->f, j->c, &j->place[1].at, &j->place[0].at);
}

static int do_unlink(struct job *j)
{
	return folder_unlink(j->f, j->c, &j->place[0].at);
}

static int do_rmdir(struct job *j)
{
	return folder_rmdir(j->f, j->c, &j->place[0].at);
}

static int do_rename(struct job *j)
{
	unsigned flags = j->note->flags, both = RENAME_NOREPLACE | RENAME_EXCHANGE;

	if (flags & RENAME_WHITEOUT) /* a whiteout would be a device */
		return -EPERM;
	if ((flags & ~both) || (flags & both) == both)
		return -EINVAL;
	return folder_rename(j->f, j->c, &j->place[0].at, &j->place[1].at, flags);
}

/* ---- objects --------------------------------------------------------------------------------- */

static bool to_time(const struct fs_time *t, struct timespec *ret)
{
	ret->tv_sec = (time_t)t->sec;
	ret->tv_nsec = (long)t->nsec;
	return t->nsec < 1000000000 || t->nsec == UTIME_NOW || t->nsec == UTIME_OMIT;
}

/* Sets attributes in an order in which no change forbids a later one. After an answer to a held
 * part all are set again, with the same result. */
static int do_setattr(struct job *j)
{
	const struct fs_note *n = j->note;
	struct at *at = &j->place[0].at;
	struct timespec times[2];
	struct stat st;
	int r = 0;

	if (n->set & ~(uint32_t)FS_SET_ALL || n->size > INT64_MAX ||
	    !to_time(&n->times[0], times) || !to_time(&n->times[1], times + 1))
		return -EINVAL;
	if (fstatat(at->dirfd, at->name, &st,
		    AT_SYMLINK_NOFOLLOW | (*at->name ? 0 : AT_EMPTY_PATH)) < 0)
		return -errno;
	if ((n->set & FS_SET_SIZE) && !S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	if ((n->set & FS_SET_MODE) && S_ISLNK(st.st_mode))
		return -EOPNOTSUPP;
	if (n->set & FS_SET_SIZE)
		r = folder_truncate(j->f, j->c, at, (off_t)n->size);
	r = make_plain(j, &st, r);
	if (r == 0 && (n->set & FS_SET_OWNER))
		r = folder_chown(j->f, j->c, at, n->uid, n->gid);
	if (r == 0 && (n->set & FS_SET_MODE))
		r = folder_chmod(j->f, j->c, at, safe_mode(n->mode, S_ISDIR(st.st_mode)));
	if (r == 0 && (n->set & FS_SET_TIMES))
		r = folder_utimens(j->f, j->c, at, times);
	return r;
}

static int do_setxattr(struct job *j)
{
	const struct fs_note *n = j->note;

	if (n->text_len == 0 || n->text_len > XATTR_NAME_MAX)
		return -ERANGE;
	if (n->value_len > XATTR_SIZE_MAX)
		return -E2BIG;
	if (check_attribute(j->part->text) < 0)
		return check_attribute(j->part->text);
	return folder_setxattr(j->f, j->c, &j->place[0].at, j->part->text, j->part->value,
			       n->value_len, (int)n->flags);
}

static int do_removexattr(struct job *j)
{
	if (j->note->text_len == 0 || j->note->text_len > XATTR_NAME_MAX)
		return -ERANGE;
	if (check_attribute(j->part->text) < 0)
		return check_attribute(j->part->text);
	return folder_removexattr(j->f, j->c, &j->place[0].at, j->part->text);
}

/* ---- objects without a name ------------------------------------------------------------------ */

/*
 * Checks a file that was removed while open, or that has no name yet. The descriptor is the
 * server's. A change is allowed if the file's last name was in this folder and has been removed,
 * or if this step made the file or has kept its preimage.
 */
static int check_unnamed(const struct job *j, int fd, const char *link)
{
	char path[PATH_MAX];
	ssize_t len;
	struct object o;

	if (object_stat(fd, "", &o) < 0 || !S_ISREG(o.mode))
		return -ESTALE;
	if (o.nlink > 0)
		return folder_has_inode(j->f, j->c, &o) ? 0 : -ESTALE;
	len = readlink(link, path, sizeof(path) - 1);
	path[MAX(len, (ssize_t)0)] = '\0';
	return path_is_beneath(path, folder_path(j->f)) ? 0 : -ESTALE;
}

static int set_unnamed(const struct job *j, int fd, const char *link)
{
	const struct fs_note *n = j->note;
	struct timespec times[2];

	if (n->set & ~(uint32_t)FS_SET_ALL || !to_time(&n->times[0], times) ||
	    !to_time(&n->times[1], times + 1))
		return -EINVAL;
	if (n->set & FS_SET_SIZE) /* cut by a writer's handle: change_removed() */
		return -ESTALE;
	if ((n->set & FS_SET_OWNER && fchownat(fd, "", n->uid, n->gid, AT_EMPTY_PATH) < 0) ||
	    (n->set & FS_SET_MODE && chmod(link, safe_mode(n->mode, false)) < 0) ||
	    (n->set & FS_SET_TIMES && utimensat(AT_FDCWD, link, times, 0) < 0))
		return -errno;
	return 0;
}

static int change_unnamed(const struct job *j, int fd)
{
	const struct fs_note *n = j->note;
	const char *name = j->part->text;
	char link[OS_FD_PATH];
	int r;

	os_fd_path(link, fd);
	r = check_unnamed(j, fd, link);
	if (r == 0 && n->what != FS_SETATTR)
		r = check_attribute(name);
	if (r < 0)
		return r;
	if (n->what == FS_SETATTR)
		return set_unnamed(j, fd, link);
	if (n->what == FS_SETXATTR)
		r = setxattr(link, name, j->part->value, n->value_len, (int)n->flags);
	else
		r = removexattr(link, name);
	return r < 0 ? -errno : 0;
}

/* ---- table ----------------------------------------------------------------------------------- */

static const struct {
	const char *op; /* for events: the system call's name */
	int places;
	bool object; /* place 0 may be the folder itself */
	int (*perform)(struct job *j);
} performs[FS_WHATS] = {
	[FS_OPEN] = {"open", 1, false, do_open},
	[FS_CREATE] = {"open", 1, false, do_create},
	[FS_MKDIR] = {"mkdir", 1, false, do_mkdir},
	[FS_MKNOD] = {"mknod", 1, false, do_mknod},
	[FS_SYMLINK] = {"symlink", 1, false, do_symlink},
	[FS_LINK] = {"link", 2, false, do_link},
	[FS_UNLINK] = {"unlink", 1, false, do_unlink},
	[FS_RMDIR] = {"rmdir", 1, false, do_rmdir},
	[FS_RENAME] = {"rename", 2, false, do_rename},
	[FS_SETATTR] = {"setattr", 1, true, do_setattr},
	[FS_SETXATTR] = {"setxattr", 1, true, do_setxattr},
	[FS_REMOVEXATTR] = {"removexattr", 1, true, do_removexattr},
};

static const char *op_of(const struct fs_note *n)
{
	if (n->what != FS_SETATTR)
		return performs[n->what].op;
	return n->set & FS_SET_SIZE    ? "truncate"
	       : n->set & FS_SET_OWNER ? "chown"
	       : n->set & FS_SET_MODE  ? "chmod"
				       : "utimensat";
}

int fs_perform(struct folder *f, struct caller *c, const struct fs_note *n,
	       const struct fs_note_parts *p, int object)
{
	struct job j = {
		.f = f, .c = c, .note = n, .part = p, .place = {FS_PLACE_INIT, FS_PLACE_INIT}};
	int r = 0;

	if (n->what >= FS_WHATS || !performs[n->what].perform)
		return -ENOSYS;
	c->op = op_of(n);
	if (object >= 0)
		return performs[n->what].object ? change_unnamed(&j, object) : -EINVAL;
	for (int i = 0; i < performs[n->what].places && r == 0; i++) {
		if (!performs[n->what].object && n->spot[i].name_len == 0)
			r = -EINVAL;
		else
			r = fs_place_find(f, &n->spot[i], p->dir[i], p->name[i], &j.place[i]);
	}
	if (r == 0) {
		keeper_set_umask(c, n->umask & 0777);
		r = performs[n->what].perform(&j);
	}
	fs_place_done(&j.place[0]);
	fs_place_done(&j.place[1]);
	return r;
}
