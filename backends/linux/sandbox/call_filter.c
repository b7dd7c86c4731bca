/* call_filter - a seccomp filter that a process of cordon installs on itself, built from lists. */
/* SPDX-License-Identifier: MIT */
#include "backends/linux/sandbox/call_filter.h"

#include <errno.h>
#include <sys/mman.h>

#include "core/base/util.h"

/* Includes equivalents that libraries of other versions call. */
static const struct call_rule server[] = {
	CALL(poll),
	CALL(ppoll),
	CALL(read),
	CALL(write),
	CALL(close),
	CALL(clock_gettime),
	CALL(getrandom),
	CALL(futex),
	CALL(getpid),
	CALL(gettid),
	CALL(restart_syscall),
	CALL(rt_sigaction),
	CALL(rt_sigprocmask),
	CALL(rt_sigreturn),
	CALL(sigaltstack),
	CALL(exit_group),
	CALL(brk),
	CALL(munmap),
	CALL(mremap),
	CALL(madvise),
	CALL_IF(mmap, 2, PROT_EXEC, 0),
	CALL_IF(mprotect, 2, PROT_EXEC, 0),
};

void call_filter_begin(struct call_filter *f, uint32_t others)
{
	f->ctx = seccomp_init(others);
	f->r = f->ctx ? seccomp_attr_set(f->ctx, SCMP_FLTATR_CTL_OPTIMIZE, 2) : -ENOMEM;
}

void call_filter_serve(struct call_filter *f)
{
	call_filter_add(f, SCMP_ACT_ALLOW, server, ARRAY_LEN(server));
}

void call_filter_add(struct call_filter *f, uint32_t verdict, const struct call_rule *list,
		     size_t n)
{
	for (size_t i = 0; i < n && f->r == 0; i++) {
		const struct scmp_arg_cmp cmp = {list[i].arg, SCMP_CMP_MASKED_EQ, list[i].mask,
						 list[i].value};

		if (list[i].nr >= 0)
			f->r = seccomp_rule_add_array(f->ctx, verdict, list[i].nr,
						      list[i].mask != 0, &cmp);
	}
}

int call_filter_load(struct call_filter *f, const char *whose, struct err *err)
{
	int r = f->r == 0 ? seccomp_load(f->ctx) : f->r;

	if (f->ctx)
		seccomp_release(f->ctx);
	f->ctx = NULL;
	return r < 0 ? err_set(err, r, "filter %s system calls", whose) : 0;
}

int call_filter_confine(uint32_t others, const struct call_rule *list, size_t n, const char *whose,
			struct err *err)
{
	struct call_filter f;

	call_filter_begin(&f, others);
	call_filter_serve(&f);
	call_filter_add(&f, SCMP_ACT_ALLOW, list, n);
	return call_filter_load(&f, whose, err);
}
