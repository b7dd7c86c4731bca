/* prune - limits of the store: steps that grow too big, old steps that are removed. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/history/after_image.h"
#include "core/journal/journal.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/step.h"
#include "core/journal/step/unkept.h"
#include "core/journal/store/pruned_concurrent.h"
#include "core/journal/store/store.h"

/*
 * Space is what the store alone holds. An inode that was moved in counts with its blocks, divided
 * by its names (a file that still has a name in the folder is the folder's too). A copy counts with
 * its blocks. A clone shares its blocks with the folder's file and costs nothing when it is made;
 * once the step has ended, those of its extents count that nothing shares any more. Extents that
 * two clones share with each other are counted for neither: too little rather than too much, as
 * what is counted too high would cost somebody an undo. Logs and images count with their blocks.
 *
 * The file "held" of a kept step has the number in its first line, and below it the slots whose
 * copies can be compressed (background.c). It is a note: without it, the step is measured.
 */

#define HELD_MAX ((size_t)64 << 20)

/* ---- what a human should hear -----------------------------------------------------------------
 */

void journal_say(struct journal *j, const char *fmt, ...)
{
	AUTO_BUF struct buf words = BUF_INIT;
	va_list ap;

	if (j->news)
		buf_fmt(&words, "%s; ", j->news);
	va_start(ap, fmt);
	buf_vfmt(&words, fmt, ap);
	va_end(ap);
	free(j->news);
	j->news = xstrdup(words.data);
}

void journal_set_limits(struct journal *j, const struct journal_options *o)
{
	struct journal *k = j;

	do {
		k->options.size = o->size;
		k->options.step_size = o->step_size;
		k->options.steps = o->steps;
	} while ((k = k->sibling) != j);
}

bool journal_urges(const struct journal *j)
{
	const struct journal *k = j;
	bool urgent = false;

	do
		urgent |= k->news && k->urgent;
	while ((k = k->sibling) != j);
	return urgent;
}

char *journal_news(struct journal *j)
{
	char *words = take_ptr(&j->news);

	j->urgent = false;

	for (struct journal *k = j->sibling; k != j; k = k->sibling) {
		AUTO_FREE char *more = take_ptr(&k->news), *first = words;

		k->urgent = false;
		if (more)
			words = xasprintf("%s%s%s", first ? first : "", first ? "; " : "", more);
		else
			first = NULL;
	}
	return words;
}

/* ---- one step ---------------------------------------------------------------------------------
 */

/* What is moved into the store costs no copy: only the store's own size limits it. */
static bool store_is_short(const struct step *s, uint64_t bytes)
{
	uint64_t limit = s->j->options.size;

	return limit && s->held + (s->made ? wal_tail(&s->side.log) : 0) + bytes > limit;
}

void step_unprotect(struct step *s, const char *op, const char *path, uint64_t bytes)
{
	const struct journal_options *o = &s->j->options;
	bool all = store_is_short(s, bytes);
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_FREE char *why = NULL, *before = NULL;
	char size[32];

	if (s->bare)
		return;
	s->bare = xstrdup(unkept_path(s) ? unkept_path(s) : path);
	text_escape(&shown, path, strlen(path));
	text_size(size, sizeof(size), all ? o->size : step_limit(s->j));
	if (o->off)
		why = xasprintf("not recorded, as journal.undo is false (from %s '%s')", op,
				shown.data);
	else
		why = xasprintf("unprotected from here: %s '%s': journal.%s (%s) is reached", op,
				shown.data, all ? "size" : "step-size", size);
	step_mark_incomplete(s, why);
	if (!o->off || !s->j->reported_off) {
		/* Where this is shown there may be room for one line: the warning comes behind. */
		before = take_ptr(&s->j->news);
		journal_say(s->j, "step %" PRId64 ": %s", s->id, why);
		if (before)
			journal_say(s->j, "%s", before);
	}
	s->j->reported_off = o->off;
}

uint64_t step_limit(const struct journal *j)
{
	const struct journal_options *o = &j->options;

	/* A step that alone filled the store would be all that it keeps, and then some. */
	if (o->step_size && o->size)
		return MIN(o->step_size, o->size);
	return o->step_size ? o->step_size : o->size;
}

bool step_has_room(const struct step *s, uint64_t bytes, bool copied)
{
	uint64_t limit = step_limit(s->j);

	if (s->bare || s->j->options.off)
		return false;
	if (s->raised)
		return true;
	return !(copied && limit && s->copied + bytes > limit) && !store_is_short(s, bytes);
}

void step_holds_more(struct step *s, uint64_t bytes, bool copied)
{
	uint64_t limit = step_limit(s->j);
	char size[32];

	s->held += bytes;
	s->copied += copied ? bytes : 0;
	if (!limit || s->warned || s->raised || s->copied < limit / 10 * 8)
		return;
	s->warned = true;
	text_size(size, sizeof(size), limit);
	journal_say(s->j,
		    "step %" PRId64 " has used 80 %% of %s (journal.step-size): beyond it, changes "
		    "cannot be undone",
		    s->id, size);
}

int step_go_beyond(struct step *s, uint64_t bytes, bool copied)
{
	int r = 0;

	if (!s->bare && !s->j->options.off && s->on_loss)
		r = s->on_loss(s->on_loss_data, LOSS_BEYOND, bytes);
	return r < 0 ? r : step_has_room(s, bytes, copied);
}

int step_protects(struct step *s, const char *op, const char *path, uint64_t bytes, bool copied)
{
	int r = step_has_room(s, bytes, copied) ? 1 : step_go_beyond(s, bytes, copied);

	if (r == 0)
		step_unprotect(s, op, path, bytes);
	if (r > 0 && !s->may_wait) /* then it comes again */
		step_holds_more(s, bytes, copied);
	return r;
}

void step_raise(struct step *s)
{
	struct step *p = s;

	do
		p->raised = true;
	while ((p = p->part) != s);
}

uint64_t obj_weight(const struct obj *o)
{
	return o->blocks * 512 / MAX(o->nlink, 1u);
}

/* ---- what a kept step holds -------------------------------------------------------------------
 */

static uint64_t weigh(int dirfd, const char *name)
{
	struct obj o;

	return obj_stat(dirfd, name, &o) < 0 ? 0 : obj_weight(&o);
}

uint64_t held_files(int stepdir)
{
	static const char *const names[] = {"undo", "redo", "summary", "post", "left"};
	uint64_t sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		sum += weigh(stepdir, names[i]);
	return sum;
}

/* Directories among the objects are counted with what lies in them. */
static uint64_t weigh_dir(int parent, const char *name, int depth)
{
	AUTO_CLOSE int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	uint64_t sum = 0;

	if (!dir)
		return 0;
	fd = -1;
	while ((e = readdir(dir))) {
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, ".."))
			continue;
		sum += weigh(dirfd(dir), e->d_name);
		if (depth < 64 && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
			sum += weigh_dir(dirfd(dir), e->d_name, depth + 1);
	}
	return sum;
}

int held_write(int stepdir, const struct held *h)
{
	AUTO_BUF struct buf b = BUF_INIT;

	buf_fmt(&b, "%" PRIu64 " %s\n", h->bytes, h->packed ? "packed" : "plain");
	for (size_t i = 0; i < h->n; i++)
		buf_fmt(&b, "%" PRIx64 "\n", h->slots[i]);
	return io_write_file(stepdir, "held", 0600, b.data, b.len, false);
}

int held_read(int stepdir, struct held *h)
{
	AUTO_FREE char *text = NULL;
	char *line, *save = NULL, word[8] = "";
	size_t len;
	int r = io_read_file(stepdir, "held", HELD_MAX, &text, &len);

	*h = (struct held){0};
	if (r < 0)
		return r;
	if (!len || text[len - 1] != '\n' || sscanf(text, "%" SCNu64 " %7s", &h->bytes, word) != 2)
		return -EBADMSG;
	h->packed = str_eq(word, "packed");
	strtok_r(text, "\n", &save);
	while ((line = strtok_r(NULL, "\n", &save))) {
		if (h->n % 64 == 0)
			h->slots = xrealloc(h->slots, (h->n + 64) * sizeof(*h->slots));
		h->slots[h->n++] = strtoull(line, NULL, 16);
	}
	return 0;
}

static uint64_t held_of(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct held h = {0};
	int r = fd < 0 ? 0 : held_read(fd, &h);

	free(take_ptr(&h.slots));
	if (fd < 0 || r == 0)
		return h.bytes;
	h = (struct held){.bytes = held_files(fd) + weigh_dir(fd, "obj", 0), .packed = true};
	if (!j->read_only && held_write(fd, &h) < 0)
		return h.bytes; /* measured again, then */
	return h.bytes;
}

uint64_t store_held(const struct journal *j, const char *dir)
{
	return held_of(j, dir);
}

int held_note(struct step *s)
{
	/* The log's own size is cut back to its tail after this. */
	struct held h = {.bytes = s->held + wal_tail(&s->side.log) + weigh(s->side.dir, "summary") +
				  weigh(s->side.dir, "post")};

	for (size_t i = 0; i < s->n_clones; i++) {
		char name[24];

		slot_name(name, s->clones[i]);
		h.bytes += data_unshared(s->side.obj, name);
	}
	h.slots = s->copies;
	h.n = s->n_copies;
	return held_write(s->side.dir, &h);
}

/* ---- making room ------------------------------------------------------------------------------
 */

static uint64_t files_of(const struct journal *j, const char *dir)
{
	AUTO_CLOSE int fd = store_open_dir(j, dir);

	return fd < 0 ? 0 : held_files(fd);
}

static uint64_t held_below(const struct journal *j, const char *where,
			   uint64_t (*of)(const struct journal *j, const char *name))
{
	char **names = NULL;
	uint64_t sum = 0;
	size_t n = 0;

	if (store_names(j, where, &names, &n) < 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *name = xasprintf("%s/%s", where, names[i]);

		sum += of(j, name);
	}
	store_names_free(names, n);
	return sum;
}

static uint64_t size_of(const struct journal *j, const char *name)
{
	return weigh(j->store, name);
}

uint64_t store_holds(const struct journal *j)
{
	return held_below(j, "steps", held_of) + held_below(j, "redo", held_of) +
	       held_below(j, "posts", size_of) + held_below(j, BESIDE_DIR, files_of);
}

/* The oldest number among the images of the steps that are kept or can be redone. */
static uint64_t oldest_post(const struct journal *j)
{
	static const char *const where[] = {"steps", "redo"};
	uint64_t oldest = UINT64_MAX;

	for (size_t k = 0; k < ARRAY_LEN(where); k++) {
		char **names = NULL;
		size_t n = 0;

		if (store_names(j, where[k], &names, &n) < 0)
			return 0;
		for (size_t i = 0; i < n; i++) {
			AUTO_FREE char *name = xasprintf("%s/%s/post", where[k], names[i]);
			uint64_t seq = post_peek_seq(j->store, name);

			oldest = seq ? MIN(oldest, seq) : oldest;
		}
		store_names_free(names, n);
	}
	return oldest;
}

/*
 * Images of steps whose redo is gone say how their paths look now. Each step has newer images of
 * all of its own paths, so those that are older than every step's speak of nothing that can still
 * be undone.
 */
static void drop_posts(struct journal *j)
{
	uint64_t oldest = 0;
	char **names = NULL;
	size_t n = 0;

	if (store_names(j, "posts", &names, &n) < 0)
		return;
	if (n)
		oldest = oldest_post(j);
	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *name = xasprintf("posts/%s", names[i]);
		uint64_t seq = post_peek_seq(j->store, name);

		if (seq && seq < oldest && unlinkat(j->store, name, 0) < 0)
			break; /* only space */
	}
	store_names_free(names, n);
}

static int prune(struct journal *j, struct journal_prune *e, char *const *names, size_t n,
		 struct beside *b)
{
	uint64_t total = e->size ? store_holds(j) : 0, freed;
	int r = 0;

	for (size_t i = 0; r == 0 && i < n; i++) {
		AUTO_FREE char *dir = xasprintf("steps/%s", names[i]);
		int64_t id = atoll(names[i]);

		if (n - i <= e->spare || (j->evict_below && llabs(id) >= j->evict_below))
			break;
		if (!(e->steps && n - i > e->steps) && !(e->size && total > e->size) &&
		    !(e->before_us && step_ended(j, dir) < e->before_us) && e->n >= e->at_least)
			break;
		r = beside_let_go(b, i, e->size ? held_of(j, dir) : 0, &freed);
		if (r < 0)
			break;
		total -= MIN(total, freed);
		e->first = e->n ? e->first : id;
		e->last = id;
		e->n++;
	}
	while (r == 0 && e->size && total > e->size && beside_drop_one(b, &freed))
		total -= MIN(total, freed);
	return r;
}

int journal_prune(struct journal *j, struct journal_prune *e)
{
	struct beside b = {.j = j, .look_only = e->look_only};
	char **names = NULL;
	size_t n = 0;
	int r = store_names(j, "steps", &names, &n);

	b.steps = names;
	b.n_steps = n;
	if (r == 0)
		r = beside_begin(&b);
	if (r == 0)
		r = prune(j, e, names, n, &b);
	beside_done(&b);
	store_names_free(names, n);
	if ((e->n || b.dropped) && !e->look_only) {
		drop_posts(j);
		if (!j->tidy && !e->later)
			store_empty_trash(j, NULL);
	}
	return r;
}

/* ---- what went ---------------------------------------------------------------------------------
 */

#define PRUNED_FILE "pruned"

bool journal_pruned(const struct journal *j, struct journal_pruned *ret)
{
	AUTO_FREE char *text = NULL;

	return io_read_file(j->store, PRUNED_FILE, 256, &text, NULL) == 0 &&
	       sscanf(text, "%" SCNd64 " %zu %" SCNd64, &ret->last, &ret->n, &ret->us) == 3;
}

/* A note alone: without it `cordon log` says less. */
static void note_pruned(const struct journal *j, const struct journal_prune *e)
{
	struct journal_pruned was = {0};
	AUTO_BUF struct buf b = BUF_INIT;

	if (!e->n)
		return;
	journal_pruned(j, &was);
	buf_fmt(&b, "%" PRId64 " %zu %" PRId64 "\n", (int64_t)llabs(e->last), was.n + e->n,
		clock_wall_us());
	if (io_write_file(j->store, PRUNED_FILE, 0600, b.data, b.len, false) < 0)
		log_warn("journal", "it cannot be noted in '%s' which steps went", j->store_path);
}

/* ---- a session ---------------------------------------------------------------------------------
 */

#define SESSION_STEPS 100 /* times journal.steps may one session add */

static size_t steps_kept(const struct journal *j)
{
	char **names = NULL;
	size_t n = 0;

	if (store_names(j, "steps", &names, &n) < 0)
		return 0;
	store_names_free(names, n);
	return n;
}

static void weigh_all(struct journal *j)
{
	j->n_kept = steps_kept(j);
	j->holds = j->options.size ? store_holds(j) : 0;
}

void store_hold(struct journal *j)
{
	weigh_all(j);
	j->at_start = j->n_kept;
	j->lasting = true;
}

static void find_full(struct journal *j)
{
	const struct journal_options *o = &j->options;
	bool was = j->full;

	j->full = (o->steps && j->n_kept >= j->at_start + SESSION_STEPS * o->steps) ||
		  (o->size && j->holds > o->size);
	if (!j->full || was)
		return;
	j->urgent = true;
	journal_say(j,
		    "the history is full (journal.steps, journal.size): nothing of it goes while "
		    "this session lasts, and what it changes from now on is one step");
}

bool journal_is_full(const struct journal *j)
{
	const struct journal *k = j;
	bool full = false;

	do
		full |= k->full;
	while ((k = k->sibling) != j);
	return full;
}

static int fit(struct journal *j, bool later)
{
	static const char why[] =
		", can no longer be undone: the limits journal.steps and journal.size";
	struct journal_prune e = {
		.size = j->options.size, .steps = j->options.steps, .spare = 1, .later = later};
	int r;

	if (!e.size && !e.steps)
		return 0;
	if (j->lasting) {
		weigh_all(j);
		find_full(j);
		return 0;
	}
	r = journal_prune(j, &e);
	note_pruned(j, &e);
	j->urgent |= e.n > 0;
	if (e.n == 1)
		journal_say(j, "the oldest step, %" PRId64 "%s", e.first, why);
	else if (e.n)
		journal_say(j, "the oldest steps, %" PRId64 " to %" PRId64 "%s", e.first, e.last,
			    why);
	return r;
}

int store_fit(struct journal *j)
{
	return fit(j, false);
}

int store_fit_later(struct journal *j)
{
	return fit(j, true);
}

int store_grew(struct journal *j, int64_t id)
{
	AUTO_FREE char *dir = xasprintf("steps/%" PRId64, id);

	if (!j->lasting)
		return store_fit(j);
	j->n_kept++;
	j->holds += j->options.size ? held_of(j, dir) : 0;
	find_full(j);
	return 0;
}

static void say_full(struct journal *j)
{
	if (j->reported_full)
		return;
	j->reported_full = j->urgent = true;
	journal_say(
		j,
		"the disk or the quota of the undo store '%s' is full: changes that it cannot keep "
		"are refused: make room, or let old steps go with cordon log --prune",
		j->store_path);
}

bool store_relieve(struct journal *j, int why, bool back)
{
	struct journal_prune e = {.at_least = 1};

	if (why != -ENOSPC && why != -EDQUOT)
		return false;
	if (store_empty_trash(j, NULL))
		return true;
	if (!back && room_lend(j, why))
		return true;
	if (!back) {
		say_full(j);
		return false;
	}
	if (room_give(j, why)) /* that is what it was set aside for */
		return true;
	if (journal_prune(j, &e) < 0)
		return false;
	if (!e.n && !beside_clear(j))
		return false;
	store_empty_trash(j, NULL);
	j->urgent |= e.n > 0;
	note_pruned(j, &e);
	if (e.n)
		journal_say(j,
			    "step %" PRId64
			    " can no longer be undone: it made room for a rollback, "
			    "as the disk is full",
			    e.first);
	return true;
}
