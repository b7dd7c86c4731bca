/* mcp_priv - types and functions shared by the files of the MCP server. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/api/mcp/mcp.h"
#include "core/api/stdio/serve_priv.h"

#define PARKED_MAX 64 /* calls of a connection that wait until the client calls again */

enum rpc_code {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NOT_FOUND = -32002, /* legacy: there is no such resource */
	RPC_VERSION = -32022,
};

struct batch { /* an array of requests, of revision 2025-03-26 */
	cJSON *answers;
	size_t open; /* unanswered requests, plus one until the whole array is read */
};

struct mcp_conn {
	struct mcp_conn *next;
	struct mcp_server *server;
	struct channel *channel;
	bool trusted;	    /* it needs no token, or has sent it */
	const char *legacy; /* the negotiated revision; NULL: no initialize yet */
	bool elicits;	    /* legacy: the client can ask its user */
	struct mcp_call *calls;
	size_t n_calls;
	uint64_t asked; /* number of our newest request */
	bool input_over, closed;
};

struct mcp_call {
	struct mcp_call *next;
	struct mcp_conn *conn;
	cJSON *id; /* NULL: parked, the client will call again */
	bool modern, elicits, cancelled;
	struct batch *batch;
	const cJSON *tool;
	cJSON *arguments;
	struct request *request; /* NULL: answered */
	cJSON *progress;	 /* token */
	double told;		 /* progress reported so far */
	int64_t told_us;
	cJSON *notes;  /* refusals during the call */
	uint64_t ask;  /* number in the model of the question to the client; 0: none */
	uint64_t by;   /* number of our request, or of the state that the client returns */
	cJSON *answer; /* the answer of a parked call that is done */
};

struct mcp_server {
	struct serve *serve;
	struct mcp_conn *conns;
	size_t n_conns;
	bool single;  /* one connection: the program ends with it */
	char key[32]; /* key of the state that clients return */
	uint64_t serial;
	bool placing;
	bool input_over; /* of a program that listens: it ends with its last connection */
	uv_poll_t input;
	bool watches;
	int handles; /* handles that are not closed yet */
	/* the socket */
	int listener;
	char *path, *token_path, token[65];
	uv_poll_t accepts;
	bool listens;
};

/* ---- mcp.c ---- */
void mcp_send(struct mcp_conn *c, struct batch *b, cJSON *message); /* takes message over */
void mcp_error(struct mcp_conn *c, struct batch *b, const cJSON *id, int code, const char *words,
	       cJSON *data);
/* Adds the members that each result of its revision needs. cached: for a list or a resource. */
void mcp_result(struct mcp_conn *c, struct batch *b, const cJSON *id, bool modern, bool cached,
		cJSON *result);
cJSON *mcp_message(const char *method, cJSON *params);

/* ---- mcp_methods.c ---- */
struct rpc { /* one received message */
	struct mcp_conn *conn;
	struct batch *batch;
	const cJSON *id; /* NULL: a notification */
	const char *method;
	const cJSON *params, *meta;
	bool modern;
};
void mcp_serve(struct mcp_conn *c, struct batch *b, const cJSON *message);

/* ---- mcp_tools.c ---- */
void mcp_call_tool(const struct rpc *r);
void mcp_cancel(struct mcp_conn *c, const cJSON *id);
void mcp_call_free(struct mcp_call *call);
void mcp_note(struct mcp_call *call, const char *words);

/* ---- mcp_asks.c ---- */
void mcp_changed(void *server);
/* Takes the client's response to a request of ours. */
void mcp_answered(struct mcp_conn *c, const cJSON *message);
/* Denies the open questions: the client sends nothing more. */
void mcp_give_up(struct mcp_conn *c);
/* Returns the parked call that this request resumes, after giving its answer to the session; NULL:
 * the request does not resume a call. */
struct mcp_call *mcp_resume(const struct rpc *r);
