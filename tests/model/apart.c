/* apart - after a kill left a step in one of two folders, each must be whole, and undo and redo
 * must reach both ends. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "core/journal/journal.h"
#include "core/journal/step/parts.h"
#include "tests/model/play.h"

static char *store_of(const struct game *g, const char *folder)
{
	const struct journal_spec spec = {.folder = folder, .state_dir = g->w.state};
	char *store = NULL;

	if (journal_store_path(&store, &spec, NULL) < 0)
		abort();
	return store;
}

/* Returns whether one of the folders named by this directory of a step lacks its part. */
static bool lacks_part(const struct game *g, int at, const char *where, const char *id)
{
	AUTO_CLOSE int fd = openat(at, id, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct part_folders f = {0};
	bool lacks = false;

	if (fd < 0 || parts_load(fd, &f) < 0)
		return false;
	for (size_t i = 0; i < f.n; i++) {
		AUTO_FREE char *store = store_of(g, f.list[i]);
		AUTO_FREE char *dir = xasprintf("%s/%s/%s", store, where, id);

		lacks |= access(dir, F_OK) < 0;
	}
	part_folders_free(&f);
	return lacks;
}

static bool any_lacks_part(const struct game *g, const char *folder, const char *where)
{
	AUTO_FREE char *store = store_of(g, folder);
	AUTO_FREE char *path = xasprintf("%s/%s", store, where);
	AUTO_DIR DIR *dir = opendir(path);
	bool lacks = false;
	struct dirent *e;

	while (dir && !lacks && (e = readdir(dir)))
		lacks = e->d_name[0] != '.' && lacks_part(g, dirfd(dir), where, e->d_name);
	return lacks;
}

/* Returns whether a part of a rollback can no longer be redone. */
static bool any_redo_torn(const struct game *g)
{
	const struct reply *re = &g->w.sh->reply;

	for (size_t i = 0; i < g->h.n_redo; i++) {
		const struct undone *u = &g->h.redo[i];
		size_t there = 0;

		for (size_t k = 0; k < u->n; k++)
			there += in_list(re->undone, re->n_undone, u->rungs[k].id);
		if (there && there < u->n)
			return true;
	}
	return false;
}

bool is_apart(const struct game *g)
{
	const char *folders[] = {g->w.folder, g->w.second};
	bool apart = false;

	if (!g->w.second)
		return false;
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		apart |= any_lacks_part(g, folders[i], "steps") ||
			 any_lacks_part(g, folders[i], "redo");
	return apart || any_redo_torn(g);
}

/* Returns whether the trees of that folder are equal. See look(). */
static bool same_half(const char *x, const char *y, bool second)
{
	const char *a = strstr(x, "\n//"), *b = strstr(y, "\n//");
	AUTO_FREE char *one = NULL, *other = NULL;

	if (!a || !b)
		return false;
	one = second ? xstrdup(a + 3) : xstrndup(x, (size_t)(a + 1 - x));
	other = second ? xstrdup(b + 3) : xstrndup(y, (size_t)(b + 1 - y));
	return trees_equal_loosely(one, other);
}

/* Repeats the action until no step is left, or an external edit stops it. */
static void play_all(struct game *g, enum act_kind kind)
{
	const struct act act = {.kind = kind, .x = LIST_MAX, .y = UNDO_FORCE};
	const struct reply *re = &g->w.sh->reply;

	for (int i = 0; !g->failed && i < 2 * LIST_MAX; i++) {
		if (worker_act(&g->w, &act) < 0)
			return;
		if (re->r < 0 && re->r != -ESTALE)
			fail(g, "%s of what is left: %s", act_name(kind), re->words);
		if (re->r < 0 || !(kind == ACT_REDO ? re->n_undone : re->n_kept))
			return;
	}
	fail(g, "%s does not come to an end", act_name(kind));
}

void play_apart(struct game *g, const char *pre, const char *post)
{
	for (int second = 0; post && second < 2; second++)
		if (!same_half(g->now, pre, second) && !same_half(g->now, post, second))
			fail(g, "killed: the %s folder is neither old nor new",
			     second ? "second" : "first");
	history_done(&g->h); /* the history cannot describe such a step */
	audit(g);
	if (g->w.sh->reply.n_undone)
		play_all(g, ACT_REDO);
	if (!g->failed && g->w.sh->reply.n_kept)
		play_all(g, ACT_UNDO);
	if (!g->failed && g->w.sh->reply.n_undone)
		play_all(g, ACT_REDO);
	g->apart = true;
	if (g->set->verbose && !g->quiet)
		fprintf(stderr, "# a step is in one folder alone: the sequence ends\n");
}
