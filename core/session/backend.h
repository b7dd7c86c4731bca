/* backend - one way to confine a process tree. One folder per implementation. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/resource.h>

#include "core/base/buf.h"
#include "core/base/err.h"
#include "core/net/window.h"

struct keeper;
struct door;
struct sandbox; /* a running sandbox; opaque */
struct secrets;
struct session_spec;

struct spawn_limits {
	int64_t processes;   /* 0: as many as cordon may have */
	int64_t memory;	     /* bytes, 0: none */
	int64_t open_files;  /* 0: as many as cordon may have */
	int64_t cpu_seconds; /* 0: unlimited */
	bool address_space;  /* also set RLIMIT_AS; only on request */
	/* The user set the limit: the start fails where it has no effect. */
	bool needs_processes, needs_memory;
};

/* Dynamic mode: the mechanism that holds reads of gated trees. */
enum read_gate {
	READ_GATE_AUTO, /* FUSE where it can be mounted, else every open is trapped */
	READ_GATE_FUSE,
	READ_GATE_TRAP,
};

/* The sandbox's own cache, for tools whose caches in the home folder are read-only inside. */
#define CACHE_INSIDE "/run/cordon/cache"

/* The layers of a copy-on-write directory. */
struct overlay_place {
	const char *dir; /* has upper/ and work/; NULL: overlay_dir() */
	bool empty;	 /* there is no overlay: dir itself is shown, writable */
	bool optional;	 /* upper/ is shown where no overlay can be mounted */
};

/* A directory of a tool that the host does not have (core/keeper/folders/tool_dirs.h). */
struct absent_home {
	const char *path; /* path inside */
	const char *dir;  /* on the host; is shown at path after the agent's mkdir */
};

/* How a backend serves directories of tools (core/session/start/homes.h). */
enum {
	HOMES_OVERLAYS = 1 << 0, /* directories of the host by overlays */
	HOMES_ABSENT = 1 << 1,	 /* absent ones, at the agent's mkdir */
};

/* Settings of a backend that is a virtual machine. */
struct vm_settings {
	int64_t memory;	    /* bytes; 0: what the host allows */
	int64_t disk;	    /* persistent: largest size of the image, in bytes */
	int cpus;	    /* 0: what the host allows */
	bool microvm;	    /* the machine type is microvm; else q35 */
	bool persistent;    /* keeps changes outside the folders, separately for each folder */
	const char *kernel; /* image; NULL: the host's, or a downloaded one */
};

/* The certificates that programs inside trust, if there are secrets. */
#define CA_INSIDE "/run/cordon/ca.pem"

/* The command, and its view of the host. The caller owns everything, and keeps it until launch()
 * returns. */
struct spawn_spec {
	const char *const *argv; /* NULL-terminated */
	const char *const *env;	 /* scrubbed, NULL-terminated */
	const char *cwd;	 /* absolute */
	const char *home;	 /* absolute */
	int stdio[3];		 /* the agent's 0, 1, 2 */
	int lifeline;		 /* a pipe that ends with cordon, numbered from 3; 0: none */
	bool tty;		 /* stdio[0] is a pty slave: make it the controlling terminal */
	const char *const
		*folders; /* working folders: read-only inside, written through the keeper */
	const char *const *read_only; /* visible, never writable, even by an answer */
	const char *const *overlays;  /* copy-on-write, upper kept in state_dir */
	const char *const *hidden;    /* absolute; do not exist inside */
	const char *const *covered;   /* hidden paths whose directories stay visible */
	const char *const *sockets;   /* sockets of the host to show inside; they exist, resolved */
	const char *cache;	      /* writable and kept, shown at CACHE_INSIDE; NULL: none */
	const char *tools;	      /* links to this program, readable inside; NULL: none */
	const char *state_dir;	      /* $XDG_STATE_HOME/cordon */
	const char *session;	      /* id */

	/* Homes of tools (core/session/start/homes.h) are the last of the overlays. */
	const struct overlay_place *places;	/* of each overlay; NULL: all as --overlay */
	const struct absent_home *absent_homes; /* ends with a NULL path; NULL: none */
	const char *home_points;		/* the gate shows them for those; NULL: none */

	bool allow_network; /* shares the host's network */
	bool ask_network;   /* each host is allowed, denied or asked about */
	const struct port_pair {
		uint16_t port, host_port;
	} * publish;		  /* shown on the host's loopback; ends with port 0; or NULL */
	struct net_window window; /* with a shared network: the session's ports */
	const char *resolv;	  /* becomes /etc/resolv.conf inside; NULL: the host's */
	const struct secrets
		*secrets;	  /* put into requests (backends/linux/net/tls.h); NULL: none */
	int secrets_sock;	  /* socket to the broker */
	const char *ca;		  /* the backend makes this file and shows it at CA_INSIDE */
	bool no_debug;		  /* ptrace and the like are refused inside, too */
	bool nesting;		  /* allows user namespaces inside */
	bool landlock_off;	  /* sandbox.landlock=off: only the mounts protect the host */
	bool dynamic;		  /* asks about reads of gated trees */
	enum read_gate read_gate; /* dynamic: how reads are held */
	/* dynamic: trees that are not readable; absolute, resolved, existing, none inside
	 * another */
	const char *const *gated;
	const char *const *granted; /* dynamic: readable paths beneath them */
	struct spawn_limits limits;
	struct vm_settings vm;
};

/* A program of the user's beside the agent. The caller owns everything, and keeps it during the
 * call. */
struct beside_spec {
	const char *const *argv; /* NULL-terminated, like env */
	const char *const *env;	 /* replaces variables of the agent with the same names */
	const char *cwd;
	int stdio[3];
	bool tty; /* stdio[0] is a pty slave: make it the controlling terminal */
	/* Called from the keeper's loop when the program has ended, or never ran (words: the
	 * reason). status is the shell's. */
	void (*ended)(void *data, int status, const char *words);
	void *data;
};

enum {
	BACKEND_FILES = 1 << 0,	 /* writes are confined to folders and grants */
	BACKEND_HIDE = 1 << 1,	 /* hidden paths do not exist */
	BACKEND_NET = 1 << 2,	 /* the network is closed */
	BACKEND_PIDS = 1 << 3,	 /* other processes are invisible */
	BACKEND_UNDO = 1 << 4,	 /* every change goes through the keeper */
	BACKEND_LIMITS = 1 << 5, /* process and memory limits hold for the whole tree */
	BACKEND_REQUIRED = BACKEND_FILES | BACKEND_HIDE | BACKEND_NET | BACKEND_PIDS | BACKEND_UNDO,
};

/* The result of one test of how this host behaves. */
struct probe {
	char name[48]; /* "user namespaces" */
	bool ok;
	bool needed;	  /* the backend does not start without it */
	char found[480];  /* the result in words */
	char remedy[480]; /* advice if it is missing; "" if ok */
};

struct probe_report {
	struct probe *list; /* heap */
	size_t n;
	const struct vm_settings *vm; /* input: the requested machine; or NULL */
};
void probe_add(struct probe_report *r, const char *name, bool needed, bool ok, const char *found,
	       const char *remedy);
void probe_report_done(struct probe_report *r);

struct backend {
	const char *name;    /* "native" */
	const char *summary; /* one line */
	bool asks_network;   /* spawn_spec.ask_network: else there is loopback only */
	bool no_secrets;     /* puts no secrets into requests (spawn_spec.secrets) */
	bool shares_network; /* with ask_network the loopback device is the host's */

	/* In cordon: returns the HOMES_* bits for layers kept in dir. NULL: none. */
	unsigned (*homes)(const char *dir, const struct session_spec *spec);
	/* In cordon, before the keeper is forked: returns a word for the status bar, such as
	 * "emulated", or "". May be NULL. */
	const char *(*tier)(void);
	/* Returns what this host enforces (BACKEND_* bits). report may be NULL. Mandatory. */
	uint32_t (*probe)(struct probe_report *report, struct err *err);
	/*
	 * In cordon: returns a negative errno, with the words of launch(), if launch() would refuse
	 * these settings on this host. Reads only the members that spawn_wanted() sets. May be
	 * NULL.
	 */
	int (*check)(const struct spawn_spec *wanted, struct err *err);
	/*
	 * In the keeper process: builds the sandbox, confines the keeper itself, checks the deny
	 * rules from inside, starts the agent. After a failure nothing runs; err has words, and
	 * *ret_status is 125, 126 or 127. Mandatory.
	 */
	int (*launch)(struct sandbox **ret, struct door **ret_door, const struct spawn_spec *spec,
		      struct keeper *k, int *ret_status, struct err *err);
	/*
	 * In the keeper, later: starts a program in the same sandbox, under the same rules. Neither
	 * the agent nor its children can signal, trace or inspect it. Returns its pid, also that of
	 * its process group, or a negative errno. NULL: the backend cannot.
	 */
	int (*enter)(struct sandbox *sb, const struct beside_spec *spec, struct err *err);
	/* Signals the agent's process group; SIGKILL ends everything inside. Mandatory. */
	void (*signal)(struct sandbox *sb, int sig);
	/* Kills and reaps all processes, removes the cgroups and frees sb. Mandatory. */
	void (*stop)(struct sandbox *sb);
	/* In a child of cordon: leaves it only reads of files and writes to descriptors that it
	 * has. May be NULL. */
	int (*confine_reader)(struct err *err);
	/* In cordon, while no session of the folder runs: removes what the backend keeps for the
	 * folder. Returns -ENOENT: there is nothing; -EBUSY: in use. NULL: the backend keeps
	 * nothing. */
	int (*forget)(const char *state_dir, const char *folder, struct err *err);
};

extern const struct backend
	*const backends[]; /* best first, NULL-terminated (backends/registry.c) */
/* Returns the backend of that name, or NULL; then err lists the names. */
const struct backend *backend_find(const char *name, struct err *err);
