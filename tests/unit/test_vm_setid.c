/* test_vm_setid - an unprivileged guest leaves no set-id bits on files that it writes, as
 * natively. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfs.h"

/* Returns the node of a new file with this mode, which the guest has cached. */
static uint64_t plant(struct vm *v, const char *name, mode_t mode)
{
	AUTO_FREE char *path = path_join(v->folder, name);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);

	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(fchmod(fd, mode), 0);
	return vm_walk(v, name);
}

static mode_t mode_of(const struct vm *v, const char *name)
{
	AUTO_FREE char *path = path_join(v->folder, name);
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	return st.st_mode & 07777;
}

/* The guest's kernel need not ask for mode and capabilities before each write: that is offered to
 * it. */
TEST(the_guest_is_spared_questions)
{
	const struct vm *v = *state;
	const struct fuse_init_out *out = (const void *)v->answer;

	assert_true(out->flags & FUSE_HANDLE_KILLPRIV_V2);
	assert_true(out->flags & FUSE_DO_READDIRPLUS);
	assert_false(out->flags & FUSE_READDIRPLUS_AUTO);
}

TEST(a_file_that_is_cut_loses_them)
{
	struct vm *v = *state;
	const struct fuse_setattr_in cut = {.valid = FATTR_SIZE | FATTR_KILL_SUIDGID, .size = 1};
	uint64_t node = plant(v, "f", 06755);

	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(cut), VM_NONE, VM_NONE), 0);
	assert_int_equal(mode_of(v, "f"), 0755);
	assert_int_equal(((const struct fuse_attr_out *)(const void *)v->answer)->attr.mode & 07777,
			 0755);
	vm_forget(v, node);
}

TEST(so_does_one_that_is_opened_to_be_written_anew)
{
	struct vm *v = *state;
	const struct fuse_open_in in = {.flags = O_WRONLY | O_TRUNC,
					.open_flags = FUSE_OPEN_KILL_SUIDGID};
	const struct fuse_create_in create = {.flags = O_WRONLY | O_TRUNC | O_CREAT,
					      .open_flags = FUSE_OPEN_KILL_SUIDGID};
	struct fuse_open_out out;
	uint64_t node = plant(v, "f", 04711), other = plant(v, "g", 02755);

	assert_int_equal(vm_ask(v, FUSE_OPEN, node, VM_STRUCT(in), VM_NONE, VM_NONE), 0);
	memcpy(&out, v->answer, sizeof(out));
	assert_int_equal(mode_of(v, "f"), 0711);
	vm_release(v, node, out.fh);
	vm_forget(v, node);
	assert_int_equal(
		vm_ask(v, FUSE_CREATE, FUSE_ROOT_ID, VM_STRUCT(create), VM_NAME("g"), VM_NONE), 0);
	assert_int_equal(mode_of(v, "g"), 0755);
	vm_forget(v, other);
}

/* And no other call does. */
TEST(what_is_only_looked_at_keeps_them)
{
	struct vm *v = *state;
	const struct fuse_setattr_in times = {.valid = FATTR_MTIME_NOW | FATTR_MTIME};
	uint64_t node = plant(v, "f", 04711), fh = vm_open(v, node, O_RDWR);

	assert_true(fh);
	vm_release(v, node, fh);
	assert_int_equal(vm_ask(v, FUSE_SETATTR, node, VM_STRUCT(times), VM_NONE, VM_NONE), 0);
	assert_int_equal(mode_of(v, "f"), 04711);
	vm_forget(v, node);
}

TESTS(vm_setup, vm_teardown)
