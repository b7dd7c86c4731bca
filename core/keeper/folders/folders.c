/* folders - the places that the keeper may change: working folders and granted directories. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/folders/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/log.h"
#include "core/base/path.h"
#include "core/keeper/folders/saves.h"
#include "core/keeper/state.h"
#include "core/os/file.h"

#define PRUNE_PARTS 32 /* journal_prune_on(), each time: 0.3 ms */
#define PRUNE_US    5000
#define ALIASES_MAX 256 /* learnt during the session; each change searches them */

/*
 * Each working folder has a journal of its own. A granted directory, or a repository that belongs
 * to a folder, has none: it is a further root in the journal of the first folder. So two sessions
 * in two worktrees of a repository each have a history of their own changes in it.
 */

static struct folder *folder_add(struct keeper *k, const char *path, int *fd, struct journal *j,
				 int root)
{
	struct folder *f = xcalloc(1, sizeof(*f));

	f->keeper = k;
	f->path = xstrdup(path);
	f->path_len = strlen(path);
	f->fd = take_fd(fd);
	f->journal = j;
	f->root = root;
	k->folders = xrealloc(k->folders, (k->n_folders + 1) * sizeof(struct folder *));
	k->folders[k->n_folders++] = f;
	return f;
}

/* ---- aliases --------------------------------------------------------------------------------- */

const char *alias_of(const struct keeper *k, const struct stat *st)
{
	for (size_t i = 0; i < k->n_aliases; i++) {
		if (k->aliases[i].dev == st->st_dev && k->aliases[i].ino == st->st_ino)
			return k->aliases[i].path;
	}
	return NULL;
}

static void alias_add(struct keeper *k, char *path, const struct stat *st)
{
	k->aliases = xrealloc(k->aliases, (k->n_aliases + 1) * sizeof(*k->aliases));
	k->aliases[k->n_aliases++] =
		(struct alias){.dev = st->st_dev, .ino = st->st_ino, .path = path};
}

void alias_learn(struct keeper *k, const char *path, const struct stat *st)
{
	if (k->n_aliases < ALIASES_MAX && !alias_of(k, st))
		alias_add(k, xstrdup(path), st);
}

size_t alias_room(const struct keeper *k)
{
	return k->n_aliases < ALIASES_MAX ? ALIASES_MAX - k->n_aliases : 0;
}

/*
 * Finds the other names of a protected file, by which it could be written. A new name cannot be
 * made without a question (POLICY_LINK_FROM). So all names are found at the start, by the watcher
 * (watch_filled.c), or are names that the user has allowed (brought.c).
 */
static void find_aliases(struct keeper *k, const struct folder *f, const char *below)
{
	AUTO_CLOSE int fd = -1;
	AUTO_DIR DIR *dir = NULL;
	struct dirent *e;

	fd = openat(f->fd, *below ? below : ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	dir = fdopendir(fd);
	if (!dir)
		return;
	fd = -1;
	while ((e = readdir(dir))) {
		AUTO_FREE char *path = NULL;
		const char *reason;
		struct stat st;

		if (e->d_type != DT_REG && e->d_type != DT_UNKNOWN)
			continue;
		path = xasprintf("%s%s%s/%s", f->path, *below ? "/" : "", below, e->d_name);
		if (policy_check(k->policy, POLICY_WRITE, path, &reason) == POLICY_ALLOW)
			continue;
		if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		if (S_ISREG(st.st_mode) && st.st_nlink > 1)
			alias_add(k, take_ptr(&path), &st);
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

static int open_root(const char *path, int *ret, struct err *err)
{
	*ret = open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return *ret < 0 ? err_set(err, -errno, "open the folder '%s'", path) : 0;
}

/* For rollbacks, as for renames: returns whether the policy does not simply allow an object of this
 * type at this path. */
static bool guards(void *data, const char *path, mode_t type)
{
	const struct keeper *k = data;

	return k->policy && policy_guards(k->policy, path, type);
}

static bool is_theirs(void *data, const char *path, const struct object *o)
{
	return saves_is_theirs(data, path, o);
}

static void placed(void *data, const char *path, const struct object *o)
{
	saves_placed(data, path, o);
}

static const struct journal_saves saves = {.is_theirs = is_theirs, .placed = placed};

static int open_journal(struct keeper *k, const char *path, bool followed, struct journal **ret,
			struct err *err)
{
	const struct journal_spec spec = {.folder = path,
					  .state_dir = k->spec->state_dir,
					  .pid = getppid(), /* cordon: a keeper ends with it */
					  .with = k->journal,
					  .followed = followed,
					  .lasting = true,
					  .settled = !k->spec->spawn,
					  .guards = guards,
					  .saves = &saves,
					  .guards_data = k,
					  .options = k->spec->journal};
	AUTO_FREE char *was = NULL, *news = NULL;
	size_t recovered = 0;
	struct err ignored = {0};
	bool moved = journal_find_moved(&spec, &was, &ignored) > 0;
	int r = journal_open(ret, &spec, &recovered, err);

	if (r == -EPROTO && moved)
		return err_say(err, r,
			       "'%s' was renamed, its history is that of '%s': `cordon log "
			       "--adopt` takes it over",
			       path, was);
	if (r == 0 && moved)
		keeper_note(k,
			    "'%s' was renamed and begins a new history; the old one is kept under "
			    "'%s': `cordon log --adopt` goes back to it",
			    path, was);
	if (r == 0 && recovered)
		keeper_recovered(k,
				 "a step was interrupted when cordon ended: %zu %s before it; "
				 "`cordon redo` brings its changes back",
				 recovered,
				 recovered == 1 ? "path is back as it was"
						: "paths are back as they were");
	if (r == 0 && (news = journal_news(*ret)))
		keeper_warn(k, "%s", news);
	return r;
}

/* A folder that is opened at the session's start. */
struct opening {
	const char *path;
	struct journal *journal;
	int fd;
};

static int by_path(const void *a, const void *b)
{
	const struct opening *const *x = a, *const *y = b;

	return strcmp((*x)->path, (*y)->path);
}

/* Opens the journals in the order of their paths, not the user's order: two starts that name the
 * same folders must not each lock one and wait for the other. */
static int open_journals(struct keeper *k, struct opening *list, size_t n, struct err *err)
{
	AUTO_FREE struct opening **sorted = xcalloc(n + 1, sizeof(struct opening *));
	int r = 0;

	for (size_t i = 0; i < n; i++)
		sorted[i] = &list[i];
	qsort(sorted, n, sizeof(struct opening *), by_path);
	for (size_t i = 0; r == 0 && i < n; i++) {
		r = open_root(sorted[i]->path, &sorted[i]->fd, err);
		if (r == 0)
			r = open_journal(k, sorted[i]->path, i + 1 < n, &sorted[i]->journal, err);
		k->journal = sorted[0]->journal;
	}
	return r;
}

static void folder_start(struct keeper *k, struct opening *o)
{
	static const char *const places[] = {"", ".git", ".git/hooks", ".vscode", ".claude"};
	struct folder *f = folder_add(k, o->path, &o->fd, o->journal, 0);

	for (size_t i = 0; k->policy && i < ARRAY_LEN(places); i++)
		find_aliases(k, f, places[i]);
}

static int add_repository(struct keeper *k, const char *path, struct err *err)
{
	AUTO_CLOSE int fd = -1;
	int r = open_root(path, &fd, err);

	for (size_t i = 0; r == 0 && i < k->n_folders; i++)
		if (!k->folders[i]->root)
			journal_hide_store(k->folders[i]->journal, path);
	if (r == 0)
		r = journal_add_root(k->journal, path, true, err);
	if (r > 0)
		folder_add(k, path, &fd, k->journal, r);
	return MIN(r, 0);
}

int folders_init(struct keeper *k, struct err *err)
{
	const char *const *repos = k->spec->repositories;
	const char *const *paths = k->spec->folders;
	size_t n = util_list_len(paths);
	AUTO_FREE struct opening *list = xcalloc(n + 1, sizeof(*list));
	int r;

	for (size_t i = 0; i < n; i++)
		list[i] = (struct opening){.path = paths[i], .fd = -1};
	r = n ? open_journals(k, list, n, err) : 0;
	k->journal = r == 0 ? list[0].journal : NULL;
	for (size_t i = 0; i < n; i++) {
		if (r == 0 && i)
			journal_move_last(list[i].journal, k->journal);
		if (r == 0)
			folder_start(k, &list[i]);
		else
			journal_close(list[i].journal);
		util_close_fd(&list[i].fd);
	}
	for (; r == 0 && n && repos && *repos; repos++)
		r = add_repository(k, *repos, err);
	return r;
}

void folders_done(struct keeper *k)
{
	for (size_t i = 0; i < k->n_folders; i++) {
		if (!k->folders[i]->root)
			journal_close(k->folders[i]->journal);
		util_close_fd(&k->folders[i]->fd);
		free(k->folders[i]->path);
		free(k->folders[i]);
	}
	free(k->folders);
	for (size_t i = 0; i < k->n_aliases; i++)
		free(k->aliases[i].path);
	free(k->aliases);
	saves_done(k);
	buf_done(&k->path);
	buf_done(&k->path2);
}

int folder_grant(struct keeper *k, const char *dir, struct folder **ret)
{
	AUTO_CLOSE int fd = -1;
	struct err err = {0};
	int r;

	for (size_t i = 0; i < k->n_folders; i++) {
		if (k->folders[i]->granted && str_eq(k->folders[i]->path, dir)) {
			*ret = k->folders[i];
			return 0;
		}
	}
	if (!k->outside)
		return -EPERM;
	r = open_root(dir, &fd, &err);
	if (r == 0)
		r = journal_add_root(k->journal, dir, false, &err);
	if (r < 0) {
		keeper_note(k, "what you allowed cannot be done: %s", err.text);
		return r;
	}
	*ret = folder_add(k, dir, &fd, k->journal, r);
	(*ret)->granted = true;
	return 0;
}

/* ---- looking up ------------------------------------------------------------------------------ */

struct folder *folders_find(struct keeper *k, const char *path, const char **below)
{
	struct folder *best = NULL;

	for (size_t i = 0; i < k->n_folders; i++) {
		struct folder *f = k->folders[i];

		if ((!best || f->path_len > best->path_len) && path_is_beneath(path, f->path))
			best = f;
	}
	if (best && below)
		*below = path_below(path, best->path);
	return best;
}

struct folder *folders_at(struct keeper *k, size_t i)
{
	return i < k->n_folders ? k->folders[i] : NULL;
}

const char *folder_path(const struct folder *f)
{
	return f->path;
}

int folder_fd(const struct folder *f)
{
	return f->fd;
}

uint64_t folder_dir_moves(const struct folder *f)
{
	return journal_dir_moves(f->journal);
}

int folder_root(const struct folder *f)
{
	return f->root;
}

int folder_store_fd(const struct folder *f)
{
	return journal_store_fd(f->journal);
}

/* ---- the stores ------------------------------------------------------------------------------ */

void keeper_tidy(struct keeper *k)
{
	for (size_t i = 0; k->sandbox && i < k->n_folders; i++) {
		int r = k->folders[i]->root ? 0 : journal_tidy(k->folders[i]->journal);

		if (r < 0)
			log_warn("keeper", "what undo keeps is not compressed: %s", strerror(-r));
	}
}

int64_t prune_next(const struct keeper *k)
{
	return k->pruned ? 0 : MAX(k->prune_at, 1);
}

void prune_tick(struct keeper *k)
{
	if (k->pruned || k->now < k->prune_at)
		return;
	k->prune_at = k->now + PRUNE_US;
	k->pruned = !k->journal || !journal_prune_on(k->journal, PRUNE_PARTS);
	if (k->pruned && k->journal) {
		keeper_news(k);
		keeper_tidy(k);
	}
}

void keeper_prune(struct keeper *k)
{
	if (k->pruned || !k->journal)
		return;
	k->pruned = true;
	journal_prune_on(k->journal, PRUNE_REST);
	keeper_news(k);
	keeper_tidy(k);
}

void keeper_news(struct keeper *k)
{
	bool aloud = journal_urges(k->journal);
	AUTO_FREE char *words = journal_news(k->journal);

	if (words && aloud)
		keeper_warn(k, "%s", words);
	else if (words)
		keeper_note(k, "%s", words);
}
