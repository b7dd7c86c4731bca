/* brought - fingerprints the objects that a rename or link brings to a protected name. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/brought.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sha256.h>
#include <string.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/step/guarded.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/state.h"
#include "core/os/file.h"

struct looking {
	struct folder *f;
	const char *path; /* the object's new path, below the folder */
	SHA256_CTX sum;
	size_t n_linked; /* files with several names */
	bool settled;
};

static const char *below_folder(const struct folder *f, const char *path)
{
	const char *below = path + (f->path_len > 1 ? f->path_len : 0);

	return *below == '/' ? below + 1 : below;
}

/* ---- one object ------------------------------------------------------------------------------ */

static void add(struct looking *l, const char *name, const struct object *o)
{
	const uint64_t parts[] = {o->mode,  o->dev,	  o->ino, (uint64_t)o->ctime_ns,
				  o->nlink, o->generation};

	SHA256Update(&l->sum, (const uint8_t *)name, strlen(name) + 1);
	SHA256Update(&l->sum, (const uint8_t *)parts, sizeof(parts));
}

/*
 * Returns whether a process has the regular file of this O_PATH descriptor open for writing. In
 * doubt returns true: other users' files cannot be leased, but a user without write permission has
 * not opened one for writing either. Returns false if the file system has no leases.
 */
static bool is_written(int object)
{
	char path[OS_FD_PATH];
	AUTO_CLOSE int fd = -1;

	os_fd_path(path, object);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return true;
	/* The lease is refused if a process has the file open for writing; close() ends the
	 * lease. */
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0)
		return false;
	return errno == EAGAIN || (errno == EACCES && access(path, W_OK) == 0);
}

static void look_file(struct looking *l, int object, const struct object *o)
{
	l->settled = l->settled && !is_written(object);
	l->n_linked += o->nlink > 1;
}

static int on_entry(void *data, const char *rel, int dirfd, const char *name,
		    const struct object *o);

/* Returns how many entries may be inspected at present. */
static size_t budget(struct keeper *k)
{
	if (k->now >= k->looked_at + 1000000) {
		k->looked_at = k->now;
		k->looked = 0;
	}
	return k->looked < BROUGHT_A_SEC ? MIN(BROUGHT_A_SEC - k->looked, (size_t)BROUGHT_MAX) : 0;
}

static void walk(struct looking *l, int dirfd, const char *name)
{
	struct keeper *k = l->f->keeper;
	struct guarded_walk w = {.j = l->f->journal,
				 .root = l->f->root,
				 .path = l->path,
				 .on = on_entry,
				 .data = l,
				 .max = budget(k)};

	if (w.max == 0 || guarded_each(&w, dirfd, name) < 0 || w.overflow || w.unseen)
		l->settled = false;
	k->looked += w.seen;
}

/* Fingerprints a symbolic link's target. Opens it only to check for writers. whole: includes the
 * content of a directory, which the link's name leads to. */
static void look_target(struct looking *l, int dirfd, const char *target, bool whole)
{
	AUTO_CLOSE int fd = openat(dirfd, target, O_PATH | O_CLOEXEC);
	struct object o = {0};

	if (fd >= 0 && object_stat(fd, "", &o) < 0)
		l->settled = false;
	add(l, target, &o);
	if (S_ISREG(o.mode))
		look_file(l, fd, &o);
	else if (S_ISDIR(o.mode) && whole)
		walk(l, fd, "");
	else if (S_ISDIR(o.mode))
		l->settled = false;
}

static int on_entry(void *data, const char *rel, int dirfd, const char *name,
		    const struct object *o)
{
	struct looking *l = data;
	AUTO_CLOSE int object = -1;

	add(l, rel, o);
	if (S_ISLNK(o->mode) && *rel) {
		look_target(l, dirfd, name, false);
		return 0;
	}
	if (!S_ISREG(o->mode))
		return 0;
	object = object_open(dirfd, name);
	if (object < 0)
		l->settled = false;
	else
		look_file(l, object, o);
	return 0;
}

/* ---- the fingerprint ------------------------------------------------------------------------- */

static void begin(struct looking *l, struct folder *f, const char *path)
{
	*l = (struct looking){.f = f, .path = below_folder(f, path), .settled = true};
	SHA256Init(&l->sum);
}

/* Finishes the fingerprint. Not settled with more names than aliases can be remembered: writes by
 * the others could not be refused. */
static void end(struct looking *l, const struct object *o, struct brought *ret)
{
	uint8_t sum[SHA256_DIGEST_LENGTH];
	int n;

	SHA256Final(sum, &l->sum);
	n = snprintf(ret->object, sizeof(ret->object), "%" PRIx64 " %" PRIx64 " %" PRId64 " ",
		     o->dev, o->ino, o->ctime_ns);
	for (size_t i = 0; i < sizeof(sum); i++)
		n += snprintf(ret->object + n, sizeof(ret->object) - (size_t)n, "%02x", sum[i]);
	ret->settled = l->settled && l->n_linked <= alias_room(l->f->keeper);
}

void brought_look(struct folder *f, const struct at *from, const char *path, struct brought *ret)
{
	const char *name = from->name;
	struct looking l;
	struct object o;

	*ret = (struct brought){.settled = true};
	if (object_stat(from->dirfd, name, &o) < 0 || !o.mode)
		return;
	begin(&l, f, path);
	if (S_ISDIR(o.mode))
		walk(&l, from->dirfd, name);
	else
		(void)on_entry(&l, "", from->dirfd, name, &o);
	if (S_ISLNK(o.mode) && *name)
		look_target(&l, from->dirfd, name, true);
	end(&l, &o, ret);
}

void brought_look_target(struct folder *f, const char *target, const struct at *at,
			 const char *path, struct brought *ret)
{
	const struct object none = {0};
	struct looking l;

	begin(&l, f, path);
	look_target(&l, at->dirfd, target, true);
	end(&l, &none, ret);
}

bool brought_is_same(const struct brought *asked, const struct brought *now)
{
	return !*asked->object || (strcmp(asked->object, now->object) == 0 && now->settled);
}

/* ---- after the answer ------------------------------------------------------------------------ */

struct placing {
	struct folder *f;
	const char *path; /* absolute */
};

static int learn_entry(void *data, const char *rel, int dirfd, const char *name,
		       const struct object *o)
{
	const struct placing *p = data;
	AUTO_FREE char *path = xasprintf("%s%s%s", p->path, *rel ? "/" : "", rel);
	struct stat st;

	if (S_ISLNK(o->mode))
		policy_learn_link(p->f->keeper->policy, path);
	else if (S_ISREG(o->mode) && o->nlink > 1 &&
		 fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		alias_learn(p->f->keeper, path, &st);
	return 0;
}

void brought_placed(struct folder *f, const struct at *at, const char *path)
{
	struct placing p = {.f = f, .path = path};
	struct guarded_walk w = {.j = f->journal,
				 .root = f->root,
				 .path = below_folder(f, path),
				 .on = learn_entry,
				 .data = &p,
				 .max = BROUGHT_MAX};
	struct object o;

	if (object_stat(at->dirfd, at->name, &o) < 0 || !o.mode)
		return;
	/* A directory may hold settings that name further files. */
	f->keeper->relearn = f->keeper->relearn || S_ISDIR(o.mode);
	if (guarded_each(&w, at->dirfd, at->name) < 0)
		f->keeper->relearn = true;
}
