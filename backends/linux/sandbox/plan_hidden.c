/* plan_hidden - hidden paths, and the directories that are rebuilt without them. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/plan_priv.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/sandbox/overlay.h"
#include "core/base/listing.h"
#include "core/base/path.h"

/*
 * A directory with a hidden entry is rebuilt on a tmpfs: one bind for each other entry, links
 * copied. That costs about 15 microseconds an entry and is done once, so entries that the host adds
 * later do not show inside. In some directories the path is covered by an empty, unreadable file or
 * directory instead: in a working folder, which must stay the live directory; in a directory that
 * cannot be listed, or has more entries than this; in a system tree, for a file that other users
 * may not read.
 */
#define COVER_MAX 2048

static void probe(struct plan *p, const char *path, bool blank)
{
	if (p->n_probes == p->cap_probes) {
		p->cap_probes = p->cap_probes ? 2 * p->cap_probes : 32;
		p->probes = xrealloc(p->probes, p->cap_probes * sizeof(*p->probes));
	}
	p->probes[p->n_probes++] = (struct plan_probe){.path = xstrdup(path), .blank = blank};
}

bool plan_is_hidden(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->n_hidden; i++) {
		if (path_is_beneath(path, p->hidden[i]))
			return true;
	}
	return false;
}

/* Returns the number of entries; -1: the directory cannot be listed. */
static int count_entries(const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	int n = 0;

	if (!d)
		return -1;
	while (readdir(d) && n <= COVER_MAX)
		n++;
	return n;
}

/* Hides a path beneath a gate. The gate omits the name; in a granted tree, which is bound as a
 * whole, the path is covered. */
static void hide_behind_gate(struct plan *p, size_t *cap, const char *path)
{
	if (!plan_is_gated(p, path)) {
		probe(p, path, true);
		return;
	}
	if (!plan_leads_to_grant(p, path))
		probe(p, path, false);
	plan_push(&p->hidden, &p->n_hidden, cap, path);
}

static bool is_listed(const char *const *list, const char *path)
{
	for (; list && *list; list++)
		if (str_eq(*list, path))
			return true;
	return false;
}

/* Returns whether it is a system file that only root may read (core/policy/builtin/closed.c). Its
 * directory stays the live one, and its name is visible, as for every user. */
static bool is_systems(const char *path)
{
	static const char *const trees[] = {"/boot", "/etc", "/var"};
	struct stat st;

	for (size_t i = 0; i < ARRAY_LEN(trees); i++)
		if (path_is_beneath(path, trees[i]))
			return lstat(path, &st) == 0 &&
			       !(st.st_mode & (S_ISDIR(st.st_mode) ? S_IXOTH : S_IROTH));
	return false;
}

/* Hides the name by a whiteout, in a tool's home directory: many programs fail at a file that they
 * may not read. Returns false if the path has to be covered. */
static bool white_out(struct plan *p, const struct spawn_spec *spec, const char *path)
{
	int place = overlay_of_tool(spec, path), r;

	if (place < 0 || str_eq(spec->overlays[place], path))
		return false;
	r = spec->places[place].empty ? 1 : overlay_white_out(spec, place, path);
	if (r == 0) {
		probe(p, path, true);
		p->probes[p->n_probes - 1].white = true;
	}
	return r >= 0;
}

/* Hides a resolved path. */
static int hide(struct plan *p, const struct spawn_spec *spec, size_t *cap, const char *path,
		struct err *err)
{
	AUTO_FREE char *dir = NULL;
	int n;

	if (white_out(p, spec, path))
		return 0;
	/* A --ro folder below a private directory is bound over it later, like a working folder. */
	if (path_is_in(path, spec->folders) || path_is_in(path, spec->overlays) ||
	    (plan_is_private(path) && path_is_in(path, spec->read_only)) ||
	    is_listed(spec->covered, path)) {
		for (const char *const *f = spec->folders; f && *f; f++) {
			if (str_eq(*f, path))
				return err_say(err, -EINVAL,
					       "'%s' is a working folder and cannot be hidden",
					       path);
		}
		probe(p, path, true);
		return 0;
	}
	if (str_eq(path, "/"))
		return err_say(err, -EINVAL, "'/' cannot be hidden");
	if (plan_is_covered(p, path)) {
		hide_behind_gate(p, cap, path);
		return 0;
	}
	/* Other paths below a private directory do not exist inside. */
	if (plan_is_private(path))
		return 0;
	dir = path_dir(path);
	n = is_systems(path) ? -1 : count_entries(dir);
	if (n < 0 || n > COVER_MAX) {
		probe(p, path, true);
		return 0;
	}
	probe(p, path, false);
	plan_push(&p->hidden, &p->n_hidden, cap, path);
	return 0;
}

/* Hides the path and, if it is a link, its target. */
static int hide_resolved(struct plan *p, const struct spawn_spec *spec, size_t *cap,
			 const struct listing *at_home, const char *path, struct err *err)
{
	AUTO_FREE char *clean = NULL, *dir = NULL, *real_dir = NULL, *named = NULL, *target = NULL;
	struct stat st;
	bool link;
	int r;

	if (path[0] != '/')
		return err_say(err, -EINVAL, "'%s' is not absolute and cannot be hidden", path);
	if (listing_lacks(at_home, path) || lstat(path, &st) < 0) {
		white_out(p, spec, path); /* the file may be created later */
		return 0;
	}
	clean = path_clean(path);
	dir = path_dir(clean);
	real_dir = realpath(dir, NULL);
	if (!real_dir)
		return 0;
	named = str_eq(real_dir, "/") ? xasprintf("/%s", path_base(clean))
				      : path_join(real_dir, path_base(clean));
	link = S_ISLNK(st.st_mode);
	target = link ? realpath(named, NULL) : NULL;
	if (target) {
		r = hide(p, spec, cap, target, err);
		if (r < 0)
			return r;
	}
	/* A link inside a folder cannot be covered; its target is. */
	if (link && path_is_in(named, spec->folders))
		return 0;
	return hide(p, spec, cap, named, err);
}

static int hide_all(struct plan *p, const struct spawn_spec *spec, size_t *cap, struct err *err)
{
	struct listing *at_home = spec->home ? listing_new(spec->home) : NULL;
	int r = 0;

	for (const char *const *h = spec->hidden; r >= 0 && h && *h; h++)
		r = hide_resolved(p, spec, cap, at_home, *h, err);
	listing_free(at_home);
	return MIN(r, 0);
}

int plan_find_hidden(struct plan *p, const struct spawn_spec *spec, struct err *err)
{
	AUTO_FREE char *state = NULL;
	size_t cap = 0, kept = 0;
	bool gate_hides;
	int r = hide_all(p, spec, &cap, err);

	if (r < 0)
		return r;
	/* Undo stores and audit logs: covering them is cheaper than rebuilding their parents. */
	state = spec->state_dir ? realpath(spec->state_dir, NULL) : NULL;
	gate_hides = state && plan_is_covered(p, state) && plan_is_gated(p, state);
	if (gate_hides)
		hide_behind_gate(p, &cap, state);
	if (p->n_hidden)
		qsort(p->hidden, p->n_hidden, sizeof(*p->hidden), util_by_text);
	for (size_t i = 0; i < p->n_hidden; i++) {
		if (kept && path_is_beneath(p->hidden[i], p->hidden[kept - 1]))
			free(p->hidden[i]);
		else
			p->hidden[kept++] = p->hidden[i];
	}
	p->n_hidden = kept;
	if (state && !gate_hides && !plan_is_hidden(p, state) &&
	    (!plan_is_private(state) || path_is_in(state, spec->folders)))
		probe(p, state, true);
	return 0;
}

/* ---- covering -------------------------------------------------------------------------------- */

static bool is_one_of(char *const *sorted, size_t n, const char *path)
{
	return n && bsearch(&path, sorted, n, sizeof(*sorted), util_by_text);
}

/* Returns whether to show a file of the top level: all users may read it, so not swap files. */
static bool file_is_shown(const char *dir, const char *path)
{
	struct stat st;

	if (!str_eq(dir, "/"))
		return true;
	return lstat(path, &st) == 0 && (st.st_mode & S_IROTH) && st.st_size > 0;
}

static void cover_link(struct plan *p, const char *path)
{
	char text[4096];
	ssize_t n = readlink(path, text, sizeof(text) - 1);
	struct plan_op *op;
	struct stat st;

	if (n <= 0 || lstat(path, &st) < 0)
		return;
	text[n] = '\0';
	op = plan_add(p, PLAN_LINK, path, text);
	op->uid = st.st_uid;
	op->gid = st.st_gid;
}

static void cover_dir(struct plan *p, enum plan_what what, const char *path)
{
	struct plan_op *op;
	struct stat st;

	if (lstat(path, &st) < 0)
		return;
	op = plan_add(p, what, path, what == PLAN_TMPFS ? "mode=0755,size=1m" : NULL);
	op->mode = st.st_mode & 07777;
	op->uid = st.st_uid;
	op->gid = st.st_gid;
}

static unsigned char entry_type(const char *path, unsigned char type)
{
	struct stat st;

	if (type != DT_UNKNOWN)
		return type;
	return lstat(path, &st) < 0 ? DT_UNKNOWN : IFTODT(st.st_mode);
}

static void cover_entry(struct plan *p, char *const *covers, size_t n, const char *dir,
			const struct dirent *e)
{
	AUTO_FREE char *path = xasprintf("%s/%s", str_eq(dir, "/") ? "" : dir, e->d_name);
	struct plan_op *op;

	if (is_one_of(p->hidden, p->n_hidden, path))
		return;
	switch (entry_type(path, e->d_type)) {
	case DT_LNK:
		cover_link(p, path);
		return;
	case DT_DIR:
		if (is_one_of(covers, n, path) || (p->read == READ_FUSE && plan_is_gate(p, path))) {
			cover_dir(p, PLAN_DIR, path);
			return;
		}
		if (plan_is_private(path)) {
			plan_add(p, PLAN_DIR, path, NULL);
			return;
		}
		op = plan_add(p, PLAN_BIND, path, path);
		op->make = true;
		/* A dead network or FUSE mount must not prevent the agent's start. */
		op->optional = true;
		if (str_eq(dir, "/"))
			plan_push(&p->sealed, &p->n_sealed, &p->cap_sealed, path);
		return;
	case DT_REG:
		if (!file_is_shown(dir, path))
			return;
		op = plan_add(p, PLAN_BIND, path, path);
		op->make = true;
		op->dir = false;
		/* It may be removed before it is mounted. */
		op->optional = true;
		return;
	default:
		/* Sockets lead out of the sandbox; devices and pipes are not needed. */
		return;
	}
}

static bool skipped_at_top(const char *name)
{
	static const char *const names[] = {"proc", "dev",  "tmp",	 "run",
					    "sys",  "boot", "lost+found"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (str_eq(name, names[i]))
			return true;
	}
	return false;
}

static int cover_one(struct plan *p, char *const *covers, size_t n, const char *dir,
		     struct err *err)
{
	AUTO_DIR DIR *d = opendir(dir);
	bool top = str_eq(dir, "/");
	struct dirent *e;

	if (!d)
		return err_set(err, -errno, "list '%s'", dir);
	while ((e = readdir(d))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		if (!top || !skipped_at_top(e->d_name))
			cover_entry(p, covers, n, dir, e);
	}
	return 0;
}

/* Lists the directories to rebuild: the root, and every parent of a hidden path. Sorted. */
static size_t covers_of(const struct plan *p, char ***ret)
{
	char **covers = NULL;
	size_t n = 0, cap = 0, kept = 1;

	plan_push(&covers, &n, &cap, "/");
	for (size_t i = 0; i < p->n_hidden; i++) {
		AUTO_FREE char *dir = path_dir(p->hidden[i]);

		if (plan_is_covered(p, dir))
			continue;
		plan_push(&covers, &n, &cap, dir);
	}
	qsort(covers, n, sizeof(*covers), util_by_text);
	for (size_t i = 1; i < n; i++) {
		if (str_eq(covers[i], covers[kept - 1]))
			free(covers[i]);
		else
			covers[kept++] = covers[i];
	}
	*ret = covers;
	return kept;
}

int plan_cover(struct plan *p, struct err *err)
{
	static const char *const tops[] = {"/proc", "/dev", "/tmp", "/run", "/sys"};
	char **covers;
	size_t n = covers_of(p, &covers);
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(tops); i++)
		plan_add(p, PLAN_DIR, tops[i], NULL);
	for (size_t i = 0; i < n && r == 0; i++) {
		AUTO_FREE char *dir = path_dir(covers[i]);

		/* A rebuilt parent has a plain directory here; otherwise the tmpfs covers a bound
		 * one. */
		if (i > 0 && !is_one_of(covers, n, dir))
			cover_dir(p, PLAN_TMPFS, covers[i]);
		r = cover_one(p, covers, n, covers[i], err);
	}
	for (size_t i = 0; i < n; i++)
		free(covers[i]);
	free(covers);
	return r;
}
