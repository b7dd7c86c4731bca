/* test_vm_vhost - virtio queues and QEMU's messages: stops, resets, and a hostile guest. */
/* SPDX-License-Identifier: MIT */
#include "tests/support/vmfront.h"

#include <sys/wait.h>

#include "backends/vm/fs/fs_server.h"

struct both {
	struct vm *vm;
	struct vhost *v;
	struct front *f;
};

static int setup(void **state)
{
	struct both *b = xcalloc(1, sizeof(*b));
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
	b->vm = vm_new(false);
	b->v = vhost_new(pair[0], b->vm->fuse);
	b->f = front_new(pair[1], b->v);
	front_start(b->f, 0, 0);
	front_start(b->f, 1, 0);
	*state = b;
	return 0;
}

static int teardown(void **state)
{
	struct both *b = *state;

	vm_end_session(b->vm);
	vhost_free(b->v);
	front_free(b->f);
	vm_free(b->vm);
	free(b);
	return 0;
}

/* Waits until the queue returns an element; returns its length. */
static long wait_used(struct both *b, uint32_t queue)
{
	long len = -1;

	for (int i = 0; i < 2000 && (len = front_used(b->f, queue)) < 0; i++)
		if (b->vm)
			vm_turn(b->vm, 50);
		else
			poll(NULL, 0, 10);
	return len;
}

static void init(struct both *b)
{
	const struct fuse_init_in in = {.major = 7, .minor = 38, .flags = ~0u};

	front_request(b->f, 0, FUSE_INIT, 0, VM_STRUCT(in), VM_NONE);
	assert_true(front_kick(b->f, 1));
	assert_int_equal(wait_used(b, 1),
			 sizeof(struct fuse_out_header) + sizeof(struct fuse_init_out));
	assert_int_equal(front_answer(b->f, 0).error, 0);
}

static void create(struct both *b, uint32_t slot, const char *name)
{
	const struct fuse_create_in in = {.flags = O_CREAT | O_WRONLY, .mode = 0644};

	front_request(b->f, slot, FUSE_CREATE, FUSE_ROOT_ID, VM_STRUCT(in), VM_NAME(name));
	assert_true(front_kick(b->f, 1));
}

static bool is_there(const struct vm *v, const char *name)
{
	AUTO_FREE char *path = path_join(v->folder, name);

	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

TEST(a_request_goes_through_a_queue)
{
	struct both *b = *state;
	const struct fuse_forget_in forget = {.nlookup = 1};
	uint64_t calls;

	init(b);
	create(b, 2, "file");
	assert_true(wait_used(b, 1) > 0);
	assert_int_equal(front_answer(b->f, 2).error, 0);
	assert_true(is_there(b->vm, "file"));
	assert_int_equal(read(b->f->call[1], &calls, sizeof(calls)), sizeof(calls));
	/* FORGET has its own queue, and no answer. */
	memcpy(b->f->mem + FRONT_IN, &(struct fuse_in_header){.opcode = FUSE_FORGET, .len = 48},
	       sizeof(struct fuse_in_header));
	memcpy(b->f->mem + FRONT_IN + sizeof(struct fuse_in_header), &forget, sizeof(forget));
	*front_desc(b->f, 0, 0) = (struct vring_desc){.addr = FRONT_GUEST + FRONT_IN, .len = 48};
	front_offer(b->f, 0, 0);
	assert_true(front_kick(b->f, 0));
	assert_int_equal(wait_used(b, 0), 0);
}

TEST(an_indirect_table_is_walked)
{
	struct both *b = *state;
	struct vring_desc *table = (void *)(b->f->mem + 0x8000);

	init(b);
	front_request(b->f, 2, FUSE_STATFS, FUSE_ROOT_ID, VM_NONE, VM_NONE);
	table[0] = *front_desc(b->f, 1, 2);
	table[0].next = 1;
	table[1] = *front_desc(b->f, 1, 3);
	*front_desc(b->f, 1, 2) = (struct vring_desc){.addr = FRONT_GUEST + 0x8000,
						      .len = 2 * sizeof(*table),
						      .flags = VRING_DESC_F_INDIRECT};
	assert_true(front_kick(b->f, 1));
	assert_true(wait_used(b, 1) > (long)sizeof(struct fuse_out_header));
	assert_int_equal(front_answer(b->f, 2).error, 0);
}

static void hold(struct both *b, uint32_t slot)
{
	AUTO_FREE char *git = path_join(b->vm->folder, ".git"), *hooks = path_join(git, "hooks");
	struct fuse_entry_out e;

	assert_int_equal(mkdir(git, 0755), 0);
	assert_int_equal(mkdir(hooks, 0755), 0);
	front_request(b->f, slot, FUSE_LOOKUP, FUSE_ROOT_ID, VM_NAME(".git"), VM_NONE);
	assert_true(front_kick(b->f, 1));
	assert_true(wait_used(b, 1) > 0);
	memcpy(&e, b->f->mem + FRONT_OUT + slot * 4096 + 16, sizeof(e));
	front_request(b->f, slot, FUSE_LOOKUP, e.nodeid, VM_NAME("hooks"), VM_NONE);
	assert_true(front_kick(b->f, 1));
	assert_true(wait_used(b, 1) > 0);
	memcpy(&e, b->f->mem + FRONT_OUT + slot * 4096 + 16, sizeof(e));
	front_request(b->f, slot, FUSE_SYMLINK, e.nodeid, VM_NAME("pre-commit"), VM_NAME("x"));
	assert_true(front_kick(b->f, 1));
	for (int i = 0; i < 100 && b->vm->shared->held == 0; i++)
		vm_turn(b->vm, 100);
	assert_int_equal(b->vm->shared->held, 1);
}

/* QEMU's `stop` does not wait, and after `cont` the answer arrives. */
TEST(a_held_request_survives_a_stop)
{
	struct both *b = *state;
	uint16_t base;

	init(b);
	hold(b, 2);
	base = front_stop(b->f, 1);
	assert_int_equal(base, b->f->avail[1]);
	b->vm->door->ops->drop_all(b->vm->door); /* the user denies in the meantime */
	vm_turn(b->vm, 100);
	assert_int_equal(front_used(b->f, 1), -1);
	assert_true(front_memory(b->f));
	front_start(b->f, 1, base);
	assert_true(wait_used(b, 1) > 0);
	assert_int_equal(front_answer(b->f, 2).error, -EACCES);
	create(b, 4, "after");
	assert_true(wait_used(b, 1) > 0);
	assert_true(is_there(b->vm, "after"));
}

/* After a reset of the guest held requests are dropped, and the queue restarts. */
TEST(a_reset_drops_what_is_held)
{
	struct both *b = *state;

	init(b);
	hold(b, 2);
	front_stop(b->f, 1);
	memset(b->f->mem, 0, FRONT_SIZE);
	b->f->avail[1] = b->f->used[1] = 0;
	front_start(b->f, 1, 0);
	init(b);
	for (int i = 0; i < 100 && b->vm->shared->held > 0; i++)
		vm_turn(b->vm, 100);
	assert_int_equal(b->vm->shared->held, 0);
	assert_int_equal(front_used(b->f, 1), -1);
}

/* ---- hostile --------------------------------------------------------------------------------- */

struct bad {
	const char *what;
	struct vring_desc d[3];
	uint16_t head, ahead;
};

TEST_WITH(a_bad_descriptor_ends_the_server, NULL, NULL)
{
	const uint64_t in = FRONT_GUEST + FRONT_IN;
	const struct bad bad[] = {
		{"outside of memory", {{.addr = 0x1000, .len = 64}}, 0, 1},
		{"past its end", {{.addr = FRONT_GUEST + FRONT_SIZE - 8, .len = 64}}, 0, 1},
		{"address wraps", {{.addr = UINT64_MAX - 8, .len = 64}}, 0, 1},
		{"a loop",
		 {{.addr = in, .len = 8, .flags = VRING_DESC_F_NEXT, .next = 1},
		  {.addr = in, .len = 8, .flags = VRING_DESC_F_NEXT, .next = 0}},
		 0,
		 1},
		{"next beyond the table",
		 {{.addr = in, .len = 8, .flags = VRING_DESC_F_NEXT, .next = 999}},
		 0,
		 1},
		{"head beyond the table", {{.addr = in, .len = 8}}, 999, 1},
		{"read after write",
		 {{.addr = in,
		   .len = 8,
		   .flags = VRING_DESC_F_NEXT | VRING_DESC_F_WRITE,
		   .next = 1},
		  {.addr = in, .len = 8}},
		 0,
		 1},
		{"more than there can be", {{.addr = in, .len = 8}}, 0, FRONT_NUM + 1},
		{"odd indirect table",
		 {{.addr = in, .len = 17, .flags = VRING_DESC_F_INDIRECT}},
		 0,
		 1},
		{"large indirect table",
		 {{.addr = in, .len = 1 << 19, .flags = VRING_DESC_F_INDIRECT}},
		 0,
		 1},
		{"indirect and next",
		 {{.addr = in, .len = 16, .flags = VRING_DESC_F_INDIRECT | VRING_DESC_F_NEXT}},
		 0,
		 1},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct both *b;
		uint16_t *avail;

		setup((void **)&b);
		init(b);
		for (uint32_t d = 0; d < 3; d++)
			*front_desc(b->f, 1, d) = bad[i].d[d];
		avail = (void *)(b->f->mem + FRONT_RING + 0x1000 + 0x400);
		avail[2 + b->f->avail[1] % FRONT_NUM] = bad[i].head;
		avail[1] = (uint16_t)(b->f->avail[1] + bad[i].ahead);
		if (front_kick(b->f, 1))
			fail_msg("served: %s", bad[i].what);
		teardown((void **)&b);
	}
}

/* Offers the held request's descriptors again and again. */
TEST(a_guest_cannot_have_more_requests_than_descriptors)
{
	struct both *b = *state;
	int n = 0;

	init(b);
	hold(b, 2);
	do
		front_offer(b->f, 1, 2);
	while (front_kick(b->f, 1) && ++n < 4 * FRONT_NUM);
	assert_int_equal(n, FRONT_NUM - 1);
}

/* A guest that resets the device instead of beginning anew leaves no request behind. */
TEST(a_reset_alone_drops_what_is_held)
{
	struct both *b = *state;

	init(b);
	hold(b, 2);
	front_stop(b->f, 1);
	b->f->avail[1] = b->f->used[1] = 0;
	memset(b->f->mem + FRONT_RING + 0x1000, 0, 0x1000);
	front_start(b->f, 1, 0);
	assert_int_equal(guest_fuse_waiting(b->vm->fuse), 0);
	for (int i = 0; i < 100 && b->vm->shared->held > 0; i++)
		vm_turn(b->vm, 100);
	assert_int_equal(b->vm->shared->held, 0);
}

TEST(nested_indirect_tables_are_refused)
{
	struct both *b = *state;
	struct vring_desc *table = (void *)(b->f->mem + 0x8000);

	init(b);
	table[0] = (struct vring_desc){
		.addr = FRONT_GUEST + 0x8000, .len = 16, .flags = VRING_DESC_F_INDIRECT};
	*front_desc(b->f, 1, 0) = table[0];
	front_offer(b->f, 1, 0);
	assert_false(front_kick(b->f, 1));
}

TEST_WITH(bad_messages_end_the_server, NULL, NULL)
{
	const uint64_t wrong = ~UINT64_C(0);
	struct front *f;
	struct both *b;

	for (int i = 0; i < 9; i++) {
		bool ok;

		setup((void **)&b);
		f = b->f;
		switch (i) {
		case 0: /* an unknown request */
			ok = front_send(f, 77, 0, NULL, 0, -1);
			break;
		case 1: /* features that were not offered */
			ok = front_send(f, 2, 0, &wrong, sizeof(wrong), -1);
			break;
		case 2: /* a missing queue */
			ok = front_state(f, 8, 7, 16);
			break;
		case 3: /* no power of two; too many */
			front_stop(f, 1);
			ok = front_state(f, 8, 1, 17);
			break;
		case 4:
			front_stop(f, 1);
			ok = front_state(f, 8, 1, 1 << 20);
			break;
		case 5: /* memory without its descriptor */
			ok = front_send(f, 5, 0, &(uint64_t[5]){1, 0, 4096, 0, 0}, 40, -1);
			break;
		case 6: /* memory beyond the file's end */
			ok = front_send(f, 5, 0, &(uint64_t[5]){1, 0, FRONT_SIZE + 1, 0, 0}, 40,
					f->memfd);
			break;
		case 7: /* a wrong version */
			ok = io_send_fd(f->sock, &(struct front_head){1, 2, 0}, 12, -1) == 0 &&
			     front_turn(f);
			break;
		default: /* larger than any */
			ok = io_send_fd(f->sock, &(struct front_head){1, 1, 1 << 20}, 12, -1) ==
				     0 &&
			     front_turn(f);
		}
		if (ok)
			fail_msg("served: message %d", i);
		teardown((void **)&b);
	}
}

/* ---- the process ----------------------------------------------------------------------------- */

TEST_WITH(the_confined_process_serves, NULL, NULL)
{
	struct vm *v = vm_new(true);
	struct fs_share share[2] = {{.tag = "cordon0", .path = v->folder, .kind = FS_FOLDER},
				    {.tag = "root", .path = "/", .kind = FS_ROOT}};
	struct both b[2] = {{0}, {0}};
	struct fs_server *s;
	struct door *door;
	struct err err = {0};
	int socks[2];
	siginfo_t end = {0};

	if (fs_server_start(&s, &door, &v->k, &v->spawn, share, 2, socks, &err) < 0)
		fail_msg("%s", err.text);
	fs_server_set_caller(s, getpid());
	for (int i = 0; i < 2; i++) {
		b[i].f = front_new(socks[i], NULL);
		front_start(b[i].f, 1, 0);
		init(&b[i]);
	}
	create(&b[0], 2, "file");
	for (int i = 0; i < 1000 && !is_there(v, "file"); i++) {
		struct pollfd p = {.fd = door->fd, .events = POLLIN};

		if (poll(&p, 1, 100) > 0)
			assert_int_equal(door->ops->serve(door, p.revents), 0);
	}
	assert_true(wait_used(&b[0], 1) > 0);
	assert_int_equal(front_answer(b[0].f, 2).error, 0);
	create(&b[1], 2, "file"); /* as the host's root */
	assert_true(wait_used(&b[1], 1) > 0);
	assert_int_equal(front_answer(b[1].f, 2).error, -EROFS);
	front_request(b[1].f, 2, FUSE_LOOKUP, FUSE_ROOT_ID, VM_NAME("etc"), VM_NONE);
	assert_true(front_kick(b[1].f, 1));
	assert_true(wait_used(&b[1], 1) > 0);
	assert_int_equal(front_answer(b[1].f, 2).error, 0);
	/* It ends with QEMU, by itself. */
	front_free(b[0].f);
	assert_int_equal(waitid(P_PIDFD, (id_t)fs_server_pidfd(s), &end, WEXITED | WNOWAIT), 0);
	assert_int_equal(end.si_code, CLD_EXITED);
	assert_int_equal(end.si_status, 0);
	front_free(b[1].f);
	fs_server_stop(s);
	door->ops->close(door);
	vm_free(v);
}

TESTS(setup, teardown)
