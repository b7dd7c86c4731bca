/* calls_names - creates, removes and renames: mkdir, mknod, unlink, rename, link, symlink. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/calls_names.h"

#include <sys/syscall.h>
#include <errno.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "backends/linux/door/calls_peer.h"
#include "backends/linux/door/lookup.h"
#include "backends/linux/door/privileges.h"
#include "backends/linux/door/request.h"
#include "backends/linux/door/state.h"

int perform_mkdir(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	bool at = r->call->nr == SYS_mkdirat;

	(void)d;
	return folder_mkdir(p->folder, &r->caller, &p->at, (mode_t)r->args[at ? 2 : 1] & 07777);
}

static mode_t node_mode(const struct request *r)
{
	return (mode_t)(r->args[r->call->nr == SYS_mknodat ? 2 : 1] & 0xffff); /* umode_t */
}

int prepare_mknod(struct ldoor *d, struct request *r)
{
	(void)d;
	switch (node_mode(r) & S_IFMT) {
	case 0:
	case S_IFREG:
	case S_IFCHR:
	case S_IFBLK:
	case S_IFIFO:
	case S_IFSOCK:
		return 0;
	case S_IFDIR:
		return -EPERM;
	default:
		return -EINVAL;
	}
}

int perform_mknod(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];
	uint32_t dev = (uint32_t)r->args[r->call->nr == SYS_mknodat ? 3 : 2];
	int got;

	/* Decodes the device number as the kernel does (new_decode_dev()). */
	got = folder_mknod(p->folder, &r->caller, &p->at, privileges_new(node_mode(r)),
			   makedev((dev & 0xfff00) >> 8, (dev & 0xff) | ((dev >> 12) & 0xfff00)));
	if (got == 0 && S_ISSOCK(node_mode(r)))
		peer_bound(d, p); /* no process can ever listen there */
	return got;
}

int prepare_unlinkat(struct ldoor *d, struct request *r)
{
	(void)d;
	r->flags = (int)r->args[2];
	return r->flags & ~AT_REMOVEDIR ? -EINVAL : 0;
}

int perform_unlink(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];

	if (r->flags & AT_REMOVEDIR) {
		d->renames++;
		return folder_rmdir(p->folder, &r->caller, &p->at);
	}
	return folder_unlink(p->folder, &r->caller, &p->at);
}

int perform_rmdir(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];

	d->renames++;
	return folder_rmdir(p->folder, &r->caller, &p->at);
}

int prepare_rename(struct ldoor *d, struct request *r)
{
	const unsigned known = RENAME_NOREPLACE | RENAME_EXCHANGE | RENAME_WHITEOUT;
	unsigned flags = r->call->nr == SYS_renameat2 ? (unsigned)r->args[4] : 0;

	(void)d;
	if (flags & ~known)
		return -EINVAL;
	if ((flags & (RENAME_NOREPLACE | RENAME_WHITEOUT)) && (flags & RENAME_EXCHANGE))
		return -EINVAL;
	if (flags & RENAME_WHITEOUT) /* it makes a device, and only overlays need it */
		return -EPERM;
	r->flags = (int)flags;
	return 0;
}

static bool dots(const char *name)
{
	return is_dots(name, strcspn(name, "/"));
}

/*
 * Returns whether a closed path is beneath the directory (landlock_trees.h). A rename into a
 * readable tree would open that path, so it is refused, as for a directory with a mount in it.
 */
static bool is_way(const struct ldoor *d, const struct place *p)
{
	char text[PATH_MAX];

	if (d->floor.trees == NULL)
		return false;
	place_text(p, text, sizeof(text));
	return trees_is_way(d->floor.trees, text);
}

int perform_rename(struct ldoor *d, struct request *r)
{
	const struct at *from = &r->place[0]->at, *to = &r->place[1]->at;
	struct folder *f = r->place[0]->folder;
	uint64_t moves;
	struct stat st;
	int got;

	/* Refuse names that no rename accepts, in the kernel's order, before a capture. */
	if (dots(from->name))
		return -EBUSY;
	if (dots(to->name))
		return r->flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
	if (strcspn(to->name, "/") > NAME_MAX) {
		char old[NAME_MAX + 1];

		snprintf(old, sizeof(old), "%.*s", (int)strcspn(from->name, "/"), from->name);
		if (strcspn(from->name, "/") <= NAME_MAX &&
		    fstatat(from->dirfd, old, &st, AT_SYMLINK_NOFOLLOW) < 0)
			return -errno;
		return -ENAMETOOLONG;
	}
	if (is_way(d, r->place[0]) || is_way(d, r->place[1]))
		return -EBUSY;
	moves = folder_dir_moves(f);
	got = folder_rename(f, &r->caller, from, to, (unsigned)r->flags);
	if (got < 0 || folder_dir_moves(f) != moves)
		d->renames++; /* paths of known directories may have changed */
	return got;
}

int prepare_link(struct ldoor *d, struct request *r)
{
	(void)d;
	if (r->args[4] & ~(uint64_t)(AT_SYMLINK_FOLLOW | AT_EMPTY_PATH) & 0xffffffff)
		return -EINVAL;
	if (r->args[4] & AT_SYMLINK_FOLLOW)
		r->how[0] = HOW_OBJECT;
	r->empty_ok[0] = r->args[4] & AT_EMPTY_PATH;
	r->opath_ok = true;
	return 0;
}

int perform_link(struct ldoor *d, struct request *r)
{
	struct place *from = r->place[0], *to = r->place[1];

	(void)d;
	return folder_link(from->folder, &r->caller, &from->at, &to->at);
}

int prepare_symlink(struct ldoor *d, struct request *r)
{
	int got = request_text(d, r, SLOT_EXTRA, r->args[0], PATH_MAX);

	if (got == -E2BIG)
		return -ENAMETOOLONG;
	return got == 0 && r->slot[SLOT_EXTRA].len == 0 ? -ENOENT : got;
}

int perform_symlink(struct ldoor *d, struct request *r)
{
	struct place *p = r->place[0];

	(void)d;
	return folder_symlink(p->folder, &r->caller, r->slot[SLOT_EXTRA].data, &p->at);
}
