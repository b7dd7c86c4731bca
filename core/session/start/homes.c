/* homes - gives tools writable layers of their cache and settings directories. */
/* SPDX-License-Identifier: MIT */
#include "core/session/start/homes.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/listing.h"
#include "core/base/log.h"
#include "core/base/path.h"
#include "core/config/config.h"
#include "core/policy/policy.h"
#include "core/policy/rules/rules.h"
#include "core/policy/builtin/tool_homes.h"
#include "core/session/start/overlays.h"
#include "core/session/session.h"

struct preparing {
	struct homes *homes;
	const struct session_spec *spec;
	const struct policy *policy;
	unsigned can;	      /* HOMES_* */
	int own;	      /* their directory, open */
	char **known, **made; /* names in it, and names of the points */
	struct listing *at_home;
};

/* Returns the directory below state_dir with what a folder's tools wrote. Heap. */
static char *homes_dir(const char *state_dir, const char *folder)
{
	AUTO_FREE char *label = path_label(folder);

	return xasprintf("%s/homes/%s", state_dir, label);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static void add_place(struct homes *h, const char *path, bool empty)
{
	AUTO_FREE char *label = path_label(path);
	char *dir = xasprintf("%s/%s/%s", h->dir, empty ? "own" : "over", label);

	h->places = xrealloc(h->places, (h->n + 1) * sizeof(*h->places));
	h->places[h->n] = (struct overlay_place){.dir = dir, .empty = empty, .optional = true};
	util_list_push(&h->paths, &h->n, xstrdup(path));
}

/* Returns the nearest served directory that contains path, or NULL. A directory inside another
 * comes later in the list. */
static const struct overlay_place *holder(const struct homes *h, const char *path)
{
	for (size_t i = h->n; i > 0; i--)
		if (path_is_beneath(path, h->paths[i - 1]))
			return &h->places[i - 1];
	return NULL;
}

/* Lists the names in a directory, and makes it if needed; NULL-terminated. */
static int list_names(const char *dir, char ***ret)
{
	AUTO_DIR DIR *d = NULL;
	struct dirent *e;
	size_t n = 0;
	int r = access(dir, F_OK) < 0 ? io_mkdir_p(AT_FDCWD, dir, 0700) : 0;

	if (r < 0 || !(d = opendir(dir)))
		return r < 0 ? r : -errno;
	while ((e = readdir(d)))
		util_list_push(ret, &n, xstrdup(e->d_name));
	return 0;
}

static bool has_name(char **list, const char *name)
{
	for (; list && *list; list++)
		if (str_eq(*list, name))
			return true;
	return false;
}

/* Makes the folder's own directory of that name, unless it exists. */
static bool make_own(const struct preparing *p, const char *name)
{
	return has_name(p->known, name) || mkdirat(p->own, name, 0755) == 0 || errno == EEXIST;
}

/* ---- one row --------------------------------------------------------------------------------- */

enum fate {
	LEFT,	/* to the rules, or to a folder that it is in */
	SERVED, /* by a mount or a link */
	MOVED,	/* by its variable */
};

/* Returns whether all of the host's directory may be shown: no rule hides any part of it. */
static bool may_show(const struct preparing *p, const char *path)
{
	const char *why;

	return policy_check_read(p->policy, RULE_READ, path, &why) == POLICY_ALLOW &&
	       !policy_restricts(p->policy, path);
}

static bool is_usable(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       access(path, R_OK | X_OK) == 0;
}

/* Makes the directory `name` in a directory that the agent could change in earlier sessions. */
static int make_point(const char *dir, const char *name)
{
	AUTO_CLOSE int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (S_ISDIR(st.st_mode))
			return 0;
		if (unlinkat(fd, name, 0) < 0)
			return -errno;
	}
	return mkdirat(fd, name, 0755) < 0 ? -errno : 0;
}

/* Adds a layer inside a directory that begins empty, and makes its mount point there. */
static bool serve_in(struct homes *h, const struct overlay_place *in, const char *path)
{
	AUTO_FREE char *parent = xstrndup(path, (size_t)(path_base(path) - 1 - path));

	for (size_t i = 0; i < h->n; i++)
		if (&h->places[i] == in && str_eq(h->paths[i], parent) &&
		    make_point(in->dir, path_base(path)) == 0) {
			add_place(h, path, false);
			return true;
		}
	return false;
}

static enum fate serve_present(struct preparing *p, const char *path, bool shared)
{
	const struct overlay_place *in = holder(p->homes, path);
	bool empty = shared || !may_show(p, path);

	if (!(p->can & HOMES_OVERLAYS) || !is_usable(path))
		return MOVED;
	if (in && !in->empty)
		return SERVED;
	if (in) /* an empty directory needs nothing more */
		return empty || serve_in(p->homes, in, path) ? SERVED : MOVED;
	if (empty) {
		AUTO_FREE char *label = path_label(path);

		if (!make_own(p, label))
			return MOVED;
	}
	add_place(p->homes, path, empty);
	return SERVED;
}

/* Returns the first missing directory of the path that no rule lets the agent make on the host.
 * Heap. */
static char *first_missing(const struct preparing *p, const char *path)
{
	size_t len = strlen(p->spec->home);

	if (!path_is_inside(path, p->spec->home))
		return NULL;
	while (path[len]) {
		AUTO_FREE char *at = NULL;

		len += 1 + strcspn(path + len + 1, "/");
		at = xstrndup(path, len);
		if ((!path[len] || listing_lacks(p->at_home, at) || access(at, F_OK) < 0) &&
		    !policy_writes_at(p->policy, at))
			return take_ptr(&at);
	}
	return NULL;
}

/* Returns whether a rule shows the place natively: there the gate adds no directory. */
static bool is_granted(const struct preparing *p, const char *path)
{
	const char *const *list = NULL;

	return policy_granted(p->policy, &list) && path_is_in(path, list);
}

static void add_absent(struct homes *h, char *path, char *dir)
{
	h->absent = xrealloc(h->absent, (h->n_absent + 2) * sizeof(*h->absent));
	h->absent[h->n_absent++] = (struct absent_home){.path = path, .dir = dir};
	h->absent[h->n_absent] = (struct absent_home){0};
}

/* Serves a directory that is absent on the host: the keeper makes it at the agent's mkdir. One for
 * many programs exists from the start, because some (pip) look whether they may write there before
 * they make their own below; so does one that an earlier session made. */
static enum fate serve_absent(struct preparing *p, const char *path, bool shared)
{
	struct homes *h = p->homes;
	AUTO_FREE char *top = NULL, *label = NULL;

	if (holder(h, path))
		return SERVED;
	for (size_t i = 0; i < h->n_absent; i++)
		if (path_is_beneath(path, h->absent[i].path))
			return SERVED;
	top = p->can & HOMES_ABSENT ? first_missing(p, path) : NULL;
	label = top ? path_label(top) : NULL;
	if (!top || is_granted(p, top) || !make_own(p, label))
		return MOVED;
	if (has_name(p->made, label) ||
	    (shared && str_eq(top, path) && make_point(h->points, label) == 0))
		add_place(h, top, true);
	else
		add_absent(h, take_ptr(&top), xasprintf("%s/own/%s", h->dir, label));
	return SERVED;
}

static enum fate serve(struct preparing *p, const char *path, bool shared)
{
	const struct session_spec *s = p->spec;
	struct stat st;
	bool gone = listing_lacks(p->at_home, path) || (lstat(path, &st) < 0 && errno == ENOENT);
	AUTO_FREE char *real = gone ? NULL : realpath(path, NULL);

	if (path_is_in(path, s->folders) || path_is_in(path, s->overlays) ||
	    policy_writes_at(p->policy, real ? real : path))
		return LEFT;
	if (path_meets(path, s->folders) || path_meets(path, s->overlays) ||
	    path_meets(path, s->read_only) || path_meets(path, s->hidden))
		return MOVED;
	if (gone)
		return serve_absent(p, path, shared);
	if (!real)
		return MOVED;
	/* A link to another disk is usual; one to the home folder would show all of it. */
	if (!str_eq(real, path) &&
	    (path_is_beneath(s->home, real) || path_meets(real, s->folders) || shared))
		return MOVED;
	return serve_present(p, real, shared);
}

/* ---- all ------------------------------------------------------------------------------------- */

static int by_path(const void *a, const void *b)
{
	const struct tool_home *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* Adds layers for programs whose host caches a rule makes readable, in the empty directory as
 * well. */
static void show_granted(struct preparing *p, const char *shared)
{
	const char *const *list = NULL;
	size_t n = policy_granted(p->policy, &list);

	for (size_t i = 0; i < n; i++)
		if (path_is_inside(list[i], shared) && is_usable(list[i]))
			serve_present(p, list[i], false);
}

static void serve_row(struct preparing *p, const struct tool_home *row)
{
	size_t before = p->homes->n;
	enum fate fate = serve(p, row->path, row->shared);
	size_t name = row->setting ? strcspn(row->setting, "=") : 0;
	AUTO_FREE char *variable = xstrndup(row->setting ? row->setting : "", name);

	if (fate == MOVED && name)
		util_list_push(&p->homes->env, &p->homes->n_env, xstrdup(row->setting));
	else if (row->named && name)
		util_list_push(&p->homes->env, &p->homes->n_env,
			       xasprintf("%s=%s", variable, row->path));
	if (row->shared && p->homes->n > before)
		show_granted(p, row->path);
}

static int open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Locks dir, and records whose it is. The lock stops `cordon cache` and other sessions from
 * removing it. */
static int hold(struct preparing *p)
{
	const char *dir = p->homes->dir, *folder = p->spec->folders[0];
	int r = io_mkdir_p(AT_FDCWD, dir, 0700), fd = r < 0 ? r : open_dir(dir);
	struct stat st;

	if (fd < 0)
		return fd;
	p->homes->lock = fd;
	r = io_lock_shared(fd);
	if (r == 0 && (fstat(fd, &st) < 0 || !io_is_at(dir, &st)))
		r = -EAGAIN; /* the session that held the lock has removed it */
	if (r < 0 || faccessat(fd, "folder", F_OK, 0) == 0)
		return r;
	return io_write_file(fd, "folder", 0600, folder, strlen(folder), false);
}

static int hold_again(struct preparing *p)
{
	util_close_fd(&p->homes->lock);
	p->homes->lock = 0;
	return hold(p);
}

static bool open_dirs(struct preparing *p)
{
	AUTO_FREE char *own = path_join(p->homes->dir, "own");
	int r = hold(p);

	if (r == -EAGAIN)
		r = hold_again(p);
	if (r == 0)
		r = list_names(own, &p->known);
	if (r == 0)
		r = list_names(p->homes->points, &p->made);
	p->own = r == 0 ? open(own, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	if (r == 0 && p->own < 0)
		r = -errno;
	if (r < 0)
		log_warn("homes", "no directories for tools: %s: %s", p->homes->dir, strerror(-r));
	return r == 0;
}

/* Makes the agent's own directories in the home: one that it made itself would not show inside. */
static void make_own_dirs(const struct preparing *p)
{
	char **dirs = policy_own_dirs(p->policy, p->spec->home);

	for (size_t i = 0; dirs && dirs[i]; i++) {
		bool gone = access(dirs[i], F_OK) < 0 && errno == ENOENT;
		int r = gone ? io_mkdir_p(AT_FDCWD, dirs[i], 0700) : 0;

		if (r < 0)
			log_warn("homes", "no %s: %s", dirs[i], strerror(-r));
	}
	util_free_list(&dirs);
}

void homes_prepare(struct homes *h, const struct session_spec *spec, const struct policy *policy,
		   const char *cache)
{
	struct preparing p = {.homes = h, .spec = spec, .policy = policy, .own = -1};
	struct tool_home *rows = NULL;
	size_t n = cache ? tool_homes_read(spec->config, spec->home, &rows) : 0;

	*h = (struct homes){0};
	if (n == 0) {
		tool_homes_free(rows, n);
		return;
	}
	h->dir = homes_dir(spec->state_dir, spec->folders[0]);
	h->points = path_join(h->dir, "points");
	if (spec->backend && spec->backend->homes && open_dirs(&p))
		p.can = spec->backend->homes(h->dir, spec);
	if (!(p.can & HOMES_ABSENT)) {
		util_free_ptr(&h->points);
		make_own_dirs(&p);
	}
	qsort(rows, n, sizeof(*rows), by_path);
	p.at_home = listing_new(spec->home);
	for (size_t i = 0; i < n; i++)
		serve_row(&p, &rows[i]);
	tool_homes_free(rows, n);
	listing_free(p.at_home);
	util_close_fd(&p.own);
	util_free_list(&p.known);
	util_free_list(&p.made);
}

void homes_done(struct homes *h)
{
	for (size_t i = 0; i < h->n; i++)
		free((char *)(uintptr_t)h->places[i].dir);
	free(h->places);
	util_free_list(&h->paths);
	for (size_t i = 0; i < h->n_absent; i++) {
		free((char *)(uintptr_t)h->absent[i].path);
		free((char *)(uintptr_t)h->absent[i].dir);
	}
	free(h->absent);
	util_free_list(&h->env);
	free(h->dir);
	free(h->points);
	if (h->lock > 0)
		close(h->lock);
	*h = (struct homes){0};
}

/* Removes the empty directories in dir, and dir if nothing is left. Returns whether dir was
 * removed. */
static bool drop_empty_in(const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		if (!str_eq(e->d_name, ".") && !str_eq(e->d_name, ".."))
			unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
	return rmdir(dir) == 0 || errno == ENOENT;
}

/* Removes an unused dir. The lock is then on a directory without a name: a session that waits for
 * it makes dir again. */
static void drop_empty(const char *dir)
{
	AUTO_FREE char *own = path_join(dir, "own"), *over = path_join(dir, "over");
	AUTO_FREE char *note = path_join(dir, "folder"), *points = path_join(dir, "points");
	bool gone = drop_empty_in(own) && drop_empty_in(points);

	if (drop_empty_in(over) && gone && (unlink(note) == 0 || errno == ENOENT))
		rmdir(dir);
}

static void drop_layers(const char *dir)
{
	AUTO_FREE char *over = path_join(dir, "over");
	AUTO_DIR DIR *d = opendir(over);
	struct dirent *e;

	if (d)
		utimensat(AT_FDCWD, dir, NULL, 0); /* the time of the last use */
	while (d && (e = readdir(d))) {
		AUTO_FREE char *layer = path_join(over, e->d_name);

		if (e->d_name[0] != '.' || (e->d_name[1] && !str_eq(e->d_name, "..")))
			overlay_drop_empty(layer);
	}
}

void homes_settle(const char *state_dir, const char *folder, int lock, bool ran)
{
	AUTO_FREE char *dir = homes_dir(state_dir, folder), *all = path_join(state_dir, "homes");
	AUTO_CLOSE int own = lock > 0 ? -1 : open_dir(dir);
	int fd = lock > 0 ? lock : own;
	struct stat st;

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 && fstat(fd, &st) == 0 &&
	    io_is_at(dir, &st)) {
		drop_layers(dir);
		if (!ran)
			drop_empty(dir);
	}
	if (!ran)
		rmdir(all);
}
