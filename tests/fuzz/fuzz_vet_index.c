/* fuzz_vet_index - any bytes as an index, the rest of a rebase, and a gitfile. */
/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "core/policy/policy_priv.h"

static bool hides;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each line alone: an accepted text has no line for a shell. */
static void check_rebase(const char *text, size_t size)
{
	if (size && vet_git_rebase(text, size, NULL, 0) &&
	    (strncmp(text, "exec ", MIN(size, 5)) == 0 && size >= 5))
		abort();
}

static bool hides;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct policy *p;
	const char *text = (const char *)data;

	if (!p && policy_new(&p, &(struct policy_spec){.home = "/home/u"}, NULL) < 0)
		abort();
	(void)vet_git_index(text, size, 20, &hides);
	(void)vet_git_index(text, size, 32, &hides);
	check_rebase(text, size);
	if (vet_git_pointer(p, "/w/s/.git", text, size) && !memmem(text, size, "/.git/", 6))
		abort();
	return 0;
}
