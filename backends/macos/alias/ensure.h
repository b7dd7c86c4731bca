/* ensure - makes sure that a session's loopback address exists. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/net/addr.h"

/*
 * Returns 0 if a socket can be bound to the address. Else runs cordon-loopback (alias.h) once,
 * without an environment, waits for it, and tries again. helper: its path; NULL: beside this
 * program or as installed. -EADDRNOTAVAIL: err says what to type.
 */
int alias_ensure(const struct net_addr *address, const char *helper, struct err *err) MUST_USE;
