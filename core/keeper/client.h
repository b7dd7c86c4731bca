/* client - cordon's side of the keeper's socket: requests out, decoded events in. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/approvals/safeguard.h"
#include "core/keeper/flows.h"
#include "core/keeper/wire.h"
#include "core/policy/answer.h"

/*
 * Life:    client_new(fd) -> client_read() whenever fd is readable -> client_free() closes fd.
 * Threads: main loop. Never blocks: what cannot be written yet waits (client_wants_write()).
 * Strings in events are raw agent bytes, NUL-terminated, valid during the callback.
 */
struct client;

struct client_event {
	int64_t step, pid, parent;
	uint64_t id;   /* ask or request */
	uint64_t rule; /* WIRE_GIVEN, WIRE_GIVEN_OVER, WIRE_LEFT_OPEN */
	enum rule_kind rule_kind;
	uint8_t flags;	    /* ASK_* */
	enum note_how note; /* WIRE_NOTE */
	bool unasked;	    /* WIRE_DENY */
	uint32_t timeout_s;
	enum ask_end end;
	uint64_t tallies[TALLIES]; /* in the order of WIRE_TALLIES */
	int result;		   /* 0 or negative errno */
	uint64_t done, total;	   /* WIRE_STEP_END: paths, in both; WIRE_FLOW: sent, received */
	enum flow_state flow;
	enum port_state port_state; /* WIRE_PORT, with port and host_port */
	uint16_t port, host_port;
	int64_t wall_us;
	uint32_t status; /* exit status, wait status */
	enum step_kind kind;
	bool kept, elsewhere; /* elsewhere: it changed granted places alone */
	const char *op, *path, *path2, *program, *command, *reason, *via, *label;
	const char *bundle, *places;	 /* WIRE_ASK; "": none */
	unsigned up;			 /* WIRE_ASK */
	size_t command_len;		 /* of command; WIRE_EXEC: NUL-separated argv */
	const struct guard_report *held; /* WIRE_HELD */
	enum loss loss;			 /* WIRE_TAKEN_BACK, with total: its limit; so below */
	enum guard_why why;
	const struct undo_plan *plan; /* WIRE_PLAN; entries may be cut, the numbers are not */
};

typedef void (*client_on_event)(void *data, enum wire_type type, const struct client_event *ev);

struct client *client_new(int fd, client_on_event on, void *data);
void client_free(struct client *c); /* NULL is a no-op */
int client_fd(const struct client *c);
/* Read and dispatch what is there. 0: more may come; -EPIPE: the keeper is gone; -EBADMSG. */
int client_read(struct client *c);
bool client_wants_write(const struct client *c);
void client_write(struct client *c); /* a keeper that is gone shows in client_read() */

void client_answer(struct client *c, uint64_t ask, const struct answer *a);
void client_revoke(struct client *c, uint64_t rule);
void client_end_flow(struct client *c, uint64_t flow);
void client_forbid(struct client *c, uint64_t ask, const char *target);
void client_publish(struct client *c, uint16_t port, uint16_t host_port);
/* Returns the request id, as those below do. */
uint64_t client_plan(struct client *c, enum undo_kind kind, size_t n, unsigned flags);
/* newest: the first step of the plan that was shown (0: any); -ESTALE if the history has grown
 * since. seal: its own (0: any); -ESTALE if something else would be merged now. */
uint64_t client_undo(struct client *c, enum undo_kind kind, size_t n, unsigned flags,
		     int64_t newest, uint64_t seal);
/* 0 when the paths do not fit one frame (1 MiB). _plan: only what it would change (WIRE_PLAN). */
uint64_t client_restore(struct client *c, int64_t step, const char *const *paths, unsigned flags);
uint64_t client_restore_plan(struct client *c, int64_t step, const char *const *paths,
			     unsigned flags);
void client_cancel(struct client *c, uint64_t request);
void client_limits(struct client *c, const struct limits *l); /* from the next change on */
void client_group(struct client *c, const char *name);	      /* NULL: it ends */
void client_stop(struct client *c);
void client_turn(struct client *c);
void client_signal(struct client *c, int sig);
void client_freeze(struct client *c);
void client_shutdown(struct client *c);
