/* remove - removes installed files; changes by the user stay. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/setup/hooks.h"
#include "core/setup/setup.h"
#include "core/setup/setup_priv.h"

struct removing {
	bool dry;
	void (*told)(void *data, const char *path, const char *words);
	void *data;
};

static int put_back(const struct removing *rm, const struct manifest_file *f, const char *text,
		    size_t len, struct err *err)
{
	struct stat st;
	int r;

	if (rm->dry)
		return 0;
	r = stat(f->path, &st) < 0
		    ? -errno
		    : io_write_file(AT_FDCWD, f->path, st.st_mode & 07777, text, len, false);
	return r < 0 ? err_set(err, r, "write %s", f->path) : 0;
}

static int delete_file(const struct removing *rm, const struct manifest_file *f, struct err *err)
{
	if (!rm->dry && unlink(f->path) < 0 && errno != ENOENT)
		return err_set(err, -errno, "remove %s", f->path);
	rm->told(rm->data, f->path, "will be removed");
	return 0;
}

/* Returns the content before cordon's first change (heap); NULL: the file did not exist, or the
 * copy is missing. */
static char *backup_of(const struct manifest_file *f, size_t *len)
{
	char *text = NULL;

	if (!f->backup || io_read_file(AT_FDCWD, f->backup, HOOKS_MAX_BYTES, &text, len) < 0)
		return NULL;
	return text;
}

/* Removes only our hook from settings that were edited later. */
static int strip_hook(const struct removing *rm, const struct manifest_file *f, const char *text,
		      struct err *err)
{
	AUTO_FREE char *without = NULL;
	struct err why = {0};
	int r;

	if (hooks_remove(&without, text, &why) < 0) {
		rm->told(rm->data, f->path, why.text);
		return 0;
	}
	if (!without) {
		rm->told(rm->data, f->path, "the hook is not in it any more: left as it is");
		return 0;
	}
	if (!f->backup && str_eq(without, "{}\n"))
		return delete_file(rm, f, err);
	r = put_back(rm, f, without, strlen(without), err);
	if (r == 0)
		rm->told(rm->data, f->path,
			 "the hook will be removed; you changed the rest: it stays");
	return r;
}

static int remove_file(const struct removing *rm, const struct manifest_file *f, struct err *err)
{
	AUTO_FREE char *text = NULL, *before = NULL;
	size_t len = 0, before_len = 0;
	int r = io_read_file(AT_FDCWD, f->path, HOOKS_MAX_BYTES, &text, &len);

	if (r == -ENOENT)
		return 0;
	if (r < 0) {
		rm->told(rm->data, f->path, "cannot be read: left as it is");
		return 0;
	}
	if (manifest_hash(text, len) != f->hash) {
		if (f->hook)
			return strip_hook(rm, f, text, err);
		rm->told(rm->data, f->path, "you changed it: left as it is");
		return 0;
	}
	if (!f->backup)
		return delete_file(rm, f, err);
	before = backup_of(f, &before_len);
	if (!before)
		return strip_hook(rm, f, text, err);
	r = put_back(rm, f, before, before_len, err);
	if (r == 0)
		rm->told(rm->data, f->path, "will be as it was before");
	return r;
}

/* Removes our own files, the manifest and the copies, and then the directories that are empty. */
static void forget(const struct manifest *m, const char *state_dir)
{
	AUTO_FREE char *list = path_join(state_dir, "installed.json");
	int r;

	for (size_t i = 0; i < m->n_files; i++)
		if (m->files[i].backup)
			(void)unlink(m->files[i].backup);
	r = io_remove_tree(AT_FDCWD, list);
	if (r == 0) {
		AUTO_FREE char *backups = path_join(state_dir, "backup");

		(void)rmdir(backups);
	}
	for (size_t i = m->n_dirs; i > 0; i--)
		(void)rmdir(m->dirs[i - 1]);
}

int setup_remove(const char *state_dir, bool dry,
		 void (*told)(void *data, const char *path, const char *words), void *data,
		 struct err *err)
{
	const struct removing rm = {dry, told, data};
	AUTO_MANIFEST struct manifest m = {0};
	int r = manifest_load(&m, state_dir, err);

	if (r < 0)
		return r;
	if (m.n_files == 0)
		return err_say(err, -ENOENT, "nothing is installed for this user");
	for (size_t i = 0; i < m.n_files; i++) {
		r = remove_file(&rm, &m.files[i], err);
		if (r < 0)
			return r;
	}
	if (!dry)
		forget(&m, state_dir);
	return 0;
}
