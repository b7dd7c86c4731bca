/* order - the message in which the keeper tells the helper its task and its user. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/launch/human.h"
#include "core/session/backend.h"

/*
 * Goes over a pipe that only keeper and helper have, as neither command lines nor environments are
 * secret on a Mac. Both programs must be of one build: an order of another version is refused, for
 * example after an update of cordon while a session runs.
 *
 * Life: order_send() copies. order_receive() -> order_done().
 */
struct order {
	struct human human;	    /* the helper's user; the name is not sent */
	struct spawn_limits limits; /* this and the next members are for an agent alone */
	int32_t nice;
	bool tty;	 /* the standard input becomes the controlling terminal */
	bool by_program; /* `path` is sandbox-exec, which enters the profile */
	char *cwd, *path;
	char *profile; /* SBPL */
	char **params; /* of it: name, value, ..., NULL */
	char **argv, **env;
	char *word; /* proxy: its secret; warden: the session */
};

/* Sends the order; blocks until the helper has read it. -EPIPE: the helper has ended. */
int order_send(int fd, const struct order *o) MUST_USE;
/* Receives an order. -EPIPE: the keeper has ended before it sent one; -EPROTO: another version. */
int order_receive(int fd, struct order *ret) MUST_USE;
void order_done(struct order *o);
