/* borrow_mode - removes the mode bits that a dead process had borrowed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct journal;

/* Removes mode bits that a dead process had borrowed. Call it before anything in the folder is
 * read. */
int borrow_settle(struct journal *j) MUST_USE;
