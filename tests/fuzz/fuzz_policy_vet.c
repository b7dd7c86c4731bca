/* fuzz_policy_vet - text that passes as inert must be inert to git's own parser, too. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/base/git2.h"
#include "core/base/io.h"
#include "core/policy/policy.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Returns whether the key names a program that is not switched off. */
static bool is_off(const char *key, const char *value)
{
	return str_ends(key, ".fsmonitor") && value &&
	       (!strcasecmp(value, "false") || !strcasecmp(value, "no") ||
		!strcasecmp(value, "off") || !strcmp(value, "0"));
}

/* A new remote without its address is refused, although it may stay. */
static bool names_remotes(const char *text, size_t size)
{
	for (size_t i = 0; i + 6 <= size; i++)
		if (strncasecmp(text + i, "remote", 6) == 0)
			return true;
	return false;
}

static bool ends_badly(const char *key)
{
	static const char *const names[] = {
		".fsmonitor", ".hookspath",   ".pager",	     ".editor",	  ".sshcommand",
		".gitproxy",  ".askpass",     ".worktree",   ".external", ".textconv",
		".clean",     ".smudge",      ".process",    ".driver",	  ".helper",
		".program",   ".insteadof",   ".uploadpack", ".update",	  ".vcs",
		".path",      ".receivepack", ".command",    ".cmd",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (str_ends(key, names[i]))
			return true;
	return strncmp(key, "alias.", 6) == 0 || strncmp(key, "include", 7) == 0 ||
	       strncmp(key, "filter.", 7) == 0 || strncmp(key, "url.", 4) == 0;
}

/* Compares with libgit2's parser. */
static void second_opinion(const char *text, size_t len)
{
	const struct git2 *g = git2_get(NULL);
	AUTO_CLOSE int fd = memfd_create("config", MFD_CLOEXEC);
	git_config_iterator *it = NULL;
	git_config_entry *e;
	git_config *cfg = NULL;
	char name[32];

	if (!g || fd < 0 || io_write_all(fd, text, len) < 0)
		abort();
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (g->git_config_open_ondisk(&cfg, name) < 0)
		return; /* git would refuse it as well */
	if (g->git_config_iterator_new(&it, cfg) < 0)
		abort();
	while (g->git_config_next(&e, it) == 0)
		if (ends_badly(e->name) && !is_off(e->name, e->value))
			abort();
	g->git_config_iterator_free(it);
	g->git_config_free(cfg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy *p;
	const char *text = (const char *)data;
	size_t half = size / 2;

	if (!p && policy_new(&p, &(struct policy_spec){.home = "/home/u"}, NULL) < 0)
		abort();
	if (policy_vet(p, "/w/.git/config", text, size))
		second_opinion(text, size);
	/* An unchanged config may stay or be refused; one inert half does not make the other half
	 * pass. */
	if (policy_vet_change(p, "/w/.git/config", text, half, text + half, size - half) &&
	    !names_remotes(text, size) && policy_vet(p, "/w/.git/config", text, half) &&
	    !policy_vet(p, "/w/.git/config", text + half, size - half))
		abort();
	return 0;
}
