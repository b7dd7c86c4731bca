/* plan - what the sandbox's file tree is made of, worked out before anything is mounted. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/linux/sandbox/landlock_trees.h"
#include "core/session/backend.h"

/*
 * The keeper works the plan out (it looks at the host's tree and uses the heap); process B carries
 * it out in order with system calls alone. Paths are absolute as seen inside; while B works its
 * current directory is the sandbox's root, so it uses path + 1.
 *
 * The tree: a tmpfs is the root; the host's top-level directories are bound onto it. A directory
 * with hidden children is covered by a directory on a tmpfs that has one bind per entry that stays.
 * Then everything so far is made read-only in one call, and what is private is mounted on top.
 *
 * Dynamic mode with FUSE: each gated tree is covered by the gate's mount, which shows names and
 * attributes; what is granted beneath it, and working folders, are bound onto that.
 */

/* How reads of what no rule grants come to be asked for; chosen once. */
enum read_door {
	READ_NATIVE, /* static mode: they are not */
	READ_FUSE,
	READ_TRAP, /* every open is trapped; the mounts are those of static mode */
};

enum plan_what {
	PLAN_DIR,  /* mkdir */
	PLAN_LINK, /* symlink, source is its text */
	PLAN_BIND, /* source bound onto path, which is made first if make is set; with what is below
		    */
	PLAN_TMPFS,   /* a tmpfs on path; source holds its options */
	PLAN_SEAL,    /* all so far: read-only, no devices, no set-user-id */
	PLAN_BIND_RO, /* as PLAN_BIND, sealed by itself; optional */
	PLAN_BIND_RW, /* source bound onto path, which is made first; writable; no devices in it */
	PLAN_DEVICE,  /* a device node bound, writable */
	PLAN_PROC,    /* source holds the options */
	PLAN_DEVPTS,  /* source holds the options */
	PLAN_OVERLAY, /* source holds the options */
	PLAN_BLANK,   /* an empty, unreadable file or directory over path; over that, what source
		       * names, if it can be bound */
	PLAN_MKDIRS,  /* mkdir -p; no error when it exists */
	PLAN_GATE,    /* the next of the gates' mounts */
};

struct plan_op {
	enum plan_what what;
	bool dir;      /* the object is a directory */
	bool make;     /* PLAN_BIND*: the mount point is made first */
	bool granted;  /* PLAN_BIND over a gate, which may stand there again */
	bool optional; /* may fail where the host has no such thing */
	mode_t mode;
	uid_t uid;
	gid_t gid;
	char *path;
	char *source;
};

/* A path that the self-check looks at. */
struct plan_probe {
	char *path;
	bool blank; /* the name may show, the content not; else it must not exist */
};

struct plan_stand_in {
	const char *path; /* borrowed from the probes */
	bool dir;
};

struct plan {
	enum read_door read;
	struct plan_op *ops;
	size_t n, cap;
	char **gated; /* trees; but READ_NATIVE */
	size_t n_gated, cap_gated;
	char **granted; /* beneath them, working folders and the like too; sorted, none beneath
			 * another */
	size_t n_granted, cap_granted;
	char **hidden; /* resolved, sorted; beneath a gate it is the gate that hides them */
	size_t n_hidden;
	struct plan_stand_in *stand_ins; /* READ_FUSE: hidden files and directories that the gate
					  * covers, so that it hears of each open */
	size_t n_stand_ins;
	struct plan_probe *probes; /* hidden paths */
	size_t n_probes, cap_probes;
	char **sealed; /* trees that must refuse a write */
	size_t n_sealed, cap_sealed;
	char **writable; /* private directories: the agent's own Landlock rules */
	size_t n_writable, cap_writable;
	const char *const *shut; /* see struct floor; static */
	char *own;    /* without mounts: the sandbox's directory for temporary files; else NULL */
	int own_lock; /* with it: owned, the directory, locked while somebody needs it; or -1 */
	struct trees trees; /* READ_TRAP: what the agent's Landlock domain lets be read and run */
};

#define AUTO_PLAN CLEANUP(plan_done)

/* Beneath a gated tree and not granted. */
bool plan_is_gated(const struct plan *p, const char *path);
/* Something granted lies there or beneath: the way to it must show. */
bool plan_leads_to_grant(const struct plan *p, const char *path);
/* Itself or what it lies in is hidden. */
bool plan_is_hidden(const struct plan *p, const char *path);
/* At most this many gated trees, and one mount more for what stands in for hidden paths. */
#define GATES_MAX 64
#define STAND_INS "/run/.stand-ins" /* where the latter is while the tree is built */
static inline size_t plan_gate_mounts(const struct plan *p)
{
	return p->n_gated + (p->n_stand_ins > 0);
}

/* Zero-initialise first, but for `read`. On failure the plan is to be given to plan_done() all the
 * same. */
int plan_make(struct plan *p, const struct spawn_spec *spec, struct err *err) MUST_USE;
void plan_done(struct plan *p);
