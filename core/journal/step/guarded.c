/* guarded - captures the content of guarded names before they are removed, for a rollback. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/guarded.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/borrow.h"
#include "core/journal/fs/object.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"

#define WALK_MAX  200000 /* entries that are visited for one rename */
#define WALK_DEEP 64

bool guarded_is_held(struct journal *j, int dirfd, const char *name, const struct object *o)
{
	AUTO_CLOSE int fd = -1;

	if (!S_ISREG(o->mode))
		return false;
	if (o->nlink > 1)
		return true;
	fd = borrow_peek(j, dirfd, name);
	return fd < 0 || object_has_writer(fd);
}

/* ---- looking ----------------------------------------------------------------------------------
 */

uint64_t guarded_stamp(int dirfd, const char *name, const struct object *o)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (S_ISLNK(o->mode)) {
		n = readlinkat(dirfd, name, target, sizeof(target));
		return n < 0 ? 0 : content_hash_bytes(target, (size_t)n);
	}
	if ((S_ISCHR(o->mode) || S_ISBLK(o->mode)) &&
	    fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return (uint64_t)st.st_rdev;
	return 0;
}

/* Opens a directory for listing. If it is ours, its mode does not matter. */
static int open_dir(struct journal *j, int dirfd, const char *name)
{
	AUTO_CLOSE int path = -1;
	int fd = openat(dirfd, *name ? name : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int r;
	mode_t was;

	if (fd >= 0 || errno != EACCES)
		return fd < 0 ? -errno : fd;
	path = object_open(dirfd, name);
	if (path < 0)
		return take_fd(&path);
	r = borrow_bits(j, path, S_IRUSR | S_IXUSR, &was);
	if (r < 0)
		return r;
	fd = openat(path, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : fd;
	if (borrow_return(j, path, was) < 0 && fd >= 0)
		close(fd);
	return r;
}

static int visit(struct guarded_walk *w, const char *rel, int dirfd, const char *name, int depth);

static int visit_entry(struct guarded_walk *w, const char *rel, int dirfd, const char *name,
		       int depth)
{
	AUTO_FREE char *below = xasprintf("%s%s%s", rel, *rel ? "/" : "", name);

	if (str_eq(name, ".") || str_eq(name, ".."))
		return 0;
	if (++w->seen > w->max || depth >= WALK_DEEP) {
		w->overflow = true;
		return 0;
	}
	return visit(w, below, dirfd, name, depth + 1);
}

static int visit_dir(struct guarded_walk *w, const char *rel, int at, const char *name, int depth)
{
	AUTO_CLOSE int fd = open_dir(w->j, at, name);
	AUTO_DIR DIR *dir = NULL;
	struct dirent *e;
	int r = fd < 0 ? fd : 0;

	if (r < 0)
		return r;
	dir = fdopendir(fd);
	if (!dir)
		return -errno;
	fd = -1;
	while (r == 0 && !w->overflow && (e = readdir(dir)))
		r = visit_entry(w, rel, dirfd(dir), e->d_name, depth);
	return r;
}

static int visit(struct guarded_walk *w, const char *rel, int dirfd, const char *name, int depth)
{
	AUTO_FREE char *path = xasprintf("%s%s%s", w->path, *rel ? "/" : "", rel);
	struct object o;
	int r = object_stat(dirfd, name, &o);

	if (r < 0 || !o.mode)
		return r;
	w->unseen = w->unseen || o.mode == OBJECT_UNSEEN;
	if (root_guards(w->j, w->root, path, w->any ? 0 : o.mode & S_IFMT))
		r = w->on(w->data, rel, dirfd, name, &o);
	if (r == 0 && S_ISDIR(o.mode))
		r = visit_dir(w, rel, dirfd, name, depth);
	return r;
}

int guarded_each(struct guarded_walk *w, int dirfd, const char *name)
{
	w->overflow = w->unseen = false;
	w->max = w->max ? w->max : WALK_MAX;
	w->seen = 0;
	return visit(w, "", dirfd, name, 0);
}

/* ---- the list ---------------------------------------------------------------------------------
 */

void guarded_list_put(struct buf *list, const char *rel, const struct object *o, uint64_t stamp)
{
	codec_put_u32(list, o->mode & S_IFMT);
	codec_put_u64(list, stamp);
	codec_put_str(list, rel, strlen(rel));
}

/* Writes the end of a list: an entry of type 0. */
void guarded_list_close(struct buf *list, bool overflow)
{
	codec_put_u32(list, 0);
	codec_put_u64(list, overflow);
	codec_put_str(list, "", 0);
}

void guarded_list_join(struct buf *ret, const struct buf *first, const struct buf *second)
{
	if (!first->len && !second->len)
		return;
	codec_put_str(ret, first->data, first->len);
	codec_put_str(ret, second->data, second->len);
}

struct span guarded_list_get(struct span meta, int which)
{
	struct codec_reader g = {.p = meta.data, .end = meta.data + meta.len};
	struct span one = {0};

	for (int i = 0; meta.len && i <= which; i++)
		one = codec_get_str(&g);
	if (g.bad)
		one.len = 0;
	return one;
}

static bool next(struct codec_reader *g, struct listed *ret)
{
	ret->type = codec_get_u32(g);
	ret->stamp = codec_get_u64(g);
	ret->rel = codec_get_str(g).data;
	return !g->bad;
}

bool guarded_list_overflows(struct span list)
{
	struct codec_reader g = {.p = list.data, .end = list.data + list.len};
	struct listed one;

	while (next(&g, &one))
		if (!one.type)
			return one.stamp;
	return false;
}

bool guarded_list_find(struct span list, const char *rel, struct listed *ret)
{
	struct codec_reader g = {.p = list.data, .end = list.data + list.len};

	while (next(&g, ret) && ret->type)
		if (str_eq(ret->rel, rel))
			return true;
	return false;
}

/* ---- a step -----------------------------------------------------------------------------------
 */

struct leaving {
	struct step *s;
	const struct op_target *w;
	struct buf *list;
};

static int keep(void *data, const char *rel, int dirfd, const char *name, const struct object *o)
{
	const struct leaving *l = data;
	AUTO_FREE char *path = xasprintf("%s%s%s", l->w->path, *rel ? "/" : "", rel);

	guarded_list_put(l->list, rel, o, guarded_stamp(dirfd, name, o));
	if (!S_ISREG(o->mode) || !root_guards(l->s->j, l->w->root, path, S_IFREG))
		return 0;
	if (*rel)
		step_touch(l->s, l->w->root, path, o);
	return step_keep_again(l->s, l->w->root, path, dirfd, name, o);
}

int guarded_leave(struct step *s, const struct op_target *w, struct buf *list)
{
	struct leaving l = {.s = s, .w = w, .list = list};
	struct guarded_walk walk = {
		.j = s->j, .root = w->root, .path = w->path, .on = keep, .data = &l, .any = true};
	int r;

	if (!root_guards(s->j, w->root, w->path, 0))
		return 0;
	r = guarded_each(&walk, w->dirfd, w->bare);
	guarded_list_close(list, walk.overflow);
	return r;
}
