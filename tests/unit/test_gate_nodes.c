/* test_gate_nodes - names behind the read gate, while the host changes their objects. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include "backends/linux/gate/gate_nodes.h"
#include "core/base/io.h"
#include "tests/support/check.h"

struct fixture {
	char *dir;
	int fd;
	struct gate_tree tree;
};

static void write_file(struct fixture *f, const char *name, const char *text)
{
	AUTO_CLOSE int fd = openat(f->fd, name, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));
	AUTO_FREE char *cwd = getcwd(NULL, 0);

	f->dir = xasprintf("%s/test_gate.XXXXXX", cwd);
	if (!mkdtemp(f->dir))
		return -1;
	f->fd = open(f->dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(mkdirat(f->fd, "tree", 0755), 0);
	assert_int_equal(mkdirat(f->fd, "tree/d", 0755), 0);
	write_file(f, "tree/d/a", "a");
	write_file(f, "secret", "s");
	assert_int_equal(fchdir(f->fd), 0);
	assert_int_equal(gate_tree_init(&f->tree, "tree", NULL), 0);
	assert_int_equal(chdir(cwd), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	int r;

	gate_tree_done(&f->tree);
	close(f->fd);
	r = io_remove_tree(AT_FDCWD, f->dir);
	free(f->dir);
	free(f);
	return r;
}

/* As for a lookup. NULL: no such name. */
static struct gate_node *look_up(struct fixture *f, struct gate_node *dir, const char *name)
{
	char below[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	struct stat st;

	assert_true(gate_node_path(dir, name, below, sizeof(below)) > 0);
	fd = gate_tree_open(&f->tree, below, O_PATH);
	if (fd < 0)
		return NULL;
	assert_int_equal(fstat(fd, &st), 0);
	return gate_node_enter(&f->tree, dir, name, &st);
}

static struct gate_node *need(struct fixture *f, struct gate_node *dir, const char *name)
{
	struct gate_node *n = look_up(f, dir, name);

	assert_non_null(n);
	return n;
}

static int open_node(struct fixture *f, const struct gate_node *n)
{
	int fd = gate_node_open(&f->tree, n, O_RDONLY | O_NONBLOCK, NULL);

	if (fd >= 0)
		close(fd);
	return MIN(fd, 0);
}

TEST(a_node_is_a_name_in_a_directory)
{
	struct fixture *f = *state;
	struct gate_node *d = need(f, f->tree.top, "d"), *a = need(f, d, "a");
	char path[PATH_MAX];

	assert_int_equal(gate_node_path(a, NULL, path, sizeof(path)), 3);
	assert_string_equal(path, "d/a");
	assert_int_equal(gate_node_path(f->tree.top, NULL, path, sizeof(path)), 1);
	assert_string_equal(path, ".");
	assert_int_equal(gate_node_path(f->tree.top, "x", path, sizeof(path)), 1);
	assert_ptr_equal(need(f, d, "a"), a);
	/* Two names of one file are two nodes. */
	assert_int_equal(linkat(f->fd, "tree/d/a", f->fd, "tree/d/b", 0), 0);
	assert_ptr_not_equal(need(f, d, "b"), a);
	assert_int_equal(open_node(f, a), 0);
}

TEST(forgotten_nodes_are_gone)
{
	struct fixture *f = *state;
	struct gate_node *d = need(f, f->tree.top, "d"), *a = need(f, d, "a");

	assert_ptr_equal(need(f, d, "a"), a);
	assert_int_equal(f->tree.n, 2);
	gate_node_forget(&f->tree, d, 1); /* before its entries */
	assert_int_equal(f->tree.n, 2);
	gate_node_forget(&f->tree, a, 1);
	assert_int_equal(f->tree.n, 2);
	gate_node_forget(&f->tree, a, 1);
	assert_int_equal(f->tree.n, 0);
	gate_node_forget(&f->tree, f->tree.top, 7);
	assert_non_null(need(f, f->tree.top, "d"));
}

TEST(another_object_is_stale)
{
	struct fixture *f = *state;
	struct gate_node *d = need(f, f->tree.top, "d"), *a = need(f, d, "a"), *new;

	write_file(f, "tree/d/new", "n");
	assert_int_equal(renameat(f->fd, "tree/d/new", f->fd, "tree/d/a"), 0);
	assert_int_equal(open_node(f, a), -ESTALE);
	new = need(f, d, "a");
	assert_ptr_not_equal(new, a);
	assert_int_equal(open_node(f, new), 0);
	assert_int_equal(open_node(f, a), -ESTALE);
	gate_node_forget(&f->tree, a, 1); /* must keep the new one */
	assert_ptr_equal(need(f, d, "a"), new);
	assert_int_equal(unlinkat(f->fd, "tree/d/a", 0), 0);
	assert_int_equal(open_node(f, new), -ENOENT);
}

TEST(a_link_leads_nowhere)
{
	struct fixture *f = *state;
	struct gate_node *d = need(f, f->tree.top, "d"), *a = need(f, d, "a"), *link;
	struct stat st;
	int fd;

	assert_int_equal(unlinkat(f->fd, "tree/d/a", 0), 0);
	assert_int_equal(symlinkat("../../secret", f->fd, "tree/d/a"), 0);
	assert_int_equal(open_node(f, a), -ESTALE);
	link = need(f, d, "a");
	assert_true(S_ISLNK(gate_node_type(link)));
	fd = gate_node_open(&f->tree, link, O_PATH, &st);
	assert_true(fd >= 0);
	assert_true(S_ISLNK(st.st_mode));
	close(fd);
	assert_true(open_node(f, link) < 0);
	/* A link replaces a directory on the way. */
	assert_int_equal(renameat(f->fd, "tree/d", f->fd, "tree/e"), 0);
	assert_int_equal(symlinkat("..", f->fd, "tree/d"), 0);
	assert_null(look_up(f, d, "secret"));
	assert_true(open_node(f, link) < 0);
	gate_node_forget(&f->tree, a, 1);
}

TEST(dots_do_not_leave_the_tree)
{
	struct fixture *f = *state;

	assert_null(look_up(f, f->tree.top, "../secret"));
	assert_int_equal(gate_tree_open(&f->tree, "../secret", O_RDONLY), -EXDEV);
	assert_int_equal(gate_tree_open(&f->tree, "/etc/passwd", O_RDONLY), -EXDEV);
}

TEST(a_long_path_is_refused)
{
	struct fixture *f = *state;
	struct gate_node *n = need(f, f->tree.top, "d");
	char name[NAME_MAX + 1], path[PATH_MAX];
	struct stat st = {.st_ino = 7};
	int r;

	memset(name, 'x', NAME_MAX);
	name[NAME_MAX] = '\0';
	while ((r = gate_node_path(n, name, path, sizeof(path))) >= 0) {
		n = gate_node_enter(&f->tree, n, name, &st);
		assert_non_null(n);
		assert_true(strlen(path) < PATH_MAX);
	}
	assert_int_equal(r, -ENAMETOOLONG);
}

TEST(what_is_known_is_bounded)
{
	struct fixture *f = *state;
	struct gate_node **nodes = xcalloc(NODES_MAX, sizeof(struct gate_node *));
	struct stat st = {.st_ino = 7};
	char name[32];

	for (unsigned i = 0; i < NODES_MAX; i++) {
		snprintf(name, sizeof(name), "%u", i);
		nodes[i] = gate_node_enter(&f->tree, f->tree.top, name, &st);
		assert_non_null(nodes[i]);
	}
	assert_null(gate_node_enter(&f->tree, f->tree.top, "more", &st));
	assert_ptr_equal(gate_node_enter(&f->tree, f->tree.top, "0", &st), nodes[0]);
	gate_node_forget(&f->tree, nodes[1], 1);
	nodes[1] = gate_node_enter(&f->tree, f->tree.top, "more", &st);
	assert_non_null(nodes[1]);
	for (unsigned i = 0; i < NODES_MAX; i++)
		gate_node_forget(&f->tree, nodes[i], i ? 1 : 2);
	assert_int_equal(f->tree.n, 0);
	free(nodes);
}

TESTS(set_up, tear_down)
