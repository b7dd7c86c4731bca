/* identity - which folder a store belongs to, and which version wrote it. */
/* SPDX-License-Identifier: MIT */
#include "core/journal/store/identity.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/journal/fs/object.h"
#include "core/journal/journal.h"
#include "core/journal/store/aside.h"
#include "core/journal/store/news.h"
#include "core/journal/store/store.h"

/* The files of a history; the last two say which folder and version it is of. "joint" and "doomed"
 * are of an older cordon. */
static const char *const parts[] = {"rollback",	 "joint",    "doomed", "open",	   "redo",
				    "steps",	 BESIDE_DIR, "posts",  "barriers", "saved",
				    "trash",	 "lent",     "roots",  "marks",	   "review",
				    "committed", "state",    "folder", "version"};
#define N_SAYING 2 /* "folder" and "version" */

/* Looks for "version", which is made first and removed last, or for the steps that remain without
 * it. */
bool store_is_made(int store)
{
	return faccessat(store, "version", F_OK, AT_SYMLINK_NOFOLLOW) == 0 ||
	       faccessat(store, "steps", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* Says whether the version or the folder differs. text: the content of "version". */
static int say_foreign(const struct journal *j, const char *text, struct err *err)
{
	static const char what_then[] = "undo is unavailable: the next session puts this history "
					"aside, `cordon log --discard` throws it away";
	AUTO_BUF struct buf shown = BUF_INIT;
	long version = 0;
	int at = 0;

	if (sscanf(text, "cordon journal %9ld\n%n", &version, &at) != 1 || !at)
		return err_say(err, -EPROTO,
			       "the undo store '%s' is of another version of cordon, which this "
			       "one does not know: %s",
			       j->store_path, what_then);
	if (version != JOURNAL_VERSION)
		return err_say(err, -EPROTO,
			       "the undo store '%s' is of another version of cordon: it has format "
			       "%ld, and this one reads format %d: %s",
			       j->store_path, version, JOURNAL_VERSION, what_then);
	text_escape(&shown, text + at, strcspn(text + at, "\n"));
	return err_say(err, -EPROTO, "the undo store '%s' is of another folder, '%s': %s",
		       j->store_path, shown.data, what_then);
}

static int check_version(struct journal *j, struct err *err)
{
	AUTO_FREE char *text = NULL;
	AUTO_BUF struct buf want = BUF_INIT;
	int r = io_read_file(j->store, "version", 65536, &text, NULL);

	buf_fmt(&want, "cordon journal %d\n%s\n", JOURNAL_VERSION, j->folder);
	if (r == 0 && str_eq(text, want.data))
		return 0;
	if (r == 0 && str_starts(want.data, text)) /* torn: a part of the wanted text */
		r = -ENOENT;
	if (r == 0)
		return say_foreign(j, text, err);
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
 * birth time. (The device number may change with every boot.) Returns 1 if it names this directory,
 * or 0.
 */
static int is_folders(struct journal *j, struct buf *is)
{
	AUTO_FREE char *text = NULL;
	struct object o;
	int r = object_stat(j->roots[0].fd, "", &o);

	if (r < 0)
		return r;
	buf_fmt(is, "%" PRIu64 " %" PRId64 "\n", o.ino, o.btime_ns);
	r = io_read_file(j->store, "folder", 4096, &text, NULL);
	if (r == 0 && !*text) /* an empty file counts as none */
		r = -ENOENT;
	return r < 0 ? r : str_eq(text, is->data);
}

static int say_other(const struct journal *j, struct err *err)
{
	return err_say(err, -EPROTO,
		       "'%s' is another directory than the one whose history is kept under this "
		       "name: nothing is undone: the next session begins a new history%s",
		       j->folder,
		       j->inside ? ", `cordon log --discard` throws the old one away"
				 : "; if the files are the same, `cordon log --adopt` takes the "
				   "old one over");
}

static int check_folder(struct journal *j, struct err *err)
{
	AUTO_BUF struct buf is = BUF_INIT;
	int r = is_folders(j, &is);

	if (r == 0)
		return say_other(j, err);
	if (r == -ENOENT)
		r = io_write_file(j->store, "folder", 0600, is.data, is.len, false);
	return r < 0 ? err_set(err, r, "look at '%s'", j->folder) : 0;
}

/* ---- files that cordon has not made ---------------------------------------------------------- */

#define OF_OTHERS 077u

/* Returns whether the file system keeps modes: vfat shows the same for all files. *ret_open: others
 * have a right to the store itself. */
static bool keeps_modes(const struct journal *j, bool *ret_open)
{
	struct stat st, now;
	bool keeps;

	*ret_open = false;
	if (fstat(j->store, &st) < 0 || !(st.st_mode & OF_OTHERS))
		return true;
	*ret_open = true;
	keeps = fchmod(j->store, 0700) == 0 && fstat(j->store, &now) == 0 &&
		!(now.st_mode & OF_OTHERS);
	return fchmod(j->store, st.st_mode & 07777) == 0 && keeps;
}

/* Objects keep the modes that they had in the folder, and another history is checked when it is
 * taken over. */
static bool has_own_modes(const FTSENT *e)
{
	return str_eq(e->fts_name, "obj") || str_eq(e->fts_name, "trash") ||
	       str_eq(e->fts_name, ASIDE_DIR);
}

/*
 * Finds a file of the store that has another owner, or to which others have a right. cordon makes
 * none. But git writes into any directory that has no `.git` in its path, and over ignored files:
 * the merge of a commit that an agent made may add steps to a store that is this folder's own. A
 * user with umask 077 is not protected by this. Heap; NULL: there is none.
 */
static char *find_brought(const struct journal *j)
{
	char *argv[] = {j->store_path, NULL}, *found = NULL;
	bool open = false;
	FTS *fts = keeps_modes(j, &open)
			   ? fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL)
			   : NULL;
	FTSENT *e = fts ? fts_read(fts) : NULL;
	const uid_t owner = e && e->fts_info == FTS_D ? e->fts_statp->st_uid : geteuid();

	if (open && fts)
		found = xstrdup(".");
	while (!found && fts && (e = fts_read(fts))) {
		if (e->fts_info == FTS_DP || e->fts_info == FTS_NS || e->fts_info == FTS_ERR)
			continue; /* a directory's end, or a file that has just been removed */
		if (e->fts_statp->st_mode & OF_OTHERS || e->fts_statp->st_uid != owner)
			found = xstrdup(e->fts_path + strlen(j->store_path) + 1);
		else if (e->fts_info == FTS_D && has_own_modes(e))
			fts_set(fts, e, FTS_SKIP);
	}
	if (fts)
		fts_close(fts);
	return found;
}

int store_check_brought(const struct journal *j, struct err *err)
{
	AUTO_FREE char *found = j->inside ? find_brought(j) : NULL;

	if (!found)
		return 0;
	return err_say(err, -EPROTO,
		       "the undo store '%s' has '%s', to which others have a right, as cordon "
		       "makes none: it may have come with a commit or an archive (or did you "
		       "chmod -R the folder?): undo is unavailable: the next session puts the "
		       "history aside, `cordon log --discard` throws it away",
		       j->store_path, found);
}

/*
 * A store in the folder may have come with it, in a clone or an archive. The next start would apply
 * its records to the folder, and to the roots that it names. A directory's birth time (or, without
 * birth times, its inode number) cannot be known in advance. So a store that has a history and does
 * not name this directory is not used, and nothing is written into it. The file "folder" is created
 * before all parts and removed after them, so that a killed process does not leave such a store.
 */
int store_check_origin(struct journal *j, struct err *err)
{
	AUTO_BUF struct buf is = BUF_INIT;
	struct stat st;
	int r = is_folders(j, &is);

	if (r > 0)
		return store_check_brought(j, err);
	for (size_t i = 0; i < ARRAY_LEN(parts) - N_SAYING; i++) {
		if (fstatat(j->store, parts[i], &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT)
			continue;
		if (r == 0)
			return say_other(j, err);
		return err_say(err, -EPROTO,
			       "the undo store '%s' does not say which directory it is of, and may "
			       "have come with this one: undo is unavailable: the next session "
			       "puts it aside, `cordon log --discard` throws it away",
			       j->store_path);
	}
	return 0;
}

static int check_all(struct journal *j, struct err *err)
{
	int r = j->inside ? store_check_origin(j, err) : 0;

	if (r == 0)
		r = check_version(j, err);
	if (r == 0 && !j->read_only)
		r = check_folder(j, err);
	return r;
}

static void say_aside(struct journal *j, size_t steps)
{
	AUTO_FREE char *text = NULL, *brought = j->inside ? find_brought(j) : NULL;
	AUTO_BUF struct buf is = BUF_INIT;
	const char *why = "the directory was made anew, restored or moved";
	int r = brought ? 0 : is_folders(j, &is);
	char head[32];

	snprintf(head, sizeof(head), "cordon journal %d\n", JOURNAL_VERSION);
	if (brought)
		why = "it may have come with a commit or an archive";
	else if (io_read_file(j->store, "version", 65536, &text, NULL) == 0 &&
		 !str_starts(text, head))
		why = "it is of another version of cordon";
	else if (r > 0)
		why = "the directory was renamed";
	else if (j->inside)
		why = "it may have come with the directory";
	journal_say(j, "'%s' begins a new history: the old one (%zu step%s) is put aside, as %s%s",
		    j->folder, steps, steps == 1 ? "" : "s", why,
		    r > 0 || !j->inside ? ": `cordon log --adopt` takes it over" : "");
	j->urgent = true;
}

/* Removes what stays when a history is put aside, as it is made anew: a commit may have brought it,
 * too. Closes the rest to others. */
static void clean_rest(const struct journal *j)
{
	AUTO_CLOSE int dir = store_open_dir(j, "."), aside = store_open_dir(j, ASIDE_DIR);
	AUTO_DIR DIR *d = dir < 0 ? NULL : fdopendir(dir);
	struct dirent *e;

	if (d)
		dir = -1;
	while (d && (e = readdir(d))) {
		static const char *const stays[] = {".", "..", "lock", ASIDE_DIR};
		bool remove = true;

		for (size_t i = 0; i < ARRAY_LEN(stays); i++)
			remove = remove && !str_eq(e->d_name, stays[i]);
		if (remove)
			(void)!io_remove_tree(j->store, e->d_name);
	}
	/* The next check finds what cannot be closed. */
	(void)!fchmod(j->store, 0700);
	if (j->lock >= 0)
		(void)!fchmod(j->lock, 0600);
	if (aside >= 0)
		(void)!fchmod(aside, 0700);
}

int store_check(struct journal *j, bool session, struct err *err)
{
	struct err why = {0};
	AUTO_NAMES struct names names = {0};
	int r = check_all(j, session ? &why : err);

	if (!session || r != -EPROTO) {
		if (r < 0 && session && err)
			*err = why;
		return r;
	}
	if (!aside_is_empty(j->store))
		say_aside(j, store_names(j, "steps", &names) < 0 ? 0 : names.n);
	r = aside_put(j, false, NULL, err);
	if (r < 0)
		return r;
	clean_rest(j);
	return check_all(j, err);
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
