/* env - what of an environment does not get inside on a Mac, and what is added. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/launch/env.h"

#include <string.h>

static const char *const dropped_prefixes[] = {"DYLD_", "LD_", "Malloc", "__XPC_"};

static const char *const http_names[] = {"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"};
static const char *const socks_names[] = {"ALL_PROXY", "all_proxy"};
static const char *const other_names[] = {"NO_PROXY", "no_proxy"};

struct list {
	char **all;
	size_t n;
};

static void push(struct list *l, char *text)
{
	l->all = xrealloc(l->all, (l->n + 2) * sizeof(*l->all));
	l->all[l->n++] = text;
	l->all[l->n] = NULL;
}

static bool is_named(const char *setting, const char *const *names, size_t n)
{
	size_t len = strcspn(setting, "=");

	for (size_t i = 0; i < n; i++)
		if (strlen(names[i]) == len && strncmp(setting, names[i], len) == 0)
			return true;
	return false;
}

static bool is_dropped(const char *setting, bool proxies, bool tmpdir)
{
	static const char *const tmp[] = {"TMPDIR"};

	for (size_t i = 0; i < ARRAY_LEN(dropped_prefixes); i++)
		if (str_starts(setting, dropped_prefixes[i]))
			return true;
	if (tmpdir && is_named(setting, tmp, 1))
		return true;
	return proxies && (is_named(setting, http_names, ARRAY_LEN(http_names)) ||
			   is_named(setting, socks_names, ARRAY_LEN(socks_names)) ||
			   is_named(setting, other_names, ARRAY_LEN(other_names)));
}

static void add_proxy(struct list *l, const char *const *names, size_t n, const char *scheme,
		      uint16_t port)
{
	for (size_t i = 0; port && i < n; i++)
		push(l, xasprintf("%s=%s://127.0.0.1:%u", names[i], scheme, (unsigned)port));
}

char **mac_env(const char *const *env, const char *tmpdir, uint16_t http_port, uint16_t socks_port)
{
	struct list l = {.all = xcalloc(1, sizeof(char *))};

	for (; env && *env; env++)
		if (!is_dropped(*env, http_port || socks_port, tmpdir != NULL))
			push(&l, xstrdup(*env));
	if (tmpdir)
		push(&l, xasprintf("TMPDIR=%s", tmpdir));
	add_proxy(&l, http_names, ARRAY_LEN(http_names), "http", http_port);
	/* h: the proxy resolves names, for nothing inside can */
	add_proxy(&l, socks_names, ARRAY_LEN(socks_names), "socks5h", socks_port);
	return l.all;
}
