/* test_journal_memory - an operation's n-th allocation fails, with all later ones: the state is old
 * or new. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/check.h"
#include "tests/support/comb.h"
#include "tests/support/journalfix.h"

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* AddressSanitizer has a malloc() of its own. */
#ifdef __SANITIZE_ADDRESS__
#define OWN_MALLOC 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define OWN_MALLOC 0
#endif
#endif
#ifndef OWN_MALLOC
#define OWN_MALLOC 1
#endif

static long left = -1; /* allocations that succeed; below 0: all */

#if OWN_MALLOC

/* glibc: a program may define malloc(), and call these. */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *p, size_t size);

static bool refused(void)
{
	if (left > 0)
		left--;
	return left == 0;
}

void *malloc(size_t size)
{
	return refused() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return refused() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return refused() ? NULL : __libc_realloc(p, size);
}

#endif

/* ---- the operations; in a child, so nothing here may assert ------------------------------------
 */

static void need(int r)
{
	if (r < 0)
		_exit(3);
}

static void open_it(struct fix *f)
{
	const struct journal_spec spec = {.folder = f->folder, .state_dir = f->state};

	need(journal_open(&f->j, &spec, NULL, &f->err));
}

static void work(struct fix *f)
{
	need(journal_begin(f->j, STEP_COMMAND, "work", &f->s, &f->err));
	need(put(f, "new", "new"));
	need(add(f, "a", "more"));
	need(mv(f, "a", "a2", 0));
	need(put(f, "tmp", "replacement"));
	need(mv(f, "tmp", "b", 0));
	need(rm(f, "d/x"));
	need(rd(f, "d"));
	need(md(f, "n"));
	need(mv(f, "n", "n2", 0));
	need(ln(f, "c", "n2/link"));
	need(mode(f, "n2/link", 0600));
	need(sym(f, "target", "s"));
}

static void in_step(struct fix *f)
{
	open_it(f);
	work(f);
}

static void in_commit(struct fix *f)
{
	in_step(f);
	need(journal_commit(f->s, 0, &f->err));
}

static void in_undo(struct fix *f)
{
	open_it(f);
	need(undo(f, 1, 0));
}

static void in_redo(struct fix *f)
{
	open_it(f);
	need(redo(f, 0));
}

static void in_forced(struct fix *f)
{
	open_it(f);
	need(undo(f, 1, UNDO_FORCE));
}

static void in_restore(struct fix *f)
{
	static const char *const paths[] = {"a", "b", "new", NULL};

	open_it(f);
	need(journal_restore(f->j, 2, paths, UNDO_FORCE, &f->err));
}

static void in_opening(struct fix *f)
{
	open_it(f);
}

/* ---- each of their allocations -----------------------------------------------------------------
 */

/* Returns true if it died or failed for want of memory. */
static bool starve(struct fix *f, void (*fn)(struct fix *), long n)
{
	int status = 0, null;
	pid_t pid;

	if (f->j) {
		fix_drop_dirs(f);
		journal_close(take_ptr(&f->j));
	}
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		setrlimit(RLIMIT_CORE, &(struct rlimit){0});
		null = open("/dev/null", O_WRONLY | O_CLOEXEC);
		dup2(null, STDERR_FILENO);
		signal(SIGABRT, SIG_DFL);
		left = n;
		fn(f);
		_exit(0);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status))
		assert_int_equal(WTERMSIG(status), SIGABRT);
	else if (WEXITSTATUS(status) != 0 && WEXITSTATUS(status) != 3)
		fail_msg("it ended with %d", WEXITSTATUS(status));
	return status != 0;
}

static void prepare(struct fix *f)
{
	begin(f, "prepare");
	put(f, "a", "alpha\n");
	put(f, "b", "beta\n");
	put(f, "c", "gamma\n");
	md(f, "d");
	put(f, "d/x", "x-ray\n");
	assert_true(commit(f) != 0);
}

/* Checks that the state is old or new, and that the history can be read. */
static void check(struct fix *f, const char *one, const char *other, unsigned flags, long n)
{
	AUTO_FREE char *now = NULL;

	fix_open(f);
	assert_sound(f);
	now = snap(f);
	if (!str_eq(now, one) && (!other || !str_eq(now, other))) {
		tree_same(one, now);
		fail_msg("no memory from allocation %ld on: neither old nor new", n);
	}
	if (undo(f, 1, flags) == 0) {
		assert_int_equal(redo(f, flags), 0);
		assert_tree(f, now);
	} else if (redo(f, flags) == 0) {
		assert_int_equal(undo(f, 1, flags), 0);
		assert_tree(f, now);
	}
}

struct scene {
	void (*fn)(struct fix *);
	bool worked; /* after the step was made */
	bool undone; /* and undone */
	bool edited; /* or with an external edit */
	int apart;
};

static void set_scene(struct fix *f, const struct scene *s, char **one, char **other)
{
	prepare(f);
	*one = snap(f);
	if (!s->worked)
		return;
	work(f);
	assert_true(commit(f) != 0);
	if (s->edited)
		outside(f, "b", "human\n");
	*other = snap(f);
	if (s->undone)
		assert_int_equal(undo(f, 1, 0), 0);
}

static void each_allocation(const struct scene *s)
{
	long n = 1;

	for (bool more = true; more && OWN_MALLOC; n += comb(s->apart)) {
		struct fix *f = fix_new();
		AUTO_FREE char *one = NULL, *other = NULL;

		set_scene(f, s, &one, &other);
		more = starve(f, s->fn, n);
		starve(f, in_opening, 5 + n * 7 % 90); /* and the recovery */
		if (s->fn == in_commit || s->fn == in_restore) {
			fix_open(f); /* a committed step is complete */
			free(other);
			other = snap(f);
			fix_drop_dirs(f);
			journal_close(take_ptr(&f->j));
		}
		check(f, one, other, s->edited ? UNDO_FORCE : 0, n);
		fix_free(f);
	}
	assert_true(!OWN_MALLOC || n > 100);
}

TEST(of_a_step)
{
	each_allocation(&(struct scene){.fn = in_step, .apart = 13});
}

TEST(of_a_commit)
{
	each_allocation(&(struct scene){.fn = in_commit, .apart = 29});
}

TEST(of_an_undo)
{
	each_allocation(&(struct scene){.fn = in_undo, .worked = true, .apart = 37});
}

TEST(of_a_redo)
{
	each_allocation(
		&(struct scene){.fn = in_redo, .worked = true, .undone = true, .apart = 37});
}

TEST(of_a_forced_undo)
{
	each_allocation(
		&(struct scene){.fn = in_forced, .worked = true, .edited = true, .apart = 47});
}

TEST(of_a_restore)
{
	each_allocation(&(struct scene){.fn = in_restore, .worked = true, .apart = 67});
}

int main(void)
{
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return run_all(NULL, NULL, NULL, NULL);
}
