/* dump - prints the records of a step. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "core/journal/log/undo_log.h"
#include "core/journal/store/store.h"
#include "core/journal/upkeep.h"

static const char *const types[REC_TYPES] = {
	[REC_NEW] = "new",	 [REC_GONE] = "gone",	    [REC_RENAME] = "rename",
	[REC_XCHG] = "exchange", [REC_DIR_NEW] = "mkdir",   [REC_DIR_GONE] = "rmdir",
	[REC_META] = "meta",	 [REC_CONTENT] = "content", [REC_XINODE] = "inode",
	[REC_DTIME] = "times",	 [REC_STEP] = "step",	    [REC_MARK] = "mark",
	[REC_END] = "end",
};

static int dump_log(int dir, const char *name, struct journal_record *out,
		    void (*fn)(void *data, const struct journal_record *r), void *data)
{
	AUTO_UNDO_LOG struct undo_log log = UNDO_LOG_NONE;
	struct rec r;
	size_t at = 0;
	int e = undo_log_open(&log, dir, name, false,
			      true); /* records before a damaged one are shown */

	out->log = name;
	while (e == 0 && undo_log_next(&log, &at, &r)) {
		out->type = types[r.type];
		out->linked = r.type == REC_GONE && r.flags & REC_LINKED;
		out->swapped = r.type == REC_RENAME && r.flags & REC_SWAPPED;
		out->directory =
			(r.type == REC_RENAME || r.type == REC_XCHG) && r.flags & REC_DIRECTORY;
		out->in_log = r.type == REC_CONTENT && r.flags & REC_INLINE;
		out->seq = r.seq;
		out->src = r.src;
		out->slot = r.slot;
		out->ino = r.ino;
		out->ino2 = r.ino2;
		out->root = r.root;
		out->root2 = r.root2;
		out->path = r.path;
		out->path2 = r.path2;
		out->kept = r.meta;
		fn(data, out);
	}
	return e == -ENOENT || e == -ENODATA ? 0 : e;
}

int journal_dump(struct journal *j, int64_t id,
		 void (*fn)(void *data, const struct journal_record *r), void *data,
		 struct err *err)
{
	static const char *const where[] = {"open", "steps", "redo"};
	bool found = false;
	int r = 0;

	for (size_t k = 0; r == 0 && k < ARRAY_LEN(where); k++) {
		AUTO_NAMES struct names names = {0};

		r = store_names(j, where[k], &names);
		for (size_t i = 0; r == 0 && i < names.n; i++) {
			AUTO_FREE char *dir = xasprintf("%s/%s", where[k], names.list[i]);
			AUTO_CLOSE int fd = -1;
			struct journal_record out = {.step = atoll(names.list[i]),
						     .where = where[k]};

			if (id && out.step != id)
				continue;
			fd = store_open_dir(j, dir);
			if (fd == -ENOENT)
				continue; /* a session has moved it */
			found = true;
			r = fd < 0 ? fd : dump_log(fd, "undo", &out, fn, data);
			if (r == 0)
				r = dump_log(fd, "redo", &out, fn, data);
		}
	}
	if (r < 0)
		return err_set(err, r, "read the undo store '%s'", j->store_path);
	return found || !id ? 0 : err_say(err, -ENOENT, "there is no step %" PRId64, id);
}
