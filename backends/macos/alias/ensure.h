/* ensure - a session's loopback address is there, or the helper adds it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/net/addr.h"

/*
 * 0 where a socket can be bound to it; else cordon-loopback (alias.h) is run, once, without an
 * environment, and it is looked again. helper: NULL: beside this program, or where it is installed.
 * Takes as long as the helper does. -EADDRNOTAVAIL: err says what to type.
 */
int alias_ensure(const struct net_addr *address, const char *helper, struct err *err) MUST_USE;
