/* plan_open - what the rollback of open steps leaves out, as it was edited from outside meanwhile.
 */
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
#include "core/journal/fs/reach.h"
#include "core/journal/rollback/plan_priv.h"
#include "core/journal/rollback/replay.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_paths.h"
#include "core/os/file.h"

/*
 * An open step has no after-images, so the plan of its rollback knows edits from outside by three
 * other signs. All that they name is left out, as an undo with --keep-mine would leave it.
 *
 * - seen: the watcher saw an edit of a path that the step has changed. The file "edited" of the
 *   step names it from that moment on, also after this process has died.
 * - later: the process died, and the file's ctime is later than its last sign of life, the mtime of
 *   the step's log (journal_live()). That sign is at most SIGN_SLACK_NS old.
 * - foreign: a directory that the step made holds an entry that is not the step's (plan_dirs.c).
 */

#define EDITED_FILE   "edited"
#define EDITED_MAX    ((size_t)64 << 20)
#define SIGN_SLACK_NS 3000000000 /* the keeper gives a sign every two seconds */
#define NAMED_MAX     20	 /* paths that are told */

/* ---- signs ------------------------------------------------------------------------------------
 */

/* Adds a note to the end of the file, or leaves the file as it was. */
static int append_note(int dir, const struct buf *note)
{
	AUTO_CLOSE int fd =
		openat(dir, EDITED_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = io_write_all(fd, note->data, note->len);
	if (r < 0 && ftruncate(fd, st.st_size) < 0)
		log_warn("journal", "a torn note of an edit stays: %s", strerror(errno));
	return r;
}

void step_note_edit(struct step *s, const char *key)
{
	AUTO_BUF struct buf note = BUF_INIT;
	size_t start;
	struct rec last;
	int r;

	if (!s->made || !wal_last(&s->side.log, wal_tail(&s->side.log), &last, &start))
		return;
	put_u64(&note, last.seq);
	put_str(&note, key, strlen(key));
	r = append_note(s->side.dir, &note);
	if (r == 0)
		return;
	/* A full disk. A rollback by this process still knows; one after a crash goes by times. */
	log_warn("journal", "an edit from outside is not on disk: %s", strerror(-r));
	put_u64(&s->j->unnoted, (uint64_t)s->id);
	buf_add(&s->j->unnoted, note.data, note.len);
}

void journal_live(struct journal *j)
{
	struct journal *k = j;

	do
		for (const struct step *s = k->open; s; s = s->next)
			if (s->made && futimens(s->side.log.fd, NULL) < 0)
				log_warn("journal", "a sign of life: %s", strerror(errno));
	while ((k = k->sibling) != j);
}

int64_t open_last_sign(struct journal *j, const struct group *dirs)
{
	int64_t last = 0;

	for (size_t i = 0; i < dirs->n; i++) {
		AUTO_FREE char *log = xasprintf("%s/undo", dirs->dirs[i]);
		struct stat st;

		if (fstatat(j->store, log, &st, AT_SYMLINK_NOFOLLOW) == 0)
			last = MAX(last, OS_MTIME(&st).tv_sec * 1000000000 + OS_MTIME(&st).tv_nsec);
	}
	if (j->rebooted) { /* the last sign may not have reached the disk, and nothing ran since */
		struct timespec now;

		clock_gettime(CLOCK_REALTIME, &now);
		last = MAX(last, now.tv_sec * 1000000000 - clock_boot_us() * 1000);
	}
	return last + SIGN_SLACK_NS;
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

/* Takes the next note; false at the end, or at a torn one. */
static bool next_note(struct get *g, uint64_t *ret_seq, struct span *ret_key)
{
	*ret_seq = get_u64(g);
	*ret_key = get_str(g);
	return !g->bad && strchr(ret_key->data, '/');
}

static void add_note(struct planner *p, struct names *to, uint64_t seq, struct span key)
{
	const char *path;
	int root = key_root(key.data, &path);

	plan_add_place(p, to, seq, root, path);
}

static int add_seen(struct planner *p, const char *dir, struct names *to)
{
	AUTO_CLOSE int fd = store_open_dir(p->j, dir);
	AUTO_FREE char *text = NULL;
	struct buf *unnoted = &p->j->unnoted;
	size_t len = 0;
	uint64_t seq;
	struct span key;
	struct get g;
	int r = fd < 0 ? fd : io_read_file(fd, EDITED_FILE, EDITED_MAX, &text, &len);

	if (r < 0 && r != -ENOENT)
		return r;
	g = (struct get){.p = text, .end = text ? text + len : NULL};
	while (g.p < g.end && next_note(&g, &seq, &key))
		add_note(p, to, seq, key);
	g = (struct get){.p = unnoted->data, .end = unnoted->data + unnoted->len};
	while (g.p < g.end) {
		AUTO_FREE char *of = xasprintf("open/%" PRId64, (int64_t)get_u64(&g));

		if (!next_note(&g, &seq, &key))
			break;
		if (str_eq(dir, of))
			add_note(p, to, seq, key);
	}
	return 0;
}

/* What lies in a directory has changed its times, and is looked at itself. */
static bool is_later(struct journal *j, const char *key, int64_t last_sign_ns)
{
	const char *path;
	int root = key_root(key, &path);
	struct obj o;

	return reach_see(j, root, path, &o) == 0 && o.mode && o.mode != OBJ_UNSEEN &&
	       !S_ISDIR(o.mode) && o.ctime_ns > last_sign_ns;
}

/* What other steps that run have put into a directory is not somebody else's. */
static void add_others(struct planner *p)
{
	for (struct step *s = p->j->open; s; s = s->next)
		for (size_t i = 0; i < touches_count(&s->touches); i++)
			names_add_key(&p->places, touches_key(&s->touches, i));
}

static int build(struct planner *p, int64_t last_sign_ns)
{
	struct names edited = {0};
	int r = plan_read_open(p);

	for (size_t i = 0; r == 0 && i < p->dirs->n; i++)
		r = add_seen(p, p->dirs->dirs[i], &edited);
	for (size_t i = 0; r == 0 && last_sign_ns && i < names_count(&p->places); i++)
		if (is_later(p->j, names_key(&p->places, i), last_sign_ns))
			names_add_key(&edited, names_key(&p->places, i));
	for (size_t i = 0; i < names_count(&edited); i++) {
		const char *path;
		int root = key_root(names_key(&edited, i), &path);
		struct obj o;

		/* Of what is not there any more nothing can be lost; and a save under way is seen
		 * to record by record. */
		if (reach_see(p->j, root, path, &o) < 0 ||
		    (o.mode && !saves_have(p->j, root, path, &o)))
			plan_entry(p, root, path, 'M', true);
	}
	names_done(&edited);
	add_others(p);
	return r < 0 ? r : plan_check_dirs(p);
}

int plan_open(struct journal *j, const struct group *dirs, int64_t last_sign_ns,
	      struct undo_plan **ret, struct remedy *remedy)
{
	struct planner p = {.j = j, .dirs = dirs};
	const struct emptied e = {dirs, NULL, &p.moves, &p.chains};
	struct emptied with = e;
	int r;

	store_forget_near(j);
	p.plan = xcalloc(1, sizeof(*p.plan));
	p.plan->flags = UNDO_KEEP_MINE | UNDO_ALL_PLACES;
	p.logs = xcalloc(dirs->n + 1, sizeof(*p.logs));
	for (size_t i = 0; i < dirs->n; i++)
		p.logs[i] = (struct wal)WAL_NONE;
	with.logs = p.logs;
	r = build(&p, last_sign_ns);
	store_forget_near(j);
	if (r == 0 && p.plan->n_conflicts)
		r = remedy_keep(j, p.plan, &with, remedy);
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
		const struct group dirs = {.dirs = &one, .n = 1};
		AUTO_BUF struct buf shown = BUF_INIT;
		struct undo_plan *plan = NULL;
		struct remedy remedy = {0};

		if (!p->made)
			continue;
		step_find_edits(p);
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
		remedy_done(&remedy);
	} while (r == 0 && (p = p->part) != s);
	return r;
}

/* ---- told -------------------------------------------------------------------------------------
 */

/* "'a', 'b' and 3 more": those of the step with these paths, or (NULL) all. Returns how many. */
static size_t name_kept(const struct txn *t, struct touches *of, struct buf *to)
{
	size_t n = 0;

	for (size_t i = 0; i < names_count(&t->remedy.kept); i++) {
		const char *path, *key = names_key(&t->remedy.kept, i);

		if (of && !plan_open_has(of, key))
			continue;
		if (n++ >= NAMED_MAX)
			continue;
		key_root(key, &path);
		buf_str(to, n > 1 ? ", '" : "'");
		text_escape(to, path, strlen(path));
		buf_ch(to, '\'');
	}
	if (n > NAMED_MAX)
		buf_fmt(to, " and %zu more", n - NAMED_MAX);
	return n;
}

bool plan_open_has(struct touches *of, const char *key)
{
	AUTO_FREE char *above = xstrdup(key);
	char *slash;

	while (!touches_find(of, above)) {
		slash = strrchr(above, '/');
		if (!slash || slash == strchr(above, '/'))
			return false;
		*slash = '\0';
	}
	return true;
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

void plan_open_why(const struct txn *t, struct touches *of, char **why)
{
	AUTO_BUF struct buf words = BUF_INIT;

	buf_str(&words, "edited from outside, and not rolled back: ");
	if (name_kept(t, of, &words))
		mark_join(why, words.data);
}
