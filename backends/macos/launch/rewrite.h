/* rewrite - what goes to the loopback device goes to the session's own address or ports, on a Mac.
 */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "core/keeper/keeper.h"
#include "core/session/backend.h"

/*
 * The preload library (backends/interpose/preload.c), put into programs by DYLD_INSERT_LIBRARIES.
 * It is a help: the profile says at which ports may be listened, and which may be connected to. A
 * program that loads no such library (one of Apple's own, one with the hardened runtime) has the
 * window's ports by their numbers.
 *
 * Life: rewrite_start() -> rewrite_stop().
 */
struct rewrite;

/* NULL in *ret: nothing is rewritten (no window, or the strategy is to fail). library: NULL: where
 * it is beside this program. own: the session's directory. */
int rewrite_start(struct rewrite **ret, const struct mac_os *os, const char *library,
		  const struct spawn_spec *spec, const char *own, struct keeper *k, struct err *err)
	MUST_USE;
void rewrite_root(struct rewrite *w, pid_t root); /* the agent, once it is there; NULL is a no-op */
/* Settings of the agent's environment; NULL-terminated, borrowed. w may be NULL: none. */
const char *const *rewrite_env(const struct rewrite *w);
const char *rewrite_library(const struct rewrite *w); /* read inside; NULL: none */
void rewrite_stop(struct rewrite *w);		      /* NULL is a no-op */
