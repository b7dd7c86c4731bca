/* journalfix - a folder, a store and short names for the journal's tests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <sys/wait.h>

#include "core/base/io.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"
#include "tests/support/check.h"
#include "tests/support/tree.h"

struct fix {
	char *top, *folder, *state;
	struct journal *j, *with;
	bool followed, lasting;
	struct step *s;
	struct err err;
	struct journal_options options;
	bool (*guards)(void *data, const char *path, mode_t type);
	const struct journal_saves *saves;
	int dirs[64]; /* descriptors handed out by at() */
	int n_dirs;
};

static inline void fix_open(struct fix *f)
{
	struct journal_spec spec = {.folder = f->folder,
				    .state_dir = f->state,
				    .with = f->with,
				    .followed = f->followed,
				    .lasting = f->lasting,
				    .guards = f->guards,
				    .saves = f->saves,
				    .guards_data = f,
				    .options = f->options};
	int r = journal_open(&f->j, &spec, NULL, &f->err);

	if (r < 0)
		fail_msg("journal_open: %d %s", r, f->err.text);
}

static inline struct fix *fix_new(void)
{
	struct fix *f = xcalloc(1, sizeof(*f));
	const char *tmp = getenv("TMPDIR");

	f->top = xasprintf("%s/cordon-journal-XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(f->top))
		abort();
	f->folder = xasprintf("%s/work", f->top);
	f->state = xasprintf("%s/state", f->top);
	if (mkdir(f->folder, 0755) < 0)
		abort();
	fix_open(f);
	return f;
}

static inline void fix_drop_dirs(struct fix *f)
{
	while (f->n_dirs)
		close(f->dirs[--f->n_dirs]);
}

static inline void fix_free(struct fix *f)
{
	AUTO_FREE char *command = NULL;

	fix_drop_dirs(f);
	journal_close(f->j);
	command = xasprintf("chmod -R u+rwx '%s'", f->top);
	if (io_remove_tree(AT_FDCWD, f->top) < 0 &&
	    (system(command) != 0 || io_remove_tree(AT_FDCWD, f->top) < 0))
		fprintf(stderr, "# %s is left\n", f->top);
	free(f->top);
	free(f->folder);
	free(f->state);
	free(f);
}

/* For cmocka: each test gets a new one. */
static inline int fix_setup(void **state)
{
	*state = fix_new();
	return 0;
}

static inline int fix_teardown(void **state)
{
	fix_free(*state);
	return 0;
}

static inline void fix_reopen(struct fix *f)
{
	fix_drop_dirs(f);
	journal_close(f->j);
	f->j = NULL;
	f->s = NULL;
	fix_open(f);
}

/* "a/b/c" -> the directory a/b, opened beneath the folder, and the name c. path must outlive it. */
static inline struct at at(struct fix *f, const char *path)
{
	static char dirs[8][4096];
	static int turn;
	char *dir = dirs[turn++ % 8];
	const char *slash = NULL;
	struct at a = {.dirfd = -1};

	for (const char *p = path; *p; p++)
		if (*p == '/' && p[1])
			slash = p;
	snprintf(dir, 4096, "%.*s", slash ? (int)(slash - path) : 0, path);
	if (f->n_dirs == 64)
		fix_drop_dirs(f);
	a.dirfd = openat(journal_folder_fd(f->j), *dir ? dir : ".",
			 O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (a.dirfd >= 0)
		f->dirs[f->n_dirs++] = a.dirfd;
	a.dir = dir;
	a.name = slash ? slash + 1 : path;
	return a;
}

static inline void begin(struct fix *f, const char *command)
{
	assert_int_equal(journal_begin(f->j, STEP_COMMAND, command, &f->s, &f->err), 0);
}

static inline int64_t commit(struct fix *f)
{
	int64_t id = step_id(f->s);
	int r = journal_commit(f->s, 0, &f->err);

	if (r < 0)
		fail_msg("commit: %s", f->err.text);
	f->s = NULL;
	return r ? id : 0;
}

static inline void succeeds(int r)
{
	assert_int_equal(r, 0);
}

static inline int64_t committed(struct fix *f)
{
	int64_t id = commit(f);

	assert_true(id > 0);
	return id;
}

/* Makes a whole step of one operation, which changes something. Returns its number. */
#define one_step(f, command, operation) (begin(f, command), succeeds(operation), committed(f))

static inline int undo(struct fix *f, size_t n, unsigned flags)
{
	struct undo_plan *plan = NULL;
	int r;

	f->err = (struct err){0};
	r = journal_undo(f->j, UNDO_BACK, n, flags, NULL, &f->err);
	if (r == -ESTALE && getenv("CORDON_TEST_SEED") &&
	    journal_plan(f->j, UNDO_BACK, n, 0, &plan, &f->err) == 0)
		for (size_t i = 0; i < plan->n_entries; i++)
			fprintf(stderr, "# %c %s%s\n", plan->entries[i].what, plan->entries[i].path,
				plan->entries[i].conflict ? " CONFLICT" : "");
	undo_plan_free(plan);
	return r;
}

static inline int redo(struct fix *f, unsigned flags)
{
	f->err = (struct err){0};
	return journal_undo(f->j, UNDO_REDO, 1, flags, NULL, &f->err);
}

static inline int restore(struct fix *f, int64_t id, const char *path, unsigned flags)
{
	const char *const paths[] = {path, NULL};

	f->err = (struct err){0};
	return journal_restore(f->j, id, paths, flags, &f->err);
}

/* Returns whether the store has the file. */
static inline bool has(const struct fix *f, const char *name)
{
	return faccessat(journal_store_fd(f->j), name, F_OK, 0) == 0;
}

static inline void must(struct fix *f, int r)
{
	if (r < 0)
		fail_msg("%d %s", r, f->err.text);
}

static inline char *snap(struct fix *f)
{
	return tree_take(f->folder, ".cordon");
}

static inline void assert_tree(struct fix *f, const char *want)
{
	AUTO_FREE char *now = snap(f);

	if (!tree_same(want, now))
		fail_msg("the tree differs");
}

static inline void print_damage(void *data, const char *words)
{
	(void)data;
	fprintf(stderr, "# damaged: %s\n", words);
}

static inline void assert_sound(struct fix *f)
{
	struct journal_sound sound;

	if (journal_verify(f->j, print_damage, NULL, &sound, &f->err) < 0)
		fail_msg("%s", f->err.text);
}

/* The operations by path; each returns the operation's result. */
static inline int put(struct fix *f, const char *path, const char *text)
{
	struct at a = at(f, path);
	int r, fd = op_open(f->s, &a, O_WRONLY | O_CREAT | O_TRUNC, 0644, NULL);

	if (fd < 0)
		return fd;
	r = io_write_all(fd, text, strlen(text));
	close(fd);
	return r;
}

static inline int add(struct fix *f, const char *path, const char *text)
{
	struct at a = at(f, path);
	int r, fd = op_open(f->s, &a, O_WRONLY | O_APPEND, 0, NULL);

	if (fd < 0)
		return fd;
	r = io_write_all(fd, text, strlen(text));
	close(fd);
	return r;
}

static inline int rm(struct fix *f, const char *path)
{
	struct at a = at(f, path);

	return op_unlink(f->s, &a, NULL);
}

static inline int md(struct fix *f, const char *path)
{
	struct at a = at(f, path);

	return op_mkdir(f->s, &a, 0755, NULL);
}

static inline int rd(struct fix *f, const char *path)
{
	struct at a = at(f, path);

	return op_rmdir(f->s, &a, NULL);
}

static inline int mv(struct fix *f, const char *from, const char *to, unsigned flags)
{
	struct at a = at(f, from), b = at(f, to);

	return op_rename(f->s, &a, &b, flags, NULL);
}

static inline int ln(struct fix *f, const char *from, const char *to)
{
	struct at a = at(f, from), b = at(f, to);

	return op_link(f->s, &a, &b, NULL);
}

static inline int sym(struct fix *f, const char *target, const char *path)
{
	struct at a = at(f, path);

	return op_symlink(f->s, target, &a, NULL);
}

static inline int mode(struct fix *f, const char *path, mode_t m)
{
	struct at a = at(f, path);

	return op_chmod(f->s, &a, m, NULL);
}

/* Writes a file like a user's editor, without the journal. */
static inline void outside(struct fix *f, const char *path, const char *text)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	FILE *out = fopen(whole, "we");

	assert_non_null(out);
	fputs(text, out);
	fclose(out);
}

static inline char *cat(struct fix *f, const char *path)
{
	AUTO_FREE char *whole = xasprintf("%s/%s", f->folder, path);
	char *text = NULL;

	return io_read_file(AT_FDCWD, whole, 1 << 20, &text, NULL) < 0 ? NULL : text;
}

/* Compares a file's content; NULL: the file must not exist. */
static inline void assert_cat(struct fix *f, const char *path, const char *want)
{
	AUTO_FREE char *text = cat(f, path);

	if (!want) {
		assert_null(text);
		return;
	}
	assert_non_null(text);
	assert_string_equal(text, want);
}
