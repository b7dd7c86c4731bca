/* door - what a backend hands to the keeper: a way in for requests. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/keeper/caller.h"
#include "core/policy/answer.h"
#include "core/policy/policy.h"

/*
 * The system-call door (backends/linux/door/door.c), the read gate, later 9P. The keeper polls fd
 * and calls serve(); the door turns each request into one call of core/keeper/folders/folder.h and
 * answers it. What must wait for a human is parked by the folder (enum folder_status) and finished
 * through retry(). Every function runs in the keeper's one thread and never blocks.
 */
struct config;
struct door;
struct keeper;

/* What becomes of a parked request. */
enum door_verdict {
	VERDICT_DENY,  /* EACCES */
	VERDICT_ALLOW, /* the human allowed this very request: perform it */
	VERDICT_RETRY, /* what held it is over: as if it came now, judged anew */
	VERDICT_STOP,  /* EPERM: its step was refused */
};

/* An inode, as stat(2) numbers it. */
struct inode_id {
	uint64_t dev, ino;
};

/* What policy_answer() or policy_revoke() was given. */
struct ruled {
	uint64_t id;
	enum rule_kind kind;
	const char *path;
	const struct answer *answer; /* NULL: revoked */
};

struct door_ops {
	/* Serve one request, if poll(2) has just seen one in `events` of fd. 0, or -EPIPE when
	 * nobody is left inside. */
	int (*serve)(struct door *d, short events);
	/* Request `id` has waited long enough. It may have died in the meantime. */
	void (*answered)(struct door *d, uint64_t id, enum door_verdict verdict);
	/* Fail every parked request with EACCES (the session is being frozen or ended). */
	void (*drop_all)(struct door *d);
	/* A timer that serve() asked for with keeper_wake_at() has come, or another door's. May be
	 * NULL. */
	void (*tick)(struct door *d);
	/* An answer is a rule of the policy from now on, or (a is NULL) the one of this id no more;
	 * nobody has been told yet. May be NULL. */
	void (*ruled)(struct door *d, const struct ruled *r);
	/* The rules of settings have changed: the policy has those of this configuration. Nobody
	 * has been told yet. false: something that they forbid stays shown. May be NULL. */
	bool (*reruled)(struct door *d, const struct config *c);
	/* A human has allowed reading in dir, as far as the answer says, or has taken that back
	 * (a->allow is false); those who waited have heard. May be NULL. */
	void (*granted)(struct door *d, enum rule_kind kind, const char *dir,
			const struct answer *a);
	/* These inodes outside the working folders are about to change, and the entries of those
	 * that are directories; moved: a directory gets another name. Once it returns, the door
	 * shows no attribute that it remembers. May be NULL. */
	void (*changing)(struct door *d, const struct inode_id *list, size_t n, bool moved);
	/* Files of working folders are not as those inside left them: an undo, a redo, or a step
	 * that was taken back. May be NULL. */
	void (*rolled_back)(struct door *d, int64_t step);
	/* Close the connection that flow_tell() told of by this id. May be NULL. */
	void (*end_flow)(struct door *d, uint64_t id);
	/* Show a port of the sandbox's loopback on the host's; port_tell() follows. May be NULL. */
	void (*publish)(struct door *d, uint16_t port, uint16_t host_port);
	void (*close)(struct door *d);
};

struct door {
	const struct door_ops *ops;
	int fd; /* readable when a request waits; -1 once closed */
};
