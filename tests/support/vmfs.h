/* vmfs - a real keeper, its door and a share, driven by FUSE messages without a guest. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backends/vm/fs/fs_door.h"
#include "backends/vm/fs/guest_fuse.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/keeper/approvals/asks.h"
#include "core/keeper/folders/folders.h"
#include "core/keeper/keeper.h"
#include "core/keeper/loop.h"
#include "core/keeper/state.h"
#include "core/keeper/steps/steps.h"
#include "tests/support/check.h"
#include "tests/support/tree.h"

#define VM_ROOM (1 << 17)
#ifndef VM_ONE_STEP /* all changes of the guest */
#define VM_ONE_STEP true
#endif

struct vm_io {
	struct fuse_io io;
	struct vm *vm;
	bool done, freed;
};

struct vm {
	char *root, *folder, *state;
	const char *folders[2], *argv[2];
	struct spawn_spec spawn;
	struct keeper_spec spec;
	struct policy *policy;
	struct keeper k;
	struct door *door;
	struct fs_shared *shared;
	struct fs_view view;
	struct fs_tree tree;
	struct fuse_session *fuse;
	uint64_t unique;
	/* Whether the last request was answered. */
	bool answered;
	int error;
	size_t len, waiting;
	char out[VM_ROOM], answer[VM_ROOM];
};

static inline void vm_start_keeper(struct vm *v, bool headless)
{
	struct err err = {0};

	v->spec = (struct keeper_spec){.sock = -1,
				       .folders = v->folders,
				       .state_dir = v->state,
				       .policy = v->policy,
				       .headless = headless,
				       .one_step = VM_ONE_STEP,
				       .spawn = &v->spawn};
	if (keeper_init(&v->k, &v->spec, &err) < 0)
		fail_msg("keeper: %s", err.text);
}

static inline void vm_start_share(struct vm *v)
{
	struct folder *folder = folders_at(&v->k, 0);
	struct fs_tree_spec spec = {.path = v->folder,
				    .kind = FS_FOLDER,
				    .max_open = 12,
				    .max_nodes = 512,
				    .max_handles = 64};
	struct err err = {0};
	struct stat st;
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	v->shared = xcalloc(1, sizeof(*v->shared));
	v->shared->refs = 1;
	v->shared->caller = getpid();
	v->door = fs_door_new(&(struct fs_door_spec){.k = &v->k,
						     .sock = pair[0],
						     .page = fs_page_new(&err),
						     .folder = &folder,
						     .n = 1},
			      v->shared);
	assert_int_equal(keeper_add_door(&v->k, v->door), 0);
	v->view.channel = fs_channel_new(pair[1]);
	assert_int_equal(fstat(folder_store_fd(folder), &st), 0);
	spec.store = (struct fs_key){.dev = st.st_dev, .ino = st.st_ino};
	assert_int_equal(fs_tree_init(&v->tree, &v->view, &spec), 0);
	v->fuse = guest_fuse_new(&v->tree);
}

static inline struct vm *vm_new(bool headless)
{
	struct vm *v = xcalloc(1, sizeof(*v));
	char template[] = "/tmp/cordon-vmfs-XXXXXX";
	struct err err = {0};

	assert_non_null(mkdtemp(template));
	v->root = xstrdup(template);
	v->folder = path_join(v->root, "work");
	v->state = path_join(v->root, "state");
	assert_int_equal(mkdir(v->folder, 0755), 0);
	assert_int_equal(mkdir(v->state, 0700), 0);
	v->folders[0] = v->folder;
	v->argv[0] = "agent";
	v->spawn.argv = v->argv;
	assert_int_equal(policy_new(&v->policy,
				    &(struct policy_spec){.home = v->root, .folders = v->folders},
				    &err),
			 0);
	vm_start_keeper(v, headless);
	vm_start_share(v);
	return v;
}

/* Ends the session: all changes of the guest are one step of the history. */
static inline void vm_end_session(struct vm *v)
{
	struct err err = {0};

	guest_fuse_free(take_ptr(&v->fuse));
	fs_tree_done(&v->tree);
	fs_channel_free(take_ptr(&v->view.channel));
	doors_unwatch(&v->k);
	v->k.n_doors = 0;
	v->door->ops->close(v->door);
	fs_shared_unref(take_ptr(&v->shared));
	if (steps_commit_all(&v->k, &err) < 0)
		fail_msg("commit: %s", err.text);
}

static inline void vm_free(struct vm *v)
{
	if (v->fuse)
		vm_end_session(v);
	keeper_done(&v->k);
	policy_free(v->policy);
	umask(022);
	assert_int_equal(io_remove_tree(AT_FDCWD, v->root), 0);
	free(v->root);
	free(v->folder);
	free(v->state);
	free(v);
}

/* ---- requests -------------------------------------------------------------------------------- */

static inline void vm_on_reply(struct fuse_io *io, const void *data, size_t len, size_t direct)
{
	struct vm_io *v = (struct vm_io *)io;
	struct fuse_out_header h;

	v->vm->answered = true;
	v->vm->waiting--;
	if (len >= sizeof(h)) {
		memcpy(&h, data, sizeof(h));
		if (h.len != len + direct || len + direct > io->out_len)
			abort();
		v->vm->error = h.error;
		v->vm->len = len - sizeof(h) + direct;
		memcpy(v->vm->answer, (const char *)data + sizeof(h), len - sizeof(h));
		memcpy(v->vm->answer + (len - sizeof(h)), v->vm->out + len, direct);
	} else {
		v->vm->error = 1; /* no answer */
		v->vm->len = 0;
	}
	free(v);
}

/* Runs one turn of the server's loop and of the keeper's. */
static inline void vm_turn(struct vm *v, int ms)
{
	struct pollfd p = {.fd = v->door->fd, .events = POLLIN};

	if (poll(&p, 1, ms) > 0)
		assert_int_equal(v->door->ops->serve(v->door, p.revents), 0);
	assert_true(fs_channel_serve(v->view.channel, POLLIN));
}

/* Sends the bytes in pieces of `piece`, with `room` bytes for the answer. */
static inline void vm_send(struct vm *v, const void *data, size_t len, size_t piece, size_t room)
{
	struct iovec in[64], out = {v->out, room};
	struct vm_io *io = xcalloc(1, sizeof(*io));
	AUTO_FREE char *copy = xmalloc(len + 1); /* so that a sanitizer detects overreads */
	size_t n = 0;

	memcpy(copy, data, len);
	for (size_t at = 0; at < len && n < 64; n++) {
		size_t part = n == 63 ? len - at : MIN(piece, len - at);

		in[n] = (struct iovec){copy + at, part};
		at += part;
	}
	io->io = (struct fuse_io){.in = in,
				  .n_in = n,
				  .in_len = len,
				  .out = &out,
				  .n_out = 1,
				  .out_len = room,
				  .reply = vm_on_reply};
	io->vm = v;
	v->answered = false;
	v->waiting++;
	guest_fuse_serve(v->fuse, &io->io);
}

struct vm_part {
	const void *data;
	size_t len;
};

/* Sends a message of these parts, and waits for the answer unless it is held. Returns 0 or a
 * negative errno. */
static inline int vm_ask(struct vm *v, uint32_t opcode, uint64_t node, struct vm_part a,
			 struct vm_part b, struct vm_part c)
{
	static char room[VM_ROOM];
	struct fuse_in_header h = {.opcode = opcode,
				   .unique = ++v->unique,
				   .nodeid = node,
				   .uid = geteuid(),
				   .gid = getegid()};
	size_t len = sizeof(h);

	memcpy(room + len, a.data, a.len);
	len += a.len;
	memcpy(room + len, b.data, b.len);
	len += b.len;
	memcpy(room + len, c.data, c.len);
	len += c.len;
	h.len = (uint32_t)len;
	memcpy(room, &h, sizeof(h));
	vm_send(v, room, len, 4096, VM_ROOM);
	for (int i = 0; i < 100 && !v->answered && v->shared->held == 0; i++)
		vm_turn(v, 1000);
	if (!v->answered)
		v->error = -EINPROGRESS;
	return v->error;
}

#define VM_NONE	     ((struct vm_part){"", 0})
#define VM_STRUCT(s) ((struct vm_part){&(s), sizeof(s)})
#define VM_NAME(s)   ((struct vm_part){(s), strlen(s) + 1})

static inline void vm_init(struct vm *v)
{
	const struct fuse_init_in in = {
		.major = FUSE_KERNEL_VERSION, .minor = 38, .max_readahead = 1 << 17, .flags = ~0u};

	assert_int_equal(vm_ask(v, FUSE_INIT, 0, VM_STRUCT(in), VM_NONE, VM_NONE), 0);
}

/* For cmocka: a headless session whose guest has started. */
static inline int vm_setup(void **state)
{
	struct vm *v = vm_new(true);

	vm_init(v);
	*state = v;
	return 0;
}

static inline int vm_teardown(void **state)
{
	vm_free(*state);
	return 0;
}

static inline void vm_forget(struct vm *v, uint64_t node)
{
	const struct fuse_forget_in in = {.nlookup = 1};
	int error = v->error;
	size_t len = v->len;

	if (node != FUSE_ROOT_ID)
		vm_ask(v, FUSE_FORGET, node, VM_STRUCT(in), VM_NONE, VM_NONE);
	v->error = error; /* v->answer still has the earlier request's answer */
	v->len = len;
}

/* Returns the node, which must be forgotten; 0: the error is in v. */
static inline uint64_t vm_lookup(struct vm *v, uint64_t dir, const char *name)
{
	struct fuse_entry_out e;

	if (vm_ask(v, FUSE_LOOKUP, dir, VM_NAME(name), VM_NONE, VM_NONE) < 0)
		return 0;
	memcpy(&e, v->answer, sizeof(e));
	if (!e.nodeid)
		v->error = -ENOENT;
	return e.nodeid;
}

/* Returns the node of a path of the share, found through its directories. */
static inline uint64_t vm_walk(struct vm *v, const char *path)
{
	uint64_t node = FUSE_ROOT_ID;

	while (*path && node) {
		char name[NAME_MAX + 1];
		size_t len = strcspn(path, "/");
		uint64_t next;

		snprintf(name, sizeof(name), "%.*s", (int)len, path);
		next = vm_lookup(v, node, name);
		vm_forget(v, node);
		node = next;
		path += len + (path[len] == '/');
	}
	return node;
}

/* Returns the directory of a path, and the name in it. */
static inline uint64_t vm_parent(struct vm *v, const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");

	*ret_name = slash ? slash + 1 : path;
	return vm_walk(v, dir);
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Returns 0 on failure, with the error in v. */
static inline uint64_t vm_open(struct vm *v, uint64_t node, int flags)
{
	const struct fuse_open_in in = {.flags = (uint32_t)flags};
	struct fuse_open_out out;

	if (vm_ask(v, FUSE_OPEN, node, VM_STRUCT(in), VM_NONE, VM_NONE) < 0)
		return 0;
	memcpy(&out, v->answer, sizeof(out));
	return out.fh;
}

static inline void vm_release(struct vm *v, uint64_t node, uint64_t fh)
{
	const struct fuse_release_in in = {.fh = fh};

	assert_int_equal(vm_ask(v, FUSE_RELEASE, node, VM_STRUCT(in), VM_NONE, VM_NONE), 0);
}

static inline int vm_write(struct vm *v, uint64_t node, uint64_t fh, uint64_t at, const char *text)
{
	const struct fuse_write_in in = {.fh = fh, .offset = at, .size = (uint32_t)strlen(text)};

	return vm_ask(v, FUSE_WRITE, node, VM_STRUCT(in), (struct vm_part){text, strlen(text)},
		      VM_NONE);
}

/* Returns the result of a read, whose bytes are in v->answer. */
static inline int vm_read(struct vm *v, uint64_t node, uint64_t fh, uint64_t at, uint32_t size)
{
	const struct fuse_read_in in = {.fh = fh, .offset = at, .size = size};

	return vm_ask(v, FUSE_READ, node, VM_STRUCT(in), VM_NONE, VM_NONE);
}

/* Creates or opens in one request. *ret_node must be forgotten. Returns 0 on failure, with the
 * error in v. */
static inline uint64_t vm_create(struct vm *v, uint64_t dir, const char *name, int flags,
				 uint32_t mode, uint64_t *ret_node)
{
	const struct fuse_create_in in = {
		.flags = (uint32_t)(flags | O_CREAT), .mode = mode, .umask = 022};
	struct {
		struct fuse_entry_out e;
		struct fuse_open_out o;
	} out;

	if (vm_ask(v, FUSE_CREATE, dir, VM_STRUCT(in), VM_NAME(name), VM_NONE) < 0)
		return 0;
	memcpy(&out, v->answer, sizeof(out));
	*ret_node = out.e.nodeid;
	return out.o.fh;
}

/* Creates a file with this content, like a guest's shell. */
static inline int vm_put(struct vm *v, const char *path, const char *text)
{
	const char *name;
	uint64_t dir = vm_parent(v, path, &name), node = 0, fh;
	int r;

	if (!dir)
		return v->error;
	fh = vm_create(v, dir, name, O_WRONLY | O_TRUNC, 0666, &node);
	r = fh ? 0 : v->error;
	vm_forget(v, dir);
	if (r < 0)
		return r;
	r = vm_write(v, node, fh, 0, text);
	vm_release(v, node, fh);
	vm_forget(v, node);
	return r;
}

/* Sends a message about a name. */
static inline int vm_at(struct vm *v, uint32_t opcode, const char *path, struct vm_part arg)
{
	const char *name;
	uint64_t dir = vm_parent(v, path, &name);
	int r = dir ? vm_ask(v, opcode, dir, arg, VM_NAME(name), VM_NONE) : v->error;

	if (dir)
		vm_forget(v, dir);
	return r;
}
