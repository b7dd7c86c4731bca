/* step - an open step: the inodes and paths it touched, and its captures before each change. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "core/journal/fs/object.h"
#include "core/journal/log/capture.h"
#include "core/journal/op.h"
#include "core/journal/step/hard_links.h"
#include "core/journal/step/step.h"
#include "core/journal/step/touched_inodes.h"
#include "core/journal/step/touched_paths.h"
#include "core/journal/step/unkept.h"
#include "core/journal/steps.h"
#include "core/journal/store/roots.h"
#include "core/journal/store/store.h"
#include "core/journal/util/path_set.h"
#include "core/journal/util/u64_set.h"

/* ---- inodes -----------------------------------------------------------------------------------
 */

struct touched_inode *step_learn(struct step *s, const struct object *o, unsigned flags)
{
	struct touched_inode *k = touched_inodes_learn(&s->known, o, flags);

	if (flags & (TOUCHED_META | TOUCHED_CONTENT))
		hard_link_use(s, o);
	s->made_dir |= flags & TOUCHED_CREATED && S_ISDIR(o->mode);
	return k;
}

bool step_created(const struct step *s, const struct object *o)
{
	const struct touched_inode *k = step_known(s, o);

	return k && k->flags & TOUCHED_CREATED;
}

void step_ask_before(struct step *s, step_on_loss fn, void *data)
{
	s->on_loss = fn;
	s->on_loss_data = data;
}

/* Returns whether the step made this name, as one of several hard links: removing it loses
 * nothing. */
static bool only_a_name(struct step *s, int root, const char *path, const struct object *o)
{
	AUTO_FREE char *key = NULL;
	const struct touched_path *t;

	if (S_ISDIR(o->mode) || o->nlink < 2)
		return false;
	key = path_key_make(root, path);
	t = touched_paths_find(&s->touches, key);
	return t && !t->before;
}

int step_lose(struct step *s, enum loss what, int root, const char *path, const struct object *o)
{
	unsigned enough =
		TOUCHED_CREATED | (what == LOSS_OVERWRITE ? TOUCHED_CONTENT | TOUCHED_OPENED : 0);
	const struct touched_inode *k;

	if (!s->on_loss)
		return 0;
	k = step_known(s, o);
	if ((k && k->flags & enough) || (what != LOSS_OVERWRITE && only_a_name(s, root, path, o)))
		return 0;
	return s->on_loss(s->on_loss_data, what, o->size);
}

bool step_has_inode(const struct step *s, const struct object *o)
{
	const struct touched_inode *k = step_known(s, o);

	return k && object_is_identified(o) && (k->flags & (TOUCHED_CREATED | TOUCHED_CONTENT));
}

/* ---- paths ------------------------------------------------------------------------------------
 */

int64_t step_id(const struct step *s)
{
	return s->id;
}

size_t step_paths(const struct step *s)
{
	const struct step *p = s;
	size_t n = 0;

	do
		n += touched_paths_count(&p->touches);
	while ((p = p->part) != s);
	return n;
}

struct step *step_part(struct step *s, const struct journal *j)
{
	struct step *p = s;

	do
		if (p->j == j)
			return p;
	while ((p = p->part) != s);
	return NULL;
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* Notes the step's paths as changed by this process, if the journal collects these. */
static void note_own(struct step *s)
{
	if (s->j->owning)
		touched_paths_settle(&s->touches);
	for (size_t i = 0; s->j->owning && i < touched_paths_count(&s->touches); i++)
		path_set_add_key(&s->j->own, touched_paths_key(&s->touches, i));
}

static void step_free(struct step *s)
{
	note_own(s);
	touched_inodes_done(&s->known);
	touched_paths_done(&s->touches);
	u64_set_done(&s->came_from);
	path_set_done(&s->noted_edits);
	hard_links_free(s);
	capture_done(&s->side);
	unkept_free(s);
	free(s->command);
	free(s->why);
	free(s->bare);
	free(s->copies);
	free(s->clones);
	free(s);
}

void step_drop(struct step *s)
{
	struct step *before = s;

	while (before->part != s)
		before = before->part;
	before->part = s->part;
	for (struct step **p = &s->j->open; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			break;
		}
	step_free(s);
}

struct step *step_new(struct journal *j, int64_t id, struct step *of)
{
	struct step *s = xcalloc(1, sizeof(*s));

	s->j = j;
	s->side = (struct capture)CAPTURE_NONE;
	s->side.j = j;
	s->id = id;
	s->part = s;
	if (of) {
		s->kind = of->kind;
		s->began_us = of->began_us;
		s->command = xstrdup(of->command);
		for (s->part = of; of->part != s->part;)
			of = of->part;
		of->part = s;
	}
	j->ids_given |= (uint64_t)llabs(id) >= j->state->next_id;
	j->state->next_id = MAX(j->state->next_id, (uint64_t)llabs(id) + 1);
	s->next = j->open;
	j->open = s;
	store_forget_near(j);
	return s;
}

void step_spare(struct step *s)
{
	struct step *p = s;

	do
		p->spares = true;
	while ((p = p->part) != s);
}

void step_watch_end(struct step *s, const struct step_witness *w, void *data)
{
	s->witness = w;
	s->witness_data = data;
}

void step_set_command(struct step *s, const char *command)
{
	struct step *p = s;

	do {
		free(p->command);
		p->command = xstrdup(command);
	} while ((p = p->part) != s);
}

off_t step_log_bytes(const struct journal *j)
{
	off_t sum = 0;

	for (const struct step *s = j->open; s; s = s->next)
		sum += (off_t)s->side.log.cap;
	return sum;
}
