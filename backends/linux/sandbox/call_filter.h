/* call_filter - a seccomp filter that a process of cordon installs on itself, built from lists. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <seccomp.h>
#include <stddef.h>
#include <stdint.h>

#include "core/base/err.h"

/*
 * Life:    call_filter_begin() -> call_filter_serve(), call_filter_add()... -> call_filter_load(),
 *          which ends it. no_new_privs is set before (confine_drop_all()).
 * Errors:  kept until call_filter_load() returns them.
 * A call that this architecture lacks is left out. seccomp(2), seccomp_rule_add(3).
 */
struct call_filter {
	scmp_filter_ctx ctx;
	int r;
};

/* A system call, or only calls with (argument `arg` & mask) == value. A mask of 0: all. */
struct call_rule {
	int nr;
	unsigned arg;
	uint64_t mask, value;
};
#define CALL(name)                                                                                 \
	{                                                                                          \
		.nr = SCMP_SYS(name)                                                               \
	}
#define CALL_IF(name, arg, mask, value)                                                            \
	{                                                                                          \
		SCMP_SYS(name), arg, mask, value                                                   \
	}

/* Begins a filter. `others` (SCMP_ACT_*) is the verdict about calls that no list names. */
void call_filter_begin(struct call_filter *f, uint32_t others);
/* Allows what each server needs: poll, read, write, signals, the clock, memory without PROT_EXEC.
 */
void call_filter_serve(struct call_filter *f);
/* Adds a list with one verdict. */
void call_filter_add(struct call_filter *f, uint32_t verdict, const struct call_rule *list,
		     size_t n);
/* Installs the filter on this process and frees it. whose: "the gate's", for the error. */
int call_filter_load(struct call_filter *f, const char *whose, struct err *err) MUST_USE;
/* Does all of this: allows the calls that each server needs, and the list. others as above. */
int call_filter_confine(uint32_t others, const struct call_rule *list, size_t n, const char *whose,
			struct err *err) MUST_USE;
