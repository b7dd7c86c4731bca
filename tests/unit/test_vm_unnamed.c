/* test_vm_unnamed - a guest's open file without a name, not yet or no longer, takes attributes as
 * natively. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

static uint64_t made_node(const struct vm *v)
{
	return ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid;
}

static uint64_t make_dir(struct vm *v, const char *path)
{
	const struct fuse_mkdir_in in = {.mode = 0755};

	assert_int_equal(vm_at(v, FUSE_MKDIR, path, VM_STRUCT(in)), 0);
	return made_node(v);
}

static int set_attr(struct vm *v, uint64_t node, const struct fuse_setattr_in *in)
{
	return vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(*in), VM_NONE, VM_NONE);
}

static struct stat stat_of(const struct vm *v, const char *name)
{
	AUTO_FREE char *path = path_join(v->folder, name);
	struct stat st = {0};

	if (lstat(path, &st) < 0)
		fail_msg("%s: %s", name, strerror(errno));
	return st;
}

static int set_xattr(struct vm *v, uint64_t node, const char *name, char value)
{
	struct {
		uint32_t size, flags;
		char text[64];
	} in = {.size = 1};
	size_t len = strlen(name) + 1;

	memcpy(in.text, name, len);
	in.text[len] = value;
	return vm_ask(v, FUSE_SETXATTR, node, (struct vm_part){&in, 8 + len + 1}, VM_NONE, VM_NONE);
}

/* tar does that with .git/config: until its content is checked the file has no name. */
TEST(a_file_whose_content_is_looked_at_takes_attributes_first)
{
	struct vm *v = *state;
	const struct fuse_setattr_in times = {.valid = FATTR_MTIME, .mtime = 1000000000},
				     mode = {.valid = FATTR_MODE, .mode = 04640},
				     owner = {.valid = FATTR_UID, .uid = geteuid()};
	uint64_t dir = make_dir(v, ".git"), node, fh;
	struct stat st;

	fh = vm_create(v, dir, "config", O_WRONLY | O_EXCL, 0666, &node);
	assert_true(fh);
	assert_int_equal(vm_write(v, node, fh, 0, "[core]\n\tbare = false\n"), 0);
	assert_int_equal(set_attr(v, node, &times), 0);
	assert_int_equal(set_attr(v, node, &owner), 0);
	assert_int_equal(set_attr(v, node, &mode), 0);
	assert_int_equal(set_xattr(v, node, "user.x", 'y'), 0);
	assert_int_equal(set_xattr(v, node, "trusted.x", 'y'), -EPERM);
	vm_release(v, node, fh);
	vm_forget(v, node);
	vm_forget(v, dir);
	vm_turn(v, 1000); /* the writer is closed */
	st = stat_of(v, ".git/config");
	assert_int_equal(st.st_mtim.tv_sec, 1000000000);
	assert_int_equal(st.st_mode & 07777, 0640);
}

/* The file has its name, and the guest's descriptor is older. */
TEST(a_file_that_got_its_name_later_takes_attributes)
{
	struct vm *v = *state;
	const struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0600};
	uint64_t dir = make_dir(v, ".git"), node, fh, again;

	fh = vm_create(v, dir, "config", O_WRONLY | O_EXCL, 0666, &node);
	assert_true(fh);
	again = vm_open(v, node, O_RDONLY);
	assert_true(again);
	vm_release(v, node, fh);
	vm_turn(v, 1000);
	assert_int_equal(stat_of(v, ".git/config").st_nlink, 1);
	assert_int_equal(set_attr(v, node, &mode), 0);
	assert_int_equal(stat_of(v, ".git/config").st_mode & 07777, 0600);
	vm_release(v, node, again);
	vm_forget(v, node);
	vm_forget(v, dir);
}

/* `git submodule add` writes ".git" twice: the second file replaces the first. */
TEST(a_file_that_takes_anothers_name_is_read_at_once)
{
	struct vm *v = *state;
	uint64_t sub = make_dir(v, "sub"), node, fh, again;

	vm_forget(v, make_dir(v, ".git"));
	vm_forget(v, make_dir(v, ".git/modules"));
	vm_forget(v, make_dir(v, ".git/modules/sub"));
	assert_int_equal(vm_put(v, "sub/.git", "gitdir: ../.git/modules/sub\n"), 0);
	vm_turn(v, 1000);
	node = vm_walk(v, "sub/.git");
	assert_true(node);
	fh = vm_open(v, node, O_WRONLY | O_TRUNC);
	assert_true(fh);
	assert_int_equal(vm_write(v, node, fh, 0, "gitdir: ../.git/modules/sub/\n"), 0);
	vm_release(v, node, fh);
	vm_turn(v, 1000);
	assert_int_equal(vm_open(v, node, O_RDONLY), 0); /* the guest looks the name up again */
	assert_int_equal(v->error, -ESTALE);
	again = vm_lookup(v, sub, ".git");
	assert_int_not_equal(again, node);
	fh = vm_open(v, again, O_RDONLY);
	assert_true(fh);
	assert_int_equal(vm_read(v, again, fh, 0, 64), 0);
	assert_int_equal(v->len, strlen("gitdir: ../.git/modules/sub/\n"));
	vm_release(v, again, fh);
	vm_forget(v, again);
	vm_forget(v, node);
	vm_forget(v, sub);
}

TEST(a_removed_file_takes_attributes)
{
	struct vm *v = *state;
	const struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0400};
	struct fuse_attr_out out;
	uint64_t node, fh = vm_create(v, FUSE_ROOT_ID, "f", O_RDWR, 0666, &node);

	assert_true(fh);
	assert_int_equal(vm_at(v, FUSE_UNLINK, "f", VM_NONE), 0);
	assert_int_equal(set_attr(v, node, &mode), 0);
	memcpy(&out, v->answer, sizeof(out));
	assert_int_equal(out.attr.mode & 07777, 0400);
	vm_release(v, node, fh);
	vm_forget(v, node);
}

/* The old content is in the undo store, perhaps as this very inode, which must not be changed. */
TEST(what_the_undo_store_keeps_is_not_changed)
{
	struct vm *v = *state;
	const struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0777};
	AUTO_CLOSE int dir = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *before = NULL, *now = NULL;
	uint64_t node, fh;
	struct err err = {0};

	assert_int_equal(io_write_file(dir, "old", 0640, "text", 4, false), 0);
	before = tree_take(v->folder, ".cordon");
	node = vm_walk(v, "old");
	fh = vm_open(v, node, O_RDONLY);
	assert_true(fh);
	assert_int_equal(vm_at(v, FUSE_UNLINK, "old", VM_NONE), 0);
	set_attr(v, node, &mode);
	vm_release(v, node, fh);
	vm_forget(v, node);
	vm_end_session(v);
	if (journal_undo(v->k.journal, UNDO_BACK, 1, 0, NULL, &err) < 0)
		fail_msg("undo: %s", err.text);
	now = tree_take(v->folder, ".cordon");
	assert_true(tree_same(before, now));
}

static void on_answer(void *data, int result, int fd)
{
	*(int *)data = result;
	util_close_fd(&fd);
}

/* Changes an object by a descriptor of the server's, which a guest may have compromised. */
static int change_by(struct vm *v, int object)
{
	struct fs_note *n = fs_note_begin(v->view.channel);
	const struct fs_note_parts none = {.text = NULL};
	int result = 1;

	n->what = FS_SETATTR;
	n->set = FS_SET_MODE;
	n->mode = 0777;
	fs_note_attach(v->view.channel, object);
	assert_true(fs_ask(v->view.channel, &none, on_answer, &result));
	for (int i = 0; i < 100 && result > 0; i++)
		vm_turn(v, 1000);
	return result;
}

TEST(a_taken_over_server_changes_nothing_by_a_descriptor)
{
	struct vm *v = *state;
	AUTO_CLOSE int root = open(v->root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int folder = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_CLOSE int outside = -1, inside = -1, gone = -1;
	struct stat st;
	int pipes[2];

	assert_int_equal(io_write_file(root, "outside", 0600, "x", 1, false), 0);
	assert_int_equal(io_write_file(root, "gone", 0600, "x", 1, false), 0);
	assert_int_equal(io_write_file(folder, "inside", 0600, "x", 1, false), 0);
	outside = openat(root, "outside", O_PATH | O_CLOEXEC);
	gone = openat(root, "gone", O_PATH | O_CLOEXEC);
	inside = openat(folder, "inside", O_PATH | O_CLOEXEC);
	assert_int_equal(unlinkat(root, "gone", 0), 0);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	assert_int_equal(change_by(v, outside), -ESTALE);
	assert_int_equal(change_by(v, gone), -ESTALE);
	assert_int_equal(change_by(v, inside), -ESTALE); /* nothing of it is saved */
	assert_int_equal(change_by(v, pipes[0]), -ESTALE);
	assert_int_equal(change_by(v, root), -ESTALE);
	assert_int_equal(fstat(gone, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat_of(v, "inside").st_mode & 07777, 0600);
	close(pipes[0]);
	close(pipes[1]);
}

/* An unexpected descriptor is closed, and the message is handled without it. */
TEST(a_descriptor_with_another_message_changes_nothing)
{
	struct vm *v = *state;
	AUTO_CLOSE int folder = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct fs_note *n = fs_note_begin(v->view.channel);
	const struct fs_note_parts part = {.name = {"f"}};
	int result = 1;

	assert_int_equal(io_write_file(folder, "f", 0600, "x", 1, false), 0);
	n->what = FS_UNLINK;
	fs_note_attach(v->view.channel, folder);
	assert_true(fs_ask(v->view.channel, &part, on_answer, &result));
	for (int i = 0; i < 100 && result > 0; i++)
		vm_turn(v, 1000);
	assert_int_equal(result, -EINVAL);
	stat_of(v, "f");
}

TESTS(vm_setup, vm_teardown)
