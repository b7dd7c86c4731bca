/* filter_spec - the session's options for the seccomp filter. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct filter_spec {
	bool no_debug;	    /* ptrace, process_vm_*, pidfd_getfd and kcmp are refused inside too */
	bool nesting;	    /* user and mount namespaces inside */
	bool allow_network; /* the host's network is shared: no abstract sockets of the host */
	bool reads;	    /* opens for reading are trapped too */
	bool alone;	    /* no namespaces: refuses calls that namespaces would isolate */
	bool proxied;	    /* alone: TCP sockets, which the door connects */
	bool windowed;	    /* traps bind and listen of the host's network, too */
};
