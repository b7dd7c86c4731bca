/* filter - compiles and installs the seccomp filter of the sandbox. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "backends/linux/door/filter_spec.h"
#include "core/base/err.h"

/*
 * Compiles the rules ahead, so that filter_install() costs one system call. Optional. Called in the
 * process that forks the agent's, while process B builds the mounts. Keeps the rules of the last
 * spec.
 */
int filter_prepare(const struct filter_spec *spec, struct err *err) MUST_USE;

/* Returns the program that was compiled last, borrowed; 0 instructions: none yet. For tests. */
struct sock_filter;
const struct sock_filter *filter_code(size_t *ret_len);

/*
 * Installs the rules in the calling thread (the agent's, just before exec) and returns the listener
 * for door_new(). no_new_privs must be set. After this every trapped call waits for the keeper: the
 * caller sends the listener away with calls that run natively (sendmsg, close, write, dup3) and
 * closes its own copy. 0 or negative errno; without heap if filter_prepare() has run.
 */
int filter_install(const struct filter_spec *spec, int *ret_listener) MUST_USE;

/* Returns whether only a fatal signal interrupts a held call (Linux 5.19,
 * SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV). */
bool filter_wait_killable(void);
