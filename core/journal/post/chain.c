/* chain - did each step find what those before it had left? Else somebody else was there between.
 */
/* SPDX-License-Identifier: MIT */
#include "core/journal/post/chain.h"

#include <string.h>

#include "core/journal/priv.h"

/*
 * Steps that overlapped in time are taken together, for nobody knows which of them was at a path
 * first. But one of them was, and found what the steps before all of them had left: that is what
 * the last of those to end has seen there. What they found and left is in their summaries, and of
 * paths that a step touched and did not change, in its images.
 */

struct chain {
	struct change_side *found; /* by the steps of the last cluster; heap */
	size_t n_found;
	struct change_side *then; /* by those of the cluster after it; heap */
	size_t n_then;
	struct change_side left; /* by the cluster, at its end */
	struct change_side last; /* by the newest */
	uint64_t ended;
	unsigned cluster, turn;
	unsigned changed, placed; /* the turn and the cluster that last changed it */
	unsigned told;		  /* the turn whose records tell what was found, as found[0] */
	unsigned there;		  /* the turn whose records tell that something was */
	bool has_left, left_now;  /* that is known; from the step that is looked at */
	bool has_last, past_last; /* that is known; another cluster was there before it */
	bool spoke;		  /* one of the steps did, by a name that was moved, of whatever */
	bool known;		  /* all that is there is sure */
	bool spoken;		  /* one of the steps has changed it, or may have */
	bool links, then_links;	  /* in it, in `then`, is one name of several of a file */
	bool returns, then_returns; /* somebody's work comes back there with one of them */
	bool image;  /* some of it, or of `then`, is: how many names the file had is not in it */
	bool broken; /* somebody else was there */
	bool edited; /* perhaps: it is the same file, which another of its names may have changed */
};

struct found_file { /* that has or had several names */
	uint64_t ino;
	struct chain chain;
	char *left, *found, *then; /* by which names; heap */
	bool passing;	/* what is left is as it was when a name of it went, perhaps long before */
	uint64_t doubt; /* until a step ended then, others changed it by a name that went */
	UT_hash_handle hh;
};

static struct chain *get(struct chains *c, const char *key)
{
	bool fresh;
	size_t i = names_put(&c->keys, key, &fresh);

	if (fresh && i == c->cap) {
		c->cap = c->cap ? c->cap + c->cap / 2 : 8;
		c->list = xrealloc(c->list, c->cap * sizeof(*c->list));
	}
	if (fresh)
		c->list[i] = (struct chain){.known = true};
	c->some_gone |= fresh && called_is_gone(key);
	return &c->list[i];
}

static void saw(struct chain *one, const struct change_side *before)
{
	one->found = xrealloc(one->found, (one->n_found + 1) * sizeof(*one->found));
	one->found[one->n_found++] = *before;
}

static void compare(struct chain *one)
{
	bool same_file = false;

	if (!one->past_last) {
		one->has_last = one->known && !one->links && one->has_left;
		one->last = one->left;
		one->past_last = true;
	}
	/* With the last of those to be undone that say so: then this one would go over it. */
	if (one->then_returns && !one->returns && one->known && one->has_left)
		one->broken = true;
	if (!one->n_then || !one->known || !one->has_left)
		return;
	for (size_t i = 0; i < one->n_then; i++) {
		if (told_same(&one->then[i], &one->left))
			return;
		same_file |= one->then[i].exists && one->left.exists &&
			     one->then[i].ino == one->left.ino;
	}
	/* By another name it may have been changed: it is looked at by itself. But nothing that is
	 * done by another name puts another file here. */
	if (same_file && (one->links || one->then_links))
		return;
	if (same_file && one->image)
		one->edited = true;
	else
		one->broken = true;
}

/* The next older cluster was there. Who left it without having spoken of it found it so: it lay in
 * a directory that was moved, or the file only got one more name. */
static void go_on(const struct chains *c, struct chain *one)
{
	if (one->cluster != c->caller.now.cluster) {
		if (one->cluster)
			compare(one);
		if (one->has_left && !one->n_found && !one->spoke)
			saw(one, &one->left);
		free(one->then);
		one->then = one->known ? take_ptr(&one->found) : NULL;
		one->n_then = one->known ? one->n_found : 0;
		one->then_links = one->links;
		one->links = false;
		one->then_returns = one->returns;
		one->returns = false;
		free(take_ptr(&one->found));
		one->n_found = 0;
		one->ended = 0;
		one->has_left = false;
		one->known = true;
		one->spoke = false;
		one->cluster = c->caller.now.cluster;
	}
	if (one->turn != c->turn)
		one->left_now = false;
	one->turn = c->turn;
}

static void gave(const struct chains *c, struct chain *one, const struct change_side *after)
{
	one->left_now = true;
	if (c->caller.now.ended < one->ended)
		return;
	one->left = *after;
	one->has_left = true;
	one->ended = c->caller.now.ended;
}

void chains_gap(struct chains *c)
{
	c->blind = true;
}

static void not_known(struct chain *one)
{
	one->known = false;
	one->there = 0;
}

/* At the end of a cluster of which not all is known. */
static void forget(struct chains *c)
{
	for (size_t i = 0; c->blind && i < names_count(&c->keys); i++)
		not_known(&c->list[i]);
	for (struct found_file *file = c->files; c->blind && file; file = file->hh.next)
		file->chain.known = false;
	c->was_blind |= c->blind;
	c->blind = false;
}

/* What it found by that very name, of which its summary may tell something older. */
static void chain_told(struct chains *c, size_t i)
{
	static const struct change_side nothing;
	struct chain *one = get(c, names_key(&c->told.keys, i));
	const struct told *told = &c->told.list[i];

	go_on(c, one);
	one->spoke = one->spoken = true;
	if (told->what == TOLD_MADE)
		saw(one, &nothing);
	/* Of several steps at the same time another may have left it so. */
	if ((told->what != TOLD_SIDE && told->what != TOLD_FILE) || !c->caller.now.alone)
		return;
	one->there = c->turn;
	if (told->what == TOLD_FILE)
		return;
	saw(one, &told->side);
	one->told = c->turn;
	one->image = true;
}

void chains_step(struct chains *c, const struct chain_step *step)
{
	if (step->cluster != c->caller.now.cluster)
		forget(c);
	called_step(&c->caller, step);
	numbers_done(&c->written);
	c->has_written = false;
	c->turn++;
	told_done(&c->told);
	told_load(&c->caller, &c->told);
	for (size_t i = 0; i < names_count(&c->told.keys); i++)
		chain_told(c, i);
}

/* Whatever had one of these names may be what some of the steps changed. */
static void doubt(struct chains *c, int root, const char *path)
{
	struct names names = {0};

	if (!called_any(&c->caller, root, path, &names))
		chains_gap(c);
	for (size_t i = 0; i < names_count(&names); i++) {
		struct chain *one = get(c, names_key(&names, i));

		go_on(c, one);
		not_known(one);
		one->spoken = true;
	}
	names_done(&names);
}

static struct called call(struct chains *c, int root, const char *path)
{
	struct called called;

	if (!called_find(&c->caller, root, path, &called))
		doubt(c, root, path);
	return called;
}

/* ---- files by several names -------------------------------------------------------------------
 */

/* 0: there are no other names of it. That number may have been a directory's before. */
static uint64_t number_of(const struct change_side *side)
{
	return side->exists && !S_ISDIR(side->mode) ? side->ino : 0;
}

static struct found_file *find_file(const struct chains *c, uint64_t ino)
{
	struct found_file *file;

	HASH_FIND(hh, c->files, &ino, sizeof(ino), file);
	return file;
}

static void compare_file(struct chains *c, struct found_file *file)
{
	struct chain *one = &file->chain;
	bool known = one->known;

	one->known &= file->doubt <= one->ended;
	compare(one);
	one->known = known; /* what they found is, however they left it */
	if (one->broken && (file->left || file->then))
		get(c, file->left ? file->left : file->then)->broken = true;
	one->broken = false;
	free(take_ptr(&one->then)); /* it was compared */
	one->n_then = 0;
}

static void file_goes_on(struct chains *c, struct found_file *file)
{
	if (file->chain.cluster != c->caller.now.cluster) {
		if (file->chain.cluster)
			compare_file(c, file);
		file->doubt = 0;
		file->passing = false;
		free(file->then);
		file->then = take_ptr(&file->found);
		free(take_ptr(&file->left));
	}
	go_on(c, &file->chain);
}

static bool writes_in_place(struct chains *c, uint64_t ino)
{
	struct rec rec;
	size_t at = 0;

	while (!c->has_written && wal_next(c->caller.now.log, &at, &rec))
		if (rec_is_in_place(&rec))
			numbers_add(&c->written, rec.ino);
	if (!c->has_written)
		numbers_sort(&c->written);
	c->has_written = true;
	return numbers_have(&c->written, ino);
}

static void set_name(char **name, const char *to)
{
	free(*name);
	*name = xstrdup(to);
}

static struct found_file *get_file(struct chains *c, uint64_t ino)
{
	struct found_file *file = find_file(c, ino);

	if (file)
		return file;
	file = xcalloc(1, sizeof(*file));
	file->ino = ino;
	file->chain.known = true;
	HASH_ADD(hh, c->files, ino, sizeof(file->ino), file);
	return file;
}

static void file_found(struct chains *c, const struct change *change, const char *name)
{
	uint64_t ino = number_of(&change->before);
	struct found_file *file = ino ? find_file(c, ino) : NULL;

	if (!ino || (!file && !change->linked))
		return;
	file = get_file(c, ino);
	file_goes_on(c, file);
	file->chain.changed = c->turn;
	saw(&file->chain, &change->before);
	set_name(&file->found, name);
	if (change->after.exists && change->after.ino == ino)
		return;
	/* Only a name went, of perhaps several. */
	if (writes_in_place(c, ino)) {
		file->doubt = MAX(file->doubt, c->caller.now.ended);
	} else if (!file->chain.has_left || file->passing) {
		gave(c, &file->chain, &change->before);
		file->passing = true;
	}
}

static void file_gave(struct chains *c, struct found_file *file, const struct change_side *after,
		      const char *name)
{
	if (file->passing)
		file->chain.ended = 0;
	file->passing = false;
	gave(c, &file->chain, after);
	set_name(&file->left, name);
}

static void file_left(struct chains *c, const struct change *change, const char *name)
{
	uint64_t ino = number_of(&change->after);
	struct found_file *file = ino ? find_file(c, ino) : NULL;

	if (!file)
		return;
	file_goes_on(c, file);
	file->chain.changed = c->turn;
	/* A redo may have exchanged it for what it had found, here or where it came from. */
	file->chain.spoke |= c->caller.now.turned &&
			     !(change->before.exists && change->before.ino == change->after.ino);
	if (name)
		file_gave(c, file, &change->after, name);
	else
		file->chain.known = false;
}

/* The step opened it, perhaps, and has not changed it: it left what it had found, unless another
 * did at the same time. How many names the file had then is not known. */
static void file_seen(struct chains *c, const struct post *p, const struct change_side *seen,
		      const char *name)
{
	struct found_file *file;

	if (!p->obj.mode || S_ISDIR(p->obj.mode) || p->obj.mode == OBJ_UNSEEN || p->flags ||
	    !c->caller.now.alone)
		return;
	file = get_file(c, p->obj.ino);
	if (file->chain.changed == c->turn) /* by another of its names */
		return;
	file_goes_on(c, file);
	saw(&file->chain, seen);
	set_name(&file->found, name);
	file_gave(c, file, seen, name);
}

/* ---- what the steps say -----------------------------------------------------------------------
 */

static void found(const struct chains *c, struct chain *one, const struct change_side *side)
{
	if (one->told != c->turn && (side->exists || one->there != c->turn))
		saw(one, side);
	else if (one->told == c->turn && told_same(&one->found[0], side))
		one->found[0] = *side; /* it knows the size as well */
}

static void place(struct chains *c, const char *key, const struct change_side *before,
		  const struct change_side *left, bool links)
{
	struct chain *one = get(c, key);

	go_on(c, one);
	one->spoken = true;
	one->changed = c->turn;
	one->placed = c->caller.now.alone ? 0 : c->caller.now.cluster;
	if (before)
		found(c, one, before);
	if (left)
		gave(c, one, left);
	one->links |= links;
}

void chains_change(struct chains *c, const struct change *change)
{
	static const struct change_side nothing;
	const struct change_side *before = &change->before;
	struct called is = call(c, change->root, change->path), was = {0};

	if (change->old_path)
		was = call(c, change->root, change->old_path);
	file_found(c, change, change->old_path ? was.found : is.found);
	file_left(c, change, is.left);
	if (was.found)
		place(c, was.found, before, NULL, change->linked);
	if (was.left)
		place(c, was.left, NULL, &nothing, change->linked);
	if (change->old_path)
		before = &nothing;
	if (is.found)
		place(c, is.found, before, NULL, change->linked);
	if (is.left)
		place(c, is.left, NULL, &change->after, change->linked);
	called_done(&is);
	called_done(&was);
}

/* A file that the step moved on and did not change lies here: so it was where that came from. Newer
 * steps that came back as well may have changed it. */
static void found_elsewhere(struct chains *c, const struct post *p, const char *key)
{
	bool seen = p->obj.mode && p->obj.mode != OBJ_UNSEEN && !S_ISDIR(p->obj.mode) &&
		    !(p->flags & ~(unsigned)POST_SHARED) && c->caller.now.alone;
	size_t i = seen ? told_moved(&c->told, p->obj.ino) : NAMES_NONE;
	struct change_side left;
	struct chain *one;

	if (i == NAMES_NONE)
		return;
	one = get(c, key);
	if (one->changed == c->turn && one->left_now)
		left = one->left;
	else if (p->flags)
		return;
	else
		change_side_set(&left, &p->obj);
	one = get(c, names_key(&c->told.keys, i));
	if (one->n_found)
		return;
	saw(one, &left);
	one->image = true;
}

void chains_left(struct chains *c, const struct post *p)
{
	AUTO_FREE char *key = NULL;
	struct change_side left;
	struct chain *one;
	bool changed;

	/* It was looked at when newer steps had come back as well. They may have moved again what
	 * they had moved. */
	if (p->flags & POST_SHARED &&
	    moves_touch_in(c->caller.moves, p->seq + 1, UINT64_MAX, p->root, p->path))
		return;
	key = called_now(&c->caller, p->seq, p->root, p->path);
	found_elsewhere(c, p, key);
	one = get(c, key);
	changed = one->changed == c->turn;
	if (p->flags & POST_RETURNS) {
		go_on(c, one);
		one->returns = true;
	}
	if (changed && one->left_now)
		return;
	/* What one of those left there; this one left what that has found. If none of them changed
	 * it, it is what this one found, too. */
	if (p->flags & POST_SHARED && one->spoken && !changed && c->caller.now.alone)
		return;
	go_on(c, one);
	if (p->flags & POST_CARRIED)
		one->spoke = one->spoken = true;
	one->known &= !(p->flags & POST_FOREIGN) && p->obj.mode != OBJ_UNSEEN &&
		      !(p->flags & POST_SHARED && (one->spoken || c->was_blind));
	change_side_set(&left, &p->obj);
	if (!changed && !one->spoke) {
		saw(one, &left);
		file_seen(c, p, &left, key);
	}
	gave(c, one, &left);
	one->image = true;
}

void chains_end(struct chains *c)
{
	forget(c);
	for (struct found_file *file = c->files; file; file = file->hh.next)
		compare_file(c, file);
	for (size_t i = 0; i < names_count(&c->keys); i++)
		compare(&c->list[i]);
}

static enum chain_state state_of(const struct chains *c, const char *key)
{
	size_t i = names_find(&c->keys, key);
	const struct chain *one = i == NAMES_NONE ? NULL : &c->list[i];

	if (!one)
		return CHAIN_WHOLE;
	return one->broken ? CHAIN_BROKEN : one->edited ? CHAIN_EDITED : CHAIN_WHOLE;
}

enum chain_state chains_judge(const struct chains *c, const char *key)
{
	enum chain_state state = state_of(c, key);
	const char *path;
	int root = key_root(key, &path);

	for (size_t i = 0; state == CHAIN_WHOLE && c->some_gone && i < c->caller.moves->n; i++) {
		const struct move *m = &c->caller.moves->list[i];
		AUTO_FREE char *gone = NULL;

		if (!move_covers(m, root, path))
			continue;
		gone = called_gone(key, m->seq);
		state = state_of(c, gone);
	}
	return state;
}

bool chains_began(const struct chains *c, const char *key, bool exists)
{
	size_t i = names_find(&c->keys, key);
	const struct chain *one = i == NAMES_NONE ? NULL : &c->list[i];
	/* Of those that overlapped, not every one may be known to have been there: one may have
	 * made what another has only an image of, as that lies in a directory which moved. */
	bool began = one && one->known && !one->links && one->n_found &&
		     one->placed != one->cluster && !(one->spoke && one->image);

	/* But the records of one that was there alone are sure. */
	if (one && one->there && one->there == one->turn)
		return exists && !one->links;
	for (size_t k = 0; began && k < one->n_found; k++)
		began = one->found[k].exists == exists;
	return began;
}

bool chains_last(const struct chains *c, const char *key, struct change_side *ret)
{
	size_t i = names_find(&c->keys, key);

	if (i == NAMES_NONE || !c->list[i].has_last)
		return false;
	*ret = c->list[i].last;
	return true;
}

void chains_done(struct chains *c)
{
	struct found_file *file, *rest;

	for (size_t i = 0; i < names_count(&c->keys); i++) {
		free(c->list[i].found);
		free(c->list[i].then);
	}
	free(c->list);
	names_done(&c->keys);
	caller_done(&c->caller);
	numbers_done(&c->written);
	told_done(&c->told);
	HASH_ITER (hh, c->files, file, rest) {
		HASH_DEL(c->files, file);
		free(file->chain.found);
		free(file->chain.then);
		free(file->left);
		free(file->found);
		free(file->then);
		free(file);
	}
	*c = (struct chains){0};
}
