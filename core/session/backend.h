/* backend - one way to confine a process tree. One folder per implementation. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/resource.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/net/window.h"

struct keeper;
struct door;
struct sandbox; /* a running one; opaque */
struct secrets;

struct spawn_limits {
	int64_t processes;   /* 0: the caller's own */
	int64_t memory;	     /* bytes, 0: none */
	int64_t open_files;  /* 0: the caller's own */
	int64_t cpu_seconds; /* 0: unlimited */
	bool address_space;  /* also set RLIMIT_AS: only when asked */
	/* The user named it: where it cannot hold, the start fails. */
	bool needs_processes, needs_memory;
};

/* Dynamic mode: through what reads of gated trees are asked for. */
enum read_gate {
	READ_GATE_AUTO, /* FUSE where it can be mounted, else every open is trapped */
	READ_GATE_FUSE,
	READ_GATE_TRAP,
};

/* Where the sandbox's own cache is, for tools whose caches at home it may not write. */
#define CACHE_INSIDE "/run/cordon/cache"

/* For a backend that is a virtual machine. */
struct vm_settings {
	int64_t memory;	    /* bytes; 0: as the host allows */
	int64_t disk;	    /* persistent: most bytes of the image */
	int cpus;	    /* 0: as the host allows */
	bool microvm;	    /* the machine's kind; else q35 */
	bool persistent;    /* what changes outside the folders is kept, for each folder */
	const char *kernel; /* image; NULL: the host's own, or one that was downloaded */
};

/* The certificates that programs inside trust, where there are secrets. */
#define CA_INSIDE "/run/cordon/ca.pem"

/* What to run and what it may see. Everything is borrowed until launch() returns. */
struct spawn_spec {
	const char *const *argv; /* NULL-terminated */
	const char *const *env;	 /* scrubbed, NULL-terminated */
	const char *cwd;	 /* absolute */
	const char *home;	 /* absolute */
	int stdio[3];		 /* the agent's 0, 1, 2 */
	int lifeline;		 /* a pipe that ends when cordon does, from 3 on; 0: none */
	bool tty;		 /* stdio[0] is a pty slave: make it the controlling terminal */
	const char *const
		*folders; /* working folders: read-only inside, written through the keeper */
	const char *const *read_only; /* visible, never writable, not even for who is asked */
	const char *const *overlays;  /* copy-on-write, upper kept in state_dir */
	const char *const *hidden;    /* absolute; do not exist inside */
	const char *const *covered;   /* of those: the directories that they lie in stay live */
	const char *const *sockets;   /* of the host, that show inside; existing, resolved */
	const char *cache;	      /* writable and lasting, shown at CACHE_INSIDE; NULL: none */
	const char *tools;	      /* links to this program, readable inside; NULL: none */
	const char *state_dir;	      /* $XDG_STATE_HOME/cordon */
	const char *session;	      /* id */
	bool allow_network;	      /* share the host's */
	bool ask_network;	      /* else: connections are decided on by host */
	const struct port_pair {
		uint16_t port, host_port;
	} * publish; /* then: shown on the host's loopback; ends with port 0; or NULL */
	struct net_window window; /* where the host's network is shared: its ports */
	const char *resolv;	  /* then: what /etc/resolv.conf is inside; NULL: the host's */
	const struct secrets
		*secrets;  /* then: put into requests (backends/linux/net/tls.h); NULL: none */
	int secrets_sock;  /* then: to the broker */
	const char *ca;	   /* then: a file that the backend makes, shown at CA_INSIDE */
	bool no_debug;	   /* ptrace and friends are refused inside too */
	bool nesting;	   /* user namespaces inside */
	bool landlock_off; /* sandbox.landlock=off: the mounts are the only floor */
	bool dynamic;	   /* reads of gated trees are asked for */
	enum read_gate read_gate;   /* dynamic: how */
	const char *const *gated;   /* dynamic: trees that are not readable; absolute, resolved,
				     * existing, none beneath another */
	const char *const *granted; /* dynamic: what is readable beneath them from the start */
	struct spawn_limits limits;
	struct vm_settings vm;
};

enum {
	BACKEND_FILES = 1 << 0,	 /* writes are confined to folders and grants */
	BACKEND_HIDE = 1 << 1,	 /* hidden paths do not exist */
	BACKEND_NET = 1 << 2,	 /* network is shut */
	BACKEND_PIDS = 1 << 3,	 /* other processes are invisible */
	BACKEND_UNDO = 1 << 4,	 /* every change goes through the keeper */
	BACKEND_LIMITS = 1 << 5, /* process and memory limits hold for the tree, not per process */
	BACKEND_REQUIRED = BACKEND_FILES | BACKEND_HIDE | BACKEND_NET | BACKEND_PIDS | BACKEND_UNDO,
};

/* One thing that was tried on this host, by behaviour. */
struct probe {
	char name[48];	  /* "user namespaces" */
	bool ok;	  /* */
	bool needed;	  /* without it the backend does not start */
	char found[160];  /* what happened, in words */
	char remedy[320]; /* what to do when it is missing; "" when ok */
};

struct probe_report {
	struct probe *list; /* heap */
	size_t n;
	const struct vm_settings *vm; /* given: what is asked of a virtual machine; or NULL */
};
void probe_add(struct probe_report *r, const char *name, bool needed, bool ok, const char *found,
	       const char *remedy);
void probe_report_done(struct probe_report *r);

struct backend {
	const char *name;    /* "native" */
	const char *summary; /* one line */
	bool asks_network;   /* spawn_spec.ask_network: else there is loopback only */
	bool no_secrets;     /* then: nothing is put into requests (spawn_spec.secrets) */
	bool shares_network; /* and while hosts are asked about, the loopback device is the host's
			      */

	/* In cordon, before the keeper is forked: a word for the status bar on how it runs here, as
	 * "emulated", or "". May be NULL. */
	const char *(*tier)(void);
	/* What this host really enforces (BACKEND_* bits). report may be NULL. Mandatory. */
	uint32_t (*probe)(struct probe_report *report, struct err *err);
	/*
	 * In the keeper process: build the sandbox, confine the keeper itself, check the deny rules
	 * from inside, start the agent. On failure nothing is left running; err says what failed
	 * and *ret_status is 125, 126 or 127. Mandatory.
	 */
	int (*launch)(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		      struct keeper *k, int *ret_status, struct err *err);
	/* Signal the agent's process group; SIGKILL ends everything inside. Mandatory. */
	void (*signal)(struct sandbox *sb, int sig);
	/* Kill, reap, remove cgroups; frees sb. Mandatory. */
	void (*stop)(struct sandbox *sb);
	/* In cordon, while no session of the folder runs: what one has kept of itself, outside the
	 * working folders, is thrown away. -ENOENT: nothing; -EBUSY. May be NULL: keeps nothing. */
	int (*forget)(const char *state_dir, const char *folder, struct err *err);
};

extern const struct backend
	*const backends[]; /* best first, NULL-terminated (backends/registry.c) */
const struct backend *backend_find(const char *name);
