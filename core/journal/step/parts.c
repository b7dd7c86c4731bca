/* parts - the parts of a step that changes several folders. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/parts.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/step/step.h"

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
		return io_write_file(s->side.dir, PARTS_FILE, 0600, names->data, names->len,
				     s->j->options.durable);
	return unlinkat(s->side.dir, PARTS_FILE, 0) < 0 && errno != ENOENT ? -errno : 0;
}

int parts_announce(struct step *s)
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
