/* parts - the directory of a step, and the parts of one that changes several folders. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/history.h"
#include "core/journal/log/capture.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/step/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/step/step.h"
#include "core/journal/store/reserve.h"
#include "core/journal/store/store.h"
#include "core/journal/util/codec.h"

/*
 * As soon as a step has two parts, each part's directory has the file "parts": the folders, each
 * with a NUL behind it. Lists, undo and redo find the other parts by it. Each part is committed and
 * recovered by itself: after SIGKILL between two renames of a commit, one part is kept and another
 * one rolled back. While the step is open the list has all folders, because a step that is rolled
 * back can be redone as one; the commit leaves the folders of the kept parts.
 */

void part_folders_free(struct part_folders *f)
{
	while (f->n)
		free(f->list[--f->n]);
}

int parts_load(int stepdir, struct part_folders *ret)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = io_read_file(stepdir, PARTS_FILE, (size_t)1 << 20, &text, &len);

	*ret = (struct part_folders){0};
	if (r == -ENOENT)
		return 0;
	if (r == 0 && (len < 2 || text[len - 1]))
		r = -EBADMSG;
	for (char *p = text; r == 0 && p < text + len; p += strlen(p) + 1) {
		if (ret->n == PARTS_MAX || *p != '/')
			r = -EBADMSG;
		else
			ret->list[ret->n++] = xstrdup(p);
	}
	if (r < 0)
		part_folders_free(ret);
	return r;
}

int parts_write(const struct step *s, const struct buf *names)
{
	if (names->len)
		return io_write_file(s->side.dir, PARTS_FILE, 0600, names->data, names->len, false);
	return unlinkat(s->side.dir, PARTS_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

/* Adds this new part to the lists of the parts that exist. */
static int announce(struct step *s)
{
	AUTO_BUF struct buf names = BUF_INIT;
	struct step *p;
	int r;

	for (p = s->part; p != s; p = p->part)
		if (p->made)
			buf_add(&names, p->j->folder, strlen(p->j->folder) + 1);
	if (!names.len)
		return 0;
	buf_add(&names, s->j->folder, strlen(s->j->folder) + 1);
	r = parts_write(s, &names);
	for (p = s->part; r == 0 && p != s; p = p->part)
		if (p->made)
			r = parts_write(p, &names);
	return r;
}

/* ---- the directory ----------------------------------------------------------------------------
 */

static int write_head(struct step *s)
{
	AUTO_BUF struct buf meta = BUF_INIT;
	struct rec rec = {.type = REC_STEP, .path = ""};
	const char *command = s->command ? s->command : "";

	codec_put_u64(&meta, (uint64_t)s->id);
	codec_put_u32(&meta, s->kind);
	codec_put_u64(&meta, (uint64_t)s->began_us);
	codec_put_str(&meta, command, strlen(command));
	rec.meta = (struct span){meta.data, meta.len};
	return capture_push(&s->side, &rec);
}

bool step_read_head(const struct undo_log *undo, struct step_info *ret)
{
	struct rec r;
	struct codec_reader g;
	size_t at = 0;

	if (!undo_log_next(undo, &at, &r) || r.type != REC_STEP)
		return false;
	g = (struct codec_reader){.p = r.meta.data, .end = r.meta.data + r.meta.len};
	ret->id = (int64_t)codec_get_u64(&g);
	ret->kind = codec_get_u32(&g);
	ret->began_us = (int64_t)codec_get_u64(&g);
	ret->command = xstrdup(codec_get_str(&g).data);
	return true;
}

static int make_parts(struct step *s, const char *dir)
{
	int r;

	if (mkdirat(s->j->store, dir, 0700) < 0)
		return -errno;
	s->side.dir = store_open_dir(s->j, dir);
	if (s->side.dir < 0)
		return s->side.dir;
	if (mkdirat(s->side.dir, "obj", 0700) < 0)
		return -errno;
	s->side.obj = openat(s->side.dir, "obj", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->side.obj < 0)
		return -errno;
	r = undo_log_create(&s->side.log, s->side.dir, "undo");
	return r < 0 ? r : write_head(s);
}

int step_make(struct step *s)
{
	AUTO_FREE char *dir = NULL;
	mode_t mask;
	int r;

	if (s->made)
		return 0;
	dir = xasprintf("open/%" PRId64, s->id);
	mask = umask(077);
	do {
		r = s->j->ids_given ? state_save(s->j) : 0;
		if (r == 0)
			r = make_parts(s, dir);
		if (r == 0)
			r = announce(s);
		if (r == 0)
			break;
		capture_done(&s->side);
		s->side.j = s->j;
		if (io_remove_tree(s->j->store, dir) < 0)
			break; /* the next start finds that it never began */
	} while (store_relieve(s->j, r, false));
	umask(mask);
	s->made = r == 0;
	return r;
}
