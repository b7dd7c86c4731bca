/* summary - what a step changed, net: paths before and after. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/priv.h"

#define SUMMARY_MAGIC 0x324d5553u	 /* "SUM2" */
#define HEAD_MAX      ((size_t)16 << 10) /* what comes before the changes, most often */
#define FILE_MAX      ((size_t)1 << 30)

void change_side_set(struct change_side *c, const struct obj *o)
{
	*c = (struct change_side){.exists = o->mode != 0,
				  .mode = o->mode,
				  .uid = o->uid,
				  .gid = o->gid,
				  .size = S_ISDIR(o->mode) ? 0 : o->size,
				  .ino = o->ino,
				  .mtime_ns = o->mtime_ns};
}

struct net { /* one touched path, before and after */
	const char *key;
	struct obj before, after;
	uint64_t hash;
	bool dressed, taken;
};

static bool net_equal(const struct net *n)
{
	const struct obj *a = &n->before, *b = &n->after;

	if (!a->mode || !b->mode)
		return a->mode == b->mode;
	if (a->mode != b->mode || a->uid != b->uid || a->gid != b->gid)
		return false;
	/* Entries that come and go change a directory's times, too. */
	if (S_ISDIR(a->mode) && !n->dressed)
		return obj_same(a, b);
	/* ctime tells what a program that sets the time back would hide. */
	return obj_same(a, b) && a->ctime_ns == b->ctime_ns;
}

/* Of what was written through a mapping, tmpfs keeps no time. */
static bool rewritten(const struct net *n, const struct spot *at)
{
	AUTO_CLOSE int fd = -1;

	if (!n->hash || !S_ISREG(n->after.mode))
		return false;
	fd = data_open(at->fd, at->name);
	return fd >= 0 && data_hash(fd, n->after.size) != n->hash;
}

static int net_by_ino(const void *a, const void *b)
{
	const struct net *const *x = a, *const *y = b;

	if ((*x)->before.ino != (*y)->before.ino)
		return (*x)->before.ino < (*y)->before.ino ? -1 : 1;
	return strcmp((*x)->key, (*y)->key);
}

static int change_by_path(const void *a, const void *b)
{
	const struct change *x = a, *y = b;

	return x->root != y->root ? x->root - y->root : strcmp(x->path, y->path);
}

/* The name that went away and whose inode is now here. */
static struct net *find_source(struct net **gone, size_t n, const struct net *here)
{
	size_t lo = 0, hi = n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (gone[mid]->before.ino < here->after.ino)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (; lo < n && gone[lo]->before.ino == here->after.ino; lo++)
		if (!gone[lo]->taken && obj_same(&gone[lo]->before, &here->after))
			return gone[lo];
	return NULL;
}

static void add_change(struct summary *s, const struct net *n, const struct net *source)
{
	struct change *c = &s->changes[s->n++];
	const char *path;

	*c = (struct change){.root = key_root(n->key, &path)};
	c->path = xstrdup(path);
	change_side_set(&c->before, source ? &source->before : &n->before);
	change_side_set(&c->after, &n->after);
	c->linked = !S_ISDIR(c->before.mode) && (source ? source : n)->before.nlink > 1;
	if (source) {
		key_root(source->key, &path);
		c->old_path = xstrdup(path);
		c->kind = CHANGE_RENAMED;
		s->info.renamed++;
	} else if (!n->before.mode) {
		c->kind = CHANGE_CREATED;
		s->info.created++;
	} else if (!n->after.mode) {
		c->kind = CHANGE_DELETED;
		s->info.deleted++;
	} else {
		c->kind = CHANGE_MODIFIED;
		s->info.modified++;
	}
}

int summary_build(struct journal *j, struct touch *touches, struct summary *s)
{
	size_t count = HASH_COUNT(touches), n = 0, n_gone = 0;
	AUTO_FREE struct net *nets = xcalloc(count + 1, sizeof(*nets));
	AUTO_FREE struct net **gone = xcalloc(count + 1, sizeof(struct net *));

	store_forget_near(j);
	for (struct touch *t = touches; t; t = t->hh.next) {
		const char *path;
		int root = key_root(t->path, &path), r;
		struct spot at;

		nets[n].key = t->path;
		nets[n].before = t->before;
		nets[n].dressed = t->dressed;
		nets[n].hash = t->hash;
		r = spot_look(j, root, path, &at, &nets[n].after);
		if (r < 0)
			return r;
		t->after = nets[n].after;
		s->unseen |= t->after.mode == OBJ_UNSEEN;
		if (t->after.mode == OBJ_UNSEEN || t->before.mode == OBJ_UNSEEN)
			continue;
		if (!net_equal(&nets[n]) || rewritten(&nets[n], &at))
			n++;
	}
	for (size_t i = 0; i < n; i++)
		if (!nets[i].after.mode)
			gone[n_gone++] = &nets[i];
	if (n_gone)
		qsort(gone, n_gone, sizeof(struct net *), net_by_ino);
	s->changes = xcalloc(n + 1, sizeof(*s->changes));
	for (size_t i = 0; i < n; i++) {
		struct net *source = NULL;

		if (!nets[i].after.mode)
			continue;
		if (!nets[i].before.mode)
			source = find_source(gone, n_gone, &nets[i]);
		if (source)
			source->taken = true;
		add_change(s, &nets[i], source);
	}
	for (size_t i = 0; i < n_gone; i++)
		if (!gone[i]->taken)
			add_change(s, gone[i], NULL);
	if (s->n)
		qsort(s->changes, s->n, sizeof(*s->changes), change_by_path);
	return 0;
}

static void put_side(struct buf *b, const struct change_side *c)
{
	put_u32(b, c->mode);
	put_u32(b, c->uid);
	put_u32(b, c->gid);
	put_u64(b, c->size);
	put_u64(b, c->ino);
	put_u64(b, (uint64_t)c->mtime_ns);
}

static void get_side(struct get *g, struct change_side *c)
{
	c->mode = get_u32(g);
	c->uid = get_u32(g);
	c->gid = get_u32(g);
	c->size = get_u64(g);
	c->ino = get_u64(g);
	c->mtime_ns = (int64_t)get_u64(g);
	c->exists = c->mode != 0;
}

static void put_info(struct buf *b, const struct step_info *i)
{
	const char *command = i->command ? i->command : "", *why = i->why ? i->why : "";
	const char *bare = i->unprotected ? i->unprotected : "";

	put_u64(b, (uint64_t)i->id);
	put_u32(b, i->kind);
	put_u64(b, (uint64_t)i->began_us);
	put_u64(b, (uint64_t)i->ended_us);
	put_u32(b, (uint32_t)i->exit_status);
	put_u32(b, i->incomplete);
	put_u64(b, i->created);
	put_u64(b, i->modified);
	put_u64(b, i->deleted);
	put_u64(b, i->renamed);
	put_str(b, command, strlen(command));
	put_str(b, why, strlen(why));
	put_u32(b, i->unprotected != NULL);
	put_str(b, bare, strlen(bare));
}

static void get_info(struct get *g, struct step_info *i)
{
	bool unprotected;
	struct span s;

	i->id = (int64_t)get_u64(g);
	i->kind = get_u32(g);
	i->began_us = (int64_t)get_u64(g);
	i->ended_us = (int64_t)get_u64(g);
	i->exit_status = (int)get_u32(g);
	i->incomplete = get_u32(g) != 0;
	i->created = get_u64(g);
	i->modified = get_u64(g);
	i->deleted = get_u64(g);
	i->renamed = get_u64(g);
	s = get_str(g);
	i->command = xstrndup(s.data, s.len);
	s = get_str(g);
	i->why = s.len ? xstrndup(s.data, s.len) : NULL;
	unprotected = get_u32(g) != 0;
	s = get_str(g);
	i->unprotected = unprotected ? xstrndup(s.data, s.len) : NULL;
}

int summary_write(struct journal *j, int stepdir, const struct summary *s)
{
	AUTO_BUF struct buf b = BUF_INIT;

	put_u32(&b, SUMMARY_MAGIC);
	put_u64(&b, store_seq(j));
	put_info(&b, &s->info);
	put_u32(&b, s->partial);
	put_u32(&b, (uint32_t)s->n);
	for (size_t i = 0; i < s->n; i++) {
		const struct change *c = &s->changes[i];

		put_u32(&b, c->kind);
		put_u32(&b, c->linked);
		put_u32(&b, (uint32_t)c->root);
		put_str(&b, c->path, strlen(c->path));
		put_str(&b, c->old_path ? c->old_path : "", c->old_path ? strlen(c->old_path) : 0);
		put_side(&b, &c->before);
		put_side(&b, &c->after);
	}
	return io_write_file(stepdir, "summary", 0600, b.data, b.len, false);
}

int summary_seq(int stepdir, uint64_t *ret)
{
	AUTO_CLOSE int fd = openat(stepdir, "summary", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[12];
	struct get g = {.p = head, .end = head + sizeof(head)};
	ssize_t n = fd < 0 ? -errno : io_pread_full(fd, head, sizeof(head), 0);

	if (n < (ssize_t)sizeof(head) || get_u32(&g) != SUMMARY_MAGIC)
		return n < 0 ? (int)n : -EBADMSG;
	*ret = get_u64(&g);
	return 0;
}

void summary_done(struct summary *s)
{
	free(s->info.command);
	free(s->info.why);
	free(s->info.unprotected);
	change_free(s->changes, s->n);
	*s = (struct summary){0};
}

static int get_changes(struct get *g, size_t max, struct summary *s)
{
	size_t n = get_u32(g);

	if (g->bad || n > max)
		return -EBADMSG;
	s->changes = xcalloc(n + 1, sizeof(*s->changes));
	while (s->n < n && !g->bad) {
		struct change *c = &s->changes[s->n++];
		struct span old;

		c->kind = get_u32(g);
		c->linked = get_u32(g) != 0;
		c->root = (int)get_u32(g);
		c->path = xstrdup(get_str(g).data);
		old = get_str(g);
		c->old_path = old.len ? xstrdup(old.data) : NULL;
		get_side(g, &c->before);
		get_side(g, &c->after);
	}
	return g->bad ? -EBADMSG : 0;
}

static int parse(const char *text, size_t len, bool with_changes, struct summary *ret)
{
	struct get g = {.p = text, .end = text + len};
	struct summary s = {0};
	int r;

	if (get_u32(&g) != SUMMARY_MAGIC)
		return -EBADMSG;
	get_u64(&g); /* summary_seq() */
	get_info(&g, &s.info);
	s.partial = get_u32(&g) != 0;
	r = g.bad ? -EBADMSG : with_changes ? get_changes(&g, len, &s) : 0;
	if (r < 0)
		summary_done(&s);
	else
		*ret = s;
	return r;
}

/* A list of steps wants none of their paths, which may be many thousands: the head is enough. */
static int load_head(int stepdir, struct summary *ret)
{
	AUTO_CLOSE int fd = openat(stepdir, "summary", O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char head[HEAD_MAX];
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = io_pread_full(fd, head, sizeof(head), 0);
	return n < 0 ? (int)n : parse(head, (size_t)n, false, ret);
}

int summary_load(int stepdir, bool with_changes, struct summary *ret)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = with_changes ? -EBADMSG : load_head(stepdir, ret);

	if (r != -EBADMSG)
		return r;
	r = io_read_file(stepdir, "summary", FILE_MAX, &text, &len);
	return r < 0 ? r : parse(text, len, with_changes, ret);
}
