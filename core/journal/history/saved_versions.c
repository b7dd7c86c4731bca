/* saved_versions - opens the versions of a file that a saved redo holds. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/saved_versions.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/overwritten.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/store/compressed.h"
#include "core/journal/store/store.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/os/beneath.h"
#include "core/os/file.h"

void saved_parts_done(struct saved_parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		undo_log_close(&p->list[i].log);
		close(p->list[i].dir);
		close(p->list[i].obj);
	}
	free(p->list);
}

int saved_parts_open(struct journal *j, const char *saved, struct saved_parts *ret)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, saved, &names);

	ret->list = xcalloc(names.n + 1, sizeof(*ret->list));
	for (size_t i = 0; r == 0 && i < names.n; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%s", saved, names.list[i]);
		struct saved_part *p = &ret->list[ret->n++];

		*p = (struct saved_part){.log = UNDO_LOG_NONE, .obj = -1};
		p->dir = store_open_dir(j, dir);
		p->obj = openat(p->dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		r = p->dir < 0 ? p->dir : undo_log_open(&p->log, p->dir, "redo", false, true);
	}
	return r;
}

void saved_parts_rewind(struct saved_parts *p)
{
	for (size_t i = 0; i < p->n; i++) {
		p->list[i].at = 0;
		p->list[i].more = undo_log_next(&p->list[i].log, &p->list[i].at, &p->list[i].rec);
		p->list[i].seen = false;
	}
}

struct saved_part *saved_parts_next(struct saved_parts *p, struct rec *ret)
{
	struct saved_part *first = NULL;

	for (size_t i = 0; i < p->n; i++)
		if (p->list[i].more && (!first || p->list[i].rec.seq < first->rec.seq))
			first = &p->list[i];
	if (!first)
		return NULL;
	*ret = first->rec;
	first->more = undo_log_next(&first->log, &first->at, &first->rec);
	return first;
}

static int open_inline(const struct rec *r)
{
	struct span meta, bytes;

	undo_log_content(r, &meta, &bytes);
	return capture_in_memory(bytes);
}

/* Opens the object that the record has put away, or the object `rest` below it. */
static int open_object(const struct saved_part *p, const struct rec *r, const char *rest)
{
	AUTO_FREE char *path = NULL;
	char slot[24];
	int fd;

	if (r->flags & REC_INLINE)
		return open_inline(r);
	store_slot_name(slot, r->slot);
	if (!*rest)
		return compressed_open(p->obj, slot);
	path = xasprintf("%s%s", slot, rest);
	fd = os_open_beneath(p->obj, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK,
			     RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS);
	return fd < 0 ? -errno : fd;
}

/*
 * Opens the object that was at the path before the rollback: the first record that has put it away
 * has it. If the rollback left the path as it was, or if the path did not exist, opens the oldest
 * state of the steps, which the last record has. newer: how many versions that a step overwrote are
 * passed over. *seq: number of the record.
 */
static int find(struct saved_parts *all, const char *path, size_t newer, uint64_t *seq)
{
	AUTO_FREE char *now = xstrdup(path);
	struct saved_part *p, *with = NULL;
	struct rec r, oldest = {0};
	bool absent = false;
	int root = 0; /* it stays 0: other records are passed over */

	saved_parts_rewind(all);
	while ((p = saved_parts_next(all, &r))) {
		bool out = rec_is_left_out(&r);

		if (r.root || (!out && (rec_is_idle(&r) || r.flags & REC_ASIDE)))
			continue;
		if (rec_has_bytes(&r) &&
		    (out ? str_eq(path, r.path) : absent && str_eq(now, r.path))) {
			with = p;
			oldest = r;
		}
		*seq = r.seq;
		if (out)
			continue;
		absent |= r.type == REC_NEW && str_eq(now, r.path);
		if (!r.root2)
			rec_carry(&r, &root, &now);
		if (r.type == REC_GONE && !absent && path_is_beneath(now, r.path))
			return open_object(p, &r, now + strlen(r.path));
		if (rec_has_bytes(&r) && !absent && str_eq(now, r.path) && !newer--)
			return open_object(p, &r, "");
	}
	*seq = oldest.seq;
	return with ? open_object(with, &oldest, "") : -ENOENT;
}

/* Returns the part of the name below the record's object, "" for the object itself; NULL: another
 * file. */
static const char *below(const struct rec *r, const char *name)
{
	bool there = r->type == REC_GONE ? path_is_beneath(name, r->path)
					 : rec_has_bytes(r) && str_eq(name, r->path);

	return there ? name + strlen(r->path) : NULL;
}

/* Returns whether the step has left the file with this size and time at one of the names; `unknown`
 * if it did not change any of them. */
static bool is_as_left(const struct saved_part *p, const struct path_set *names,
		       const struct stat *st, bool unknown)
{
	AUTO_SUMMARY struct summary s = {0};
	bool as_left = summary_load(p->dir, true, &s) == 0 && unknown;

	for (size_t i = 0; i < s.n; i++) {
		const struct change *c = &s.changes[i];

		if (!path_set_has(names, c->root, c->path))
			continue;
		as_left = false;
		if (c->after.exists && c->after.size == (uint64_t)st->st_size &&
		    c->after.mtime_ns == OS_MTIME(st).tv_sec * 1000000000 + OS_MTIME(st).tv_nsec)
			return true;
	}
	return as_left;
}

/* Adds the names before the record's rename, of the rollback or, if it was left out, of the step. A
 * file may have come to its name by it, or may have been at this name before. */
static void carry_names(struct path_set *names, const struct rec *r, bool out)
{
	struct rec by = *r;

	if (out) {
		by.root = r->root2, by.path = r->path2;
		by.root2 = r->root, by.path2 = r->path;
	}
	for (size_t i = 0, n = path_set_count(names); i < n; i++) {
		const char *path;
		int root = path_key_root(path_set_key(names, i), &path);
		AUTO_FREE char *now = xstrdup(path);

		if (rec_carry(&by, &root, &now))
			path_set_add(names, root, now);
	}
}

struct version { /* of a file that the rollback has put away, or left */
	int fd;
	struct stat st;
	uint64_t seq;
	struct saved_part *of; /* it was left out of the rollback of this step, which found it */
};

/* Opens the file of one of the names that the record has. Returns false if it has none. */
static bool version_open(struct saved_part *p, const struct rec *r, const struct path_set *names,
			 struct version *ret)
{
	const char *rest = NULL, *path;
	struct span meta, bytes;

	for (size_t i = 0; i < path_set_count(names) && !rest; i++)
		if (path_key_root(path_set_key(names, i), &path) == 0)
			rest = below(r, path);
	*ret = (struct version){.fd = rest ? open_object(p, r, rest) : -1, .seq = r->seq, .of = p};
	if (ret->fd < 0 || fstat(ret->fd, &ret->st) < 0 || !S_ISREG(ret->st.st_mode))
		util_close_fd(&ret->fd);
	if (ret->fd >= 0 && r->type == REC_CONTENT) { /* the copy has a time of its own */
		undo_log_content(r, &meta, &bytes);
		OS_MTIME(&ret->st).tv_sec = attributes_mtime(meta) / 1000000000;
		OS_MTIME(&ret->st).tv_nsec = attributes_mtime(meta) % 1000000000;
	}
	return ret->fd >= 0;
}

/* Keeps a version that the rollback left out in *found, until the record of an older step shows
 * whether that step has left it so. Returns the version that was in *found, to be judged. */
static struct version version_next(struct version *found, struct version *v)
{
	struct version was = *found;

	*found = *v;
	if (was.of == v->of) /* that step made it */
		util_close_fd(&was.fd);
	return was;
}

/* Opens a version that was written between two of the steps: the older one has not left it so.
 * but: number of the record that find() took. */
static int find_between(struct saved_parts *all, const char *path, size_t newer, uint64_t but)
{
	AUTO_PATH_SET struct path_set names = {0};
	struct version found = {.fd = -1};
	struct saved_part *p;
	struct rec r;
	int fd = -1;

	path_set_add(&names, 0, path);
	saved_parts_rewind(all);
	while (fd < 0 && (p = saved_parts_next(all, &r))) {
		bool out = rec_is_left_out(&r);
		struct version v = {.fd = -1};

		if (r.root || (!out && (rec_is_idle(&r) || r.flags & REC_ASIDE)))
			continue;
		if ((out || !p->seen) && version_open(p, &r, &names, &v)) {
			p->seen |= !out;
			v = out ? version_next(&found, &v) : v;
		}
		if (v.fd >= 0 && v.seq != but && !is_as_left(p, &names, &v.st, out) && !newer--)
			fd = take_fd(&v.fd);
		util_close_fd(&v.fd);
		carry_names(&names, &r, out);
	}
	util_close_fd(&found.fd);
	return fd < 0 ? -ENOENT : fd;
}

static bool is_file(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
}

bool saved_is_overwritten(const struct saved_parts *all)
{
	return all->n && faccessat(all->list[0].dir, OVERWRITTEN_FILE, F_OK, 0) == 0;
}

int saved_version_open(struct saved_parts *all, const char *path, size_t newer)
{
	bool own = saved_is_overwritten(all);
	uint64_t seq = 0;
	AUTO_CLOSE int fd = find(all, path, own ? newer : 0, &seq);
	bool first = is_file(fd);

	if (own || (first && !newer))
		return first ? take_fd(&fd) : -ENOENT;
	return find_between(all, path, newer - first, seq);
}
