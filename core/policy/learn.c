/* learn - finds other names of protected files: links, gitfiles, and paths in git settings. */
/* SPDX-License-Identifier: MIT */
#include "core/policy/learn.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
#define SLOW_US	  1000000 /* then the human is told what the start waits for */
#define THREADS	  2
#define LEVEL_MIN 128  /* directories for which threads are worth it */
#define LOOK_EACH 1024 /* entries between two looks at the clock */

void policy_protect(struct policy *p, const char *path, const char *reason, bool keep)
{
	AUTO_FREE char *clean = path_clean(path);

	for (size_t i = 0; i < p->n_guarded; i++) {
		if (str_eq(p->guarded[i].path, clean)) {
			p->guarded[i].keep |= keep;
			return;
		}
	}
	p->guarded = xrealloc(p->guarded, (p->n_guarded + 1) * sizeof(*p->guarded));
	p->guarded[p->n_guarded++] = (struct guarded){take_ptr(&clean), reason, keep};
}

static bool in_folders(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->folders.n; i++)
		if (path_is_beneath(path, p->folders.list[i]) && !str_eq(path, p->folders.list[i]))
			return true;
	return false;
}

static void guard(struct policy *p, const char *path, const char *reason, bool keep)
{
	enum policy_verdict v = check_builtin_write(p, POLICY_WRITE, path).verdict;

	if (keep ? v != POLICY_HIDE : v == POLICY_ALLOW && in_folders(p, path))
		policy_protect(p, path, reason, keep);
}

/* The links on the way: who may lead one elsewhere need not write to where it leads. Heap; NULL: it
 * leads nowhere. */
static char *guard_links(struct policy *p, const char *path, const char *reason, bool keep)
{
	struct places passed = {0};
	char *real = NULL;
	bool inside;

	if (links_follow_each(path, NULL, &passed, &real, &inside) < 0)
		real = NULL;
	for (size_t i = 0; i < passed.n; i++)
		guard(p, passed.list[i], reason, keep);
	gated_trees_done(&passed);
	return real;
}

void learn_way(struct policy *p, const char *path, const char *reason)
{
	free(guard_links(p, path, reason, false));
}

static void learn_place(struct policy *p, const char *path, const char *reason, bool keep)
{
	AUTO_FREE char *clean = path_clean(path);
	AUTO_FREE char *real = NULL;

	guard(p, clean, reason, keep);
	real = guard_links(p, clean, reason, keep);
	if (real && !str_eq(real, clean))
		guard(p, real, reason, keep);
}

void policy_learn_place(struct policy *p, const char *path, const char *reason)
{
	learn_place(p, path, reason, false);
}

void policy_keep_place(struct policy *p, const char *path, const char *reason)
{
	learn_place(p, path, reason, true);
}

void policy_keep_way(struct policy *p, const char *path, const char *reason)
{
	free(guard_links(p, path, reason, true));
}

void policy_learn_link(struct policy *p, const char *path)
{
	/* Where a plain file would be nothing, a link is a directory. */
	const enum policy_act act =
		protect_is_tree(path_base(path)) ? POLICY_SYMLINK : POLICY_WRITE;
	struct builtin b = check_builtin_write(p, act, path);

	if (b.verdict == POLICY_VET || b.verdict == POLICY_ASK)
		policy_learn_place(p, path, b.reason);
}

static unsigned char type_of(const char *dir, const struct dirent *e)
{
	AUTO_FREE char *path = NULL;
	struct stat st;

	if (e->d_type != DT_UNKNOWN)
		return e->d_type;
	path = path_join(dir, e->d_name);
	return lstat(path, &st) < 0 ? DT_UNKNOWN : IFTODT(st.st_mode);
}

void learn_links(struct policy *p, const char *dir)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && (e = readdir(d))) {
		AUTO_FREE char *path = type_of(dir, e) == DT_LNK ? path_join(dir, e->d_name) : NULL;

		if (path)
			policy_learn_link(p, path);
	}
}

/* ---- the walk -------------------------------------------------------------------------------- */

/* What one thread has found, or all: absolute paths. */
struct found {
	struct places dirs, late; /* to be looked at next, and last */
	struct places links, repositories, bare, secrets;
	struct seen_part seen;
};
#define FOUND_INIT                                                                                 \
	{                                                                                          \
		.seen = SEEN_PART_INIT                                                             \
	}

struct walk {
	struct places dirs, late; /* to be looked at, in that order */
	size_t next;
	bool changed; /* a change has waited for it */
};

/* The directories of one level: threads take one each until none is left or it is too late. */
struct level {
	struct policy *p;
	const struct seen *before; /* NULL: there was no search, or it helps nothing */
	struct places dirs;
	atomic_size_t next;
	int64_t slow, end, cpu_end; /* of clock_mono_us(), and of processor time */
	bool all;		    /* rules may hide any name in it, not secrets alone */
	bool note;		    /* the names are kept for the next search */
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

/* Other people's code by the thousand, or what programs make: looked at last. */
static bool is_bulk(const char *name)
{
	static const char *const names[] = {"node_modules", "__pycache__", "target",  ".venv",
					    ".tox",	    ".cache",	   "objects", "vendor"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_eq(names[i], name))
			return true;
	return false;
}

/* Of names alone, which threads may look at; the rules are asked where one thread walks. */
static bool is_secret(const struct level *l, const char *path, const char *name)
{
	const char *why;

	return l->all ? policy_check_read(l->p, RULE_READ, path, &why) != POLICY_ALLOW
		      : policy_name_is_secret(l->p, name);
}

/* A directory that is looked at. */
struct look {
	const struct level *l;
	struct found *f;
	const char *dir;
	bool head, objects; /* both: a bare repository */
	bool failed;	    /* not all of it could be read */
	bool noted;	    /* it goes into the record */
	struct seen_dir id;
	struct buf held; /* for seen_part_add() */
};

static bool is_of_git(const char *name)
{
	return str_eq(name, ".git") || str_eq(name, "HEAD") || str_eq(name, "objects");
}

/* Any other name leads to nothing, now and when a later search takes it from the record. */
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
		gated_trees_add(&f->repositories, xstrdup(k->dir));
	if (is_secret(k->l, path, name))
		gated_trees_add(&f->secrets, take_ptr(&path));
	else if (type == DT_LNK)
		gated_trees_add(&f->links, take_ptr(&path));
	else if (type == DT_DIR && !str_eq(name, ".git") && !str_eq(name, ".cordon"))
		gated_trees_add(is_bulk(name) ? &f->late : &f->dirs, take_ptr(&path));
}

/* False: it is too late, and not all of it was seen. */
static bool read_entries(struct look *k)
{
	AUTO_DIR DIR *d = opendir(k->dir);
	const struct dirent *e;
	unsigned n = 0;

	/* The one that is read: the agent of another session may exchange directories above it, so
	 * that its path leads elsewhere than a moment ago, and no time of its own changes. */
	if (d && k->l->note)
		k->noted = seen_identify(&k->f->seen, dirfd(d), "", &k->id);
	while (errno = 0, d && (e = readdir(d))) {
		unsigned char type = e->d_type == DT_UNKNOWN ? type_of(k->dir, e) : e->d_type;

		if (++n % LOOK_EACH == 0 && is_late(k->l))
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

/* What an earlier search has seen of it, if it is as it was. */
static bool is_seen(struct look *k, struct span *ret)
{
	if (!k->l->before)
		return false;
	k->noted = seen_identify(&k->f->seen, AT_FDCWD, k->dir, &k->id);
	return k->noted && seen_find(k->l->before, &k->id, ret);
}

/* False: as read_entries(). */
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
			f->seen.fresh++;
		}
	}
	if (whole && k.head && k.objects)
		gated_trees_add(&f->bare, xstrdup(dir));
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
			gated_trees_add(&part->found.late, xstrdup(l->dirs.list[i]));
	}
	return NULL;
}

static void places_move(struct places *to, struct places *from)
{
	for (size_t i = 0; i < from->n; i++)
		gated_trees_add(to, from->list[i]);
	free(from->list);
	*from = (struct places){0};
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

/* Looks at the directories from w->next on, level by level, until `end`; secrets stay in ret. */
static void walk_until(struct walk *w, struct level *l, struct found *ret)
{
	while (!is_late(l) && (w->next < w->dirs.n || w->late.n)) {
		if (w->next == w->dirs.n)
			places_move(&w->dirs, &w->late);
		for (; w->next < w->dirs.n; w->next++)
			gated_trees_add(&l->dirs, take_ptr(&w->dirs.list[w->next]));
		atomic_store(&l->next, 0);
		scan_level(l, ret);
		gated_trees_done(&l->dirs);
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
	gated_trees_done(&f->repositories);
	gated_trees_done(&f->bare);
	gated_trees_done(&f->links);
}

bool policy_learn_more(struct policy *p)
{
	struct level l = level_of(p);
	struct walk *w = p->walk;
	struct found found = FOUND_INIT;

	if (!w)
		return false;
	if (w->changed) {
		/* One more directory, whatever the clock says. */
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
	gated_trees_done(&found.secrets);
	learn_found(p, &found);
	if (w->next < w->dirs.n || w->late.n)
		return true;
	learn_done(p);
	return false;
}

void learn_done(struct policy *p)
{
	if (p->walk) {
		gated_trees_done(&p->walk->dirs);
		gated_trees_done(&p->walk->late);
	}
	free(take_ptr(&p->walk));
}

/* What the rules allow to be read is no secret. */
static void keep_secrets(struct policy *p, struct places *found)
{
	const char *why;

	for (size_t i = 0; i < found->n; i++)
		if (policy_check_read(p, RULE_READ, found->list[i], &why) != POLICY_ALLOW)
			gated_trees_add(&p->secrets, take_ptr(&found->list[i]));
	gated_trees_done(found);
}

/* Heap; NULL: the names below this directory are not kept. */
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
	gated_trees_add(&w->dirs, take_ptr(&clean));
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

	if (!gated_trees_hold(&p->folders, folder))
		gated_trees_add(&p->folders, path_clean(folder));
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
	gated_trees_done(&w.dirs);
	gated_trees_done(&w.late);
	return !whole;
}

void policy_find_secrets(struct policy *p, const char *dir)
{
	struct found found = FOUND_INIT;
	struct walk w = {0};

	find_in(p, &w, dir, &found);
	gated_trees_done(&found.links);
	gated_trees_done(&found.repositories);
	gated_trees_done(&found.bare);
	gated_trees_done(&w.dirs);
	gated_trees_done(&w.late);
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
