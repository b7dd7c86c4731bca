/* version_chain_inode - the same as version_chain_path, for files with several hard links. */
/* SPDX-License-Identifier: MIT */
#include "core/base/hash.h"
#include "core/journal/fs/object.h"
#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/version_chain.h"
#include "core/journal/history/version_chain_path.h"
#include "core/journal/log/capture.h"
#include "core/journal/util/u64_set.h"

struct found_file { /* a file that has or had several hard links */
	uint64_t ino;
	struct chain chain;
	char *left, *found, *then; /* names of the file in these states; heap */
	bool passing;	/* `left` in chain is the state at the removal of a name, perhaps long
			 * before the end */
	uint64_t doubt; /* end of the last step that changed it through a removed name */
	UT_hash_handle hh;
};

/* Returns the inode number, or 0 if there are no other hard links: of a directory, for example. */
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
	chain_compare(one);
	one->known = known; /* the before-states are known, whatever the after-state */
	if (one->broken && (file->left || file->then))
		chain_get(c, file->left ? file->left : file->then)->broken = true;
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
	chain_goes_on(c, &file->chain);
}

static bool writes_in_place(struct chains *c, uint64_t ino)
{
	if (!c->has_written) {
		log_written(c->caller.now.log, &c->written);
		u64_set_sort(&c->written);
	}
	c->has_written = true;
	return u64_set_have(&c->written, ino);
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

void chain_file_found(struct chains *c, const struct change *change, const char *name)
{
	uint64_t ino = number_of(&change->before);
	struct found_file *file = ino ? find_file(c, ino) : NULL;

	if (!ino || (!file && !change->linked))
		return;
	file = get_file(c, ino);
	file_goes_on(c, file);
	file->chain.changed = c->turn;
	chain_saw(&file->chain, &change->before);
	set_name(&file->found, name);
	if (change->after.exists && change->after.ino == ino)
		return;
	/* The step removed a name, perhaps not the last one. */
	if (writes_in_place(c, ino)) {
		file->doubt = MAX(file->doubt, c->caller.now.ended);
	} else if (!file->chain.has_left || file->passing) {
		chain_gave(c, &file->chain, &change->before);
		file->passing = true;
	}
}

static void file_gave(struct chains *c, struct found_file *file, const struct change_side *after,
		      const char *name)
{
	if (file->passing)
		file->chain.ended = 0;
	file->passing = false;
	chain_gave(c, &file->chain, after);
	set_name(&file->left, name);
}

void chain_file_left(struct chains *c, const struct change *change, const char *name)
{
	uint64_t ino = number_of(&change->after);
	struct found_file *file = ino ? find_file(c, ino) : NULL;

	if (!file)
		return;
	file_goes_on(c, file);
	file->chain.changed = c->turn;
	/* A redo may have replaced it by the inode that it had found, here or at the old path. */
	file->chain.mentioned |= c->caller.now.turned && !(change->before.exists &&
							   change->before.ino == change->after.ino);
	if (name)
		file_gave(c, file, &change->after, name);
	else
		file->chain.known = false;
}

/* Adds a file that the step touched and did not change: its after-state equals its before-state,
 * unless a concurrent step changed it. How many hard links the file had is unknown. */
void chain_file_seen(struct chains *c, const struct after_image *p, const struct change_side *seen,
		     const char *name)
{
	struct found_file *file;

	if (!p->obj.mode || S_ISDIR(p->obj.mode) || p->obj.mode == OBJECT_UNSEEN || p->flags ||
	    !c->caller.now.alone)
		return;
	file = get_file(c, p->obj.ino);
	if (file->chain.changed == c->turn) /* through another hard link */
		return;
	file_goes_on(c, file);
	chain_saw(&file->chain, seen);
	set_name(&file->found, name);
	file_gave(c, file, seen, name);
}

void chain_files_forget(struct chains *c)
{
	for (struct found_file *file = c->files; file; file = file->hh.next)
		file->chain.known = false;
}

void chain_files_compare(struct chains *c)
{
	for (struct found_file *file = c->files; file; file = file->hh.next)
		compare_file(c, file);
}

void chain_files_done(struct chains *c)
{
	struct found_file *file, *rest;

	HASH_ITER (hh, c->files, file, rest) {
		HASH_DEL(c->files, file);
		chain_done(&file->chain);
		free(file->left);
		free(file->found);
		free(file->then);
		free(file);
	}
}
