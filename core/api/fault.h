/* fault - the errors of all front ends. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct cJSON;

/* The error numbers, which never change: a thousand for each subject. protocol.json, errors,
 * explains them. */
#define FAULTS(X)                                                                                  \
	X(PROTOCOL_MALFORMED, 1001, "protocol.malformed")                                          \
	X(PROTOCOL_TOO_LONG, 1002, "protocol.too-long")                                            \
	X(PROTOCOL_UNKNOWN_OPERATION, 1003, "protocol.unknown-operation")                          \
	X(PROTOCOL_INVALID, 1004, "protocol.invalid")                                              \
	X(PROTOCOL_VERSION, 1005, "protocol.version")                                              \
	X(PROTOCOL_DUPLICATE, 1006, "protocol.duplicate")                                          \
	X(PROTOCOL_BUSY, 1007, "protocol.busy")                                                    \
	X(PROTOCOL_TOKEN, 1008, "protocol.token")                                                  \
	X(SESSION_NONE, 2001, "session.none")                                                      \
	X(SESSION_EXISTS, 2002, "session.exists")                                                  \
	X(SESSION_NOT_STARTED, 2003, "session.not-started")                                        \
	X(SESSION_ENDED, 2004, "session.ended")                                                    \
	X(SESSION_DIRECTORY, 2005, "session.directory")                                            \
	X(SESSION_UNSUPPORTED, 2006, "session.unsupported")                                        \
	X(UNDO_NOTHING, 3001, "undo.nothing")                                                      \
	X(UNDO_CONFLICT, 3002, "undo.conflict")                                                    \
	X(UNDO_BARRIER, 3003, "undo.barrier")                                                      \
	X(UNDO_NO_STEP, 3004, "undo.no-step")                                                      \
	X(UNDO_BUSY, 3005, "undo.busy")                                                            \
	X(UNDO_VERSION, 3006, "undo.version")                                                      \
	X(UNDO_FAILED, 3007, "undo.failed")                                                        \
	X(FS_NOT_FOUND, 4001, "fs.not-found")                                                      \
	X(FS_DENIED, 4002, "fs.denied")                                                            \
	X(FS_KIND, 4003, "fs.kind")                                                                \
	X(FS_EXISTS, 4004, "fs.exists")                                                            \
	X(FS_ENCODING, 4005, "fs.encoding")                                                        \
	X(FS_FAILED, 4006, "fs.failed")                                                            \
	X(APPROVAL_UNKNOWN, 5001, "approval.unknown")                                              \
	X(APPROVAL_IMPOSSIBLE, 5002, "approval.impossible")                                        \
	X(AGENT_BUSY, 6001, "agent.busy")                                                          \
	X(AGENT_NONE, 6002, "agent.none")                                                          \
	X(AGENT_CANCELLED, 6003, "agent.cancelled")                                                \
	X(AGENT_FAILED, 6004, "agent.failed")                                                      \
	X(AGENT_NO_INPUT, 6005, "agent.no-input")                                                  \
	X(REVIEW_NO_POINT, 7001, "review.no-point")                                                \
	X(INTERNAL, 9001, "internal")

enum fault_code {
	FAULT_NONE,
#define X(id, number, name) FAULT_##id = (number),
	FAULTS(X)
#undef X
};

/* The error of one request. Life: zero-initialised on the stack -> fault_done(). */
struct fault {
	enum fault_code code;
	char message[1024]; /* what failed: why: what to do */
	struct cJSON *data; /* owned; NULL: none */
};

const char *fault_name(enum fault_code code);
/* All functions return -1, for `return fault_say(...)`. */
int fault_say(struct fault *f, enum fault_code code, const char *fmt, ...) PRINTF_LIKE(3, 4);
int fault_err(struct fault *f, enum fault_code code, const struct err *err);
/* Sets the fault of a file operation, with the code for the errno. */
int fault_file(struct fault *f, int error, const char *words);
void fault_done(struct fault *f);
