/* plan - the list of operations that build the sandbox's file tree, made before the first mount. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/session/backend.h"

/*
 * The keeper makes the plan (it examines the host's tree and uses the heap). Process B performs it
 * in order, with system calls alone. Paths are absolute as seen inside. B's current directory is
 * the sandbox's root, so it uses path + 1.
 *
 * The tree: a tmpfs is the root; the host's top-level directories are bound onto it. A directory
 * with hidden entries is covered by a tmpfs with one bind for each other entry. All mounts so far
 * are made read-only in one call, and private directories are mounted on top.
 *
 * Dynamic mode with FUSE: each gated tree is covered by the gate's mount, which shows names and
 * attributes; granted trees beneath it, and working folders, are bound onto that.
 */

/* How reads that no rule grants reach the keeper as questions; chosen once. */
enum read_door {
	READ_NATIVE, /* static mode: no questions */
	READ_FUSE,
	READ_TRAP, /* every open is trapped; the mounts are those of static mode */
};

enum plan_what {
	PLAN_DIR,  /* makes a directory */
	PLAN_LINK, /* makes a symbolic link; source is its text */
	/* Binds source onto path, with its submounts. Makes path first if make is set. */
	PLAN_BIND,
	PLAN_TMPFS,   /* mounts a tmpfs; source has its options */
	PLAN_SEAL,    /* makes all so far read-only, without devices and set-user-id */
	PLAN_BIND_RO, /* as PLAN_BIND, sealed by itself; optional */
	PLAN_BIND_RW, /* binds source onto path, which is made first; writable, no devices */
	PLAN_DEVICE,  /* binds a device node, writable */
	PLAN_PROC,    /* source has the options */
	PLAN_DEVPTS,  /* source has the options */
	PLAN_OVERLAY, /* source has the options */
	/* Covers path by an empty, unreadable file or directory, and that by source, if
	 * possible. */
	PLAN_BLANK,
	PLAN_MKDIRS, /* mkdir -p */
	PLAN_GATE,   /* attaches the next of the gates' mounts */
};

struct plan_op {
	enum plan_what what;
	bool dir;      /* the object is a directory */
	bool make;     /* PLAN_BIND*: the mount point is made first */
	bool granted;  /* PLAN_BIND over a gate; the mounter may remove it later */
	bool optional; /* may fail if the host lacks the path */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	char *path;
	char *source;
	char *instead; /* PLAN_OVERLAY: bound if the overlay cannot be mounted; or NULL */
};

/* A path that the self-check examines. */
struct plan_probe {
	char *path;
	bool blank; /* the content must not show; else the path must not exist */
	bool white; /* blank by a whiteout, not by a mount */
};

struct plan_stand_in {
	const char *path; /* borrowed from the probes */
	bool dir;
};

struct plan {
	enum read_door read;
	struct plan_op *ops;
	size_t n, cap;
	char **gated; /* trees; none with READ_NATIVE */
	size_t n_gated, cap_gated;
	/* Trees beneath gated ones, with working folders and the like; sorted, none beneath
	 * another. */
	char **granted;
	size_t n_granted, cap_granted;
	char **hidden; /* resolved, sorted; beneath a gate the gate hides them */
	size_t n_hidden;
	/* READ_FUSE: hidden files and directories that the gate covers, to report each open. */
	struct plan_stand_in *stand_ins;
	size_t n_stand_ins;
	struct plan_probe *probes; /* hidden paths */
	size_t n_probes, cap_probes;
	char **sealed; /* trees that must not be writable */
	size_t n_sealed, cap_sealed;
	char **writable; /* private directories: the agent's own Landlock rules */
	size_t n_writable, cap_writable;
	const char *const *shut; /* as in struct floor; static */
	char *own;    /* without mounts: the sandbox's directory for temporary files; else NULL */
	int own_lock; /* owned descriptor of `own`, locked while a session uses it; or -1 */
	/* READ_TRAP: trees that the agent's Landlock domain lets be read and run. */
	struct trees trees;
	/* Home directories of tools. */
	const struct absent_home *absent; /* directories that the agent may make; borrowed */
	/* Directory of the empty directories that the gate shows there; borrowed. */
	const char *home_points;
	int homes;	    /* O_PATH: parent of the tools' private directories; 0: none */
	char **absent_dirs; /* their names */
	size_t n_absent, cap_absent;
};

#define AUTO_PLAN CLEANUP(plan_done)

/* Returns whether the path is beneath a gated tree and not granted. */
bool plan_is_gated(const struct plan *p, const char *path);
/* Returns whether the path is granted or an ancestor of a granted one, and so must show. */
bool plan_leads_to_grant(const struct plan *p, const char *path);
/* Returns whether the path or an ancestor of it is hidden. */
bool plan_is_hidden(const struct plan *p, const char *path);
/* The gate has at most this many mounts: one for each gated tree, and one for stand-ins of hidden
 * paths if there is room. A message with two descriptors of each holds 253 descriptors at most
 * (unix(7), SCM_RIGHTS). */
#define GATES_MAX 120
#define STAND_INS "/run/.stand-ins" /* mount point of the stand-ins while the tree is built */
static inline size_t plan_gate_mounts(const struct plan *p)
{
	return p->n_gated + (p->n_stand_ins > 0);
}

/* Fills a plan that is zeroed except `read`. The caller calls plan_done(), also after a failure. */
int plan_make(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
void plan_done(struct plan *p);
