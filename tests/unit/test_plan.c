/* test_plan - the sandbox's file tree on paper. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/linux/sandbox/overlay.h"
#include "backends/linux/sandbox/plan.h"
#include "core/base/io.h"
#include "tests/support/check.h"

/* Not below /tmp, which is private inside, with nothing to hide. */
struct fixture {
	char *dir;
	char *paths[32 + GATES_MAX];
	size_t n;
	struct plan plan;
	struct spawn_spec spec;
	const char *folders[3], *hidden[8], *gated[4], *granted[4];
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

TEST(a_hidden_child_rebuilds_its_parent)
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

TEST(what_a_link_leads_to_is_hidden_too)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/link");
	make(f);
	assert_null(find(f, PLAN_LINK, f->hidden[0]));
	assert_null(find(f, PLAN_BIND, path(f, "home/.ssh")));
}

TEST(secrets_in_a_folder_are_blanked)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/proj/.env");
	make(f);
	assert_non_null(find(f, PLAN_BLANK, f->hidden[0]));
	assert_null(find(f, PLAN_TMPFS, path(f, "home/proj")));
}

TEST(a_folder_below_something_hidden_stays)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home");
	make(f);
	assert_true(need(f, PLAN_BIND, f->folders[0]).make);
}

/* Mount points are made only in directories that the plan itself has made, never on the host. */
TEST(a_socket_shows_where_its_place_does_not)
{
	struct fixture *f = *state;
	const char *const list[] = {path(f, "home/.ssh/agent.sock"), path(f, "home/x.sock"),
				    path(f, "home/other/y.sock"), "/run/z.sock", NULL};

	f->hidden[0] = path(f, "home/.ssh");
	f->spec.sockets = list;
	make(f);
	assert_true(need(f, PLAN_BIND, list[0]).make); /* below a hidden directory */
	assert_true(need(f, PLAN_BIND, list[1]).make); /* in a directory rebuilt without it */
	assert_null(find(f, PLAN_BIND, list[2]));      /* in a directory of the host */
	assert_true(need(f, PLAN_BIND_RO, list[3]).make);
	for (size_t i = 0; i < f->plan.n_probes; i++)
		assert_string_not_equal(f->plan.probes[i].path, f->hidden[0]);
}

TEST(a_folder_itself_cannot_be_hidden)
{
	struct fixture *f = *state;
	struct err err = {0};

	f->hidden[0] = f->folders[0];
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
}

TEST(what_does_not_exist_costs_nothing)
{
	struct fixture *f = *state;

	f->hidden[0] = path(f, "home/.aws");
	make(f);
	assert_int_equal(f->plan.n_probes, 0);
	assert_null(find(f, PLAN_TMPFS, path(f, "home")));
}

TEST(a_folder_in_tmp_is_bound_there)
{
	struct fixture *f = *state;
	char dir[] = "/tmp/test_plan.XXXXXX";

	assert_non_null(mkdtemp(dir));
	f->folders[0] = dir;
	make(f);
	assert_true(need(f, PLAN_BIND_RO, dir).make);
	assert_int_equal(rmdir(dir), 0);
}

TEST(the_root_is_no_folder)
{
	struct fixture *f = *state;
	struct err err = {0};

	f->folders[0] = "/";
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
	f->folders[0] = "/proc/self";
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EINVAL);
}

/* Dynamic mode over home, with home/other granted and home/proj the working folder. */
static void gate_home(struct fixture *f, enum read_door read)
{
	f->gated[0] = path(f, "home");
	f->granted[0] = path(f, "home/other");
	f->spec.dynamic = true;
	f->spec.gated = f->gated;
	f->spec.granted = f->granted;
	f->plan.read = read;
}

static bool is_probed(struct fixture *f, const char *p, bool blank)
{
	for (size_t i = 0; i < f->plan.n_probes; i++) {
		if (strcmp(f->plan.probes[i].path, p) == 0 && f->plan.probes[i].blank == blank)
			return true;
	}
	return false;
}

static size_t place_of(struct fixture *f, enum plan_what what, const char *p)
{
	const struct plan_op *op = find(f, what, p);

	assert_non_null(op);
	return (size_t)(op - f->plan.ops);
}

TEST(a_gate_stands_before_what_lies_on_it)
{
	struct fixture *f = *state;
	size_t gate;

	gate_home(f, READ_FUSE);
	make(f);
	gate = place_of(f, PLAN_GATE, f->gated[0]);
	assert_true(gate < place_of(f, PLAN_BIND, f->granted[0]));
	assert_true(gate < place_of(f, PLAN_BIND, f->folders[0]));
	assert_true(place_of(f, PLAN_BIND, f->folders[0]) < place_of(f, PLAN_SEAL, "/"));
	/* No file can be created on a gate. */
	assert_false(need(f, PLAN_BIND, f->granted[0]).make);
	assert_false(need(f, PLAN_BIND, f->folders[0]).make);
	assert_true(plan_is_gated(&f->plan, path(f, "home/link")));
	assert_false(plan_is_gated(&f->plan, path(f, "home/other/x")));
	assert_false(plan_is_gated(&f->plan, path(f, "home/proj/x")));
	assert_false(plan_is_gated(&f->plan, f->dir));
	assert_true(plan_leads_to_grant(&f->plan, f->gated[0]));
	assert_false(plan_leads_to_grant(&f->plan, path(f, "home/proj2")));
}

TEST(behind_a_gate_nothing_is_rebuilt)
{
	struct fixture *f = *state;

	gate_home(f, READ_FUSE);
	f->hidden[0] = path(f, "home/.ssh");
	f->hidden[1] = path(f, "home/other/key");
	f->hidden[2] = path(f, "home/proj/.env");
	make_file(f, "home/other/key");
	make(f);
	assert_null(find(f, PLAN_TMPFS, f->gated[0]));
	assert_true(plan_is_hidden(&f->plan, f->hidden[0]));
	assert_true(is_probed(f, f->hidden[0], false));
	/* In a native tree no gate hides it. */
	assert_true(is_probed(f, f->hidden[1], true));
	assert_non_null(find(f, PLAN_BLANK, f->hidden[1]));
	assert_non_null(find(f, PLAN_BLANK, f->hidden[2]));
}

TEST(the_way_to_a_folder_shows)
{
	struct fixture *f = *state;

	gate_home(f, READ_FUSE);
	assert_int_equal(mkdir(path(f, "home/.ssh/proj"), 0755), 0);
	f->folders[1] = path(f, "home/.ssh/proj");
	f->hidden[0] = path(f, "home/.ssh");
	make(f);
	assert_non_null(find(f, PLAN_BIND, f->folders[1]));
	assert_true(plan_leads_to_grant(&f->plan, f->hidden[0]));
	assert_false(is_probed(f, f->hidden[0], false));
}

TEST(trapping_changes_no_mount)
{
	struct fixture *f = *state;
	size_t n;

	make(f);
	n = f->plan.n;
	plan_done(&f->plan);
	gate_home(f, READ_TRAP);
	make(f);
	assert_int_equal(f->plan.n, n);
	assert_int_equal(f->plan.n_gated, 1);
	assert_int_equal(f->plan.n_granted, 2); /* with the working folder */
}

TEST(a_gate_is_never_left_out_silently)
{
	struct fixture *f = *state;
	struct err err = {0};

	gate_home(f, READ_NATIVE);
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -EOPNOTSUPP);
}

/* With one gate too many the start fails, as that tree would be unguarded. */
TEST(too_many_gates_start_nothing)
{
	struct fixture *f = *state;
	const char *many[GATES_MAX + 2] = {NULL};
	struct err err = {0};

	gate_home(f, READ_FUSE);
	for (size_t i = 0; i <= GATES_MAX; i++) {
		AUTO_FREE char *name = xasprintf("gate-%03zu", i);

		many[i] = path(f, name);
		assert_int_equal(mkdir(many[i], 0755), 0);
	}
	f->spec.gated = many;
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), -E2BIG);
	assert_non_null(strstr(err.text, "121 places"));
	assert_non_null(strstr(err.text, "--mode static"));
	plan_done(&f->plan);
	f->plan = (struct plan){.read = READ_FUSE};
	many[GATES_MAX] = NULL;
	assert_int_equal(plan_make(&f->plan, &f->spec, &err), 0);
	assert_int_equal(plan_gate_mounts(&f->plan), GATES_MAX);
}

TEST(a_whiteout_stops_at_a_file)
{
	struct fixture *f = *state;
	const char *overlays[] = {path(f, "home"), NULL};
	const struct overlay_place place = {.dir = path(f, "layer"), .optional = true};

	f->spec.overlays = overlays;
	f->spec.places = &place;
	assert_int_equal(overlay_white_out(&f->spec, 0, path(f, "home/.ssh/key")), 0);
	errno = EIO; /* from an earlier call */
	assert_int_equal(overlay_white_out(&f->spec, 0, path(f, "home/.netrc/key")), 1);
	assert_int_equal(overlay_white_out(&f->spec, 0, path(f, "home/absent/key")), -ENOENT);
}

TESTS(set_up, tear_down)
