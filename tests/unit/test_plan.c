/* test_plan - the sandbox's file tree on paper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "backends/linux/plan.h"
#include "core/base/io.h"

/* Not below /tmp, which is private inside and has nothing to hide. */
struct fixture {
	char *dir;
	char *paths[32];
	size_t n;
	struct plan plan;
	struct spawn_spec spec;
	const char *folders[3], *hidden[8];
};

static const char *path(struct fixture *f, const char *below)
{
	f->paths[f->n] = xasprintf("%s/%s", f->dir, below);
	return f->paths[f->n++];
}

static void make_file(struct fixture *f, const char *below)
{
	int fd = open(path(f, below), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	f->dir = xasprintf("%s/test_plan.XXXXXX", cwd);
	if (!mkdtemp(f->dir))
		return -1;
	assert_int_equal(mkdir(path(f, "home"), 0750), 0);
	assert_int_equal(mkdir(path(f, "home/.ssh"), 0700), 0);
	assert_int_equal(mkdir(path(f, "home/proj"), 0755), 0);
	assert_int_equal(mkdir(path(f, "home/other"), 0755), 0);
	make_file(f, "home/.netrc");
	make_file(f, "home/proj/.env");
	assert_int_equal(symlink(".ssh", path(f, "home/link")), 0);
	f->spec =
		(struct spawn_spec){.folders = f->folders, .hidden = f->hidden, .stdio = {0, 1, 2}};
	f->folders[0] = path(f, "home/proj");
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r;

	plan_done(&f->plan);
	r = io_remove_tree(AT_FDCWD, f->dir);
	for (size_t i = 0; i < f->n; i++)
		free(f->paths[i]);
	free(f->dir);
	free(f);
	return r;
}

static void make(struct fixture *f)
{
	struct err err = {0};

	assert_int_equal(plan_make(&f->plan, &f->spec, &err), 0);
}

static const struct plan_op *find(struct fixture *f, enum plan_what what, const char *p)
{
	for (size_t i = 0; i < f->plan.n; i++) {
		if (f->plan.ops[i].what == what && strcmp(f->plan.ops[i].path, p) == 0)
			return &f->plan.ops[i];
	}
	return NULL;
}

static struct plan_op need(struct fixture *f, enum plan_what what, const char *p)
{
	const struct plan_op *op = find(f, what, p);

	if (op)
		return *op;
	fail_msg("nothing is done to '%s'", p);
	return (struct plan_op){0};
}

static void a_hidden_child_rebuilds_its_parent(void **state)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/.ssh");
	f->hidden[1] = path(f, "home/.netrc");
	make(f);
	assert_int_equal(need(f, PLAN_TMPFS, path(f, "home")).mode, 0750);
	assert_non_null(find(f, PLAN_BIND, path(f, "home/other")));
	assert_non_null(find(f, PLAN_LINK, path(f, "home/link")));
	assert_null(find(f, PLAN_BIND, f->hidden[0]));
	assert_null(find(f, PLAN_BIND, f->hidden[1]));
	assert_int_equal(f->plan.n_probes, 2);
	assert_false(f->plan.probes[0].blank);
}

static void what_a_link_leads_to_is_hidden_too(void **state)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/link");
	make(f);
	assert_null(find(f, PLAN_LINK, f->hidden[0]));
	assert_null(find(f, PLAN_BIND, path(f, "home/.ssh")));
}

static void secrets_in_a_folder_are_blanked(void **state)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/proj/.env");
	make(f);
	assert_non_null(find(f, PLAN_BLANK, f->hidden[0]));
	assert_null(find(f, PLAN_TMPFS, path(f, "home/proj")));
}

static void a_folder_below_something_hidden_stays(void **state)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home");
	make(f);
	assert_true(need(f, PLAN_BIND, f->folders[0]).make);
}

static void a_folder_itself_cannot_be_hidden(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	f->hidden[0] = f->folders[0];
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
}

static void what_does_not_exist_costs_nothing(void **state)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/.aws");
	make(f);
	assert_int_equal(f->plan.n_probes, 0);
	assert_null(find(f, PLAN_TMPFS, path(f, "home")));
}

static void a_folder_in_tmp_is_bound_there(void **state)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/test_plan.XXXXXX";

	assert_non_null(mkdtemp(dir));
	f->folders[0] = dir;
	make(f);
	assert_true(need(f, PLAN_BIND_RO, dir).make);
	assert_int_equal(rmdir(dir), 0);
}

static void the_root_is_no_folder(void **state)
{
	struct fixture *f = *state;
	struct err err = {0};

	f->folders[0] = "/";
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
	f->folders[0] = "/proc/self";
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_hidden_child_rebuilds_its_parent, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_a_link_leads_to_is_hidden_too, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(secrets_in_a_folder_are_blanked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_below_something_hidden_stays, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_folder_itself_cannot_be_hidden, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(what_does_not_exist_costs_nothing, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(a_folder_in_tmp_is_bound_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(the_root_is_no_folder, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
