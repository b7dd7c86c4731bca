/* identity - which folder a store belongs to, and which version wrote it. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/journal/fs/object.h"
#include "core/journal/store/pruned_concurrent.h"
#include "core/journal/store/store.h"

/* All that makes a history, and in the end what says whose it is. */
static const char *const parts[] = {"rollback", "joint", "doomed",   "open",   "redo",	"steps",
				    BESIDE_DIR, "posts", "barriers", "saved",  "trash", "lent",
				    "roots",	"state", "folder",   "version"};
#define N_SAYING 2 /* "folder" and "version" */

/* "version" is made first and removed last; a store that has lost it still has its steps. */
bool store_is_made(int store)
{
	return faccessat(store, "version", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       faccessat(store, "steps", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

int store_check_version(struct journal *j, struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf want = BUF_INIT;
	int r = io_read_file(j->store, "version", 65536, &text, NULL);

	buf_fmt(&want, "cordon journal %d\n%s\n", JOURNAL_VERSION, j->folder);
	if (r == 0 && str_eq(text, want.data))
		return 0;
	if (r == 0 && str_starts(want.data, text)) /* torn: that of another one says more */
		r = -ENOENT;
	if (r == 0)
		return err_say(err, -EPROTO,
			       "the undo store '%s' is of another version or folder: undo is "
			       "unavailable: `cordon log --discard` throws the history away",
			       j->store_path);
	if (r != -ENOENT)
		return err_set(err, r, "read the version of the undo store '%s'", j->store_path);
	if (j->read_only)
		return store_is_made(j->store) ? 0 : -ENOENT;
	r = io_write_file(j->store, "version", 0600, want.data, want.len, false);
	if (r < 0)
		return err_set(err, r, "make the undo store '%s'", j->store_path);
	return 0;
}

/*
 * A history belongs to a directory, not to its name: the file "folder" has its inode number and
 * birth. (The device's number may be another one after every boot.) 1: it is this one; 0: another.
 */
static int is_folders(struct journal *j, struct buf *is)
{
	AUTO_FREE char *text = NULL;
	struct obj o;
	int r = obj_stat(j->roots[0].fd, "", &o);

	if (r < 0)
		return r;
	buf_fmt(is, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	r = io_read_file(j->store, "folder", 4096, &text, NULL);
	if (r == 0 && !*text) /* says as little as none */
		r = -ENOENT;
	return r < 0 ? r : str_eq(text, is->data);
}

static int say_other(const struct journal *j, struct err *err)
{
	return err_say(err, -EPROTO,
		       "'%s' is another directory than the one whose history is kept under this "
		       "name: undo is unavailable: bring that one back, or `cordon log --discard` "
		       "starts anew",
		       j->folder);
}

int store_check_folder(struct journal *j, struct err *err)
{
	AUTO_BUF struct buf is = BUF_INIT;
	int r = is_folders(j, &is);

	if (r == 0)
		return say_other(j, err);
	if (r == -ENOENT)
		r = io_write_file(j->store, "folder", 0600, is.data, is.len, false);
	return r < 0 ? err_set(err, r, "look at '%s'", j->folder) : 0;
}

/*
 * A store that lies in the folder can have come with it: in a clone or an archive. What it holds
 * would be done to the folder, and to places that it names, by the next start. Nobody knows an
 * inode's birth beforehand (nor, where none is told, which of all numbers a directory will get): so
 * what has a history and does not name this directory is not taken, nor anything written into it.
 * "folder" is made before all parts and removed after them: whoever is killed leaves no such store.
 */
int store_check_origin(struct journal *j, struct err *err)
{
	AUTO_BUF struct buf is = BUF_INIT;
	struct stat st;
	int r = is_folders(j, &is);

	if (r > 0)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(parts) - N_SAYING; i++) {
		if (fstatat(j->store, parts[i], &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			continue;
		if (r == 0)
			return say_other(j, err);
		return err_say(err, -EPROTO,
			       "the undo store '%s' does not say which directory it is of, and may "
			       "have come with this one: undo is unavailable: `cordon log "
			       "--discard` throws it away",
			       j->store_path);
	}
	return 0;
}

int store_clear(int store, const char *path, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		int r = io_remove_tree(store, parts[i]);

		if (r < 0)
			return err_set(err, r, "remove '%s/%s'", path, parts[i]);
	}
	return 0;
}
