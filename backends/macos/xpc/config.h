/* config - reads the settings about mach services. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/profile/services.h"
#include "core/base/err.h"

struct config;

/*
 * Settings are xpc.mode, xpc.default, xpc.allow, xpc.block, xpc.allow-prefix and xpc.block-prefix.
 * Names of xpc.allow and xpc.block are added to the default lists; names of xpc.allow are removed
 * from the default block list.
 *
 * Life: zero-initialised; xpc_config_done().
 */
enum xpc_mode {
	XPC_ENFORCE,
	XPC_AUDIT,    /* everything is allowed; look-ups that would be denied are reported */
	XPC_DISABLED, /* everything is allowed */
};

struct xpc_config {
	enum xpc_mode mode;
	bool allow_by_default;
	char **allow, **block, **allow_prefixes, **block_prefixes; /* NULL: none */
};

void xpc_config_done(struct xpc_config *x);
/* Loads the settings and checks the names. */
int xpc_config_load(struct xpc_config *x, const struct config *c, struct err *err) MUST_USE;
/* Returns the lists for profile_build(), borrowed from x. */
struct mach_services xpc_config_services(const struct xpc_config *x);
