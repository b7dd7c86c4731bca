/* filter_prologue - the part of the seccomp program before libseccomp's rules. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/door/filter_prologue.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "backends/linux/door/table.h"
#include "core/base/util.h"

/* Calls with higher numbers get ENOSYS, as from an older kernel: libseccomp cannot compare the
 * number itself. */
#define LAST_KNOWN 462 /* mseal, Linux 6.10; the same number on every architecture */
#ifdef __x86_64__
#define GAP_FROM    335 /* 335..423 were never assigned, except uretprobe */
#define GAP_TO	    424
#define ARCH_NATIVE AUDIT_ARCH_X86_64
#else
#define ARCH_NATIVE AUDIT_ARCH_AARCH64
#endif

/*
 * Allows opens that only read, before the search through the rules, which costs some 40
 * instructions for each open. Programs open far more files to read than to write, and the kernel's
 * bitmap cannot cover this call. Any other open goes on to the rules.
 */
static unsigned short add_reading(struct sock_filter *code, const struct door_call *call)
{
	unsigned short at = 0;

	code[at++] =
		(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call->nr, 0, 4);
	code[at++] = (struct sock_filter)BPF_STMT(
		BPF_LD | BPF_W | BPF_ABS,
		offsetof(struct seccomp_data, args) + sizeof(uint64_t) * (size_t)call->when_arg);
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, OPEN_WRITES, 1, 0);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	return at;
}

/* Requires argument 0 of this call to be one of the values. Shorter than the rules that libseccomp
 * would need. */
static unsigned short add_choice(struct sock_filter *code, int nr, const uint32_t *values,
				 uint8_t n, int error)
{
	unsigned short at = 0;

	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, nr));
	code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)nr, 0,
						  (uint8_t)(n + 2));
	/* The lower half: both architectures are little-endian. */
	code[at++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						  offsetof(struct seccomp_data, args));
	for (uint8_t i = 0; i < n; i++)
		code[at++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, values[i],
							  (uint8_t)(n - i), 0);
	code[at++] =
		(struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error);
	return at;
}

unsigned short filter_prologue(struct sock_filter *code, const struct filter_spec *spec)
{
	/* ADDR_NO_RANDOMIZE: gdb and some builds; all ones: a query. */
	static const uint32_t personalities[] = {0, ADDR_NO_RANDOMIZE, 0xffffffff};
	static const uint32_t families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK};
	const unsigned enosys = SECCOMP_RET_ERRNO | ENOSYS;
	unsigned short n = 2;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < door_calls_len && !spec->reads; i++)
		if (door_calls[i].when == WHEN_WRITES)
			n += add_reading(code + n, &door_calls[i]);
#ifdef GAP_FROM
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, GAP_TO, 1, 0);
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, GAP_FROM, 1, 2);
#endif
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, LAST_KNOWN, 0, 1);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, enosys);
	n += add_choice(code + n, SYS_personality, personalities, ARRAY_LEN(personalities), EPERM);
	/* Without a network namespace only the first, AF_UNIX, is allowed; with a proxy three
	 * are. */
	n += add_choice(code + n, SYS_socket, families,
			!spec->alone || spec->allow_network ? ARRAY_LEN(families)
			: spec->proxied			    ? 3
							    : 1,
			EAFNOSUPPORT);
	/* The kernel would load the family's module, and TIPC makes usable pairs. */
	n += add_choice(code + n, SYS_socketpair, families, 1, EOPNOTSUPP);
	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
					       offsetof(struct seccomp_data, arch));
	code[1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_NATIVE, 0,
					       (uint8_t)(n - 2));
	return n;
}
