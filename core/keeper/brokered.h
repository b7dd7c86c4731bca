/* brokered - judges what the broker does with the human's keys (core/broker/broker.h). */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct keeper;

/* The broker's uses are a door of the keeper's, which closes it: its processes are not known, so
 * all of them are the agent's. Takes the socket over. */
int brokered_start(struct keeper *k, int sock, struct err *err) MUST_USE;
/* WIRE_SECRET_KEPT: cordon shows this secret in no recording. */
void brokered_kept(struct keeper *k, uint64_t id);
