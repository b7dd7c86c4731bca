/* list - lists the committed and undone steps, and the changes of each. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/journal/history.h"
#include "core/journal/history/list.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/parts.h"
#include "core/journal/step/step.h"
#include "core/journal/steps.h"
#include "core/journal/store/aside.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"

bool step_info_has(const struct step_info *list, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (list[i].id == id)
			return true;
	return false;
}

void step_info_done(struct step_info *s)
{
	free(s->command);
	free(s->why);
	free(s->unprotected);
	for (char **f = s->folders; f && *f; f++)
		free(*f);
	free(s->folders);
	*s = (struct step_info){0};
}

void step_info_free(struct step_info *list, size_t n)
{
	for (size_t i = 0; list && i < n; i++)
		step_info_done(&list[i]);
	free(list);
}

/* Returns whether an agent's git ran on its own repository of snapshots of the folder. */
static bool is_snapshot(const char *command)
{
	const char *s = command + (str_starts(command, "git ") ? strlen("git ") : 0);

	while (s > command && str_starts(s, "-c ")) { /* a setting */
		s += strlen("-c ");
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	return s > command && str_starts(s, "--git-dir ") && strstr(s, "/opencode/snapshot/");
}

bool step_is_note(enum step_kind kind, bool elsewhere, size_t changed, const char *command)
{
	if (kind == STEP_AMBIENT)
		return elsewhere;
	if (!command || !is_snapshot(command))
		return elsewhere && command && str_eq(command, "git init");
	return elsewhere || !changed;
}

bool step_is_yours(const char *command)
{
	return command && str_starts(command, YOURS_MARK);
}

bool step_is_restore(enum step_kind kind, const char *command)
{
	return kind == STEP_API && command && str_starts(command, "undo ");
}

const char *step_deed(enum step_kind kind, const char *command)
{
	const char *colon = kind == STEP_AMBIENT && command ? strstr(command, ": ") : NULL;

	return colon ? colon + 2 : command;
}

bool history_dir_is_note(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_SUMMARY struct summary s = {0};
	const struct step_info *i = &s.info;

	return fd >= 0 && summary_load(fd, false, &s) == 0 && !i->incomplete && !i->unprotected &&
	       step_is_note(i->kind, i->elsewhere && !i->granted,
			    i->created + i->modified + i->deleted + i->renamed, i->command);
}

int64_t history_step_ended(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	AUTO_SUMMARY struct summary s = {0};

	return fd < 0 || summary_load(fd, false, &s) < 0 ? 0 : s.info.ended_us;
}

bool history_step_is_damaged(int r)
{
	return r == -EBADMSG || r == -EIO || r == -ENOENT || r == -ENODATA;
}

bool history_step_is_gone(const struct journal *j, const char *dir)
{
	return faccessat(j->store, dir, F_OK, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
}

int history_step_unread(struct err *err, int r, const char *id)
{
	if (!history_step_is_damaged(r))
		return err_set(err, r, "read step %s", id);
	return err_say(err, -EBADMSG,
		       "step %s is damaged: `cordon journal verify` says where: newer steps can "
		       "be undone without it, `cordon log --prune` throws it and older ones away",
		       id);
}

/* Describes a step with a damaged summary by its log and the name of its directory. */
static int load_damaged(const struct journal *j, int fd, const char *dir, struct step_info *i)
{
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;

	if (history_step_is_gone(j, dir))
		return -ENOENT;
	if (log_look(j, &log, fd, "undo") < 0 || !step_read_head(&log, i))
		i->command = xstrdup("");
	i->id = atoll(strchr(dir, '/') + 1);
	i->ended_us = i->began_us;
	i->exit_status = -1;
	i->incomplete = true;
	i->why = xstrdup("damaged: `cordon journal verify` says where");
	return 0;
}

/* dir: "steps/5" */
static int load_info(const struct journal *j, const char *dir, struct step_info *ret)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct summary s = {0};
	struct part_folders f = {0};
	int r = fd < 0 ? fd : summary_load(fd, false, &s);

	if (fd < 0)
		return r;

	if (history_step_is_damaged(r))
		r = load_damaged(j, fd, dir, &s.info);
	if (r == 0)
		r = parts_load(fd, &f);
	if (r < 0) {
		summary_done(&s);
		return r;
	}
	*ret = s.info;
	if (!f.n)
		return 0;
	ret->folders = xcalloc(f.n + 1, sizeof(char *));
	memcpy(ret->folders, f.list, f.n * sizeof(char *)); /* the list owns the strings */
	return 0;
}

/* Lists the steps once. Skips steps that were moved meanwhile; *ret_all counts them, too. */
static int list_once(struct journal *j, bool undone, struct step_info **ret, size_t *ret_n,
		     size_t *ret_all, struct err *err)
{
	const char *where = undone ? "redo" : "steps";
	struct step_info *list = NULL;
	AUTO_NAMES struct names names = {0};
	size_t got = 0;
	int r = store_names(j, where, &names);

	if (r == 0)
		list = xcalloc(names.n + 1, sizeof(*list));
	for (size_t i = names.n; r == 0 && i-- > 0;) {
		AUTO_FREE char *dir = xasprintf("%s/%s", where, names.list[i]);

		r = load_info(j, dir, &list[got]);
		if (r == 0)
			got++;
		else if (r == -ENOENT)
			r = 0; /* moved by the writer meanwhile */
		else
			history_step_unread(err, r, names.list[i]);
	}
	if (r < 0) {
		step_info_free(list, got);
		return err && err->code ? r : err_set(err, r, "list '%s'", j->store_path);
	}
	*ret = list;
	*ret_n = got;
	*ret_all = names.n;
	return 0;
}

/* Lists again if all steps were moved while they were read: there are others. */
static int list_store(struct journal *j, bool undone, struct step_info **ret, size_t *ret_n,
		      struct err *err)
{
	size_t all = 0;
	int r;

	*ret = NULL;
	do {
		free(*ret);
		*ret = NULL;
		r = list_once(j, undone, ret, ret_n, &all, err);
	} while (r == 0 && all && !*ret_n);
	return r;
}

/* Sorts the newest first; the parts of one step are neighbours. */
static int info_by_id(const void *a, const void *b)
{
	const struct step_info *x = a, *y = b;
	long long i = llabs(x->id), k = llabs(y->id);

	if (i != k)
		return i < k ? 1 : -1;
	return x->began_us < y->began_us ? 1 : x->began_us > y->began_us ? -1 : 0;
}

static bool is_part(const struct step_info *a, const struct step_info *b)
{
	return (a->folders || b->folders) && a->id == b->id &&
	       (a->began_us == b->began_us || !b->began_us); /* unknown */
}

/* Adds the numbers of the second part to the first. The caller frees the rest of the second. */
static void join_parts(struct step_info *a, struct step_info *b)
{
	a->created += b->created;
	a->modified += b->modified;
	a->deleted += b->deleted;
	a->renamed += b->renamed;
	a->incomplete |= b->incomplete;
	a->elsewhere &= b->elsewhere;
	a->granted |= b->granted;
	if (!a->folders)
		a->folders = take_ptr(&b->folders);
	if (!a->why)
		a->why = take_ptr(&b->why);
	if (!a->unprotected)
		a->unprotected = take_ptr(&b->unprotected);
}

static size_t join_all(struct step_info *list, size_t n)
{
	size_t kept = 0;

	if (n)
		qsort(list, n, sizeof(*list), info_by_id);
	for (size_t i = 0; i < n; i++) {
		struct step_info *one = &list[i];

		if (kept && is_part(&list[kept - 1], one)) {
			join_parts(&list[kept - 1], one);
			step_info_done(one);
			continue;
		}
		list[kept++] = *one;
	}
	return kept;
}

int journal_list(struct journal *j, bool undone, struct step_info **ret, size_t *ret_n,
		 struct err *err)
{
	struct step_info *list = NULL;
	size_t n = 0;
	int r = list_store(j, undone, &list, &n, err);

	for (struct journal *k = j->sibling; r == 0 && k != j; k = k->sibling) {
		struct step_info *more = NULL;
		size_t n_more = 0;

		r = list_store(k, undone, &more, &n_more, err);
		list = xrealloc(list, (n + n_more + 1) * sizeof(*list));
		if (n_more)
			memcpy(list + n, more, n_more * sizeof(*list));
		n += n_more;
		free(more);
	}
	if (r < 0) {
		step_info_free(list, n);
		return r;
	}
	*ret_n = j->sibling == j ? n : join_all(list, n);
	*ret = list;
	return 0;
}

int journal_info(struct journal *j, int64_t id, struct step_info *ret, struct err *err)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);
	struct step_info *list = NULL;
	struct journal *k = j;
	size_t n = 0;
	int r;

	do {
		list = xrealloc(list, (n + 1) * sizeof(*list));
		r = load_info(k, dir, &list[n]);
		n += r == 0;
	} while ((r == 0 || r == -ENOENT) && (k = k->sibling) != j);
	if (r < 0 && r != -ENOENT)
		r = history_step_unread(err, r, path_base(dir));
	else if (!n)
		r = step_unknown(j, id, false, err);
	else
		r = 0;
	if (r == 0) {
		n = join_all(list, n);
		*ret = list[0];
		list[0] = (struct step_info){0};
	}
	step_info_free(list, n);
	return r;
}

/* Sorts the greatest first, whatever the signs; equal ones are neighbours. */
static int id_descending(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	if (llabs(*x) != llabs(*y))
		return llabs(*x) < llabs(*y) ? 1 : -1;
	return *x < *y ? 1 : *x > *y ? -1 : 0;
}

int journal_ids(struct journal *j, bool undone, int64_t **ret, size_t *ret_n, struct err *err)
{
	AUTO_FREE int64_t *list = xcalloc(1, sizeof(*list));
	const struct journal *k = j;
	size_t n = 0, kept = 0;

	do {
		AUTO_NAMES struct names names = {0};
		int r = store_names(k, undone ? "redo" : "steps", &names);

		if (r < 0)
			return err_set(err, r, "list '%s'", k->store_path);
		list = xrealloc(list, (n + names.n + 1) * sizeof(*list));
		for (size_t i = names.n; i-- > 0;)
			list[n++] = atoll(names.list[i]);
	} while ((k = k->sibling) != j);
	qsort(list, n, sizeof(*list), id_descending);
	for (size_t i = 0; i < n; i++)
		if (!kept || list[i] != list[kept - 1])
			list[kept++] = list[i];
	*ret = take_ptr(&list);
	*ret_n = kept;
	return 0;
}

int journal_newest(struct journal *j, int64_t *ret)
{
	AUTO_FREE int64_t *ids = NULL;
	size_t n = 0;
	int r = journal_ids(j, false, &ids, &n, NULL);

	*ret = n ? ids[0] : 0;
	return r;
}

/* Returns whether no session runs: it would hold the lock. */
static bool is_left(const struct journal *j)
{
	AUTO_CLOSE int lock = openat(j->store, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	return lock >= 0 && flock(lock, LOCK_SH | LOCK_NB) == 0;
}

bool journal_is_empty(const struct journal *j)
{
	return is_left(j) && aside_is_empty(j->store);
}

int journal_open_steps(struct journal *j, struct step_info **ret, size_t *ret_n, struct err *err)
{
	AUTO_NAMES struct names names = {0};
	int r = store_names(j, "open", &names);

	*ret = xcalloc(names.n + 1, sizeof(**ret));
	*ret_n = 0;
	for (size_t i = names.n; r == 0 && i-- > 0;) {
		AUTO_FREE char *dir = xasprintf("open/%s", names.list[i]);
		AUTO_CLOSE int fd = store_open_dir(j, dir);
		AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;

		/* The next start reports a step that cannot be read. */
		if (fd >= 0 && undo_log_open(&log, fd, "undo", false, true) == 0 &&
		    step_read_head(&log, &(*ret)[*ret_n]))
			++*ret_n;
	}
	return r < 0 ? err_set(err, r, "read the history of '%s'", j->folder) : 0;
}

int journal_interrupted(struct journal *j, struct step_info **ret, size_t *ret_n, struct err *err)
{
	*ret = NULL;
	*ret_n = 0;
	return is_left(j) ? journal_open_steps(j, ret, ret_n, err) : 0;
}

static int open_step(const struct journal *j, int64_t id, bool *undone)
{
	/* The writer may redo it between two looks. */
	static const char *const where[] = {"steps", "redo", "steps"};
	int fd = -ENOENT;

	for (size_t i = 0; i < ARRAY_LEN(where) && fd == -ENOENT; i++) {
		AUTO_FREE char *dir = xasprintf("%s/%" PRId64, where[i], id);

		fd = store_open_dir(j, dir);
		if (undone)
			*undone = i == 1;
	}
	return fd;
}

int step_unknown(struct journal *j, int64_t id, bool other, struct err *err)
{
	const struct journal *k = j;
	bool undone = false;

	for (; k && !undone; k = k->sibling == j ? NULL : k->sibling) {
		AUTO_CLOSE int fd = open_step(k, id, &undone);

		undone &= fd >= 0;
	}
	if (undone)
		return err_say(err, -ENOENT,
			       "step %" PRId64 " is undone: `cordon redo` brings it back", id);
	if (other)
		return err_say(err, -ENOENT,
			       "there is no step %" PRId64 ": type %" PRId64
			       ", as `cordon log` and the console show it",
			       id, -id);
	return err_say(err, -ENOENT, "there is no step %" PRId64 ": `cordon log` lists them", id);
}

int history_find(struct journal *j, int64_t id, bool *undone, struct err *err)
{
	AUTO_CLOSE int other = -1;
	int fd = open_step(j, id, undone);

	if (fd >= 0)
		return fd;
	if (fd != -ENOENT)
		return err_set(err, fd, "open step %" PRId64, id);
	other = open_step(j, -id, NULL);
	return step_unknown(NULL, id, other >= 0, err);
}

bool history_has(struct journal *j, int64_t id, struct err *err)
{
	AUTO_CLOSE int fd = history_find(j, id, NULL, err);

	return fd != -ENOENT;
}

int history_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err)
{
	AUTO_CLOSE int fd = history_find(j, id, NULL, err);
	AUTO_SUMMARY struct summary s = {0};
	int r;

	if (fd < 0)
		return take_fd(&fd);
	r = summary_load(fd, true, &s);
	if (r < 0) {
		AUTO_FREE char *name = xasprintf("%" PRId64, id);

		return history_has(j, id, err) ? history_step_unread(err, r, name) : -ENOENT;
	}
	*ret = take_ptr(&s.changes);
	*ret_n = s.n;
	for (size_t i = 0; i < s.n; i++)
		(*ret)[i].in = j;
	s.n = 0;
	return 0;
}

/* Appends the changes; frees `more`. */
static void join_changes(struct change **list, size_t *n, struct change *more, size_t n_more,
			 bool first)
{
	*list = xrealloc(*list, (*n + n_more + 1) * sizeof(**list));
	for (size_t i = 0; i < n_more; i++) {
		struct change *c = &more[i];

		if (!first || c->root)
			c->base = xstrdup(root_path(c->in, c->root));
		(*list)[(*n)++] = *c;
	}
	free(more);
}

int journal_changes(struct journal *j, int64_t id, struct change **ret, size_t *ret_n,
		    struct err *err)
{
	struct change *list = NULL, *more = NULL;
	struct journal *k = j;
	bool found = false;
	size_t n = 0, n_more = 0;
	int r;

	do {
		struct err why = {0};

		r = history_changes(k, id, &more, &n_more, &why);
		if (r == 0)
			join_changes(&list, &n, more, n_more, k == j);
		else if (err)
			*err = why;
		found |= r == 0;
	} while ((r == 0 || r == -ENOENT) && (k = k->sibling) != j);
	if (found && (r == 0 || r == -ENOENT)) {
		if (err)
			*err = (struct err){0};
		*ret = list;
		*ret_n = n;
		return 0;
	}
	change_free(list, n);
	return r;
}

/* ---- steps of a path --------------------------------------------------------------------------
 */

static bool concerns(const struct change *c, const char *path)
{
	return !*path || path_is_beneath(c->path, path) ||
	       (c->old_path &&
		(path_is_beneath(c->old_path, path) || path_is_beneath(path, c->path) ||
		 path_is_beneath(path, c->old_path)));
}

/* Returns whether a change touches one of the names. Adds their older names, for older steps. */
static bool touches(const struct change *list, size_t n, struct path_set *names)
{
	AUTO_PATH_SET struct path_set older = {0};
	bool hit = false;

	for (size_t i = 0; i < n; i++) {
		if (list[i].root)
			continue;
		for (size_t k = 0; k < path_set_count(names); k++) {
			AUTO_FREE char *before = NULL;
			const char *path;

			path_key_root(path_set_key(names, k), &path);
			if (!concerns(&list[i], path))
				continue;
			hit = true;
			before = xstrdup(path);
			if (list[i].old_path && path_carry(&before, list[i].path, list[i].old_path))
				path_set_add(&older, 0, before);
		}
	}
	for (size_t k = 0; k < path_set_count(&older); k++)
		path_set_add_key(names, path_set_key(&older, k));
	return hit;
}

int journal_touched(struct journal *j, const struct step_info *list, size_t n,
		    const char *const *paths, size_t n_paths, bool *touched, struct err *err)
{
	AUTO_PATH_SET struct path_set names = {0};
	int r = 0;

	for (size_t i = 0; i < n_paths; i++)
		path_set_add(&names, 0, paths[i]);
	for (size_t i = 0; r == 0 && i < n; i++) {
		struct change *changes = NULL;
		size_t n_changes = 0;
		struct err why = {0};

		r = journal_changes(j, list[i].id, &changes, &n_changes, &why);
		touched[i] = r == -EBADMSG || touches(changes, n_changes, &names); /* damaged */
		/* -ENOENT: a running session pruned it meanwhile. */
		if (r == -EBADMSG || r == -ENOENT)
			r = 0;
		else if (r < 0 && err)
			*err = why;
		change_free(changes, n_changes);
	}
	return r;
}
