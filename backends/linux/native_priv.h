/* native_priv - messages and functions between the parts of the Linux backends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <poll.h>

#include "backends/linux/door/filter.h"
#include "backends/linux/sandbox/plan.h"
#include "core/session/backend.h"

/*
 * Theory of operation.
 *
 *   keeper  plan -> clone B -> (filter compiled) -> D0 -> launcher -> door -> go -> loop
 *     +- B      pid 1: mounts by the plan, hands over the root and the namespaces, reaps
 *     +- agent  left in B's namespaces by the launcher: Landlock A, self-check, seccomp, waits for
 *               go, exec
 *
 * Mounting is refused to a thread in a Landlock domain, hence B before D0. Looking into a process's
 * memory is refused unless the reader's domain is an ancestor of its domain, hence the agent after
 * D0. B's namespaces are joined through descriptors that B sends: /proc/B/ns is closed to D0 and to
 * ordinary users.
 *
 * Death: B has PDEATHSIG from the keeper, and ends when its socket does. If the keeper is stuck, B
 * ends a second after cordon (a pipe that only cordon holds open tells it). Every process inside
 * ends with B, which is pid 1. No code here uses the heap between clone and exec.
 */

/*
 * The agent's process starts on the launcher's stack, which the address sanitizer does not know. It
 * would print a warning on the agent's stderr before every function that does not return.
 */
#define BORROWED_STACK __attribute__((no_sanitize("address")))

enum note_kind {
	NOTE_FAILED = 1, /* code, status, text */
	NOTE_BUILT,	 /* with root and namespaces */
	NOTE_READY,	 /* the agent waits for go; with the listener */
	NOTE_GO,	 /* keeper to agent: exec now */
	NOTE_GATES,	 /* the gates' mounts; the mounter sends the devices before them */
	NOTE_HOME,	 /* keeper to mounter: the sandbox's mount namespace */
	NOTE_END,	 /* keeper to the monitor of a guest: the session ends, switch it off */
	NOTE_LIFELINE,	 /* keeper to pid 1 or the fence: has cordon's lifeline */
};

/* One message on a SOCK_SEQPACKET pair. */
struct note {
	int32_t kind;
	int32_t code;
	int32_t status;
	char text[1000];
};

enum {
	NS_USER, /* joined first: it gives the right to join the others */
	NS_MNT,
	NS_PID,
	NS_IPC,
	NS_UTS,
	NS_CGROUP,
	NS_NET, /* last: absent when the host's network is shared */
	NS_COUNT,
	NOTE_FDS = NS_COUNT + 1, /* namespaces and root */
};

/* ---- child_message.c ---- */
int child_message_pair(int fds[2], struct err *err) MUST_USE;
int child_message_send(int sock, const struct note *note, const int *fds, size_t n);
/* Receives a note and up to n descriptors; missing ones are -1. Returns 1, 0 at the end of the
 * stream, or negative errno. */
int child_message_recv(int sock, struct note *note, int *fds, size_t n);
/* Sends NOTE_FAILED and exits. For B and the agent. */
BORROWED_STACK NORETURN void child_message_fail(int sock, int status, const struct err *err);
/* Says that this command was not found, and what the user may do. Returns -ENOENT. */
int child_message_not_found(const char *name, struct err *err);

/* ---- build.c ---- */
/* The read gate's mounts. The mounter makes them; B receives them when it needs the first one. */
struct gates {
	int fds[GATES_MAX];
	size_t next;
	bool here;
};

struct build {
	const struct plan *plan;
	struct gates *gates; /* NULL: the plan has none */
	int sock;	     /* receives the gates' mounts */
	bool private_net;
};
NORETURN void build_run(const struct build *b); /* runs process B */
/* Parts of B's work. The current directory is the sandbox's root; no heap. */
int build_op(const struct build *b, const struct plan_op *op, struct err *err) MUST_USE;
void build_ops_done(void);		      /* called after the last operation */
int build_own(const struct plan_op *op);      /* sets owner and mode as planned */
int build_seal(const char *path, bool below); /* read-only, no devices, no set-user-id */
int build_unseal(const char *path);	      /* makes this one mount writable again */

/* ---- sandbox_init.c: pid 1 ---- */
int sandbox_init_hand_over(int sock, bool private_net, struct err *err) MUST_USE;
/* Reaps until the keeper or cordon is gone, then exits; the kernel ends every process inside with
 * pid 1. Closes all descriptors but sock. */
NORETURN void sandbox_init_reap(int sock);
/*
 * For pid 1 and the fence, after poll(2) on two descriptors: the keeper's socket, and the lifeline,
 * which that socket brings. Returns true if the keeper or cordon is gone; then the processes inside
 * must end.
 */
bool sandbox_init_is_over(struct pollfd p[2]);

/* ---- confine.c ---- */
int confine_drop_all(struct err *err) MUST_USE; /* drops all capabilities for good */
int confine_has_none(struct err *err) MUST_USE; /* -EPERM: has a capability */
int confine_server(struct err *err) MUST_USE;	/* drops all capabilities, forbids new namespaces */
/* For a server that parses bytes of the agent: also writes to no file by its path, is not dumpable,
 * and dies with its parent. */
int confine_parser(struct err *err) MUST_USE;
/* Like confine_server(), but a child of root keeps the right to read files of any owner. */
int confine_reading_server(struct err *err) MUST_USE;
/* reader.c; a slot of struct backend */
int confine_reader(struct err *err) MUST_USE;
int confine_keeper(struct err *err) MUST_USE; /* as root, keeps some capabilities */
/* Root's keeper: drops its effective capabilities (true), to act as the agent, or restores them. */
void confine_as_agent(bool on);

/* ---- launch.c, agent.c ---- */
struct launch {
	const struct spawn_spec *spec;
	const struct plan *plan;
	int ns[NS_COUNT];
	int agent;	/* the agent's end of its socket */
	int ends[2];	/* the keeper's ends: of the agent's socket, of pid 1's */
	int cgroups[2]; /* cgroup.procs files to enter, or -1 */
	struct filter_spec filter;
	struct spawn_limits limits;
	const char *const *env;
	/* The agent runs already: checks that passed at its start are not repeated. */
	bool beside;
	/* Without namespaces (struct builder's fence()): */
	int (*fence)(struct launch *l, struct err *err);
	int fence_sock;	 /* the fence's end */
	pid_t keeper;	 /* no process inside may signal it */
	pid_t fence_pid; /* result */
	pid_t pid;	 /* result: the agent's pid, as the host sees it */
	struct err err;
};
int launch_agent(struct launch *l, struct err *err) MUST_USE;
BORROWED_STACK NORETURN void agent_run(const struct launch *l);

/* ---- selfcheck.c ---- */
int selfcheck_run(const struct launch *l, struct err *err) MUST_USE;
/* Checks calls that the filter refuses by itself; trapped calls are not tried. */
int selfcheck_filter(const struct launch *l, struct err *err) MUST_USE;
