/* plan_open - finds the paths that the rollback of open steps skips: those edited from outside. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/attribution.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/rollback/undo.h"
#include "core/journal/step/edited.h"
#include "core/journal/step/incomplete.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/steps.h"
#include "core/journal/store/news.h"
#include "core/journal/store/reach.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/names.h"
#include "core/journal/util/path_set.h"
#include "core/os/file.h"

/*
 * An open step has no after-images, so the plan of its rollback finds external edits by three other
 * signs. It skips all the paths, as an undo with --keep-mine would.
 *   - seen: the watcher saw an edit of a path that the step has changed, or journal_live() found
 *     one in an unwatched root. The step's file "edited" names the path from then on, even after
 *     this process has died.
 *   - later: the process died, and the file's ctime is later than its last sign of life, the mtime
 *     of the step's log (journal_live()). That sign is at most SIGN_SLACK_NS old.
 *   - foreign: a directory that the step created holds an entry that is not the step's
 *     (plan_dirs.c).
 */

#define SIGN_SLACK_NS 3000000000 /* the keeper gives a sign every two seconds */
#define NAMED_MAX     20	 /* paths that a message names */

/* ---- signs ------------------------------------------------------------------------------------
 */

void journal_live(struct journal *j)
{
	struct journal *k = j;

	do
		for (struct step *s = k->open; s; s = s->next) {
			if (!s->made)
				continue;
			attribution_find_unwatched(s);
			if (futimens(s->side.log.fd, NULL) < 0)
				log_warn("journal", "a sign of life: %s", strerror(errno));
		}
	while ((k = k->sibling) != j);
}

int open_last_sign(struct journal *j, const struct names *dirs, int64_t *ret)
{
	int64_t last = 0;

	for (size_t i = 0; i < dirs->n; i++) {
		AUTO_FREE char *log = xasprintf("%s/undo", dirs->list[i]);
		struct stat st;

		if (fstatat(j->store, log, &st, AT_SYMLINK_NOFOLLOW) == 0)
			last = MAX(last, OS_MTIME(&st).tv_sec * 1000000000 + OS_MTIME(&st).tv_nsec);
		else if (errno != ENOENT) /* else the step's changes would look like edits */
			return -errno;
	}
	if (j->rebooted) { /* the last sign may be lost; no step ran after the boot */
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		last = MAX(last, now.tv_sec * 1000000000 - clock_boot_us() * 1000);
	}
	*ret = last + SIGN_SLACK_NS;
	return 0;
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

static void add_note(struct planner *p, struct path_set *to, uint64_t seq, struct span key)
{
	const char *path;
	int root = path_key_root(key.data, &path);

	renames_add_now(&p->moves, seq, root, path, to);
}

static int add_seen(struct planner *p, const char *dir, struct path_set *to)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	AUTO_FREE char *text = NULL;
	struct buf *unnoted = &p->j->unnoted;
	size_t len = 0;
	uint64_t seq;
	struct span key;
	struct codec_reader g;
	int r = fd < 0 ? fd : io_read_file(fd, EDITED_FILE, EDITED_MAX, &text, &len);

	if (r < 0 && r != -ENOENT)
		return r;
	g = (struct codec_reader){.p = text, .end = text ? text + len : NULL};
	while (edited_next(&g, &seq, &key))
		add_note(p, to, seq, key);
	g = (struct codec_reader){.p = unnoted->data, .end = unnoted->data + unnoted->len};
	while (g.p < g.end) {
		AUTO_FREE char *of = xasprintf("open/%" PRId64, (int64_t)codec_get_u64(&g));

		if (!edited_next(&g, &seq, &key))
			break;
		if (str_eq(dir, of))
			add_note(p, to, seq, key);
	}
	return 0;
}

/* Returns whether the file changed after the last sign of life. Not for a directory: a change of
 * its entries changes its times, and the entries are looked at themselves. */
static bool is_later(struct journal *j, const char *key, int64_t last_sign_ns)
{
	const char *path;
	int root = path_key_root(key, &path);
	struct object o;

	return reach_see(j, root, path, &o) == 0 && o.mode && o.mode != OBJECT_UNSEEN &&
	       !S_ISDIR(o.mode) && o.ctime_ns > last_sign_ns;
}

/* Adds the paths of other running steps, whose entries in a directory are no external edits. */
static void add_others(struct planner *p)
{
	for (struct step *s = p->j->open; s; s = s->next)
		for (size_t i = 0; i < touched_paths_count(&s->touches); i++)
			path_set_add_key(&p->places, touched_paths_key(&s->touches, i));
}

static int build(struct planner *p, int64_t last_sign_ns)
{
	AUTO_PATH_SET struct path_set edited = {0};
	int r = plan_read(p);

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = add_seen(p, p->dirs->list[i], &edited);
	for (size_t i = 0; r == 0 && last_sign_ns && i < path_set_count(&p->places); i++)
		if (is_later(p->j, path_set_key(&p->places, i), last_sign_ns))
			path_set_add_key(&edited, path_set_key(&p->places, i));
	for (size_t i = 0; i < path_set_count(&edited); i++) {
		const char *path;
		int root = path_key_root(path_set_key(&edited, i), &path);
		struct object o;

		/* A missing path has nothing to lose. A save in progress is checked at each record
		 * (replay_saves.c). */
		if (reach_see(p->j, root, path, &o) < 0 ||
		    (o.mode && !replay_saves_have(p->j, root, path, &o)))
			plan_entry(p, root, path, 'M', true);
	}
	add_others(p);
	if (r == 0)
		r = plan_compare(p);
	return r < 0 ? r : plan_check_dirs(p);
}

int plan_open(struct journal *j, const struct names *dirs, int64_t last_sign_ns,
	      struct undo_plan **ret, struct resolution *remedy)
{
	struct planner p = {.j = j, .dirs = dirs, .open = true};
	const struct emptied e = {dirs, NULL, &p.moves, &p.moved_edits};
	struct emptied with = e;
	int r;

	store_forget_near(j);
	p.plan = xcalloc(1, sizeof(*p.plan));
	p.plan->flags = UNDO_KEEP_MINE | UNDO_ALL_PLACES;
	p.logs = xcalloc(dirs->n + 1, sizeof(*p.logs));
	for (size_t i = 0; i < dirs->n; i++)
		p.logs[i] = (struct undo_log)UNDO_LOG_NONE;
	with.logs = p.logs;
	r = build(&p, last_sign_ns);
	store_forget_near(j);
	if (r == 0)
		r = resolution_keep(j, p.plan, &with, remedy);
	if (r == 0)
		*ret = p.plan;
	else
		undo_plan_free(p.plan);
	plan_forget(&p);
	return r;
}

int journal_check_edited(struct step *s, struct err *err)
{
	struct step *p = s;
	int r = 0;

	do {
		AUTO_FREE char *dir = xasprintf("open/%" PRId64, p->id);
		char *one = dir;
		const struct names dirs = {.list = &one, .n = 1};
		AUTO_BUF struct buf shown = BUF_INIT;
		struct undo_plan *plan = NULL;
		struct resolution remedy = {0};

		if (!p->made)
			continue;
		attribution_find(p);
		r = plan_open(p->j, &dirs, 0, &plan, &remedy);
		if (r == 0 && plan->n_entries) {
			const char *path = plan->entries[0].path;

			text_escape(&shown, path, strlen(path));
			r = err_say(err, -ESTALE,
				    "'%s'%s edited from outside since: nothing was changed",
				    shown.data, plan->n_entries > 1 ? " and others were" : " was");
		} else if (r < 0) {
			err_set(err, r, "compare the folder with the step");
		}
		undo_plan_free(plan);
		resolution_done(&remedy);
	} while (r == 0 && (p = p->part) != s);
	return r;
}

/* Returns whether `of` has the path, or a directory above it. */
static bool has_above(struct touched_paths *of, const char *key)
{
	AUTO_FREE char *above = xstrdup(key);
	char *slash;

	while (!touched_paths_find(of, above)) {
		slash = strrchr(above, '/');
		if (!slash || slash == strchr(above, '/'))
			return false;
		*slash = '\0';
	}
	return true;
}

/* ---- messages ---------------------------------------------------------------------------------
 */

/* Appends kept paths, as in "'a', 'b' and 3 more": those of the step with the paths `of`, or all
 * (NULL). Returns their number. */
static size_t name_kept(const struct txn *t, struct touched_paths *of, struct buf *to)
{
	size_t n = 0;

	for (size_t i = 0; i < path_set_count(&t->remedy.kept); i++) {
		const char *path, *key = path_set_key(&t->remedy.kept, i);

		if (of && !has_above(of, key))
			continue;
		if (n++ >= NAMED_MAX)
			continue;
		path_key_root(key, &path);
		buf_str(to, n > 1 ? ", '" : "'");
		text_escape(to, path, strlen(path));
		buf_ch(to, '\'');
	}
	if (n > NAMED_MAX)
		buf_fmt(to, " and %zu more", n - NAMED_MAX);
	return n;
}

void plan_open_tell(struct txn *t)
{
	AUTO_BUF struct buf names = BUF_INIT;
	size_t n = name_kept(t, NULL, &names);

	if (!n)
		return;
	t->j->urgent = true;
	journal_say(t->j, "edited from outside, and left as %s: %s", n == 1 ? "it is" : "they are",
		    names.data);
}

void plan_open_why(const struct txn *t, struct touched_paths *of, char **why)
{
	AUTO_BUF struct buf words = BUF_INIT;

	buf_str(&words, "edited from outside, and not rolled back: ");
	if (name_kept(t, of, &words))
		incomplete_join(why, words.data);
}
