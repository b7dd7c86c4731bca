/* landlock_trees - Landlock rules that together say "everything but these places". */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/landlock_trees.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/path.h"

struct work {
	struct trees *t;
	unsigned rights;
	const char *const *closed, *const *open;
	char **todo; /* open directories above closed places */
	size_t n, cap;
};

static void push(char ***list, size_t *n, size_t *cap, char *path)
{
	if (*n == *cap) {
		*cap = *cap ? 2 * *cap : 32;
		*list = xrealloc(*list, *cap * sizeof(**list));
	}
	(*list)[(*n)++] = path;
}

void trees_add_one(struct trees *t, unsigned rights, const char *path)
{
	if (t->n >= TREES_MAX)
		return;
	if (t->n == t->cap) {
		t->cap = t->cap ? 2 * t->cap : 64;
		t->list = xrealloc(t->list, t->cap * sizeof(*t->list));
	}
	t->list[t->n++] = (struct landlock_tree){.path = xstrdup(path), .rights = rights};
}

/* Returns the length of the longest list entry that contains path; 0: none. */
static size_t nearest(const char *const *list, const char *path)
{
	size_t best = 0;

	for (; list && *list; list++)
		if (path_is_beneath(path, *list))
			best = MAX(best, strlen(*list));
	return best;
}

static bool leads_to(const char *const *list, const char *dir)
{
	for (; list && *list; list++)
		if (path_is_beneath(*list, dir) && !str_eq(*list, dir))
			return true;
	return false;
}

/* Adds an open place: one rule, or its entries one by one if it has closed places. */
static void visit(struct work *w, char *path)
{
	size_t n = w->t->n;
	struct stat st;

	if (leads_to(w->closed, path)) {
		push(&w->todo, &w->n, &w->cap, path);
		return;
	}
	trees_add_one(w->t, w->rights, path);
	if (w->t->n > n && nearest(w->open, path) && lstat(path, &st) == 0) {
		w->t->list[n].dev = st.st_dev;
		w->t->list[n].ino = st.st_ino;
	}
	free(path);
}

static void visit_entries(struct work *w, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	struct dirent *e;

	while (d && w->t->n < TREES_MAX && (e = readdir(d))) {
		char *path;

		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") || e->d_type == DT_LNK)
			continue;
		path = xasprintf("%s/%s", str_eq(dir, "/") ? "" : dir, e->d_name);
		if (str_one_of(path, w->closed))
			free(path);
		else
			visit(w, path);
	}
}

void trees_add(struct trees *t, unsigned rights, const char *const *closed, const char *const *open)
{
	struct work w = {.t = t, .rights = rights, .closed = closed, .open = open};

	if (!str_one_of("/", closed))
		visit(&w, xstrdup("/"));
	for (; open && *open; open++) {
		size_t shut = nearest(closed, *open);

		/* An open place is covered already, unless a closed one is between it and its open
		 * ancestor. */
		if (shut > 0 && shut < strlen(*open))
			visit(&w, xstrdup(*open));
	}
	while (w.n > 0) {
		char *dir = w.todo[--w.n];

		visit_entries(&w, dir);
		push(&t->ways, &t->n_ways, &t->cap_ways, dir);
	}
	free(w.todo);
}

static int by_path(const void *a, const void *b)
{
	const struct landlock_tree *x = a, *y = b;

	return strcmp(x->path, y->path);
}

void trees_sort(struct trees *t)
{
	size_t kept = 0;

	if (t->n > 0)
		qsort(t->list, t->n, sizeof(*t->list), by_path);
	for (size_t i = 0; i < t->n; i++) {
		if (kept > 0 && str_eq(t->list[kept - 1].path, t->list[i].path)) {
			t->list[kept - 1].rights |= t->list[i].rights;
			free(t->list[i].path);
		} else {
			t->list[kept++] = t->list[i];
		}
	}
	t->n = kept;
}

/* Returns whether the rule's path still leads to its object. Landlock keeps the object, so its
 * inode number is not reused. */
static bool is_there(const struct landlock_tree *rule, int root, const struct landlock_tree **known)
{
	struct stat st;

	if (root < 0 || !rule->ino || (known && *known == rule))
		return true;
	if (fstatat(root, rule->path + 1, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_dev != rule->dev ||
	    st.st_ino != rule->ino)
		return false;
	if (known && S_ISDIR(st.st_mode))
		*known = rule;
	return true;
}

/* Returns the rights of the rule for exactly the first len bytes of path. */
static unsigned find(const struct trees *t, const char *path, size_t len, int root,
		     const struct landlock_tree **known)
{
	size_t low = 0, high = t->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const char *at = t->list[mid].path;
		int order = strncmp(at, path, len);

		if (order == 0 && at[len] == '\0')
			return is_there(&t->list[mid], root, known) ? t->list[mid].rights : 0;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return 0;
}

unsigned trees_rights(const struct trees *t, const char *path, int root,
		      const struct landlock_tree **known)
{
	unsigned rights = find(t, "/", 1, root, known);

	for (size_t i = 1; path[0] == '/' && path[i - 1] != '\0'; i++)
		if (path[i] == '/' || path[i] == '\0')
			rights |= find(t, path, i, root, known);
	return rights;
}

bool trees_is_way(const struct trees *t, const char *path)
{
	for (size_t i = 0; i < t->n_ways; i++)
		if (str_eq(t->ways[i], path))
			return true;
	return false;
}

void trees_done(struct trees *t)
{
	for (size_t i = 0; i < t->n; i++)
		free(t->list[i].path);
	for (size_t i = 0; i < t->n_ways; i++)
		free(t->ways[i]);
	free(t->list);
	free(t->ways);
	*t = (struct trees){0};
}
