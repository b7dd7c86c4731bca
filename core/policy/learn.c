/* learn - finds other names of protected files: links, gitfiles, and paths in git settings. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/policy/trees/seen.h"

/*
 * Protection goes by names. A name that is a link - .envrc, .vscode, a hook, .git itself - leads to
 * a file of another name, which is written without a question. So links of protected names are
 * followed, from the folder down. The same walk finds files whose names say that they hold secrets,
 * which are then covered by mounts: it is over before anything of the agent runs.
 *
 * One level of the tree after the other, by THREADS threads when it is large; directories of other
 * people's code come last. A start waits for all of it, as long as policy_search() says. In a
 * session the bounds are of processor time, 300 ms of two processors, and of real time for cold
 * disks and busy machines. A tree that takes longer is cut there: the first change waits for links
 * of protected names once more as long, and each further one for a directory.
 */
#define CPU_US	  600000
#define REAL_US	  2000000
#define SLOW_US	  1000000 /* then the user is told what the start waits for */
#define THREADS	  2
#define LEVEL_MIN 128  /* directories in a level, from which threads pay */
#define LOOK_EACH 1024 /* entries between two reads of the clock */

/* ---- the walk -------------------------------------------------------------------------------- */

/* Absolute paths found by one thread, or by all. */
struct found {
	struct places dirs, late; /* to be read in the next level, and at the end */
	struct places links, repositories, bare, secrets;
	struct seen_part seen;
};
#define FOUND_INIT                                                                                 \
	{                                                                                          \
		.seen = SEEN_PART_INIT                                                             \
	}

struct walk {
	struct places dirs, late; /* to be read in that order */
	size_t next;
	bool changed; /* a change has waited for it */
};

/* The directories of one level. Each thread takes one at a time, until none or no time is left. */
struct level {
	struct policy *p;
	const struct seen *before; /* NULL: no earlier search, or it is of no use */
	struct places dirs;
	atomic_size_t next;
	int64_t slow, end, cpu_end; /* of clock_mono_us(), and of processor time */
	bool all;		    /* rules may hide any name, not only secrets */
	bool note;		    /* names are stored for the next search */
};

struct part {
	struct level *level;
	struct found found;
	pthread_t thread;
	bool runs;
	bool first; /* of the caller's own thread */
};

static int64_t cpu_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static struct level level_of(struct policy *p)
{
	const int64_t now = clock_mono_us(), us = p->search.us;

	return (struct level){.p = p,
			      .slow = now + SLOW_US,
			      .end = now + (us ? us : REAL_US),
			      .cpu_end = us ? INT64_MAX : cpu_us() + CPU_US};
}

void policy_search(struct policy *p, const struct policy_search *s)
{
	p->search = s ? *s : (struct policy_search){0};
}

static void tell_slow(const struct level *l)
{
	struct policy_search *s = &l->p->search;

	if (!s->slow || clock_mono_us() < l->slow)
		return;
	s->slow(s->data);
	s->slow = NULL;
}

static bool is_late(const struct level *l)
{
	return clock_mono_us() > l->end || (l->cpu_end < INT64_MAX && cpu_us() > l->cpu_end);
}

/* Returns whether the directory holds other people's code by the thousand, or generated files: it
 * is searched last. */
static bool is_bulk(const char *name)
{
	static const char *const names[] = {"node_modules", "__pycache__", "target",  ".venv",
					    ".tox",	    ".cache",	   "objects", "vendor"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

/* Judges by the name alone, as this runs in threads; by rules only if there is one thread. */
static bool is_secret(const struct level *l, const char *path, const char *name)
{
	const char *why;

	return l->all ? policy_check_read(l->p, RULE_READ, path, &why) != POLICY_ALLOW
		      : policy_name_is_secret(l->p, name);
}

/* A directory that is being read. */
struct look {
	const struct level *l;
	struct found *f;
	const char *dir;
	bool head, objects; /* both: a bare repository */
	bool failed;	    /* it could not be read completely */
	bool noted;	    /* it goes into the record */
	size_t entries;	    /* those read */
	struct seen_dir id;
	struct buf held; /* for seen_part_add() */
};

static bool is_of_git(const char *name)
{
	return str_eq(name, ".git") || str_eq(name, "HEAD") || str_eq(name, "objects");
}

/* Returns whether a name leads to anything, now or when a later search takes it from the record. */
static bool matters(const struct look *k, const char *name, unsigned char type)
{
	return type == DT_DIR || type == DT_LNK || is_of_git(name) || k->l->all ||
	       policy_name_is_secret(k->l->p, name);
}

static void take_entry(struct look *k, const char *name, unsigned char type)
{
	struct found *f = k->f;
	AUTO_FREE char *path = path_join(k->dir, name);

	k->head = k->head || str_eq(name, "HEAD");
	k->objects = k->objects || str_eq(name, "objects");
	if (str_eq(name, ".git"))
		places_add(&f->repositories, xstrdup(k->dir));
	if (is_secret(k->l, path, name))
		places_add(&f->secrets, take_ptr(&path));
	else if (type == DT_LNK)
		places_add(&f->links, take_ptr(&path));
	else if (type == DT_DIR && !str_eq(name, ".git") && !str_eq(name, ".cordon"))
		places_add(is_bulk(name) ? &f->late : &f->dirs, take_ptr(&path));
}

/* Returns false if time ran out before all of it was read. */
static bool read_entries(struct look *k)
{
	AUTO_DIR DIR *d = opendir(k->dir);
	const struct dirent *e;

	/* Identifies the open directory. The agent of another session may exchange directories
	 * above it, which changes what the path leads to, but none of its own times. */
	if (d && k->l->note)
		k->noted = seen_identify(&k->f->seen, dirfd(d), "", &k->id);
	while (errno = 0, d && (e = readdir(d))) {
		unsigned char type = e->d_type == DT_UNKNOWN ? learn_type(k->dir, e) : e->d_type;

		if (++k->entries % LOOK_EACH == 0 && is_late(k->l))
			return false;
		if (str_eq(e->d_name, ".") || str_eq(e->d_name, "..") ||
		    !matters(k, e->d_name, type))
			continue;
		take_entry(k, e->d_name, type);
		if (!k->noted)
			continue;
		buf_ch(&k->held, (char)type);
		buf_add(&k->held, e->d_name, strlen(e->d_name) + 1);
	}
	k->failed = !d || errno != 0;
	return true;
}

static void take_seen(struct look *k, struct span held)
{
	const char *end = held.data + held.len;

	for (const char *at = held.data; at < end; at += 2 + strlen(at + 1))
		take_entry(k, at + 1, (unsigned char)*at);
}

/* Returns whether the directory is as an earlier search saw it. ret: its names in that search's
 * record. */
static bool is_seen(struct look *k, struct span *ret)
{
	if (!k->l->before)
		return false;
	k->noted = seen_identify(&k->f->seen, AT_FDCWD, k->dir, &k->id);
	return k->noted && seen_find(k->l->before, &k->id, ret);
}

/* Returns the same as read_entries(). */
static bool scan(const struct level *l, struct found *f, const char *dir)
{
	struct look k = {.l = l, .f = f, .dir = dir, .held = BUF_INIT};
	bool whole = true;
	struct span held;

	if (is_seen(&k, &held)) {
		take_seen(&k, held);
		seen_part_add(&f->seen, &k.id, held.data, held.len);
	} else {
		whole = read_entries(&k);
		if (k.noted && whole && !k.failed) {
			seen_part_add(&f->seen, &k.id, k.held.data, k.held.len);
			f->seen.fresh += 1 + k.entries / SEEN_ENTRIES;
		}
	}
	if (whole && k.head && k.objects)
		places_add(&f->bare, xstrdup(dir));
	buf_done(&k.held);
	return whole;
}

static void *scan_some(void *data)
{
	struct part *part = data;
	struct level *l = part->level;
	size_t i;

	while ((i = atomic_fetch_add(&l->next, 1)) < l->dirs.n) {
		if (part->first)
			tell_slow(l);
		if (is_late(l) || !scan(l, &part->found, l->dirs.list[i]))
			places_add(&part->found.late, xstrdup(l->dirs.list[i]));
	}
	return NULL;
}

static void found_move(struct found *to, struct found *from)
{
	places_move(&to->dirs, &from->dirs);
	places_move(&to->late, &from->late);
	places_move(&to->links, &from->links);
	places_move(&to->repositories, &from->repositories);
	places_move(&to->bare, &from->bare);
	places_move(&to->secrets, &from->secrets);
	seen_part_move(&to->seen, &from->seen);
}

static void scan_level(struct level *l, struct found *ret)
{
	struct part parts[THREADS];
	size_t n = l->all || l->dirs.n < LEVEL_MIN ? 1 : THREADS;

	for (size_t i = 0; i < n; i++)
		parts[i] = (struct part){.level = l, .found = FOUND_INIT, .first = i == 0};
	for (size_t i = 1; i < n; i++)
		parts[i].runs = pthread_create(&parts[i].thread, NULL, scan_some, &parts[i]) == 0;
	scan_some(&parts[0]);
	for (size_t i = 0; i < n; i++) {
		if (parts[i].runs)
			pthread_join(parts[i].thread, NULL);
		found_move(ret, &parts[i].found);
	}
}

/* Reads the directories from w->next on, level by level, until `end`; secrets stay in ret. */
static void walk_until(struct walk *w, struct level *l, struct found *ret)
{
	while (!is_late(l) && (w->next < w->dirs.n || w->late.n)) {
		if (w->next == w->dirs.n)
			places_move(&w->dirs, &w->late);
		for (; w->next < w->dirs.n; w->next++)
			places_add(&l->dirs, take_ptr(&w->dirs.list[w->next]));
		atomic_store(&l->next, 0);
		scan_level(l, ret);
		places_done(&l->dirs);
		w->dirs.n = w->next = 0;
		places_move(&w->dirs, &ret->dirs);
		places_move(&w->late, &ret->late);
	}
}

static void learn_found(struct policy *p, struct found *f)
{
	for (size_t i = 0; i < f->repositories.n; i++)
		learn_repository(p, f->repositories.list[i]);
	for (size_t i = 0; i < f->bare.n; i++)
		learn_bare(p, f->bare.list[i]);
	for (size_t i = 0; i < f->links.n; i++)
		policy_learn_link(p, f->links.list[i]);
	places_done(&f->repositories);
	places_done(&f->bare);
	places_done(&f->links);
}

bool policy_learn_more(struct policy *p)
{
	struct level l = level_of(p);
	struct walk *w = p->walk;
	struct found found = FOUND_INIT;

	if (!w)
		return false;
	if (w->changed) {
		/* Reads at least one more directory, at any time. */
		if (w->next == w->dirs.n)
			places_move(&w->dirs, &w->late);
		l.end = l.cpu_end = INT64_MAX;
		if (w->next < w->dirs.n) {
			AUTO_FREE char *dir = take_ptr(&w->dirs.list[w->next++]);

			scan(&l, &found, dir);
		}
		places_move(&w->dirs, &found.dirs);
		places_move(&w->late, &found.late);
	} else {
		w->changed = true;
		walk_until(w, &l, &found);
	}
	places_done(&found.secrets);
	learn_found(p, &found);
	if (w->next < w->dirs.n || w->late.n)
		return true;
	learn_done(p);
	return false;
}

void learn_done(struct policy *p)
{
	if (p->walk) {
		places_done(&p->walk->dirs);
		places_done(&p->walk->late);
	}
	free(take_ptr(&p->walk));
}

/* Keeps the secrets among them: files that the rules do not allow to be read. */
static void keep_secrets(struct policy *p, struct places *found)
{
	const char *why;

	for (size_t i = 0; i < found->n; i++)
		if (policy_check_read(p, RULE_READ, found->list[i], &why) != POLICY_ALLOW)
			places_add(&p->secrets, take_ptr(&found->list[i]));
	places_done(found);
}

/* Returns a path on the heap; NULL: names below this directory are not stored. */
static char *seen_file(const struct policy *p, const char *dir)
{
	AUTO_FREE char *label = p->search.seen ? path_label(dir) : NULL;

	return label ? path_join(p->search.seen, label) : NULL;
}

static void find_in(struct policy *p, struct walk *w, const char *dir, struct found *found)
{
	AUTO_FREE char *clean = path_clean(dir);
	AUTO_FREE char *file = policy_restricts(p, dir) ? NULL : seen_file(p, clean);
	struct seen *before = file ? seen_load(file) : NULL;
	struct level l = level_of(p);
	size_t left;

	l.all = policy_restricts(p, dir);
	l.note = file != NULL;
	l.before = before;
	places_add(&w->dirs, take_ptr(&clean));
	walk_until(w, &l, found);
	if (file)
		seen_save(file, &found->seen);
	seen_part_done(&found->seen);
	seen_free(before);
	keep_secrets(p, &found->secrets);
	left = w->dirs.n - w->next + w->late.n;
	if (left && !p->n_unseen)
		p->unseen = xstrdup(w->late.n ? w->late.list[0] : w->dirs.list[w->next]);
	p->n_unseen += left;
}

bool policy_learn(struct policy *p, const char *folder)
{
	struct found found = FOUND_INIT;
	struct walk w = {0};
	bool whole;

	if (!places_cover(&p->folders, folder))
		places_add(&p->folders, path_clean(folder));
	find_in(p, &w, folder, &found);
	learn_found(p, &found);
	whole = w.next == w.dirs.n && !w.late.n;
	if (!whole && !p->walk)
		p->walk = xcalloc(1, sizeof(*p->walk));
	if (!whole) {
		places_move(&p->walk->dirs, &w.dirs);
		places_move(&p->walk->late, &w.late);
		p->walk->changed = false;
	}
	places_done(&w.dirs);
	places_done(&w.late);
	return !whole;
}

void policy_find_secrets(struct policy *p, const char *dir)
{
	struct found found = FOUND_INIT;
	struct walk w = {0};

	find_in(p, &w, dir, &found);
	places_done(&found.links);
	places_done(&found.repositories);
	places_done(&found.bare);
	places_done(&w.dirs);
	places_done(&w.late);
}

size_t policy_secret_paths(const struct policy *p, const char *const **ret)
{
	*ret = (const char *const *)p->secrets.list;
	return p->secrets.n;
}

size_t policy_unseen(const struct policy *p, const char **ret_first)
{
	*ret_first = p->unseen;
	return p->n_unseen;
}
