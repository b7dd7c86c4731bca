/* reload - rules of files that change while a session runs: read again, all of them or none. */
/* SPDX-License-Identifier: MIT */
#include "core/keeper/approvals/reload.h"

#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/path.h"
#include "core/config/config.h"
#include "core/keeper/approvals/still_open.h"
#include "core/keeper/state.h"
#include "core/os/text.h"

/*
 * Directories are watched, not files: editors replace a file by renaming another one over it. Of a
 * directory that is not there the nearest one above it is watched, for names alone, until it comes.
 * All files are read again as at the start, by the same function: what cannot be read, or an
 * untrusted project's file that allows something, leaves the rules as they are, and a line says
 * why. Other settings count from the next start. The order: this policy, then the doors', then
 * whoever is to be told.
 */
#define SETTLE_US 50000 /* an editor's several writes are one, and so is what an agent does */
#define FILES_MAX 8
#define TRIES	  8 /* to find the same directory twice while directories come and go */

#define NAMES (IN_CREATE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_ADD)
#define FILES (NAMES | IN_CLOSE_WRITE | IN_MOVED_FROM | IN_DELETE | IN_ATTRIB)
#define LOST  (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED | IN_UNMOUNT)

/* Where a file is waited for. */
struct post {
	int wd;		  /* -1: nowhere */
	const char *name; /* in file: what is waited for there, with what follows */
	size_t len;	  /* of its first component; 0: anything in a directory of files */
	bool whole;	  /* it is the file itself */
};

struct reload {
	int fd;
	char **files;
	struct post posts[FILES_MAX];
	bool hashed;
	uint64_t hash; /* of the rules in use */
	int64_t at;    /* when the queue is looked at, or 0: when something comes */
	bool changed;  /* one of the files, by what was in the queue the last time */
};

static uint64_t mix(uint64_t seed, const char *s)
{
	return XXH3_64bits_withSeed(s, strlen(s) + 1, seed);
}

/* Lines count: they are what the rules are called by. */
static uint64_t hash_of(const struct config *c)
{
	size_t n = config_rules(c);
	uint64_t h = n;

	for (size_t i = 0; i < n; i++) {
		const struct config_rule rule = config_rule(c, i);
		const int about[] = {rule.line, (int)rule.level, rule.untrusted};

		h = mix(mix(mix(mix(h, rule.name), rule.key), rule.value), rule.file);
		h = XXH3_64bits_withSeed(about, sizeof(about), h);
	}
	return h;
}

/* ---- what is watched ------------------------------------------------------------------------- */

static struct post post_at(const struct reload *r, const char *file, const char *slash)
{
	AUTO_FREE char *dir = xstrndup(file, (size_t)(slash - file));
	struct post p = {.name = slash + 1, .len = strcspn(slash + 1, "/")};

	p.whole = !p.name[p.len] && (p.len || slash == strrchr(file, '/'));
	p.wd = inotify_add_watch(r->fd, *dir ? dir : "/", p.whole ? FILES : NAMES);
	return p;
}

/* The nearest directory that is there. */
static struct post find_post(const struct reload *r, const char *file)
{
	const char *slash = strrchr(file, '/');
	struct post p = post_at(r, file, slash);

	while (p.wd < 0 && slash > file) {
		slash = memrchr(file, '/', (size_t)(slash - file));
		p = post_at(r, file, slash);
	}
	return p;
}

/* One that was made before its place was watched is found the second time. */
static void watch_file(struct reload *r, size_t i)
{
	struct post *p = &r->posts[i], last = find_post(r, r->files[i]);

	for (int k = 0; k < TRIES; k++) {
		*p = find_post(r, r->files[i]);
		if (p->wd == last.wd)
			return;
		last = *p;
	}
}

static void watch_files(struct reload *r)
{
	for (size_t i = 0; i < FILES_MAX && r->files[i]; i++)
		watch_file(r, i);
}

/* A plain file that is being made is told of once more when it is closed; a link is not. */
static bool is_whole_at_once(const char *file)
{
	struct stat st;

	return lstat(file, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink > 1;
}

static bool concerns_file(struct reload *r, size_t i, const struct inotify_event *e)
{
	const struct post p = r->posts[i];

	if (e->wd != p.wd)
		return false;
	if (e->mask & LOST) {
		if (e->mask & IN_MOVE_SELF) /* it goes on telling of the same directory */
			inotify_rm_watch(r->fd, p.wd);
		watch_file(r, i);
		return true;
	}
	if (p.len && !(e->len && strlen(e->name) == p.len && memcmp(e->name, p.name, p.len) == 0))
		return false;
	if (!p.whole)
		watch_file(r, i);
	return !p.whole || !(e->mask & IN_CREATE) || !p.len || is_whole_at_once(r->files[i]);
}

static bool concerns(struct reload *r, const struct inotify_event *e)
{
	bool found = false;

	for (size_t i = 0; i < FILES_MAX && r->files[i]; i++)
		found = concerns_file(r, i, e) || found;
	if (!(e->mask & IN_Q_OVERFLOW))
		return found;
	watch_files(r);
	return true;
}

/* ---- the queue ------------------------------------------------------------------------------- */

/* One of the directories is the agent's to write in: its events are not waited for one by one. */
static void on_event(void *data)
{
	struct keeper *k = data;

	keeper_unwatch(k, k->reload->fd);
	k->reload->at = k->now + SETTLE_US;
}

static bool drain(struct reload *r)
{
	char room[4096] __attribute__((aligned(__alignof__(struct inotify_event))));
	bool found = false;
	ssize_t n;

	while ((n = read(r->fd, room, sizeof(room))) > 0) {
		for (ssize_t at = 0; at < n;) {
			const struct inotify_event *e = (const void *)(room + at);

			found = concerns(r, e) || found;
			at += (ssize_t)(sizeof(*e) + e->len);
		}
	}
	return found;
}

static void wait_for_events(struct keeper *k)
{
	struct reload *r = k->reload;

	r->at = 0;
	if (r->fd < 0 || keeper_watch(k, r->fd, on_event, k) < 0)
		keeper_note(k, "rules that change are not read again before the next start: no "
			       "inotify to be had");
}

void reload_start(struct keeper *k)
{
	struct reload *r;

	if (!k->spec->source)
		return;
	r = xcalloc(1, sizeof(*r));
	r->fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	r->files = config_files(k->spec->source);
	watch_files(r);
	k->reload = r;
	keeper_close_late(k, r->fd);
	/* They were read before the sandbox was made, and what changed meanwhile nobody tells. */
	r->changed = true;
	r->at = k->now + SETTLE_US;
}

void reload_stop(struct keeper *k)
{
	struct reload *r = take_ptr(&k->reload);

	if (!r)
		return;
	if (!r->at)
		keeper_unwatch(
			k, r->fd); /* and open: it goes with the process, as it takes its time */
	for (char **f = r->files; *f; f++)
		free(*f);
	free(r->files);
	free(r);
}

int64_t reload_next(const struct keeper *k)
{
	return k->reload ? k->reload->at : 0;
}

static bool tell_doors(struct keeper *k, const struct config *c)
{
	bool whole = true;

	for (size_t i = 0; i < k->n_doors; i++)
		if (k->doors[i]->ops->reruled && !k->doors[i]->ops->reruled(k->doors[i], c))
			whole = false;
	return whole;
}

/* ---- reading again --------------------------------------------------------------------------- */

/* Something that may be read now and may not then: what mounts show, they show. */
static bool restricts(const struct config *c)
{
	for (size_t i = 0; i < config_rules(c); i++) {
		const struct config_rule rule = config_rule(c, i);

		if (!str_eq(rule.key, "allow") &&
		    (strstr(rule.value, "read") || strstr(rule.value, "exec")))
			return true;
	}
	return false;
}

/* Of the rules in use; those of the start are not looked at before they may have changed. */
static uint64_t used_hash(struct keeper *k)
{
	struct reload *r = k->reload;

	if (!r->hashed)
		r->hash = k->spec->config ? hash_of(k->spec->config) : 0;
	r->hashed = true;
	return r->hash;
}

static bool is_taken_back(void *data, int pid, enum hold what, const char *path)
{
	const struct keeper *k = data;

	(void)pid;
	(void)what;
	return policy_takes_back(k->policy, path);
}

/* Before the doors are told, which take away what they show. */
static void tell_left(struct keeper *k)
{
	struct remains r;

	remains_look(k, is_taken_back, k, &r);
	remains_tell(k, 0, &r);
	policy_forget_old(k->policy);
}

static void read_again(struct keeper *k)
{
	struct config *c = NULL;
	struct err err = {0};
	uint64_t hash = used_hash(k);
	int r = config_load(&c, k->spec->source, &err);

	if (r == 0)
		hash = hash_of(c);
	if (r == 0 && hash == k->reload->hash) {
		config_free(c);
		return;
	}
	if (r == 0)
		r = policy_reload(k->policy, c, &err);
	if (r < 0) {
		keeper_warn(k, "the rules stay as they were: %s", err.text);
	} else {
		k->reload->hash = hash;
		tell_left(k);
		if (tell_doors(k, c) && !restricts(c))
			keeper_note(k, "the rules were read again and count from now on");
		else
			keeper_note(k, "the rules were read again and count from now on, but what "
				       "is shown outside the gated trees, or has a working folder "
				       "in it, is hidden by them from the next start on only");
	}
	config_free(c);
}

void reload_tick(struct keeper *k)
{
	struct reload *r = k->reload;

	if (!r || !r->at || r->at > k->now)
		return;
	if (drain(r)) {
		r->changed = true; /* an editor may not be through */
		r->at = k->now + SETTLE_US;
		return;
	}
	if (r->changed)
		read_again(k);
	r->changed = false;
	wait_for_events(k);
}
