/* open_store - opens a store: its directory, lock, claim, state and roots. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;
struct journal_spec;
struct store_hooks;

/* Opens the store of spec->folder and takes its lock. Recovers nothing, and applies no limit: see
 * open_recovered.c. On an error the caller closes *ret, too. */
int store_open(struct journal **ret, const struct journal_spec *spec,
	       const struct store_hooks *hooks, struct err *err) MUST_USE;
/* Removes a store that has no history. If j does not have its lock, only removes an empty
 * directory. */
void store_unmake(struct journal *j);
/* Returns whether a session begins: then a history of another folder is put aside. */
bool store_is_session(const struct journal_spec *spec);
