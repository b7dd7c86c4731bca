/* door - the interface by which a backend passes requests to the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/policy/answer.h"
#include "core/policy/policy.h"

/*
 * The system-call door (backends/linux/door/door.c), the read gate or a guest's files. The keeper
 * polls fd and calls serve(); the door turns each request into one call of
 * core/keeper/folders/folder.h and answers it. Requests that wait for the user are parked by the
 * folder
 * (-FOLDER_HELD) and finished through retry(). Every function runs in the keeper's one thread
 * and never blocks.
 */
struct config;
struct door;
struct keeper;

/* The end of a parked request. */
enum door_verdict {
	VERDICT_DENY,  /* EACCES */
	VERDICT_ALLOW, /* the user allowed this very request: perform it */
	VERDICT_RETRY, /* the wait is over: judge it again like a new request */
	VERDICT_STOP,  /* EPERM: its step was refused */
};

/* An inode, as stat(2) numbers it. */
struct inode_id {
	uint64_t dev, ino;
};

/* The arguments of policy_answer() or policy_revoke(). */
struct ruled {
	uint64_t id;
	enum rule_kind kind;
	const char *path;
	const struct answer *answer; /* NULL: revoked */
};

struct door_ops {
	/* Serves one request, if poll(2) has just reported one in `events` of fd. Returns 0, or
	 * -EPIPE when no process is left inside. May be NULL if fd is -1. */
	int (*serve)(struct door *d, short events);
	/* The message for the user if serve() returns -EPIPE while the agent runs. May be NULL. */
	const char *lost;
	/* Ends the wait of request `id`, which may have died in the meantime. */
	void (*answered)(struct door *d, uint64_t id, enum door_verdict verdict);
	/* Fails every parked request with EACCES (the session is being frozen or ended). */
	void (*drop_all)(struct door *d);
	/* Called at the time that this or another door gave to keeper_wake_at(). May be NULL. */
	void (*tick)(struct door *d);
	/* Called when the policy has a new rule from an answer, or (r->answer is NULL) has lost the
	 * rule with this id, before any caller or cordon hears of it. May be NULL. */
	void (*ruled)(struct door *d, const struct ruled *r);
	/* Called when the policy has the rules of this configuration, before the user is told.
	 * Returns false if a file that the rules forbid stays visible. May be NULL. */
	bool (*reruled)(struct door *d, const struct config *c);
	/* Called when the user has allowed to read in dir, within the limits of the answer, or has
	 * revoked that (a->allow is false). The waiting calls have been answered. May be NULL. */
	void (*granted)(struct door *d, enum rule_kind kind, const char *dir,
			const struct answer *a);
	/* Hides a file that a program of the host has made and the agent may not read: soon every
	 * open of it fails. May be NULL. */
	void (*cover)(struct door *d, const char *path);
	/* Mounts the folder's own directory at the path of a tool (tool_dirs.h). Returns 0, -EEXIST
	 * if it is mounted, or negative errno. May be NULL. */
	int (*show_tool_dir)(struct door *d, const char *path);
	/* Called before these inodes outside the working folders change, or the entries of
	 * directories among them; moved: a directory is renamed. When it returns, the door serves
	 * no attribute of them from a cache. May be NULL. */
	void (*changing)(struct door *d, const struct inode_id *list, size_t n, bool moved);
	/* Called after an undo, a redo or a rollback of a step has changed files of working
	 * folders, unknown to the processes inside. May be NULL. */
	void (*rolled_back)(struct door *d, int64_t step);
	/* Closes the connection that flow_tell() reported by this id. May be NULL. */
	void (*end_flow)(struct door *d, uint64_t id);
	/* Shows a port of the loopback of the sandbox on that of the host; port_tell() follows. May
	 * be NULL. */
	void (*publish)(struct door *d, uint16_t port, uint16_t host_port, const char *by);
	void (*close)(struct door *d);
};

struct door {
	const struct door_ops *ops;
	int fd; /* readable when a request waits; -1 once closed */
};
