/* calls_open - performs open, openat, openat2, creat and truncate. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_open.h"

#include <sys/syscall.h>
#include <errno.h>
#include <linux/openat2.h>
#include <string.h>
#include <unistd.h>

#include "backends/linux/door/calls_fifo.h"
#include "backends/linux/door/calls_meta.h"
#include "backends/linux/door/calls_read.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/privileges.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"
#include "core/keeper/keeper.h"

#ifndef RESOLVE_CACHED /* Linux 5.12 */
#define RESOLVE_CACHED 0x20
#endif

#define TMPFILE_BIT (O_TMPFILE & ~O_DIRECTORY)
/* The flags of openat2() that this file handles. The kernel refuses any other. */
#define KNOWN_FLAGS                                                                                \
	(O_ACCMODE | O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_APPEND | O_NONBLOCK | O_SYNC |      \
	 O_ASYNC | O_DIRECT | O_LARGEFILE | O_DIRECTORY | O_NOFOLLOW | O_NOATIME | O_CLOEXEC |     \
	 TMPFILE_BIT)
#define PATH_FLAGS (O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define KNOWN_RESOLVE                                                                              \
	(RESOLVE_NO_XDEV | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH |         \
	 RESOLVE_IN_ROOT | RESOLVE_CACHED)

/* Returns whether the path ends as in "x/" (but not "x/../"), which O_CREAT refuses with EISDIR. */
static bool name_with_slash(const struct request *r)
{
	const struct copy *c = &r->slot[SLOT_PATH];
	size_t end = c->len, start;

	while (end > 0 && c->data[end - 1] == '/')
		end--;
	for (start = end; start > 0 && c->data[start - 1] != '/';)
		start--;
	return end > start && end < c->len && !is_dots(c->data + start, end - start);
}

/* Returns whether the request is tmpfile(3) of the C library, which knows no TMPDIR, where the
 * sandbox has no /tmp of its own. */
static bool is_system_tmpfile(const struct ldoor *d, const struct request *r)
{
	const char *path = r->slot[SLOT_PATH].data;

	return d->floor.own != NULL && r->flags & TMPFILE_BIT &&
	       (str_eq(path, "/tmp") || str_eq(path, "/var/tmp"));
}

/* Opens a file without a name in the sandbox's directory for temporary files, where the caller
 * itself may make one. Others never reach it, so its mode is the caller's alone. */
static int system_tmpfile(const struct ldoor *d, const struct request *r)
{
	int fd = open(d->floor.own[0], r->flags | O_NOFOLLOW | O_CLOEXEC,
		      privileges_new(r->mode) & 0700);

	return fd < 0 ? -errno : fd;
}

/* Decides how to resolve the last component, from flags, mode and path. */
static int classify(struct ldoor *d, struct request *r)
{
	int got;

	r->gives_fd = true;
	if (r->flags & O_PATH) /* opens nothing; other flags have no effect */
		return DOOR_CONTINUE;
	if (r->flags & TMPFILE_BIT) {
		if ((r->flags & O_TMPFILE) != O_TMPFILE || (r->flags & O_ACCMODE) == O_RDONLY ||
		    (r->flags & O_CREAT))
			return -EINVAL;
	}
	r->creates = r->flags & O_CREAT;
	got = request_path(d, r, SLOT_PATH, r->args[r->call->path[0].path]);
	if (got < 0)
		return got;
	if (!(r->flags & OPEN_WRITES))
		return prepare_read(d, r);
	if (str_starts(r->slot[SLOT_PATH].data, STEP_PATH) || is_system_tmpfile(d, r)) {
		r->how[0] = HOW_NONE; /* for the keeper itself, wherever the path leads */
		return 0;
	}
	r->slash = (r->flags & O_CREAT) && name_with_slash(r); /* EISDIR in any case */
	if (r->slash || (r->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
		r->how[0] = HOW_NAME;
	else if (r->flags & O_NOFOLLOW)
		r->how[0] = HOW_LINK;
	return 0;
}

int prepare_open(struct ldoor *d, struct request *r)
{
	unsigned flags_at = 2;

#ifdef SYS_open
	if (r->call->nr == SYS_creat) {
		r->flags = O_CREAT | O_WRONLY | O_TRUNC;
		r->mode = (mode_t)r->args[1] & 07777;
		return classify(d, r);
	}
	if (r->call->nr == SYS_open)
		flags_at = 1;
#endif
	r->flags = (int)r->args[flags_at];
	r->mode = (mode_t)r->args[flags_at + 1] & 07777;
	return classify(d, r);
}

static bool wrong_size(size_t size)
{
	return size < sizeof(struct open_how) || size > PATH_MAX;
}

/* Returns whether the flags are invalid, as in build_open_flags() of Linux 6.18. */
static bool is_invalid(const struct open_how *how)
{
	uint64_t flags = how->flags, both = RESOLVE_BENEATH | RESOLVE_IN_ROOT;

	if (flags & ~(uint64_t)(KNOWN_FLAGS | O_PATH) || how->resolve & ~(uint64_t)KNOWN_RESOLVE ||
	    (how->resolve & both) == both)
		return true;
	if (how->mode & ~07777ULL || (how->mode && !(flags & (O_CREAT | TMPFILE_BIT))))
		return true;
	if ((flags & (O_CREAT | O_DIRECTORY)) == (O_CREAT | O_DIRECTORY))
		return true;
	if (flags & TMPFILE_BIT && (!(flags & O_DIRECTORY) || !(flags & O_ACCMODE)))
		return true;
	return flags & O_PATH && flags & ~(uint64_t)PATH_FLAGS;
}

int prepare_openat2(struct ldoor *d, struct request *r)
{
	struct open_how how;
	size_t size = (size_t)r->args[3];
	int got;

	if (wrong_size(size))
		return DOOR_CONTINUE; /* the kernel returns EINVAL or E2BIG */
	got = request_mem(d, r, SLOT_EXTRA, r->args[2], size);
	if (got < 0)
		return got;
	memcpy(&how, r->slot[SLOT_EXTRA].data, sizeof(how));
	for (size_t i = sizeof(how); i < size; i++)
		if (r->slot[SLOT_EXTRA].data[i] != 0)
			return -E2BIG;
	if (is_invalid(&how))
		return -EINVAL;
	if (how.resolve & RESOLVE_CACHED)
		return how.flags & OPEN_WRITES || d->floor.trees ? -EAGAIN : DOOR_CONTINUE;
	r->flags = (int)how.flags;
	r->mode = (mode_t)how.mode;
	r->resolve = (unsigned)how.resolve;
	return classify(d, r);
}

/*
 * Returns whether the kernel may perform this open: DOOR_CONTINUE or a negative errno. Landlock
 * refuses to open any path for writing, but does not handle truncation, and a path of /proc/N/fd
 * leads to the writable mount of a descriptor that the door has handed out. So an open that
 * truncates without writing, which programs do not need, never continues. The flags of openat2()
 * are in memory and could change to that. So it fails with ENOSYS, as before Linux 5.6, if the door
 * does not perform it; programs fall back to openat().
 */
int open_may_continue(const struct ldoor *d, const struct request *r)
{
	int flags, mode;

	if (d->floor.own != NULL) /* without mounts Landlock handles truncation too */
		return DOOR_CONTINUE;
	if (r->call->nr == SYS_openat2)
		return wrong_size((size_t)r->args[3]) ? DOOR_CONTINUE : -ENOSYS;
	if (r->call->when != WHEN_WRITES) /* creat() writes */
		return DOOR_CONTINUE;
	flags = (int)r->args[r->call->when_arg];
	mode = flags & O_ACCMODE;
	if ((flags & (O_TRUNC | O_PATH)) != O_TRUNC || mode == O_WRONLY || mode == O_RDWR)
		return DOOR_CONTINUE;
	return -EACCES;
}

/* Opens a file without a name. The place is its directory. */
static int perform_tmpfile(struct request *r)
{
	struct place *p = r->place[0];
	AUTO_CLOSE int fd = -1;
	struct at at = p->at;
	char text[PATH_MAX];

	if (!p->known)
		return -ENOENT;
	if (!S_ISDIR(p->st.st_mode))
		return S_ISLNK(p->st.st_mode) ? -ELOOP : -ENOTDIR;
	if (at.name[0] != '\0') {
		fd = openat(at.dirfd, at.name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)
			return -errno;
		at.dirfd = fd;
	}
	place_text(p, text, sizeof(text));
	at.dir = text + strlen(folder_path(p->folder));
	at.dir += *at.dir == '/';
	at.name = "";
	at.leaf = NULL;
	return folder_tmpfile(p->folder, &r->caller, &at, r->flags, privileges_new(r->mode));
}

/* Opens a file without a name again by its descriptor: it has no entry in the folder. */
static int reopen(const struct request *r)
{
	const struct place *p = r->place[0];
	char link[32];
	int fd;

	if (!S_ISREG(p->st.st_mode))
		return DOOR_CONTINUE;
	if (!place_orphan_is_kept(&r->caller, p))
		return -EROFS;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", p->at.dirfd);
	fd = open(link, (r->flags & ~(O_CREAT | O_NOFOLLOW)) | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!(r->flags & O_NONBLOCK))
		fcntl(fd, F_SETFL, r->flags & (O_APPEND | O_DIRECT | O_NOATIME | O_ASYNC));
	return fd;
}

/* Returns whether the door opens the FIFO. The caller itself opens one to wait for a writer. An
 * open that must not continue is refused if it would wait. */
static bool performs_fifo(const struct request *r)
{
	bool may_not = r->flags & O_TRUNC || r->call->nr == SYS_openat2;

	return !(r->flags & O_DIRECTORY) &&
	       ((r->flags & O_ACCMODE) != O_RDONLY || (may_not && r->flags & O_NONBLOCK));
}

/* Drops privileges of an existing file that was opened for writing. Takes the descriptor. */
static int without_privileges(int opened)
{
	AUTO_CLOSE int fd = opened;
	int r = privileges_drop(fd);

	return r < 0 ? r : take_fd(&fd);
}

int perform_open(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int got;

	if (r->how[0] == HOW_NONE && is_system_tmpfile(d, r))
		return system_tmpfile(d, r);
	if (r->how[0] == HOW_NONE) {
		d->renames++; /* a rollback may move directories */
		return keeper_step(d->k, &r->caller, r->slot[SLOT_PATH].data + strlen(STEP_PATH));
	}
	if (r->reads)
		return perform_read(d, r);
	if (r->flags & TMPFILE_BIT)
		return perform_tmpfile(r);
	if (r->slash) /* the directory must be searchable */
		return faccessat(p->at.dirfd, ".", X_OK, AT_EACCESS) < 0 ? -errno : -EISDIR;
	if (r->how[0] == HOW_NAME && is_dots(p->at.name, strcspn(p->at.name, "/")))
		return -EEXIST;
	if (!p->known && !(r->flags & O_CREAT))
		return -ENOENT;
	if (p->known) {
		if (S_ISLNK(p->st.st_mode))
			return -ELOOP;
		if (S_ISFIFO(p->st.st_mode) && performs_fifo(r))
			return perform_fifo(d, r);
		if (S_ISSOCK(p->st.st_mode) && !(r->flags & O_DIRECTORY))
			return -ENXIO;
		/*
		 * Opening a directory or a device fails by itself. Opening an existing file without
		 * writing changes nothing.
		 */
		if (S_ISREG(p->st.st_mode) && (r->flags & (O_ACCMODE | O_TRUNC)) == 0)
			return perform_read(d, r);
		if (S_ISDIR(p->st.st_mode) && (r->flags & O_TRUNC || r->call->nr == SYS_openat2))
			return -EISDIR;
		if (!S_ISDIR(p->st.st_mode) && r->flags & O_DIRECTORY)
			return r->flags & O_CREAT ? DOOR_CONTINUE : -ENOTDIR;
		if (!S_ISREG(p->st.st_mode))
			return DOOR_CONTINUE;
		if (p->orphan)
			return reopen(r);
	}
	got = folder_open(p->folder, &r->caller, &p->at, r->flags, privileges_new(r->mode));
	if (got >= 0 && p->known && (r->flags & O_ACCMODE) != O_RDONLY)
		got = without_privileges(got);
	return got == -ELOOP && !(r->flags & O_NOFOLLOW) ? DOOR_AGAIN : got;
}

int prepare_truncate(struct ldoor *d, struct request *r)
{
	(void)d;
	return (int64_t)r->args[1] < 0 ? -EINVAL : 0;
}

static int truncate_fd(struct request *r, int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return truncate(link, (off_t)r->args[1]) < 0 ? -errno : 0;
}

int perform_truncate(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	int direct, got;

	if (!p->known)
		return -ENOENT;
	if (!S_ISREG(p->st.st_mode))
		return S_ISDIR(p->st.st_mode) ? -EISDIR : -EINVAL;
	direct = change_direct(d, r, truncate_fd, &got);
	if (direct != 0)
		return direct < 0 ? direct : got;
	return folder_truncate(p->folder, &r->caller, &p->at, (off_t)r->args[1]);
}
