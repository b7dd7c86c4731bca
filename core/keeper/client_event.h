/* client_event - a decoded frame from the keeper. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/journal/journal.h"
#include "core/keeper/approvals/guard_report.h"
#include "core/keeper/flows.h"
#include "core/keeper/wire.h"
#include "core/policy/answer.h"

struct client_event {
	int64_t step, pid, parent;
	uint64_t id;   /* ask or request */
	uint64_t rule; /* WIRE_GIVEN, WIRE_GIVEN_OVER, WIRE_LEFT_OPEN */
	enum rule_kind rule_kind;
	uint8_t flags;			 /* ASK_* */
	enum note_how note;		 /* WIRE_NOTE */
	bool unasked, expected, crowded; /* WIRE_DENY */
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
	bool begins;		       /* WIRE_TURN_BEGAN, WIRE_AGENT_ASKS, WIRE_AGENT_RESTS */
	bool kept, elsewhere, granted; /* struct step_info */
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

/* Decodes a frame and calls on() with it. Returns 0, or -EBADMSG: on() was not called. */
int client_decode(struct wire_in *in, client_on_event on, void *data);
