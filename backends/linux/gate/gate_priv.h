/* gate_priv - messages between the processes of the read gate. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <limits.h>
#include <stdatomic.h>

#include "backends/linux/gate/gate.h"
#include "backends/linux/native_priv.h"
#include "core/config/config.h"

/* ---- server and keeper: one message on a SOCK_SEQPACKET pair --------------------------------- */

enum gate_say {
	GATE_ASK,     /* server: may tid open path? */
	GATE_CANCEL,  /* server: the caller of request id was killed or interrupted */
	GATE_COUNT,   /* server: it has counted opens in the page */
	GATE_LOOKED,  /* server: tid has looked up path, which is hidden */
	GATE_ANSWER,  /* keeper: result is 0 or a negative errno */
	GATE_ARM,     /* keeper: it answers from now on; an open before this note gets EACCES */
	GATE_GIVEN,   /* keeper: a user's answer is the rule of this id: kind, answer, path */
	GATE_REVOKED, /* keeper: the rule of this id is removed */
	GATE_RULE,    /* keeper: a line of new settings: rule, and in path its strings */
	GATE_RERULED, /* keeper: the last GATE_RULE of the new settings has been sent */
	/* keeper: drop all cached attributes; from now on these inodes change. The server answers
	 * in the page. */
	GATE_CHANGES,
};

struct gate_note {
	uint64_t id;
	int32_t what; /* enum gate_say */
	int32_t tid;  /* as the host counts */
	int32_t result;
	bool exec, dir, special, withheld;
	uint32_t n_inodes;
	struct inode_id inodes[4];
	enum rule_kind kind;
	struct answer answer;
	struct config_rule rule;
	char path[PATH_MAX]; /* sent up to its NUL, or as gate_pack() says */
};
#define GATE_NOTE_HEAD offsetof(struct gate_note, path)

/*
 * Memory that keeper and server share. The server has the keeper's rules of the moment of its fork,
 * and a note for each change. It allows an open by these rules itself only if it has received as
 * many changes as the keeper has counted here; else it asks. The keeper counts a change before it
 * reports the change to anyone, so a rule that is reported is in force.
 */
struct gate_page {
	_Atomic uint64_t changes; /* of the keeper's rules */
	_Atomic uint64_t let_in;  /* opens that the server has let through by itself */
	_Atomic uint32_t unsure;  /* GATE_CHANGES notes that the server has handled: a futex */
};

/* ---- gate_server.c, gate_held.c: the process ---- */
struct gate_server {
	const struct plan *plan;
	const struct policy *policy; /* the process's own copy, from the fork */
	const int *fuse;	     /* one device for each gated tree */
	struct gate_page *page;
	int sock;
};
NORETURN void gate_server_run(const struct gate_server *s);

/* ---- gate_filter.c: the last part of the server's confinement; needs no_new_privs ---- */
int gate_filter(struct err *err) MUST_USE;

/* ---- mounter.c: the process ---- */
struct mounter {
	const struct plan *plan;
	int user_ns;
	int sock;
};
NORETURN void mounter_run(const struct mounter *m);

/* Keeper to mounter. The mounter answers a note that has a number by one of the same number, whose
 * `on` says whether the directory is shown. */
struct bind_note {
	uint32_t number;     /* 0: needs no answer */
	bool on;	     /* show the directory, which the user has granted; false: unmount it */
	bool tool;	     /* show a directory of a tool (tool_dirs.h) */
	bool cover;	     /* cover the file */
	char path[PATH_MAX]; /* sent up to its NUL */
};
#define BIND_NOTE_HEAD offsetof(struct bind_note, path)

/* ---- gate.c ---- */
/* Closes every descriptor but these, and opens /dev/null as 0 to 2. */
void gate_keep_only(const int *fds, size_t n);

/* ---- gate_door.c ---- */
struct gate_door_spec {
	int sock;		/* taken */
	struct gate_page *page; /* taken */
	int mounter;		/* borrowed until the door is closed, so is the plan */
	const struct plan *plan;
};
struct door *gate_door_new(struct keeper *k, const struct gate_door_spec *spec) MUST_USE;
struct gate_page *gate_page_new(struct err *err); /* NULL: err says why */
void gate_page_free(struct gate_page *page);	  /* NULL is a no-op */
