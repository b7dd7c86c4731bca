/* config - what settings say of mach services, and how it reaches the wrapper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/profile/services.h"
#include "core/base/buf.h"

struct config;

/*
 * Settings are xpc.mode, xpc.default, xpc.allow, xpc.block, xpc.allow-prefix, xpc.block-prefix and
 * xpc.on-failure. Names of xpc.allow and xpc.block are added to the default lists; what xpc.allow
 * names is taken out of the default list of what is blocked.
 *
 * The wrapper gets all of it as one JSON object in the variable XPC_CONFIG_VARIABLE:
 *     {"mode":"enforce","on_failure":"closed","workspace_path":"/p","allowed_paths":[],
 *      "allow_network":false,"mach_services":{"default_action":"deny","allow":[],"block":[],
 *      "allow_prefixes":[],"block_prefixes":[]}}
 * Of it workspace_path and mach_services.default_action are needed. A member that is not known is
 * an error: it might have been meant to close something.
 *
 * Life: zero-initialised; xpc_config_done().
 */
#define XPC_CONFIG_VARIABLE "CORDON_SANDBOX_CONFIG"
#define XPC_CONFIG_MAX	    (256u << 10)

enum xpc_mode {
	XPC_ENFORCE,
	XPC_AUDIT,    /* everything is allowed; what would be denied is reported */
	XPC_DISABLED, /* everything is allowed */
};

struct xpc_config {
	enum xpc_mode mode;
	bool fail_open; /* xpc.on-failure = open: without a sandbox rather than not at all */
	bool allow_by_default, allow_network;
	char *workspace;
	char **allowed_paths;
	char **allow, **block, **allow_prefixes, **block_prefixes; /* NULL: none */
};

void xpc_config_done(struct xpc_config *x);
/* From settings; the names are checked. */
int xpc_config_load(struct xpc_config *x, const struct config *c, struct err *err) MUST_USE;
void xpc_config_format(const struct xpc_config *x, struct buf *out);
/* -EINVAL: it is no such object, with words. *ret is written on success alone. */
int xpc_config_parse(struct xpc_config *ret, const char *text, struct err *err) MUST_USE;
/* For profile_build(); borrowed. */
struct mach_services xpc_config_services(const struct xpc_config *x);
