/* approver - runs the commands of approval.command and approval.notify. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/session.h"

struct config;

/*
 * A helper process runs both commands, outside the sandbox, as the user: cordon itself must not
 * fork once its loop runs. Each gets the request as one line of JSON (event.fs_request of
 * protocol.json) on its standard input, preceded by session, approve_id (the argument of `cordon
 * approve`) and folder. Exit status 0 allows it once, any other denies it; a
 * JSON object on standard output may say more: {"allow":false}, or scope, extent and until as in
 * cmd.approve, or {"ask":true}: the user decides; headless, that denies unless a console is
 * attached, and when the last one leaves. Other output, an impossible answer and a late one deny,
 * too.
 *
 * Life:    approver_open() before the session and any thread -> approver_attach() ->
 *          approver_changed() whenever the model has changed, approver_ready() when the descriptor
 *          is readable -> approver_close().
 * Bounds:  APPROVER_JOBS commands at a time, APPROVER_TEXT bytes of output from each.
 */
#define APPROVER_JOBS 4
#define APPROVER_TEXT 4096

struct approver;

/* Starts the helper. *ret is NULL if no such command is set; every function accepts that. */
int approver_open(struct approver **ret, const struct config *c, struct err *err) MUST_USE;
bool approver_answers(const struct approver *a); /* whether approval.command is set */
void approver_attach(struct approver *a, struct session *s);
int approver_fd(const struct approver *a); /* -1: none */
void approver_changed(struct approver *a);
void approver_ready(struct approver *a);
void approver_close(struct approver *a); /* kills running commands */
