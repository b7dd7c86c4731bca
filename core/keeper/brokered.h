/* brokered - judges uses of the user's keys by the broker (core/broker/broker.h). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;

/* Adds a door for uses of the keys, which the keeper closes. Their processes are unknown, so all
 * uses count as the agent's. Takes the socket. */
int brokered_start(struct keeper *k, int sock, struct err *err) MUST_USE;
/* WIRE_SECRET_KEPT: cordon will show this secret in no recording. */
void brokered_kept(struct keeper *k, uint64_t id);
