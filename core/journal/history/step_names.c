/* step_names - when a step first named each path, and what a path was called when it began. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history/step_names.h"

#include <string.h>

#include "core/journal/log/log_reader.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/util/grow.h"

static void add_name(struct step_names *n, int root, const char *path, uint64_t seq)
{
	AUTO_FREE char *key = path_key_make(root, path);
	bool fresh;
	size_t i = path_set_put(&n->paths, key, &fresh);

	GROW(n->records, n->cap, i);
	if (fresh || n->undone)
		n->records[i] = seq;
}

/* Numbers that lead to the beginning: of a kept step, those of the records backwards. */
static uint64_t number_of(const struct step_names *n, uint64_t record)
{
	return n->undone || !record ? record : UINT64_MAX - record;
}

static void add_rename(struct step_names *n, const struct rec *r)
{
	struct dir_rename one = {.seq = number_of(n, r->seq),
				 .root = n->undone ? r->root : r->root2,
				 .root2 = n->undone ? r->root2 : r->root,
				 .from = (char *)(uintptr_t)(n->undone ? r->path : r->path2),
				 .to = (char *)(uintptr_t)(n->undone ? r->path2 : r->path),
				 .both = r->type == REC_XCHG};

	renames_add_one(&n->back, &one);
}

int step_names_load(struct step_names *n, int stepdir, bool undone)
{
	struct log_reader s = LOG_READER_NONE;
	struct rec r;
	uint64_t at;
	int e = log_reader_open(&s, stepdir, undone ? "redo" : "undo");

	n->undone = undone;
	while (e >= 0 && (e = log_reader_next(&s, &r, &at)) > 0) {
		bool moved = r.type == REC_RENAME || r.type == REC_XCHG;

		if (rec_is_idle(&r))
			continue;
		add_name(n, r.root, r.path, r.seq);
		if (moved)
			add_name(n, r.root2, r.path2, r.seq);
		if (moved && r.flags & REC_DIRECTORY)
			add_rename(n, &r);
	}
	renames_sort(&n->back);
	log_reader_close(&s);
	return e;
}

void step_names_done(struct step_names *n)
{
	path_set_done(&n->paths);
	free(n->records);
	renames_done(&n->back);
	*n = (struct step_names){0};
}

uint64_t step_names_record(const struct step_names *n, int root, const char *path)
{
	AUTO_FREE char *key = path_key_make(root, path);
	size_t i = path_set_find(&n->paths, key);

	return i == PATH_SET_NONE ? 0 : n->records[i];
}

char *step_names_first(const struct step_names *n, uint64_t record, int *root, const char *path)
{
	return renames_now(&n->back, number_of(n, record), root, path);
}
