/* helper - the program cordon-seatbelt: receives its order and carries it out. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/helper/helper.h"

#include <unistd.h>

#include "core/os/process.h"

const char *const helper_words[HELPER_ROLES] = {
	[HELPER_AGENT] = "agent", [HELPER_PROXY] = "proxy", [HELPER_WARDEN] = "warden"};

/* Closes the keeper's descriptors, which some systems let the helper inherit. */
static void close_others(enum helper_role role)
{
	const int last[HELPER_ROLES] = {[HELPER_AGENT] = HELPER_REPORT,
					[HELPER_PROXY] = HELPER_LISTENER,
					[HELPER_WARDEN] = HELPER_ORDER};

	os_close_range((unsigned)last[role] + 1, ~0u);
}

static bool role_of(const char *word, enum helper_role *ret)
{
	for (size_t i = 0; i < HELPER_ROLES; i++)
		if (str_eq(word, helper_words[i])) {
			*ret = (enum helper_role)i;
			return true;
		}
	return false;
}

void helper_run(const struct mac_os *os, int argc, char **argv)
{
	struct order o = {0};
	enum helper_role role;

	if (argc != 2 || !role_of(argv[1], &role))
		_exit(125);
	close_others(role);
	if (order_receive(HELPER_ORDER, &o) < 0)
		_exit(125);
	if (role == HELPER_WARDEN)
		helper_warden(os, &o);
	(void)close(HELPER_ORDER);
	if (role == HELPER_PROXY)
		helper_proxy(os, &o);
	helper_agent(os, &o);
}
