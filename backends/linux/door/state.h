/* state - the door's state that all its files share, and pointers to the state of each file. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "backends/linux/door/filter_spec.h"
#include "backends/linux/sandbox/floor.h"
#include "core/keeper/door.h"

#define LISTENERS_MAX 16 /* beside the agent's */

struct gateway;
struct guest_door;
struct keeper;
struct seccomp_notif;
struct seccomp_notif_resp;

/*
 * One door for each session, used by the keeper's one thread. A file that keeps state between two
 * requests has a struct of its own, which it alone defines and frees; only the pointers are here.
 */
struct ldoor {
	struct door door;	      /* the first member; fd: the listener of the agent's filter */
	int listeners[LISTENERS_MAX]; /* of other programs (listeners.h) */
	size_t n_listeners;
	int calling; /* the listener that had the last request */
	struct keeper *k;
	struct filter_spec spec;
	struct floor floor;
	int root; /* O_PATH of the sandbox's / */
	struct stat root_st;
	dev_t proc_dev; /* of the sandbox's /proc; 0 when it has none */
	bool wait_killable;
	int self_fd;		 /* O_PATH of the keeper's /proc/self/fd */
	uint64_t renames;	 /* grows when paths of known directories may have changed */
	struct gateway *gateway; /* owned; NULL: connections are not judged by host */
	struct seccomp_notif *in;
	struct seccomp_notif_resp *out;
	size_t in_size, out_size;

	struct scratch *scratch; /* request.h */
	struct callers *callers; /* answer.c */
	struct lost *lost;	 /* lost.c */
	struct parked *parked;	 /* parked.h */
	size_t parked_len;
	int64_t sweep_at;	  /* when the callers of parked requests are checked next */
	struct proc_entry *procs; /* lookup.c */
	struct dirs *dirs;	  /* dirs.c */
	struct recent *recent;	  /* resolve.c */
	struct base *bases;	  /* read_check.c */
	struct known_rule {
		const struct landlock_tree *rule; /* its directory existed */
		int64_t at_us;			  /* at this time */
		uint64_t renames;		  /* `renames` at that time */
	} * known_rule;
	struct pending *pending; /* connecting.c */
	size_t pending_len;
	struct own_sockets *sockets;  /* calls_peer.c */
	struct ports *ports;	      /* calls_shared.c */
	struct flow_wait *flows;      /* calls_flow.c */
	struct open_flow *open_flows; /* flow_named.c */
	size_t flows_len;
	uint64_t last_dial;
	bool open_network;	  /* connections are reported, and not judged */
	struct guest_door *guest; /* guest_door.h: no system calls come; NULL: calls do */
	struct server *servers;	  /* ports.c */
	size_t n_servers;
	int64_t look_at;	 /* when to look for listeners next; 0: not planned */
	int64_t look_wait;	 /* the wait after that look */
	struct fifo_wait *fifos; /* calls_fifo.c */
	size_t fifos_len;
};
