/* check_objects - checks before a rollback that the store has every object it will restore. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/rollback/txn.h"
#include "core/journal/util/u64_set.h"

/* Lists the slots of a step's objects: a file "1f" in obj/, or "1f.z" if it is compressed. */
static int list_objects(int objdir, struct u64_set *ret)
{
	AUTO_CLOSE int fd = openat(objdir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	AUTO_DIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!dir)
		return -errno;
	fd = -1;
	while ((e = readdir(dir))) {
		char *end;
		uint64_t slot = strtoull(e->d_name, &end, 16);

		if (end != e->d_name && (!*end || str_eq(end, ".z")))
			u64_set_add(ret, slot);
	}
	u64_set_sort(ret);
	return 0;
}

/* Returns whether the record's inverse needs an object of the store. If a hard link of the same
 * file replaced the name, nothing had to be kept. */
static bool needs_object(const struct txn *t, const struct rec *r)
{
	if (rec_is_idle(r) || !r->slot || r->flags & REC_INLINE || r->type == REC_RENAME)
		return false;
	if (r->type == REC_GONE && r->flags & (REC_LINKED | REC_ASIDE))
		return false;
	return !u64_set_have(&t->remedy.skips, r->seq);
}

static int check_step(const struct txn *t, struct mover *m, struct err *err)
{
	const struct capture *from = txn_from(t, m);
	struct u64_set have = {0};
	size_t at = 0;
	struct rec r;
	int e = m->arrived || m->foreign ? 1 : list_objects(from->obj, &have);

	while (e == 0 && undo_log_next(&from->log, &at, &r)) {
		AUTO_BUF struct buf shown = BUF_INIT;

		if (!needs_object(t, &r) || u64_set_have(&have, r.slot))
			continue;
		text_escape(&shown, r.path, strlen(r.path));
		e = err_say(err, -EBADMSG,
			    "what was at '%.300s' is not in the undo store any more (step %s): "
			    "nothing has been changed: `cordon journal verify` says what is "
			    "missing, --force brings back the rest",
			    shown.data, strrchr(m->dir, '/') + 1);
	}
	u64_set_done(&have);
	return MIN(e, 0);
}

int txn_check_objects(const struct txn *t, struct err *err)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < t->n; i++)
		r = check_step(t, &t->list[i], err);
	return r < 0 && err && !err->code ? err_set(err, r, "look into the undo store") : r;
}
