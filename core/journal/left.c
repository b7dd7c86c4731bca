/* left - what steps themselves left at their paths, though others have come and gone since. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/journal/priv.h"

/*
 * A step's own image of a path is made at its commit, and anew when it was undone or redone. It is
 * what the step left unless newer ones came back with it: then it is what those left.
 */

/* Takes the parts of `from` that it needs. */
static void keep_newer(struct post **all, struct post *from)
{
	struct post *p;

	HASH_FIND_STR(*all, from->key, p);
	/* Of any of the steps: when those after it have gone, that work lies there. */
	if (p)
		p->flags |= from->flags & POST_FOREIGN;
	if (p && p->seq >= from->seq)
		return;
	if (!p) {
		p = xmalloc(sizeof(*p));
		*p = *from;
		from->key = from->path = NULL;
		HASH_ADD_KEYPTR(hh, *all, p->key, strlen(p->key), p);
		return;
	}
	p->obj = from->obj;
	p->hash = from->hash;
	p->flags = from->flags | (p->flags & POST_FOREIGN);
	p->seq = from->seq;
}

int left_load(struct journal *j, const struct group *dirs, struct post **ret)
{
	int r = 0;

	*ret = NULL;
	for (size_t i = 0; r == 0 && i < dirs->n; i++) {
		AUTO_CLOSE int fd = store_open_dir(j, dirs->dirs[i]);
		struct post *list = NULL;
		size_t n = 0;

		r = fd < 0 ? fd : post_load(fd, "post", &list, &n);
		for (size_t k = 0; r == 0 && k < n; k++)
			keep_newer(ret, &list[k]);
		if (r == -ENOENT)
			r = 0; /* nothing is known */
		post_free(list, n);
	}
	if (r < 0)
		post_free_all(take_ptr(ret));
	return r;
}

bool left_differs(struct journal *j, const struct post *left, const struct post *newest)
{
	struct change_side was, is;
	struct spot at;
	struct obj o;

	if (spot_look(j, left->root, left->path, &at, &o) < 0)
		return true;
	if (left->obj.mode == OBJ_UNSEEN || o.mode == OBJ_UNSEEN)
		return false;
	change_side_set(&was, &left->obj);
	change_side_set(&is, &o);
	if (!sides_equal(&was, &is))
		return true;
	/* The times can be set back; and the newest image has the hash of what is there. */
	return S_ISREG(o.mode) && left->hash && newest->hash && left->hash != newest->hash &&
	       newest->obj.ino == o.ino && newest->obj.ctime_ns == o.ctime_ns;
}

void hands_note(struct hand **set, size_t place, const struct names *names)
{
	for (const struct name *e = names->set; e; e = e->hh.next) {
		struct hand *h;

		HASH_FIND_STR(*set, e->key, h);
		if (h)
			continue;
		h = xmalloc(sizeof(*h));
		h->key = xstrdup(e->key);
		h->place = place;
		HASH_ADD_KEYPTR(hh, *set, h->key, strlen(h->key), h);
	}
}

void hands_find(const struct hand *set, size_t place, const struct moves *moves,
		const struct names *names, struct names *ret)
{
	for (const struct name *e = names->set; set && e; e = e->hh.next) {
		const struct hand *h;
		const char *path;
		int root = key_root(e->key, &path);

		HASH_FIND_STR(set, e->key, h);
		if ((h && h->place < place) || moves_touch(moves, root, path))
			names_add_key(ret, e->key);
	}
}

void hands_done(struct hand *set)
{
	struct hand *h, *next;

	HASH_ITER (hh, set, h, next) {
		HASH_DEL(set, h);
		free(h->key);
		free(h);
	}
}
