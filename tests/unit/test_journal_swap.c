/* test_journal_swap - a rename over a file that may get no second name: killed, failing, undone. */
/* SPDX-License-Identifier: MIT */
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/support/comb.h"
#include "tests/support/inject.h"
#include "tests/support/journalfix.h"

/* Replaces the library's function: the kernel refuses hard links to others' files, and some file
 * systems refuse all. */
int linkat(int from, const char *old, int to, const char *new, int flags)
{
	(void)from, (void)old, (void)to, (void)new, (void)flags;
	errno = EPERM;
	return -1;
}

static int setup(void **state)
{
	struct fix *f = fix_new();

	begin(f, "set up");
	md(f, "d");
	put(f, "a", "alpha");
	put(f, "d/b", "beta");
	assert_true(commit(f) > 0);
	*state = f;
	return 0;
}

static void work(void *arg)
{
	struct fix *f = arg;

	fix_open(f);
	begin(f, "mv a d/b");
	put(f, "first", "");
	mv(f, "a", "d/b", 0);
}

TEST(killed_it_is_rolled_back)
{
	struct fix *f = *state;
	AUTO_FREE char *before = snap(f);
	bool killed = true;
	int nth = 1;

	for (; killed; nth += comb(1)) {
		fix_drop_dirs(f);
		journal_close(f->j);
		f->j = NULL;
		killed = inject_kill(nth, work, f);
		fix_open(f);
		assert_tree(f, before);
		assert_sound(f);
	}
	assert_true(nth > 50);
}

struct moving {
	struct fix *f;
	struct at from, to;
	int result;
};

static void move(void *arg)
{
	struct moving *m = arg;

	m->result = op_rename(m->f->s, &m->from, &m->to, 0, NULL);
}

TEST_WITH(failing_it_leaves_both, NULL, NULL)
{
	struct inject in = {.err = EIO};

	do {
		struct fix *f;
		struct moving m;
		AUTO_FREE char *before = NULL;

		in.nth++;
		setup((void **)&f);
		before = snap(f);
		begin(f, "mv a d/b");
		put(f, "first", "");
		m = (struct moving){f, at(f, "a"), at(f, "d/b"), 0};
		inject_run(&in, move, &m);
		assert_cat(f, "a", m.result < 0 ? "alpha" : NULL);
		assert_cat(f, "d/b", m.result < 0 ? "beta" : "alpha");
		assert_true(commit(f) > 0);
		assert_sound(f);
		must(f, undo(f, 1, 0));
		assert_tree(f, before);
		fix_free(f);
	} while (in.failed >= 0);
}

int main(void)
{
	if (access("/dev/shm", W_OK) == 0) /* hundreds of small stores */
		setenv("TMPDIR", "/dev/shm", 1);
	return run_all(setup, fix_teardown, NULL, NULL);
}
