/* notes - messages of one size between the keeper and its network processes. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "core/base/util.h"

/* Takes one note from a seqpacket socket, without waiting. Returns 1: it is in *note; 0: there is
 * none; -EPIPE: the other side has closed, or sent a malformed note. */
int notes_take(int sock, void *note, size_t size) MUST_USE;
