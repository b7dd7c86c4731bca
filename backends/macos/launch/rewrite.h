/* rewrite - redirects loopback connections to the session's own address or ports, on a Mac. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "core/keeper/keeper.h"
#include "core/session/backend.h"

/*
 * The preload library (backends/interpose/preload.c), which DYLD_INSERT_LIBRARIES loads into
 * programs, redirects. It is a convenience: the profile decides at which ports a program may
 * listen and to which it may connect. A program that does not load the library (Apple's own, or
 * one with the hardened runtime) can use the window's ports by their numbers.
 *
 * Life: rewrite_start() -> rewrite_stop().
 */
struct rewrite;

/* *ret is NULL if there is nothing to rewrite (no window, or the strategy is to fail). library: its
 * path; NULL: beside this program. own: the session's directory. */
int rewrite_start(struct rewrite **ret, const struct mac_os *os, const char *library,
		  const struct spawn_spec *spec, const char *own, struct keeper *k, struct err *err)
	MUST_USE;
void rewrite_root(struct rewrite *w, pid_t root); /* sets the agent's pid; NULL is a no-op */
/* Settings of the agent's environment; NULL-terminated, borrowed. w may be NULL: none. */
const char *const *rewrite_env(const struct rewrite *w);
const char *rewrite_library(const struct rewrite *w); /* read inside; NULL: none */
void rewrite_stop(struct rewrite *w);		      /* NULL is a no-op */
