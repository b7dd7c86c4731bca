/* beside_door - the calls of programs that run beside the agent: a door in front of its door. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/keeper/door.h"

/*
 * Polls the listeners of those programs; the requests are served, held and answered by the agent's
 * door, which must outlive this one.
 * Life: beside_door_new() -> keeper_add_door(), which owns it -> beside_door_add() for each
 * program; a listener goes when the last process of its filter has ended.
 */
struct door *beside_door_new(struct door *agents, struct err *err);
/* Takes the listener over, also on failure. */
int beside_door_add(struct door *door, int listener) MUST_USE;
