/* es_system - the client of Endpoint Security: messages of the system, answers to it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/endpoint/es_client.h"

/*
 * Life:    es_system_start() -> es_system_stop(). Root, the entitlement and Full Disk Access.
 * Threads: messages come on a queue of the library's. They are taken under a lock, which each
 *          function here takes as well; hooks are called under it and must not call back.
 */
struct es_system;

/* Who is the agent: pid has been forked and not run yet. Negative errno and err: what is missing.
 */
int es_system_start(struct es_system **ret, const struct es_hooks *hooks, bool debug,
		    struct es_id agent, struct err *err) MUST_USE;
void es_system_stop(struct es_system *s); /* NULL is a no-op */
int es_system_answer(struct es_system *s, uint64_t question, bool allow, int64_t lasts_us);
void es_system_failsafe(struct es_system *s, bool on);
void es_system_forget(struct es_system *s);
