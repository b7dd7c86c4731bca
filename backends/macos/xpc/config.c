/* config - reads the settings about mach services. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/xpc/config.h"

#include <string.h>

#include "core/config/config.h"

void xpc_config_done(struct xpc_config *x)
{
	util_free_list(&x->allow);
	util_free_list(&x->block);
	util_free_list(&x->allow_prefixes);
	util_free_list(&x->block_prefixes);
	*x = (struct xpc_config){0};
}

static void add(char ***list, const char *text)
{
	size_t n = util_list_len(*list);

	util_list_push(list, &n, xstrdup(text));
}

struct mach_services xpc_config_services(const struct xpc_config *x)
{
	return (struct mach_services){
		.allow_by_default = x->allow_by_default,
		.report_only = x->mode == XPC_AUDIT,
		.off = x->mode == XPC_DISABLED,
		.allow = (const char *const *)x->allow,
		.block = (const char *const *)x->block,
		.allow_prefixes = (const char *const *)x->allow_prefixes,
		.block_prefixes = (const char *const *)x->block_prefixes,
	};
}

/* ---- settings -------------------------------------------------------------------------------- */

static void add_settings(char ***list, const struct config *c, const char *key)
{
	const char *const *named;
	size_t n = config_list(c, key, &named);

	for (size_t i = 0; i < n; i++)
		add(list, named[i]);
}

/* Adds the defaults, except names in skip, which may be NULL. */
static void add_defaults(char ***list, const char *const *defaults, char *const *skip)
{
	for (; *defaults; defaults++)
		if (!str_one_of(*defaults, (const char *const *)skip))
			add(list, *defaults);
}

static enum xpc_mode mode_of(const char *word)
{
	return str_eq(word, "audit")	  ? XPC_AUDIT
	       : str_eq(word, "disabled") ? XPC_DISABLED
					  : XPC_ENFORCE;
}

int xpc_config_load(struct xpc_config *x, const struct config *c, struct err *err)
{
	struct xpc_config got = {0};
	struct mach_services m;
	int r;

	got.mode = mode_of(config_str(c, "xpc.mode"));
	got.allow_by_default = str_eq(config_str(c, "xpc.default"), "allow");
	add_settings(&got.allow, c, "xpc.allow");
	add_settings(&got.block, c, "xpc.block");
	add_settings(&got.allow_prefixes, c, "xpc.allow-prefix");
	add_settings(&got.block_prefixes, c, "xpc.block-prefix");
	add_defaults(&got.block, mach_default_block, got.allow);
	add_defaults(&got.block_prefixes, mach_default_block_prefixes, got.allow_prefixes);
	add_defaults(&got.allow, mach_default_allow, NULL);
	m = xpc_config_services(&got);
	r = mach_services_check(&m, err);
	if (r < 0) {
		xpc_config_done(&got);
		return r;
	}
	*x = got;
	return 0;
}
