/* events - reports events inside to cordon, for the audit log and the activity list. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include "core/keeper/caller.h"

struct keeper;

/* Reports a change to cordon. keeper_deny() and the like: service.h. */
void event_touch(struct keeper *k, const struct caller *c, const char *path, const char *path2);
/* Reports the use of one of the user's keys at this host, which changes no file. */
void event_used(struct keeper *k, const struct caller *c, const char *host, const char *key);
void events_tallies(struct keeper *k, bool now); /* reports to cordon, once a second or now */
void events_done(struct keeper *k);
