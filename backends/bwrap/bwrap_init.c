/* bwrap_init - pid 1 of the namespaces that bubblewrap makes. */
/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "backends/bwrap/bwrap.h"
#include "backends/bwrap/bwrap_priv.h"
#include "core/os/signals.h"

static bool is_wanted(int argc, char **argv)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return argc == 2 && getpid() == 1 && str_eq(argv[1], HOLDER_WORD) &&
	       getsockopt(BWRAP_SOCK, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_SEQPACKET;
}

void bwrap_become_first(int argc, char **argv)
{
	struct err err = {0};

	if (!is_wanted(argc, argv))
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "cordon-init");
	prctl(PR_SET_DUMPABLE, 0);
	os_signals_usual();
	/* Hands over all namespaces; the keeper ignores the network's if it is the host's. */
	if (confine_has_none(&err) < 0 || sandbox_init_hand_over(BWRAP_SOCK, true, &err) < 0)
		child_message_fail(BWRAP_SOCK, 125, &err);
	sandbox_init_reap(BWRAP_SOCK);
}
