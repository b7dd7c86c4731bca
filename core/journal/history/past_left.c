/* past_left - finds the state in which a step left a file. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/past.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"
#include "core/journal/util/grow.h"

struct taking {
	struct past *p;
	struct past_log *log;
};

static void take(void *data, const struct summary *head, const struct change *c)
{
	const struct taking *to = data;
	const struct change_side *side = to->p->undone ? &c->before : &c->after;
	struct past_log *log = to->log;
	uint64_t moment;
	uint32_t node;

	(void)head;
	if (!side->exists || !S_ISREG(side->mode))
		return;
	node = past_find(to->p, log, c, !to->p->undone, &moment);
	GROW(log->left, log->cap_left, log->n_left);
	log->left[log->n_left++] = (struct past_left){node, *side};
}

static int by_node(const void *a, const void *b)
{
	const struct past_left *x = a, *y = b;

	return (x->node > y->node) - (x->node < y->node);
}

static int by_ino(const void *a, const void *b)
{
	const struct past_left *x = a, *y = b;

	return (x->side.ino > y->side.ino) - (x->side.ino < y->side.ino);
}

static struct past_left *find(const struct past_log *log, uint32_t node)
{
	const struct past_left key = {.node = node};

	return log->n_left && node != NO_NODE
		       ? bsearch(&key, log->left, log->n_left, sizeof(key), by_node)
		       : NULL;
}

/* Marks files that were edited from outside while the step ran: their state is not the step's. */
static void take_foreign(struct past *p, struct past_log *log, int stepdir)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {.in = CHUNKED_IN_NONE};
	struct past_left *left;
	struct after_image image;
	int r = after_image_begin(&reader, stepdir, "post");

	p->tree.moment = p->undone ? log->last + 1 : log->end + 1;
	while (r >= 0 && (r = after_image_next(&reader, &image)) > 0) {
		if (!(image.flags & IMAGE_FOREIGN))
			continue;
		left = find(log, tree_node(&p->tree, image.root, image.path));
		if (left)
			left->side.exists = false;
		for (size_t i = 0; !left && i < log->n_left; i++)
			if (log->left[i].side.ino == image.obj.ino)
				log->left[i].side.exists = false;
	}
}

static void load(struct past *p, struct past_log *log)
{
	AUTO_CLOSE int fd = store_open_dir(p->tree.j, p->dirs.list[log - p->logs]);
	struct taking to = {.p = p, .log = log};
	AUTO_SUMMARY struct summary head = {0};

	if (fd < 0 || summary_read(fd, &head, take, &to) < 0)
		log->n_left = 0;
	if (!log->n_left)
		return;
	qsort(log->left, log->n_left, sizeof(*log->left), by_node);
	take_foreign(p, log, fd);
}

static struct past_log *ask(struct past *p, uint32_t log)
{
	struct past_log *by = &p->logs[log];

	if (!by->asked)
		load(p, by);
	by->asked = true;
	return by;
}

const struct change_side *past_left_of(struct past *p, uint32_t log, uint32_t node)
{
	const struct past_left *left = find(ask(p, log), node);

	return left ? &left->side : NULL;
}

const struct change_side *past_left_of_inode(struct past *p, uint32_t log, uint64_t ino)
{
	const struct past_left key = {.side = {.ino = ino}}, *left;
	struct past_log *by = ask(p, log);

	if (!by->n_left)
		return NULL;
	if (!by->left_by_ino) {
		by->left_by_ino = xcalloc(by->n_left, sizeof(*by->left));
		memcpy(by->left_by_ino, by->left, by->n_left * sizeof(*by->left));
		qsort(by->left_by_ino, by->n_left, sizeof(*by->left), by_ino);
	}
	left = bsearch(&key, by->left_by_ino, by->n_left, sizeof(key), by_ino);
	return left ? &left->side : NULL;
}
