/* git_objects - keeps a git repository's objects if the repository was used from outside later. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/history/rename_list.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/git_objects.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/os/beneath.h"
#include "core/os/file.h"

/*
 * A branch, a tag or a staged file that was created outside after a commit of the steps may need
 * the commit's objects, and git does not write an object that exists. So objects stay if a ref or
 * an index of the repository is younger than the steps and was not written by them: git removes
 * unneeded objects later. A repository that the steps created is removed as a whole, or with
 * UNDO_KEEP_MINE stays as a whole if it was used from outside.
 */

#define DEPTH_MAX 16 /* of directories below refs */

struct use {
	struct journal *j;
	int root;
	int64_t since_ns;
	const struct path_set *own;  /* paths of the steps */
	const struct path_set *left; /* of these, paths that stay as they are; NULL: none */
	struct buf path;	     /* below the root */
};

/* Returns whether this is "ab/" with the rest of a SHA-1 or SHA-256, or a file of a pack. */
static bool is_object(const char *name)
{
	const size_t first = strspn(name, "0123456789abcdef");
	const char *rest = name + 3;
	size_t n;

	if (str_starts(name, "pack/pack-"))
		return !strchr(name + strlen("pack/"), '/');
	if (first != 2 || name[2] != '/')
		return false;
	n = strspn(rest, "0123456789abcdef");
	return !rest[n] && (n == 38 || n == 62);
}

/* Returns the repository of an object's path, "" or "a/.git/"; heap. NULL: it is no object. */
static char *repository_of(const char *path)
{
	static const char dir[] = "objects/";

	for (const char *at = path; (at = strstr(at, dir)); at++)
		if ((at == path || at[-1] == '/') && is_object(at + strlen(dir)))
			return xstrndup(path, (size_t)(at - path));
	return NULL;
}

static bool look_at(struct use *u, int dir, const char *name, unsigned depth);

static bool look_into(struct use *u, int dir, const char *name, unsigned depth)
{
	int fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	AUTO_DIR DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;
	bool used = false;

	if (!d)
		return errno != ENOENT && errno != ENOTDIR;
	while (!used && (e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			used = look_at(u, fd, e->d_name, depth + 1);
	return used;
}

/* Returns whether the entry is a file from outside, or has one in it. True if that is unknown. */
static bool look_at(struct use *u, int dir, const char *name, unsigned depth)
{
	const size_t len = u->path.len;
	struct stat st;
	bool used = false;

	if (depth > DEPTH_MAX)
		return true;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return errno != ENOENT;
	buf_fmt(&u->path, "%s%s", depth ? "/" : "", name);
	if (S_ISDIR(st.st_mode))
		used = look_into(u, dir, name, depth);
	else if (OS_CTIME(&st).tv_sec * 1000000000 + OS_CTIME(&st).tv_nsec > u->since_ns)
		used = !path_set_has(u->own, u->root, u->path.data) ||
		       (u->left && path_set_has(u->left, u->root, u->path.data));
	buf_truncate(&u->path, len);
	return used;
}

static bool is_used(struct use *u, const char *repository)
{
	static const char *const names[] = {"refs", "packed-refs", "reftable",
					    "HEAD", "index",	   "worktrees"};
	const int top = store_root_fd(u->j, u->root);
	AUTO_CLOSE int fd =
		top < 0 ? top
			: os_open_beneath(top, *repository ? repository : ".",
					  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
					  RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
	bool used = false;

	u->path = (struct buf)BUF_INIT;
	buf_str(&u->path, repository);
	for (size_t i = 0; fd >= 0 && !used && i < ARRAY_LEN(names); i++)
		used = look_at(u, fd, names[i], 0);
	buf_done(&u->path);
	return used;
}

/* Returns when the step made its first change. */
static int64_t since(const struct journal *j, const char *stepdir)
{
	struct object o;

	return object_stat(j->store, stepdir, &o) == 0 ? o.btime_ns : 0;
}

/* ---- in a rollback --------------------------------------------------------------------------- */

struct rolled {
	struct path_set own, made, asked, used; /* made: directories; asked: repositories */
	int64_t since_ns;
};

static void note_names(struct rolled *to, const struct emptied *e, const struct rec *r)
{
	renames_add_now(e->moves, r->seq, r->root, r->path, &to->own);
	if (r->path2[0])
		renames_add_now(e->moves, r->seq, r->root2, r->path2, &to->own);
	if (r->type == REC_DIR_NEW)
		renames_add_now(e->moves, r->seq, r->root, r->path, &to->made);
}

static bool repository_is_used(struct journal *j, struct rolled *by, int root, const char *path,
			       const struct path_set *left)
{
	struct use u = {
		.j = j, .root = root, .since_ns = by->since_ns, .own = &by->own, .left = left};
	AUTO_FREE char *objects = xasprintf("%sobjects", path);

	if (path_set_has(&by->made, root, objects))
		return false;
	if (path_set_add(&by->asked, root, path) && is_used(&u, path))
		path_set_add(&by->used, root, path);
	return path_set_has(&by->used, root, path);
}

static void leave_object(struct journal *j, struct rolled *by, const struct emptied *e,
			 const struct rec *r, struct path_set *left)
{
	const bool moved = r->type == REC_RENAME;
	int root = moved ? r->root2 : r->root;
	AUTO_FREE char *now = renames_now(e->moves, r->seq, &root, moved ? r->path2 : r->path);
	AUTO_FREE char *repository = moved || r->type == REC_NEW ? repository_of(now) : NULL;

	if (repository && repository_is_used(j, by, root, repository, left))
		path_set_add(left, root, now);
}

static void each_record(struct journal *j, struct rolled *by, const struct emptied *e,
			struct path_set *left)
{
	struct undo_log_walk at = {0};
	struct rec r;

	while (undo_log_walk(e->logs, e->dirs->n, &at, &r)) {
		if (rec_is_idle(&r))
			continue;
		if (left)
			leave_object(j, by, e, &r, left);
		else
			note_names(by, e, &r);
	}
}

/* Returns whether a record names an object of git. Most rollbacks have none and skip the rest. */
static bool have_objects(const struct emptied *e)
{
	bool have = false;

	for (size_t i = 0; i < e->dirs->n && !have; i++) {
		struct rec r;
		size_t at = 0;

		while (!have && undo_log_next(&e->logs[i], &at, &r)) {
			AUTO_FREE char *a = repository_of(r.path);
			AUTO_FREE char *b = a ? NULL : repository_of(r.path2);

			have = a || b;
		}
	}
	return have;
}

/* Adds all that the steps created and changed in this repository. */
static void leave_repository(const struct rolled *by, int root, const char *repository,
			     struct path_set *left)
{
	const size_t len = strlen(repository);

	for (size_t i = 0; i < path_set_count(&by->own); i++) {
		const char *path;

		if (path_key_root(path_set_key(&by->own, i), &path) == root &&
		    strncmp(path, repository, len) == 0)
			path_set_add(left, root, path);
	}
}

/* Adds the repositories that the steps created and another process used afterwards. */
static void leave_made(struct journal *j, const struct rolled *by, struct path_set *left)
{
	for (size_t i = 0; i < path_set_count(&by->made); i++) {
		const char *path;
		int root = path_key_root(path_set_key(&by->made, i), &path);
		struct use u = {.j = j,
				.root = root,
				.since_ns = by->since_ns,
				.own = &by->own,
				.left = left};
		const char *slash = strrchr(path, '/');
		AUTO_FREE char *repository = xstrndup(path, slash ? (size_t)(slash + 1 - path) : 0);
		AUTO_FREE char *head = xasprintf("%sHEAD", repository);

		if (str_eq(path + strlen(repository), "objects") &&
		    path_set_has(&by->own, root, head) && is_used(&u, repository))
			leave_repository(by, root, repository, left);
	}
}

void git_objects_leave(struct journal *j, const struct emptied *e, bool keep_mine,
		       struct path_set *left)
{
	struct rolled by = {.since_ns = INT64_MAX};

	if (!keep_mine && !have_objects(e))
		return;
	for (size_t i = 0; i < e->dirs->n; i++)
		by.since_ns = MIN(by.since_ns, since(j, e->dirs->list[i]));
	each_record(j, &by, e, NULL);
	each_record(j, &by, e, left);
	if (keep_mine)
		leave_made(j, &by, left);
	path_set_done(&by.own);
	path_set_done(&by.made);
	path_set_done(&by.asked);
	path_set_done(&by.used);
}

/* ---- in a restore ---------------------------------------------------------------------------- */

void git_objects_unchoose(struct restore *r)
{
	AUTO_FREE char *step = xasprintf("steps/%lld", (long long)r->id);
	struct rolled by = {.since_ns = since(r->j, step)};

	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];

		path_set_add(&by.own, c->root, c->path);
		if (S_ISDIR(c->after.mode) && !c->before.exists)
			path_set_add(&by.made, c->root, c->path);
	}
	for (size_t i = 0; i < r->n; i++) {
		const struct change *c = &r->list[i];
		AUTO_FREE char *repository = c->before.exists ? NULL : repository_of(c->path);

		if (repository && repository_is_used(r->j, &by, c->root, repository, NULL))
			r->pieces[i].chosen = false;
	}
	path_set_done(&by.own);
	path_set_done(&by.made);
	path_set_done(&by.asked);
	path_set_done(&by.used);
}
