/* edited - notes which paths of an open step were edited externally. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/step/edited.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/fs/borrow.h"
#include "core/journal/log/undo_log.h"
#include "core/journal/op.h"
#include "core/journal/step/open_files.h"
#include "core/journal/step/step.h"
#include "core/journal/step/target.h"
#include "core/journal/store/roots.h"
#include "core/journal/util/codec.h"
#include "core/journal/util/path_set.h"

#define NEW_NS 100000000 /* the time after a file's creation in which no user saves it */

/* Adds a note to the end of the file, or leaves the file as it was. */
static int append_note(int dir, const struct buf *note)
{
	AUTO_CLOSE int fd =
		openat(dir, EDITED_FILE, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	struct stat st;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	r = io_write_all(fd, note->data, note->len);
	if (r < 0 && ftruncate(fd, st.st_size) < 0)
		log_warn("journal", "an incomplete record of an edit from outside stays: %s",
			 strerror(errno));
	return r;
}

bool edited_next(struct codec_reader *g, uint64_t *ret_seq, struct span *ret_key)
{
	if (g->p == g->end)
		return false;
	*ret_seq = codec_get_u64(g);
	*ret_key = codec_get_str(g);
	return !g->bad && strchr(ret_key->data, '/');
}

void step_note_edit(struct step *s, const char *key)
{
	AUTO_BUF struct buf note = BUF_INIT;
	size_t start;
	struct rec last;
	int r;

	if (!s->made || !undo_log_last(&s->side.log, undo_log_tail(&s->side.log), &last, &start))
		return;
	if (s->noted_at != last.seq)
		path_set_done(&s->noted_edits);
	s->noted_at = last.seq;
	if (!path_set_add_key(&s->noted_edits, key))
		return;
	codec_put_u64(&note, last.seq);
	codec_put_str(&note, key, strlen(key));
	r = append_note(s->side.dir, &note);
	if (r == 0)
		return;
	/* The disk is full. A rollback by this process knows the edit anyway; one after a crash
	 * goes by times. */
	log_warn("journal", "an edit from outside is not on disk: %s", strerror(-r));
	codec_put_u64(&s->j->unnoted, (uint64_t)s->id);
	buf_add(&s->j->unnoted, note.data, note.len);
}

/* Returns whether the step created a directory above the path, or moved or removed one of its name:
 * an undo puts that in the place of another's. */
static bool in_made_dir(struct step *s, const char *key)
{
	AUTO_FREE char *dir = xstrdup(key);
	const char *path;
	int root = path_key_root(dir, &path);
	char *slash;

	while ((slash = strrchr(path, '/'))) {
		struct spot at;
		struct object o;

		*slash = '\0';
		if (touched_paths_find(&s->touches, dir))
			return true;
		if (!s->made_dir)
			continue;
		if (root_look(s->j, root, path, &at, &o) < 0 || !o.mode)
			return false;
		if (step_created(s, &o))
			return true;
	}
	return false;
}

/* Notes an edit of the path if the step touched it, or in any case if `also`. Returns whether the
 * step touched it. */
static bool note_path(struct step *s, const char *key, bool also)
{
	bool touched = touched_paths_edited(&s->touches, key);

	if (touched || also)
		step_note_edit(s, key);
	return touched;
}

void edited_note(struct journal *j, const char *key, const struct object *o)
{
	for (struct step *s = j->open; s; s = s->next) {
		struct touched_inode *k = o->mode ? step_known(s, o) : NULL;

		bool also = S_ISREG(o->mode) && (k ? step_has_inode(s, o) : in_made_dir(s, key));
		bool touched = note_path(s, key, also);

		if (k)
			step_disown(s, o);
		if (k && S_ISREG(o->mode) && (o->nlink > 1 || !touched))
			k->flags |= TOUCHED_EDITED;
	}
}

void edited_take(struct step *s, int root, const char *path, const struct object *o)
{
	struct touched_inode *k = step_known(s, o);
	AUTO_FREE char *key = NULL;

	if (!k || !(k->flags & TOUCHED_EDITED))
		return;
	k->flags &= ~(unsigned)TOUCHED_EDITED & TOUCHED_ALL;
	key = path_key_make(root, path);
	note_path(s, key, true);
}

/* Returns whether all closes that the steps' own descriptors explain were reported. Commands make
 * and remove many files of their own: of these, one that did not change after its first moments is
 * not looked at. */
static bool may_be_saved(const struct step *s, const struct open_file *f, const struct object *o)
{
	if (f->closes != f->opens || !step_created(s, o))
		return f->closes >= f->opens;
	return o->ctime_ns - o->btime_ns > NEW_NS;
}

void edited_look(struct step *s, const struct op_target *w)
{
	struct open_file *f =
		S_ISREG(w->obj.mode) && w->path ? open_file_find(s->j, &w->obj) : NULL;
	AUTO_CLOSE int fd = -1;
	AUTO_FREE char *key = NULL;

	if (S_ISREG(w->obj.mode) && w->path && w->obj.nlink == 1)
		edited_take(s, w->root, w->path, &w->obj);
	if (!f || !may_be_saved(s, f, &w->obj))
		return;
	fd = *w->bare ? borrow_peek(s->j, w->dirfd, w->bare) : borrow_open_file(s->j, w->dirfd, "");
	if (fd < 0 || !open_file_is_shared(f, fd))
		return;
	key = path_key_make(w->root, w->path);
	edited_note(s->j, key, &w->obj);
}
