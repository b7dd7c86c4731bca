/* test_vm_fuse - the guest's file messages: their effect on the host, and undo. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

#include <linux/fs.h>

static int setup_asking(void **state)
{
	struct vm *v = vm_new(false);

	vm_init(v);
	*state = v;
	return 0;
}

static void plant(const struct vm *v, const char *name, const char *text)
{
	AUTO_CLOSE int dir = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

	assert_int_equal(io_write_file(dir, name, 0644, text, strlen(text), false), 0);
}

static void assert_content(const struct vm *v, const char *name, const char *want)
{
	AUTO_CLOSE int dir = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	AUTO_FREE char *text = NULL;

	assert_int_equal(io_read_file(dir, name, 1 << 20, &text, NULL), 0);
	assert_string_equal(text, want);
}

static bool exists(const struct vm *v, const char *name)
{
	AUTO_FREE char *path = path_join(v->folder, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

static void undo(struct vm *v, enum undo_kind kind)
{
	struct err err = {0};

	if (journal_undo(v->k.journal, kind, 1, 0, NULL, &err) < 0)
		fail_msg("undo: %s", err.text);
}

TEST(a_change_is_undone_and_redone)
{
	struct vm *v = *state;
	const struct fuse_mkdir_in dir = {.mode = 0755};
	const struct fuse_rename_in to = {.newdir = FUSE_ROOT_ID};
	AUTO_FREE char *before = NULL, *after = NULL, *now = NULL;

	plant(v, "kept", "first");
	plant(v, "gone", "bytes");
	before = tree_take(v->folder, ".cordon");
	assert_int_equal(vm_put(v, "kept", "second"), 0);
	assert_int_equal(vm_put(v, "new", "text"), 0);
	assert_int_equal(vm_at(v, FUSE_UNLINK, "gone", VM_NONE), 0);
	assert_int_equal(vm_at(v, FUSE_MKDIR, "dir", VM_STRUCT(dir)), 0);
	vm_forget(v, ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid);
	assert_int_equal(vm_put(v, "dir/deep", "x"), 0);
	assert_int_equal(vm_ask(v, FUSE_RENAME, FUSE_ROOT_ID, VM_STRUCT(to), VM_NAME("new"),
				VM_NAME("named")),
			 0);
	assert_content(v, "kept", "second");
	assert_content(v, "named", "text");
	assert_false(exists(v, "gone"));
	assert_int_equal(v->tree.nodes.slots.used, 1); /* every lookup was counted */
	assert_int_equal(v->tree.handles.slots.used, 0);
	after = tree_take(v->folder, ".cordon");
	vm_end_session(v);
	undo(v, UNDO_BACK);
	now = tree_take(v->folder, ".cordon");
	assert_true(tree_same(before, now));
	free(take_ptr(&now));
	undo(v, UNDO_REDO);
	now = tree_take(v->folder, ".cordon");
	assert_true(tree_same(after, now));
}

TEST(an_open_file_is_read_and_written)
{
	struct vm *v = *state;
	uint64_t node, fh;

	plant(v, "f", "0123456789");
	node = vm_walk(v, "f");
	fh = vm_open(v, node, O_RDONLY);
	assert_true(node && fh);
	assert_int_equal(vm_read(v, node, fh, 3, 4), 0);
	assert_int_equal(v->len, 4);
	assert_memory_equal(v->answer, "3456", 4);
	assert_int_equal(vm_write(v, node, fh, 0, "x"), -EBADF);
	vm_release(v, node, fh);
	assert_int_equal(vm_read(v, node, fh, 0, 4), -EBADF); /* its number is invalid */
	fh = vm_open(v, node, O_RDWR);
	assert_int_equal(vm_write(v, node, fh, 8, "abcd"), 0);
	assert_content(v, "f", "01234567abcd");
	vm_release(v, node, fh);
	vm_forget(v, node);
	assert_int_equal(vm_open(v, node, O_RDONLY), 0);
	assert_int_equal(v->error, -ESTALE);
}

/* The user edits a file: the next open fails once, and the guest looks the name up again. */
TEST(an_edit_of_the_humans_is_told_once)
{
	struct vm *v = *state;
	uint64_t node, fh;

	plant(v, "f", "one");
	node = vm_walk(v, "f");
	plant(v, "g", "longer than before");
	assert_int_equal(vm_put(v, "f", "by the guest"), 0);
	fh = vm_open(v, node, O_RDONLY); /* not for its own change */
	assert_true(fh);
	vm_release(v, node, fh);
	{
		AUTO_FREE char *path = path_join(v->folder, "f");
		AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

		assert_int_equal(write(fd, "more", 4), 4);
	}
	assert_int_equal(vm_open(v, node, O_RDONLY), 0);
	assert_int_equal(v->error, -ESTALE);
	fh = vm_open(v, node, O_RDONLY);
	assert_true(fh);
	vm_release(v, node, fh);
	vm_forget(v, node);
}

TEST(names_that_leave_the_folder_are_refused)
{
	static const char *const bad[] = {"..", ".", "", "a/b", "/etc", "../x"};
	struct vm *v = *state;
	const struct fuse_mkdir_in dir = {.mode = 0755};
	char longest[300];

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		assert_int_equal(vm_lookup(v, FUSE_ROOT_ID, bad[i]), 0);
		assert_int_equal(v->error, -EINVAL);
		assert_int_equal(vm_ask(v, FUSE_MKDIR, FUSE_ROOT_ID, VM_STRUCT(dir),
					VM_NAME(bad[i]), VM_NONE),
				 -EINVAL);
		assert_int_equal(
			vm_ask(v, FUSE_UNLINK, FUSE_ROOT_ID, VM_NAME(bad[i]), VM_NONE, VM_NONE),
			-EINVAL);
	}
	memset(longest, 'n', sizeof(longest));
	longest[299] = '\0';
	assert_int_equal(vm_lookup(v, FUSE_ROOT_ID, longest), 0);
	assert_int_equal(v->error, -ENAMETOOLONG);
	longest[255] = '\0';
	assert_int_equal(vm_lookup(v, FUSE_ROOT_ID, longest), 0);
	assert_int_equal(v->error, -ENOENT);
}

/* A link out of the folder stays a link: nothing is read or made through it. */
TEST(a_link_is_never_followed)
{
	struct vm *v = *state;
	AUTO_FREE char *path = path_join(v->folder, "out");
	uint64_t node;

	assert_int_equal(symlink(v->root, path), 0);
	node = vm_walk(v, "out");
	assert_true(node);
	assert_int_equal(vm_lookup(v, node, "state"), 0);
	assert_int_equal(v->error, -ENOTDIR);
	assert_int_equal(vm_open(v, node, O_RDONLY), 0);
	assert_true(v->error < 0);
	vm_forget(v, node);
	assert_int_equal(vm_put(v, "out", "x"), -ELOOP);
}

TEST(the_undo_store_does_not_open)
{
	struct vm *v = *state;
	const struct fs_key own = v->tree.store;
	uint64_t node;
	AUTO_FREE char *path = path_join(v->folder, "store");
	struct stat st;

	/* As if the store were in the folder. */
	assert_int_equal(mkdir(path, 0755), 0);
	assert_int_equal(stat(path, &st), 0);
	v->tree.store = (struct fs_key){.dev = st.st_dev, .ino = st.st_ino};
	node = vm_walk(v, "store");
	assert_true(node);
	assert_int_equal(vm_lookup(v, node, "x"), 0);
	assert_int_equal(v->error, -EACCES);
	assert_int_equal(vm_ask(v, FUSE_OPENDIR, node, VM_STRUCT((struct fuse_open_in){0}), VM_NONE,
				VM_NONE),
			 -EACCES);
	vm_forget(v, node);
	v->tree.store = own;
}

/* Makes a git hook: a protected file waits for the user. */
static void hold_one(struct vm *v)
{
	AUTO_FREE char *git = path_join(v->folder, ".git"), *hooks = path_join(git, "hooks");

	assert_int_equal(mkdir(git, 0755), 0);
	assert_int_equal(mkdir(hooks, 0755), 0);
	assert_int_equal(vm_put(v, ".git/hooks/pre-commit", "x"), -EINPROGRESS);
}

TEST_WITH(a_held_request_holds_no_other, setup_asking, vm_teardown)
{
	struct vm *v = *state;

	hold_one(v);
	assert_int_equal(v->shared->held, 1);
	assert_int_equal(guest_fuse_waiting(v->fuse), 1);
	assert_false(exists(v, ".git/hooks/pre-commit"));
	assert_int_equal(vm_put(v, "other", "goes on"), -EINPROGRESS); /* held > 0: not awaited */
	for (int i = 0; i < 100 && v->waiting > 1; i++)
		vm_turn(v, 100);
	assert_true(exists(v, "other"));
	/* The user denies. */
	v->door->ops->drop_all(v->door);
	for (int i = 0; i < 100 && v->waiting > 0; i++)
		vm_turn(v, 100);
	assert_int_equal(v->error, -EACCES);
	assert_int_equal(v->shared->held, 0);
	assert_false(exists(v, ".git/hooks/pre-commit"));
}

/* Another INIT forgets nodes and handles, and cancels held requests. */
TEST_WITH(a_reset_forgets_all, setup_asking, vm_teardown)
{
	struct vm *v = *state;
	uint64_t node;

	plant(v, "f", "x");
	node = vm_walk(v, "f");
	assert_true(vm_open(v, node, O_RDONLY));
	hold_one(v);
	vm_init(v);
	for (int i = 0; i < 100 && v->shared->held > 0; i++)
		vm_turn(v, 100);
	assert_int_equal(v->shared->held, 0);
	assert_int_equal(guest_fuse_waiting(v->fuse), 0);
	assert_int_equal(v->tree.nodes.slots.used, 1);
	assert_int_equal(v->tree.handles.slots.used, 0);
	assert_int_equal(vm_open(v, node, O_RDONLY), 0);
	assert_int_equal(v->error, -ESTALE);
}

TEST(a_removed_file_is_written_until_it_is_closed)
{
	struct vm *v = *state;
	const struct fuse_setattr_in cut = {.valid = FATTR_SIZE | FATTR_FH, .size = 2};
	struct fuse_setattr_in in = cut;
	uint64_t node, fh = vm_create(v, FUSE_ROOT_ID, "f", O_RDWR, 0644, &node);

	assert_true(fh);
	assert_int_equal(vm_write(v, node, fh, 0, "text"), 0);
	assert_int_equal(vm_at(v, FUSE_UNLINK, "f", VM_NONE), 0);
	assert_int_equal(vm_write(v, node, fh, 4, "more"), 0);
	in.fh = fh;
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(in), VM_NONE, VM_NONE), 0);
	assert_int_equal(vm_read(v, node, fh, 0, 100), 0);
	assert_int_equal(v->len, 2);
	vm_release(v, node, fh);
	vm_forget(v, node);
}

/* There may be more inodes than descriptors. */
TEST(many_inodes_are_known_by_few_descriptors)
{
	struct vm *v = *state;
	uint64_t node[100], fh;
	char name[16];

	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%02d", i);
		plant(v, name, name);
		node[i] = vm_walk(v, name);
		assert_true(node[i]);
	}
	assert_int_equal(v->tree.nodes.slots.used, 101);
	assert_true(v->tree.nodes.n_open <= v->tree.nodes.max_open);
	plant(v, "another", "x"); /* takes the name of one without a descriptor */
	{
		AUTO_CLOSE int dir = open(v->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

		assert_int_equal(renameat(dir, "another", dir, "f05"), 0);
	}
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "f%02d", i);
		fh = vm_open(v, node[i], O_RDONLY);
		if (i == 5) {
			assert_int_equal(v->error, -ESTALE);
			continue;
		}
		assert_true(fh);
		assert_int_equal(vm_read(v, node[i], fh, 0, 10), 0);
		assert_memory_equal(v->answer, name, 3);
		vm_release(v, node[i], fh);
		assert_true(v->tree.nodes.n_open <= v->tree.nodes.max_open);
	}
	for (int i = 0; i < 100; i++)
		vm_forget(v, node[i]);
	assert_int_equal(v->tree.nodes.slots.used, 1);
	assert_int_equal(v->tree.nodes.n_open, 0);
}

/* A rename by the guest keeps inodes, also those without a descriptor. */
TEST(a_renamed_directory_keeps_what_is_in_it)
{
	struct vm *v = *state;
	const struct fuse_mkdir_in dir = {.mode = 0755};
	const struct fuse_rename_in to = {.newdir = FUSE_ROOT_ID};
	struct fuse_getattr_in in = {0};
	uint64_t node[30];
	char name[16];

	assert_int_equal(vm_at(v, FUSE_MKDIR, "dir", VM_STRUCT(dir)), 0);
	vm_forget(v, ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid);
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "dir/f%02d", i);
		plant(v, name, "x");
		node[i] = vm_walk(v, name);
	}
	assert_true(v->tree.nodes.n_paths > 0);
	assert_int_equal(vm_ask(v, FUSE_RENAME, FUSE_ROOT_ID, VM_STRUCT(to), VM_NAME("dir"),
				VM_NAME("moved")),
			 0);
	for (int i = 0; i < 30; i++) {
		assert_int_equal(vm_ask(v, FUSE_GETATTR, node[i], VM_STRUCT(in), VM_NONE, VM_NONE),
				 0);
		vm_forget(v, node[i]);
	}
	assert_int_equal(v->tree.nodes.n_paths, 0);
}

TEST(hidden_names_do_not_exist)
{
	struct vm *v = *state;
	AUTO_FREE char *secret = path_join(v->folder, "secret");
	const char *const hidden[] = {secret, NULL};
	struct fuse_open_out out;
	struct fuse_read_in in = {.size = 4096};

	plant(v, "secret", "x");
	plant(v, "plain", "x");
	v->view.hidden = hidden;
	assert_int_equal(vm_lookup(v, FUSE_ROOT_ID, "secret"), 0);
	assert_int_equal(v->error, -ENOENT);
	assert_int_equal(vm_ask(v, FUSE_OPENDIR, FUSE_ROOT_ID,
				VM_STRUCT(((struct fuse_open_in){0})), VM_NONE, VM_NONE),
			 0);
	memcpy(&out, v->answer, sizeof(out));
	in.fh = out.fh;
	assert_int_equal(vm_ask(v, FUSE_READDIR, FUSE_ROOT_ID, VM_STRUCT(in), VM_NONE, VM_NONE), 0);
	assert_non_null(memmem(v->answer, v->len, "plain", 5));
	assert_null(memmem(v->answer, v->len, "secret", 6));
	v->view.hidden = NULL;
}

/* The rules have changed after the fork of the server: it asks the keeper. */
TEST(the_keeper_is_asked_once_rules_have_changed)
{
	struct vm *v = *state;
	struct fs_page page = {0};
	uint64_t node, fh;

	plant(v, "f", "x");
	v->view.policy = v->policy;
	v->view.page = &page;
	node = vm_walk(v, "f");
	fh = vm_open(v, node, O_RDONLY);
	assert_true(fh);
	vm_release(v, node, fh);
	atomic_store(&page.changes, 1);
	fh = vm_open(v, node, O_RDONLY);
	assert_true(fh);
	vm_release(v, node, fh);
	vm_forget(v, node);
	v->view.policy = NULL;
}

/* The user's editor replaces the file: its old inode has no name that a rule could match. */
TEST(a_file_without_a_name_is_judged_by_the_one_that_it_had)
{
	static const char *const names[] = {"private", "plain"};
	struct vm *v = *state;
	AUTO_FREE char *private = path_join(v->folder, "private");
	struct fs_page page = {0};

	policy_answer(v->policy, RULE_READ, private,
		      &(struct answer){.scope = SCOPE_SESSION, .extent = EXTENT_EXACT});
	v->view.policy = v->policy;
	v->view.page = &page;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = path_join(v->folder, names[i]);
		const bool may_read = !str_eq(path, private);
		uint64_t node, fh = 0;

		plant(v, names[i], "text");
		node = vm_walk(v, names[i]);
		assert_true(node);
		for (int gone = 0; gone < 2; gone++) {
			fh = vm_open(v, node, O_RDONLY);
			if (fh)
				vm_release(v, node, fh);
			if ((fh != 0) != may_read)
				fail_msg("%s, removed: %d: %d", names[i], gone, v->error);
			if (!gone)
				assert_int_equal(unlink(path), 0);
		}
		vm_forget(v, node);
	}
	v->view.policy = NULL;
}

static void on_done(void *data, int result, int fd)
{
	*(int *)data = result;
	util_close_fd(&fd);
}

/* A compromised server may send anything: the policy accepts clean paths only. */
TEST(the_keeper_takes_no_unclean_path)
{
	static const char *const bad[] = {".",	  "..",		 "./.git",	".git/.",
					  "/",	  ".git/",	 ".git//hooks", "a/../b",
					  "/etc", ".git/./hooks"};
	struct vm *v = *state;
	AUTO_FREE char *git = path_join(v->folder, ".git"), *hooks = path_join(git, "hooks");

	assert_int_equal(mkdir(git, 0755), 0);
	assert_int_equal(mkdir(hooks, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct fs_note *n = fs_note_begin(v->view.channel);
		const struct fs_note_parts p = {.dir = {bad[i]}, .name = {"pre-commit"}};
		int result = 1;

		n->what = FS_CREATE;
		n->mode = 0755;
		assert_true(fs_ask(v->view.channel, &p, on_done, &result));
		for (int t = 0; t < 100 && result == 1; t++)
			vm_turn(v, 100);
		if (result != -EINVAL)
			fail_msg("'%s': %d", bad[i], result);
	}
	assert_false(exists(v, ".git/hooks/pre-commit"));
}

TEST(pipes_and_links_are_not_changed_as_files)
{
	struct vm *v = *state;
	const struct fuse_mknod_in pipe = {.mode = S_IFIFO | 0666};
	const struct fuse_setattr_in cut = {.valid = FATTR_SIZE}, mode = {.valid = FATTR_MODE};
	uint64_t node;

	assert_int_equal(vm_at(v, FUSE_MKNOD, "pipe", VM_STRUCT(pipe)), 0);
	node = ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid;
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(cut), VM_NONE, VM_NONE), -EINVAL);
	vm_forget(v, node);
	assert_int_equal(vm_ask(v, FUSE_SETATTR, FUSE_ROOT_ID, VM_STRUCT(cut), VM_NONE, VM_NONE),
			 -EISDIR);
	assert_int_equal(
		vm_ask(v, FUSE_SYMLINK, FUSE_ROOT_ID, VM_NAME("link"), VM_NAME("pipe"), VM_NONE),
		0);
	node = ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid;
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(mode), VM_NONE, VM_NONE),
			 -EOPNOTSUPP);
	vm_forget(v, node);
}

static mode_t mode_of(struct vm *v, const char *name)
{
	AUTO_FREE char *path = path_join(v->folder, name);
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* If root's keeper works for a guest, no file that it makes runs as root here. */
TEST(a_guests_root_leaves_no_rights_behind)
{
	static const char capability[20] = {1, 0, 0, 2, -1, -1, -1, -1};
	static const char *const names[] = {"security.capability", "security.x", "trusted.x"};
	struct vm *v = *state;
	const struct fuse_mknod_in file = {.mode = S_IFREG | 06755};
	const struct fuse_mkdir_in dir = {.mode = 02755};
	const struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 06711};
	struct {
		uint32_t size, flags;
		char text[64];
	} in = {.size = sizeof(capability)};
	struct vm_part part = {.data = &in};
	uint64_t node;

	assert_int_equal(vm_at(v, FUSE_MKNOD, "f", VM_STRUCT(file)), 0);
	node = ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid;
	assert_int_equal(mode_of(v, "f"), 0755);
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(mode), VM_NONE, VM_NONE), 0);
	assert_int_equal(mode_of(v, "f"), 0711);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]) + 1;

		memcpy(in.text, names[i], len);
		memcpy(in.text + len, capability, sizeof(capability));
		part.len = 8 + len + sizeof(capability);
		assert_int_equal(vm_ask(v, FUSE_SETXATTR, node, part, VM_NONE, VM_NONE), -EPERM);
		assert_int_equal(
			vm_ask(v, FUSE_REMOVEXATTR, node, VM_NAME(names[i]), VM_NONE, VM_NONE),
			-EPERM);
	}
	vm_forget(v, node);
	assert_int_equal(vm_at(v, FUSE_MKDIR, "d", VM_STRUCT(dir)), 0);
	vm_forget(v, ((const struct fuse_entry_out *)(const void *)v->answer)->nodeid);
}

TEST(devices_are_not_made)
{
	struct vm *v = *state;
	const struct fuse_mknod_in dev = {.mode = S_IFCHR | 0666, .rdev = 0x103},
				   pipe = {.mode = S_IFIFO | 0666};
	const struct fuse_rename2_in out = {.newdir = FUSE_ROOT_ID, .flags = RENAME_WHITEOUT};
	struct fuse_entry_out e;

	plant(v, "f", "x");
	assert_int_equal(vm_at(v, FUSE_MKNOD, "null", VM_STRUCT(dev)), -EPERM);
	assert_int_equal(
		vm_ask(v, FUSE_RENAME2, FUSE_ROOT_ID, VM_STRUCT(out), VM_NAME("f"), VM_NAME("g")),
		-EPERM);
	assert_int_equal(vm_at(v, FUSE_MKNOD, "pipe", VM_STRUCT(pipe)), 0);
	memcpy(&e, v->answer, sizeof(e));
	/* A guest's kernel opens pipes itself; a request for one does not block. */
	assert_int_equal(vm_open(v, e.nodeid, O_RDONLY), 0);
	assert_int_equal(v->error, -ENXIO);
	assert_int_equal(vm_open(v, e.nodeid, O_WRONLY), 0);
	assert_int_equal(v->error, -ENXIO);
	vm_forget(v, e.nodeid);
}

TEST(a_read_only_share_changes_nothing)
{
	struct vm *v = *state;
	const struct fuse_setattr_in mode = {.valid = FATTR_MODE, .mode = 0};
	uint64_t node;

	plant(v, "f", "x");
	v->tree.kind = FS_READ_ONLY;
	assert_int_equal(vm_put(v, "new", "x"), -EROFS);
	assert_int_equal(vm_at(v, FUSE_UNLINK, "f", VM_NONE), -EROFS);
	node = vm_walk(v, "f");
	assert_int_equal(vm_open(v, node, O_RDWR), 0);
	assert_int_equal(v->error, -EROFS);
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(mode), VM_NONE, VM_NONE), -EROFS);
	vm_forget(v, node);
	/* And the keeper has no folder for it, whatever the server requests. */
	v->tree.kind = FS_FOLDER;
	v->tree.share = 1;
	assert_int_equal(vm_put(v, "new", "x"), -EROFS);
	v->tree.share = 0;
}

TESTS(vm_setup, vm_teardown)
