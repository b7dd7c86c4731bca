/* path_index_after - finds the state of a file after the step of a log. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdlib.h>

#include "core/journal/history.h"
#include "core/journal/history/after_image.h"
#include "core/journal/history/path_index_lookup.h"
#include "core/journal/history/step_summary.h"
#include "core/journal/store/store.h"
#include "core/journal/util/chunked_io.h"

struct taking {
	struct path_log *log;
	bool undone;
};

static void take(void *data, const struct summary *head, const struct change *c)
{
	const struct taking *to = data;
	const struct change_side *left = to->undone ? &c->before : &c->after;
	struct path_log *log = to->log;

	(void)head;
	if (!left->exists || S_ISDIR(left->mode))
		return;
	if ((log->n_left & (log->n_left - 1)) == 0) /* a power of two */
		log->left = xrealloc(log->left,
				     (log->n_left ? log->n_left * 2 : 1) * sizeof(*log->left));
	log->left[log->n_left++] = *left;
}

static int by_inode(const void *a, const void *b)
{
	const struct change_side *x = a, *y = b;

	return (x->ino > y->ino) - (x->ino < y->ino);
}

static struct change_side *find(const struct path_log *log, uint64_t ino)
{
	const struct change_side key = {.ino = ino};

	return log->n_left ? bsearch(&key, log->left, log->n_left, sizeof(key), by_inode) : NULL;
}

/* Marks files that were edited from outside while the step ran: their state is not the step's. */
static void take_foreign(struct path_log *log, int stepdir)
{
	AUTO_IMAGE_READER struct after_image_reader reader = {.in = CHUNKED_IN_NONE};
	struct change_side *left;
	struct after_image p;
	int r = after_image_begin(&reader, stepdir, "post");

	while (r >= 0 && (r = after_image_next(&reader, &p)) > 0) {
		if (!(p.flags & IMAGE_FOREIGN))
			continue;
		left = find(log, p.obj.ino);
		if (left)
			left->exists = false;
		else
			log->murky = true;
	}
}

/* Loads the states after the log's step; none if its summary cannot be read. */
static void load(struct journal *j, const struct path_index *t, struct path_log *log)
{
	AUTO_FREE char *dir = xasprintf("%s/%" PRId64, t->undone ? "redo" : "steps", log->id);
	AUTO_CLOSE int fd = store_open_dir(j, dir);
	struct taking to = {.log = log, .undone = t->undone};
	AUTO_SUMMARY struct summary head = {0};

	log->asked = true;
	if (fd < 0 || summary_read(fd, &head, take, &to) < 0)
		log->n_left = 0;
	log->began_us = head.info.began_us;
	log->ended_us = head.info.ended_us;
	if (!log->n_left)
		return;
	qsort(log->left, log->n_left, sizeof(*log->left), by_inode);
	take_foreign(log, fd);
}

static const struct path_log *ask(struct journal *j, const struct path_index *t, uint32_t log)
{
	if (!t->logs[log].asked)
		load(j, t, &t->logs[log]);
	return &t->logs[log];
}

bool path_index_overlap(struct journal *j, const struct path_index *t, uint32_t log, uint32_t other)
{
	const struct path_log *a = ask(j, t, log), *b = ask(j, t, other);

	return a->began_us < b->ended_us && b->began_us < a->ended_us;
}

bool path_index_left(struct journal *j, const struct path_index *t, uint32_t log,
		     const struct left_of *of, struct change_side *ret)
{
	const struct path_log *by = ask(j, t, log);
	const struct change_side *found;

	found = find(by, of->ino);
	if (!found && of->then && !by->murky)
		found = find(by, of->then);
	if (!found && !by->murky)
		found = of->beside;
	if (found)
		*ret = *found;
	return found;
}
