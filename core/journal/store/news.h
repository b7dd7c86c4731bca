/* news - messages for the user that operations and commits leave behind. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct journal;

/* Adds a message to journal_news(). It must be one line; raw bytes in it must be escaped. */
void journal_say(struct journal *j, const char *fmt, ...) PRINTF_LIKE(2, 3);
