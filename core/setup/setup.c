/* setup - looks at each file first, then writes them one by one; see setup.h. */
/* SPDX-License-Identifier: MIT */
#include "core/setup/setup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/setup/hooks.h"
#include "core/setup/setup_priv.h"

struct entry {
	struct setup_item item;
	char *before;	/* the file's content; NULL: it did not exist */
	bool hook, own; /* own: the content is an older cordon's */
};

struct setup {
	char *state_dir;
	struct manifest manifest;
	struct entry *list;
	size_t n;
};

int setup_new(struct setup **ret, const char *state_dir, struct err *err)
{
	struct manifest m;
	struct setup *s;
	int r = manifest_load(&m, state_dir, err);

	if (r < 0)
		return r;
	s = xcalloc(1, sizeof(*s));
	s->state_dir = xstrdup(state_dir);
	s->manifest = m;
	*ret = s;
	return 0;
}

void setup_free(struct setup *s)
{
	for (size_t i = 0; s && i < s->n; i++) {
		free(s->list[i].item.path);
		free(s->list[i].item.why);
		free(s->list[i].item.text);
		free(s->list[i].before);
	}
	if (s) {
		free(s->list);
		free(s->state_dir);
		manifest_done(&s->manifest);
	}
	free(s);
}

size_t setup_count(const struct setup *s)
{
	return s->n;
}

const struct setup_item *setup_item(const struct setup *s, size_t i)
{
	return &s->list[i].item;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Returns the path of the file, which may not exist yet, with links resolved. */
static char *real_path(const char *path)
{
	char *real = realpath(path, NULL);

	return real ? real : xstrdup(path);
}

/* Adds an entry with the file's present content. *ret_r: 0, -ENOENT, or why it cannot be read. */
static struct entry *look(struct setup *s, const char *path, const char *what, int *ret_r)
{
	struct entry e = {.item = {.path = real_path(path), .what = what, .mode = 0644}};
	struct stat st;
	size_t len = 0;

	*ret_r = io_read_file(AT_FDCWD, e.item.path, HOOKS_MAX_BYTES, &e.before, &len);
	if (*ret_r == 0 && strlen(e.before) != len)
		*ret_r = -EINVAL; /* it has a NUL, so it is not text */
	if (*ret_r == 0 && stat(e.item.path, &st) == 0)
		e.item.mode = st.st_mode & 07777;
	s->list = xrealloc(s->list, (s->n + 1) * sizeof(*s->list));
	s->list[s->n] = e;
	return &s->list[s->n++];
}

static void refuse(struct entry *e, const char *why)
{
	e->item.state = SETUP_REFUSED;
	e->item.why = xstrdup(why);
}

static void cannot_read(struct entry *e, int r)
{
	AUTO_FREE char *why = xasprintf("cannot be read: %s", strerror(-r));

	refuse(e, why);
}

/* Returns the manifest's entry if the file still has the content that an earlier `cordon install`
 * wrote. */
static const struct manifest_file *written_by_us(const struct setup *s, const struct entry *e)
{
	const struct manifest_file *f = s->manifest.files;

	for (size_t i = 0; e->before && i < s->manifest.n_files; i++, f++)
		if (str_eq(f->path, e->item.path))
			return f->hash == manifest_hash(e->before, strlen(e->before)) ? f : NULL;
	return NULL;
}

void setup_add_file(struct setup *s, const char *path, const char *what, const char *text)
{
	int r;
	struct entry *e = look(s, path, what, &r);

	if (r == -ENOENT)
		e->item.text = xstrdup(text);
	else if (r < 0)
		cannot_read(e, r);
	else if (str_eq(e->before, text))
		e->item.state = SETUP_THERE;
	else if (written_by_us(s, e)) {
		e->own = true;
		e->item.text = xstrdup(text);
	} else
		refuse(e, "there is one that differs: it stays as it is");
}

/* Merges all hooks, one after the other. *ret NULL: all are there already. */
static int merge_all(char **ret, const char *text, const struct setup_hook *const *hooks,
		     struct err *err)
{
	int r = 0;

	*ret = NULL;
	for (; r == 0 && *hooks; hooks++) {
		char *next = NULL;

		r = hooks_merge(&next, *ret ? *ret : text, *hooks, err);
		if (next) {
			free(*ret);
			*ret = next;
		}
	}
	if (r < 0)
		free(take_ptr(ret));
	return r;
}

void setup_add_hooks(struct setup *s, const char *path, const struct setup_hook *const *hooks)
{
	struct err err = {0};
	int r;
	struct entry *e = look(s, path, hooks[0]->what, &r);

	e->hook = true;
	e->item.after = hooks[0]->after;
	if (r == -ENOENT)
		e->item.mode = 0600;
	if (r < 0 && r != -ENOENT) {
		cannot_read(e, r);
		return;
	}
	if (merge_all(&e->item.text, e->before, hooks, &err) < 0)
		refuse(e, err.text);
	else if (!e->item.text)
		e->item.state = SETUP_THERE;
	else if (e->before)
		e->item.state = SETUP_MERGE;
}

/* ---- writing --------------------------------------------------------------------------------- */

/* Notes the missing directories above the file before they are made. */
static void note_dirs(struct manifest *m, const char *path)
{
	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		AUTO_FREE char *dir = xstrndup(path, (size_t)(p - path));
		struct stat st;

		if (lstat(dir, &st) < 0 && errno == ENOENT)
			manifest_add_dir(m, dir);
	}
}

static int make_parent(const char *path, mode_t mode, struct err *err)
{
	AUTO_FREE char *dir = xstrndup(path, (size_t)(path_base(path) - path));
	int r = io_mkdir_p(AT_FDCWD, dir, mode);

	return r < 0 ? err_set(err, r, "make %s", dir) : 0;
}

static int keep_backup(const struct setup *s, struct manifest_file *f, const struct entry *e,
		       struct err *err)
{
	AUTO_FREE char *label = path_label(e->item.path), *dir = path_join(s->state_dir, "backup");
	const struct manifest_file *ours = written_by_us(s, e);
	AUTO_FREE char *without = NULL;
	const char *text;
	int r;

	/* An older cordon wrote this content: the copy has the one before that. */
	if (e->hook && ours) {
		f->backup = ours->backup ? xstrdup(ours->backup) : NULL;
		return 0;
	}
	if (!e->before || e->own)
		return 0;
	if (e->hook && hooks_remove(&without, e->before, err) < 0)
		return -EINVAL;
	text = without ? without : e->before;
	f->backup = path_join(dir, label);
	r = io_mkdir_p(AT_FDCWD, dir, 0700);
	if (r == 0)
		r = io_write_file(AT_FDCWD, f->backup, 0600, text, strlen(text), true);
	return r < 0 ? err_set(err, r, "keep a copy of %s in %s", e->item.path, f->backup) : 0;
}

/* Returns whether the file has the content that was read. A later edit of another program stays. */
static bool is_unchanged(const struct entry *e)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;
	int r = io_read_file(AT_FDCWD, e->item.path, HOOKS_MAX_BYTES, &text, &len);

	return e->before ? r == 0 && str_eq(text, e->before) : r == -ENOENT;
}

static int write_entry(struct setup *s, const struct entry *e, struct err *err)
{
	struct manifest *m = &s->manifest;
	struct manifest_file f = {e->item.path, NULL,
				  manifest_hash(e->item.text, strlen(e->item.text)), e->hook};
	AUTO_FREE char *backup = NULL;
	int r;

	if (!is_unchanged(e))
		return err_say(err, -EBUSY, "%s was changed just now: run this again",
			       e->item.path);
	r = keep_backup(s, &f, e, err);
	backup = f.backup;
	if (r < 0)
		return r;
	note_dirs(m, e->item.path);
	manifest_add_file(m, &f);
	r = manifest_save(m, s->state_dir, err);
	if (r < 0)
		return r;
	r = make_parent(e->item.path, e->hook ? 0700 : 0755, err);
	if (r < 0)
		return r;
	r = io_write_file(AT_FDCWD, e->item.path, e->item.mode, e->item.text, strlen(e->item.text),
			  false);
	return r < 0 ? err_set(err, r, "write %s", e->item.path) : 0;
}

int setup_apply(struct setup *s, struct err *err)
{
	AUTO_FREE char *within = NULL;
	int r;

	within = path_join(s->state_dir, "installed.json");
	note_dirs(&s->manifest, within);
	r = io_mkdir_p(AT_FDCWD, s->state_dir, 0700);
	if (r < 0)
		err_set(err, r, "make %s", s->state_dir);
	for (size_t i = 0; r == 0 && i < s->n; i++)
		if (s->list[i].item.text)
			r = write_entry(s, &s->list[i], err);
	return r;
}
