/* beside_door - the door for programs that run beside the agent: passes calls to the agent's
 * door. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"
#include "core/keeper/door.h"

/*
 * Polls the listeners of those programs. The agent's door, which must outlive this one, serves,
 * holds and answers the requests.
 * Life: beside_door_new() -> keeper_add_door(), which owns it -> beside_door_add() for each
 * program. A listener is removed when the last process of its filter has ended.
 */
struct door *beside_door_new(struct door *agents, struct err *err);
/* Takes the listener, also on failure. */
int beside_door_add(struct door *door, int listener) MUST_USE;
