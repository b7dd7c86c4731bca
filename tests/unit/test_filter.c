/* test_filter - the system call filter, executed one instruction at a time. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "backends/linux/door/filter.h"
#include "backends/linux/door/table.h"
#include "tests/support/check.h"

#ifdef __x86_64__
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static uint32_t jump(const struct sock_filter *f, uint32_t a)
{
	switch (BPF_OP(f->code)) {
	case BPF_JEQ:
		return a == f->k ? f->jt : f->jf;
	case BPF_JGT:
		return a > f->k ? f->jt : f->jf;
	case BPF_JGE:
		return a >= f->k ? f->jt : f->jf;
	case BPF_JSET:
		return a & f->k ? f->jt : f->jf;
	default:
		assert_int_equal(BPF_OP(f->code), BPF_JA);
		return f->k;
	}
}

/* Returns the kernel's verdict on this call, and the number of instructions. */
static uint32_t verdict(const struct seccomp_data *data, unsigned *steps)
{
	size_t len, at = 0;
	const struct sock_filter *code = filter_code(&len);
	uint32_t a = 0;

	for (*steps = 1; at < len; at++, ++*steps) {
		const struct sock_filter *f = &code[at];

		if (BPF_CLASS(f->code) == BPF_RET)
			return f->k;
		if (BPF_CLASS(f->code) == BPF_LD) {
			assert_true(f->k + sizeof(a) <= sizeof(*data));
			memcpy(&a, (const char *)data + f->k, sizeof(a));
		} else if (BPF_CLASS(f->code) == BPF_ALU) {
			assert_int_equal(BPF_OP(f->code), BPF_AND);
			a &= f->k;
		} else {
			at += jump(f, a);
		}
	}
	fail_msg("the program has no end");
	return 0;
}

static uint32_t call(uint32_t arch, int nr, int arg, uint64_t value, unsigned *steps)
{
	struct seccomp_data data = {.nr = nr, .arch = arch};

	data.args[arg] = value;
	return verdict(&data, steps);
}

static void prepare(bool reads)
{
	const struct filter_spec spec = {.reads = reads};
	struct err err = {0};

	assert_int_equal(filter_prepare(&spec, &err), 0);
}

/* Every bit, alone and with the upper half, which the kernel ignores. */
TEST(an_open_is_trapped_where_it_can_write)
{
	unsigned steps;

	for (int reads = 0; reads < 2; reads++) {
		prepare(reads);
		for (size_t i = 0; i < door_calls_len; i++) {
			const struct door_call *c = &door_calls[i];

			if (c->when != WHEN_WRITES)
				continue;
			for (int bit = -1; bit < 64; bit++) {
				uint64_t flags = bit < 0 ? 0 : UINT64_C(1) << bit;
				bool writes = (uint32_t)flags & OPEN_WRITES;

				assert_int_equal(call(NATIVE, c->nr, c->when_arg, flags, &steps),
						 writes || reads ? SECCOMP_RET_USER_NOTIF
								 : SECCOMP_RET_ALLOW);
			}
		}
	}
}

TEST(an_open_for_reading_takes_few_instructions)
{
	unsigned steps;

	prepare(false);
	assert_int_equal(call(NATIVE, SYS_openat, 2, O_RDONLY | O_CLOEXEC, &steps),
			 SECCOMP_RET_ALLOW);
	assert_in_range(steps, 1, 8);
}

/* The number means another call on that architecture, so even a reading call is refused. */
TEST(another_architecture_has_no_calls)
{
	const uint32_t none = SECCOMP_RET_ERRNO | ENOSYS;
	unsigned steps;

	prepare(false);
	for (int nr = 0; nr < 460; nr++)
		assert_int_equal(call(AUDIT_ARCH_I386, nr, 2, 0, &steps), none);
#ifdef __x86_64__
	for (int nr = 0; nr < 460; nr++) /* x32 */
		assert_int_equal(call(NATIVE, nr | 0x40000000, 2, 0, &steps), none);
#endif
}

/* A kernel that is newer than the lists has no further calls. Whoever raises the last number looks
 * at each call up to it. */
TEST(an_unknown_number_is_no_call)
{
	const uint32_t none = SECCOMP_RET_ERRNO | ENOSYS;
	const int last = 462; /* mseal */
	unsigned steps;

	prepare(false);
	assert_int_not_equal(call(NATIVE, last, 0, 0, &steps), none);
	for (int nr = last + 1; nr < 4096; nr++)
		assert_int_equal(call(NATIVE, nr, 0, 0, &steps), none);
	for (int bit = 12; bit < 32; bit++)
		assert_int_equal(call(NATIVE, (int)(1u << bit), 0, 0, &steps), none);
	assert_int_equal(call(NATIVE, -1, 0, 0, &steps), none);
#ifdef __x86_64__
	for (int nr = 335; nr < 424; nr++)
		assert_int_equal(call(NATIVE, nr, 0, 0, &steps), none);
#endif
}

/* No call makes sockets of a family that socket() refuses. */
TEST(a_pair_is_of_the_family_unix)
{
	unsigned steps;

	prepare(false);
	for (uint64_t high = 0; high < 2; high++)
		for (unsigned family = 0; family < 64; family++)
			assert_int_equal(
				call(NATIVE, SYS_socketpair, 0, high << 32 | family, &steps),
				family == AF_UNIX ? SECCOMP_RET_ALLOW
						  : SECCOMP_RET_ERRNO | EOPNOTSUPP);
}

TESTS(NULL, NULL)
