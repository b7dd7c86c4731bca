/* config - what settings say of mach services, and how it reaches the wrapper. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/xpc/config.h"

#include <errno.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "core/base/json.h"
#include "core/config/config.h"

static const char *const mode_words[] = {"enforce", "audit", "disabled"};

void xpc_config_done(struct xpc_config *x)
{
	free(x->workspace);
	util_free_list(&x->allowed_paths);
	util_free_list(&x->allow);
	util_free_list(&x->block);
	util_free_list(&x->allow_prefixes);
	util_free_list(&x->block_prefixes);
	*x = (struct xpc_config){0};
}

static size_t count(char *const *list)
{
	size_t n = 0;

	while (list && list[n])
		n++;
	return n;
}

static void add(char ***list, const char *text)
{
	size_t n = count(*list);

	*list = xrealloc(*list, (n + 2) * sizeof(**list));
	(*list)[n] = xstrdup(text);
	(*list)[n + 1] = NULL;
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

/* skip may be NULL. */
static void add_defaults(char ***list, const char *const *defaults, char *const *skip)
{
	for (; *defaults; defaults++)
		if (!str_one_of(*defaults, (const char *const *)skip))
			add(list, *defaults);
}

static bool take_mode(struct xpc_config *x, const char *word)
{
	for (size_t i = 0; i < ARRAY_LEN(mode_words); i++)
		if (str_eq(word, mode_words[i])) {
			x->mode = (enum xpc_mode)i;
			return true;
		}
	return false;
}

int xpc_config_load(struct xpc_config *x, const struct config *c, struct err *err)
{
	struct xpc_config got = {0};
	struct mach_services m;
	int r;

	(void)take_mode(&got, config_str(c, "xpc.mode"));
	got.fail_open = str_eq(config_str(c, "xpc.on-failure"), "open");
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

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_string(struct buf *out, const char *s)
{
	json_quote(out, s, strlen(s));
}

static void put_list(struct buf *out, const char *name, char *const *list)
{
	buf_fmt(out, "\"%s\":[", name);
	for (size_t i = 0; list && list[i]; i++) {
		buf_str(out, i ? "," : "");
		put_string(out, list[i]);
	}
	buf_ch(out, ']');
}

void xpc_config_format(const struct xpc_config *x, struct buf *out)
{
	buf_fmt(out,
		"{\"mode\":\"%s\",\"on_failure\":\"%s\",\"workspace_path\":", mode_words[x->mode],
		x->fail_open ? "open" : "closed");
	put_string(out, x->workspace ? x->workspace : "");
	buf_ch(out, ',');
	put_list(out, "allowed_paths", x->allowed_paths);
	buf_fmt(out, ",\"allow_network\":%s,\"mach_services\":{\"default_action\":\"%s\",",
		x->allow_network ? "true" : "false", x->allow_by_default ? "allow" : "deny");
	put_list(out, "allow", x->allow);
	buf_ch(out, ',');
	put_list(out, "block", x->block);
	buf_ch(out, ',');
	put_list(out, "allow_prefixes", x->allow_prefixes);
	buf_ch(out, ',');
	put_list(out, "block_prefixes", x->block_prefixes);
	buf_str(out, "}}");
}

static int bad(struct err *err, const char *name, const char *what)
{
	return err_say(err, -EINVAL, XPC_CONFIG_VARIABLE ": '%s' %s", name, what);
}

static int take_list(const cJSON *o, char ***ret, struct err *err)
{
	const cJSON *one;

	if (!cJSON_IsArray(o))
		return bad(err, o->string, "is no list");
	cJSON_ArrayForEach(one, o)
	{
		if (!cJSON_IsString(one))
			return bad(err, o->string, "has something that is no string");
		add(ret, one->valuestring);
	}
	return 0;
}

/* One of two words. */
static int take_word(const cJSON *o, const char *no, const char *yes, bool *ret, struct err *err)
{
	const char *word = cJSON_IsString(o) ? o->valuestring : NULL;

	if (!str_eq(word, no) && !str_eq(word, yes))
		return err_say(err, -EINVAL, XPC_CONFIG_VARIABLE ": '%s' is neither %s nor %s",
			       o->string, no, yes);
	*ret = str_eq(word, yes);
	return 0;
}

static int take_service_member(struct xpc_config *x, const cJSON *o, bool *ret_action,
			       struct err *err)
{
	if (str_eq(o->string, "default_action")) {
		*ret_action = true;
		return take_word(o, "deny", "allow", &x->allow_by_default, err);
	}
	if (str_eq(o->string, "allow"))
		return take_list(o, &x->allow, err);
	if (str_eq(o->string, "block"))
		return take_list(o, &x->block, err);
	if (str_eq(o->string, "allow_prefixes"))
		return take_list(o, &x->allow_prefixes, err);
	if (str_eq(o->string, "block_prefixes"))
		return take_list(o, &x->block_prefixes, err);
	return bad(err, o->string, "is not known");
}

static int take_services(struct xpc_config *x, const cJSON *services, bool *ret_action,
			 struct err *err)
{
	const cJSON *o;
	int r = 0;

	if (!cJSON_IsObject(services))
		return bad(err, "mach_services", "is no object");
	cJSON_ArrayForEach(o, services)
	{
		r = take_service_member(x, o, ret_action, err);
		if (r < 0)
			break;
	}
	return r;
}

static int take_workspace(struct xpc_config *x, const cJSON *o, struct err *err)
{
	if (!cJSON_IsString(o) || *o->valuestring != '/')
		return bad(err, o->string, "is no absolute path");
	free(x->workspace);
	x->workspace = xstrdup(o->valuestring);
	return 0;
}

static int take_member(struct xpc_config *x, const cJSON *o, bool *ret_action, struct err *err)
{
	if (str_eq(o->string, "workspace_path"))
		return take_workspace(x, o, err);
	if (str_eq(o->string, "mach_services"))
		return take_services(x, o, ret_action, err);
	if (str_eq(o->string, "allowed_paths"))
		return take_list(o, &x->allowed_paths, err);
	if (str_eq(o->string, "on_failure"))
		return take_word(o, "closed", "open", &x->fail_open, err);
	if (str_eq(o->string, "allow_network")) {
		x->allow_network = cJSON_IsTrue(o);
		return cJSON_IsBool(o) ? 0 : bad(err, o->string, "is neither true nor false");
	}
	if (str_eq(o->string, "mode"))
		return cJSON_IsString(o) && take_mode(x, o->valuestring)
			       ? 0
			       : bad(err, o->string, "is none of enforce, audit, disabled");
	return bad(err, o->string, "is not known");
}

static int take_all(struct xpc_config *x, const cJSON *all, struct err *err)
{
	const struct mach_services *m = &(struct mach_services){0};
	struct mach_services services;
	bool action = false;
	const cJSON *o;
	int r = 0;

	if (!cJSON_IsObject(all))
		return err_say(err, -EINVAL, XPC_CONFIG_VARIABLE " is no JSON object");
	cJSON_ArrayForEach(o, all)
	{
		r = take_member(x, o, &action, err);
		if (r < 0)
			return r;
	}
	if (!x->workspace)
		return bad(err, "workspace_path", "is missing");
	if (!action)
		return bad(err, "mach_services.default_action", "is missing");
	for (char *const *p = x->allowed_paths; p && *p; p++)
		if (**p != '/')
			return bad(err, "allowed_paths", "has a path that is not absolute");
	services = xpc_config_services(x);
	m = &services;
	return mach_services_check(m, err);
}

int xpc_config_parse(struct xpc_config *ret, const char *text, struct err *err)
{
	struct xpc_config x = {0};
	cJSON *all;
	int r;

	if (strlen(text) > XPC_CONFIG_MAX)
		return err_say(err, -EINVAL, XPC_CONFIG_VARIABLE " has more than %u bytes",
			       XPC_CONFIG_MAX);
	all = cJSON_ParseWithOpts(text, NULL, true);
	r = take_all(&x, all, err);
	cJSON_Delete(all);
	if (r < 0) {
		xpc_config_done(&x);
		return r;
	}
	*ret = x;
	return 0;
}
