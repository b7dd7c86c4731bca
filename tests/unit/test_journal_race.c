/* test_journal_race - an external program exchanges names while an undo, a redo or a restore
 * runs. */
/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdatomic.h>
#include <linux/fs.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "tests/support/journalfix.h"

/* The sentinel, a tree outside the folder, has all names of the folder's directory: a restore that
 * follows a link that appears meanwhile changes it. Its ctimes are compared too, which also change
 * if a value is set to what it was. */
struct foe {
	struct fix *f;
	char *out, *before;
	const char *a, *b; /* names in the folder that are exchanged */
	atomic_bool stop;
	atomic_ulong flips;
	pthread_t thread;
};

static char *sentinel(const struct foe *foe)
{
	char *tree = tree_take(foe->out, NULL), *whole;
	struct buf b = BUF_INIT;
	char *argv[2] = {foe->out, NULL};
	FTS *fts = fts_open(argv, FTS_PHYSICAL | FTS_NOCHDIR, tree_order);
	FTSENT *e;

	while (fts && (e = fts_read(fts)))
		if (e->fts_info != FTS_DP)
			buf_fmt(&b, "%s %lld.%09ld\n", e->fts_path,
				(long long)e->fts_statp->st_ctim.tv_sec,
				e->fts_statp->st_ctim.tv_nsec);
	fts_close(fts);
	whole = xasprintf("%s%s", tree, b.data);
	buf_done(&b);
	free(tree);
	return whole;
}

static void assert_sentinel(const struct foe *foe)
{
	AUTO_FREE char *now = sentinel(foe);

	if (!tree_same(foe->before, now))
		fail_msg("something outside the folder has changed");
}

static const char *const files[] = {"x", "y", "big", "link", "e/z", "gone/g"};

static void fill(struct fix *f)
{
	static char big[60000];

	memset(big, 'b', sizeof(big) - 1);
	begin(f, "set up");
	md(f, "d");
	md(f, "d/e");
	md(f, "d/gone");
	put(f, "d/x", "x-ray");
	put(f, "d/y", "yankee");
	put(f, "d/big", big);
	put(f, "d/link", "linked");
	ln(f, "d/link", "other");
	put(f, "d/e/z", "zulu");
	put(f, "d/gone/g", "golf");
	assert_true(commit(f) > 0);
}

static void agent(struct fix *f)
{
	begin(f, "agent");
	rm(f, "d/x");
	put(f, "d/y", "agent");
	put(f, "d/big", "agent");
	add(f, "d/link", "agent");
	mode(f, "d/e/z", 0600);
	rm(f, "d/gone/g");
	rd(f, "d/gone");
	md(f, "d/new");
	put(f, "d/new/n", "new");
	mv(f, "d/e/z", "d/e/zz", 0);
	mode(f, "d/e", 0700);
	assert_true(commit(f) > 0);
}

static struct foe *foe_new(struct fix *f)
{
	struct foe *foe = xcalloc(1, sizeof(*foe));
	static const char *const dirs[] = {"", "/e", "/gone", "/new"};

	foe->f = f;
	foe->out = xasprintf("%s/outside", f->top);
	for (size_t i = 0; i < ARRAY_LEN(dirs); i++) {
		AUTO_FREE char *dir = xasprintf("%s%s", foe->out, dirs[i]);

		assert_int_equal(mkdir(dir, 0755), 0);
	}
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		AUTO_FREE char *path = xasprintf("../outside/%s", files[i]);

		outside(f, path, "precious");
	}
	outside(f, "../outside/new/n", "precious");
	outside(f, "../outside/e/zz", "precious");
	foe->before = sentinel(foe);
	return foe;
}

static void foe_free(struct foe *foe)
{
	free(foe->out);
	free(foe->before);
	free(foe);
}

static void *flip(void *arg)
{
	struct foe *foe = arg;
	AUTO_CLOSE int dir = open(foe->f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	while (!foe->stop) {
		if (renameat2(dir, foe->a, dir, foe->b, RENAME_EXCHANGE) == 0)
			foe->flips++;
	}
	return NULL;
}

static void start(struct foe *foe, const char *a, const char *b)
{
	foe->a = a;
	foe->b = b;
	foe->stop = false;
	if (pthread_create(&foe->thread, NULL, flip, foe) != 0)
		fail();
}

static void stop(struct foe *foe)
{
	foe->stop = true;
	pthread_join(foe->thread, NULL);
}

static int setup(void **state)
{
	struct fix *f = fix_new();

	fill(f);
	*state = f;
	return 0;
}

/* Attacks one folder repeatedly: each round begins with the state after the one before. */
static void race(struct fix *f, struct foe *foe, const char *a, const char *b, int rounds)
{
	static const char *const paths[] = {"d/x", "d/y", "d/big", "d/gone", NULL};
	int done = 0;

	for (int i = 0; i < rounds; i++) {
		start(foe, a, b);
		for (int k = 0; k < 4; k++) {
			f->err = (struct err){0};
			if (i % 3 == 2)
				done += journal_restore(f->j, 2, paths, UNDO_FORCE, &f->err) == 0;
			else if (k % 2)
				done += redo(f, UNDO_FORCE) == 0;
			else
				done += undo(f, 1, UNDO_FORCE) == 0;
		}
		stop(foe);
		assert_sentinel(foe);
		if (i % 10 == 9)
			fix_reopen(f);
	}
	print_message("# %d of %d got through, %lu flips\n", done, 4 * rounds, foe->flips);
	assert_sentinel(foe);
	fix_reopen(f);
}

static int rounds(void)
{
	return getenv("CORDON_TEST_THOROUGH") ? 500 : 25;
}

TEST(a_directory_and_a_link_to_elsewhere)
{
	struct fix *f = *state;
	struct foe *foe = foe_new(f);
	AUTO_FREE char *evil = xasprintf("%s/evil", f->folder);

	agent(f);
	assert_int_equal(symlink(foe->out, evil), 0);
	race(f, foe, "d", "evil", rounds());
	foe_free(foe);
}

TEST(a_directory_below_and_a_link)
{
	struct fix *f = *state;
	struct foe *foe = foe_new(f);
	AUTO_FREE char *evil = xasprintf("%s/evil", f->folder);
	AUTO_FREE char *target = xasprintf("%s/e", foe->out);

	agent(f);
	assert_int_equal(symlink(target, evil), 0);
	race(f, foe, "d/e", "evil", rounds());
	foe_free(foe);
}

TEST(a_file_and_a_link)
{
	struct fix *f = *state;
	struct foe *foe = foe_new(f);
	AUTO_FREE char *evil = xasprintf("%s/evil", f->folder);
	AUTO_FREE char *target = xasprintf("%s/y", foe->out);

	agent(f);
	assert_int_equal(symlink(target, evil), 0);
	race(f, foe, "d/y", "evil", rounds());
	foe_free(foe);
}

TEST(a_file_and_a_fifo)
{
	struct fix *f = *state;
	struct foe *foe = foe_new(f);
	AUTO_FREE char *evil = xasprintf("%s/evil", f->folder);

	agent(f);
	assert_int_equal(mkfifo(evil, 0600), 0);
	race(f, foe, "d/y", "evil", rounds());
	race(f, foe, "d/link", "evil", rounds() / 2);
	foe_free(foe);
}

/* ---- what cannot be changed -------------------------------------------------------------------
 */

/* An undo that meets the obstacle changes nothing and names it; after its removal the undo
 * works. */
static void stopped(struct fix *f, const char *before, const char *name, bool (*set)(const char *),
		    bool (*unset)(const char *))
{
	AUTO_FREE char *path = xasprintf("%s/%s", f->folder, name);
	AUTO_FREE char *after = NULL;
	int r;

	if (!set(path)) {
		print_message("# %s: not here\n", name);
		return;
	}
	after = snap(f);
	r = undo(f, 1, UNDO_FORCE);
	print_message("# %s: %s\n", name, f->err.text);
	if (r < 0) {
		assert_tree(f, after);
		assert_non_null(strstr(f->err.text, "as it was"));
		fix_reopen(f); /* and it does not stop the next start */
		assert_tree(f, after);
		assert_true(unset(path));
		assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	} else {
		assert_true(unset(path));
	}
	assert_tree(f, before);
	assert_int_equal(redo(f, UNDO_FORCE), 0);
}

static bool set_flags(const char *path, int flags)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

static bool immutable(const char *path)
{
	return set_flags(path, FS_IMMUTABLE_FL);
}

static bool append_only(const char *path)
{
	return set_flags(path, FS_APPEND_FL);
}

static bool flags_off(const char *path)
{
	return set_flags(path, 0);
}

TEST(chattr)
{
	static const char *const names[] = {"d/y", "d/link", "d/e/zz",	"d/big", "d",
					    "d/e", "d/new",  "d/new/n", "."};
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);

	agent(f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		stopped(f, before, names[i], immutable, flags_off);
		stopped(f, before, names[i], append_only, flags_off);
	}
}

TEST(locked_directories)
{
	static const char *const names[] = {"d/e", "d/new", "d"};
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	AUTO_FREE char *d = xasprintf("%s/d", f->folder);

	agent(f);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = xasprintf("%s/%s", f->folder, names[i]);

		assert_int_equal(chmod(path, 0), 0);
	}
	assert_int_equal(undo(f, 1, UNDO_FORCE), 0);
	assert_int_equal(chmod(d, 0755), 0); /* external: no step has changed it */
	assert_tree(f, before);
}

/* In its own mount namespace; needs root. */
TEST(a_mount_on_a_directory)
{
	struct fix *f = *state;
	struct foe *foe = foe_new(f);
	AUTO_FREE char *d = xasprintf("%s/d", f->folder);
	int status = 0;

	agent(f);
	fix_drop_dirs(f);
	journal_close(f->j);
	f->j = NULL;
	fflush(NULL);
	if (fork() == 0) {
		if (unshare(CLONE_NEWNS) < 0 ||
		    mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
		    mount(foe->out, d, NULL, MS_BIND, NULL) < 0)
			_exit(2);
		fix_open(f);
		_exit(undo(f, 1, 0) == -ESTALE ? 0 : 1);
	}
	assert_true(wait(&status) > 0);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) != 1);
	assert_sentinel(foe);
	foe_free(foe);
}

/* ---- renames while somebody else is at work on the same name ----------------------------------
 */

static int unlink_it(void *data, enum loss what, uint64_t size)
{
	const char **path = data;

	(void)what, (void)size;
	if (*path)
		assert_int_equal(unlink(*path), 0);
	*path = NULL;
	return 0;
}

/* Natively the rename would succeed, as the name is free. */
TEST_WITH(a_target_that_vanishes_is_no_error, fix_setup, fix_teardown)
{
	struct fix *f = *state;
	AUTO_FREE char *target = xasprintf("%s/b", f->folder);
	const char *once = target;

	begin(f, "set up");
	put(f, "a", "alpha");
	put(f, "b", "beta");
	assert_true(commit(f) > 0);
	begin(f, "agent");
	step_ask_before(f->s, unlink_it, &once);
	assert_int_equal(mv(f, "a", "b", 0), 0);
	assert_null(once);
	assert_true(commit(f) > 0);
	assert_sound(f);
	assert_int_equal(undo(f, 1, 0), 0);
	assert_int_equal(faccessat(journal_folder_fd(f->j), "a", F_OK, 0), 0);
}

struct saver {
	struct fix *f;
	atomic_bool go;
	bool saved;
};

static void *save(void *arg)
{
	struct saver *s = arg;
	int fd;

	while (!s->go)
		continue;
	fd = openat(journal_folder_fd(s->f->j), "b", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	s->saved = fd >= 0;
	if (fd >= 0)
		close(fd);
	return NULL;
}

/* A file that is created externally at the name in that moment is in the way, or captured. */
TEST_WITH(a_target_that_appears_is_not_lost, fix_setup, fix_teardown)
{
	struct fix *f = *state;

	for (int i = 0; i < 300; i++) {
		struct saver s = {.f = f};
		pthread_t thread;

		begin(f, "agent");
		assert_int_equal(put(f, "a", "alpha"), 0);
		assert_int_equal(pthread_create(&thread, NULL, save, &s), 0);
		if (i % 2)
			sched_yield();
		s.go = true;
		assert_int_equal(mv(f, "a", "b", 0), 0);
		pthread_join(thread, NULL);
		assert_int_equal(journal_abort(f->s, &f->err), 0);
		if (s.saved)
			assert_int_equal(unlinkat(journal_folder_fd(f->j), "b", 0), 0);
		fix_drop_dirs(f);
	}
}

TESTS(setup, fix_teardown)
