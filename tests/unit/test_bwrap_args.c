/* test_bwrap_args - the plan as bubblewrap's arguments: which, in which order, and which not. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/sysinfo.h>

#include "backends/bwrap/bwrap_priv.h"
#include "backends/linux/sandbox/plan_priv.h"
#include "tests/support/check.h"

struct fixture {
	struct plan plan;
	struct buf words; /* separated by blanks */
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->words = (struct buf)BUF_INIT;
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	plan_done(&f->plan);
	buf_done(&f->words);
	free(f);
	return 0;
}

static const char *told(struct fixture *f, bool private_net)
{
	struct err err = {0};

	buf_clear(&f->words);
	assert_int_equal(args_make(&f->words, &f->plan, private_net, &err), 0);
	for (size_t i = 0; i < f->words.len; i++)
		if (!f->words.data[i])
			f->words.data[i] = ' ';
	return f->words.data;
}

static bool tells(struct fixture *f, const char *words)
{
	return strstr(told(f, true), words) != NULL;
}

TEST(each_namespace_is_made)
{
	struct fixture *f = *state;

	assert_true(tells(f, "--unshare-user --unshare-pid --unshare-ipc --unshare-uts "
			     "--unshare-cgroup "));
	assert_true(tells(f, "--unshare-net "));
	assert_false(tells(f, "--die-with-parent ")); /* its child would wait for ever */
	assert_true(tells(f, "--cap-drop ALL "));
	assert_null(strstr(told(f, false), "--unshare-net"));
}

TEST(what_comes_from_the_host_is_bound_read_only)
{
	struct fixture *f = *state;

	plan_add(&f->plan, PLAN_BIND, "/usr", "/usr")->make = true;
	plan_add(&f->plan, PLAN_BIND_RO, "/dev/shm/work", "/tmp");
	plan_add(&f->plan, PLAN_DEVICE, "/dev/null", "/dev/null");
	assert_true(tells(f, "--ro-bind /usr /usr --ro-bind /tmp /dev/shm/work "
			     "--dev-bind /dev/null /dev/null "));
	assert_false(tells(f, " --bind "));
}

TEST(what_may_fail_and_is_not_there_is_left_out)
{
	struct fixture *f = *state;

	plan_add(&f->plan, PLAN_BIND, "/no/such", "/no/such")->optional = true;
	assert_false(tells(f, "/no/such"));
	plan_add(&f->plan, PLAN_BIND, "/no/other", "/no/other");
	assert_true(tells(f, "--ro-bind /no/other /no/other ")); /* bwrap says why it refuses */
}

TEST(sizes_and_modes_are_numbers)
{
	struct fixture *f = *state;
	struct sysinfo info;
	AUTO_FREE char *half = NULL;

	assert_int_equal(sysinfo(&info), 0);
	half = xasprintf("--perms 1777 --size %llu --tmpfs /tmp ",
			 (unsigned long long)info.totalram * info.mem_unit / 100 * 50);
	plan_add(&f->plan, PLAN_TMPFS, "/tmp", "mode=1777,size=50%");
	plan_add(&f->plan, PLAN_TMPFS, "/home/u", "mode=0755,size=1m");
	plan_add(&f->plan, PLAN_DIR, "/run/user/7", NULL)->mode = 0700;
	plan_add(&f->plan, PLAN_LINK, "/dev/fd", "/proc/self/fd");
	assert_true(tells(f, half));
	assert_true(tells(f, "--perms 0755 --size 1048576 --tmpfs /home/u "
			     "--perms 0700 --dir /run/user/7 --symlink /proc/self/fd /dev/fd "));
}

/* Each kind of operation is either an argument of bwrap or left to the finisher. */
TEST(the_rest_is_left_to_the_finisher)
{
	static const enum plan_what rest[] = {PLAN_SEAL,    PLAN_PROC,	PLAN_DEVPTS,
					      PLAN_OVERLAY, PLAN_BLANK, PLAN_MKDIRS};
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_LEN(rest); i++)
		assert_false(args_tell(plan_add(&f->plan, rest[i], "/x", "options")));
	assert_false(args_tell(plan_add(&f->plan, PLAN_BIND_RO, "/proc/sys", NULL)));
	assert_true(tells(f, "--proc /x "));
	assert_false(tells(f, "options"));
	assert_false(tells(f, "/proc/sys"));
}

TEST(too_many_are_refused_in_words)
{
	struct fixture *f = *state;
	struct err err = {0};

	for (int i = 0; i < 3000; i++)
		plan_add(&f->plan, PLAN_BIND, "/usr", "/usr");
	assert_int_equal(args_make(&f->words, &f->plan, true, &err), -E2BIG);
	assert_non_null(strstr(err.text, "--backend native"));
}

TESTS(set_up, tear_down)
