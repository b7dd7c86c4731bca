/* identity - which folder a store belongs to, and which version wrote it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

/* Checks that the store's files "version" and "folder" name this program's version and this
 * directory; creates them if they are missing. -EPROTO: they name others, unless a session begins:
 * then the history is put aside. -ENOENT: there is no store, and the journal is read-only. */
int store_check(struct journal *j, bool session, struct err *err) MUST_USE;
/* Checks that a store inside the folder was created here, and did not come with a clone. Returns 0
 * or -EPROTO. */
int store_check_origin(struct journal *j, struct err *err) MUST_USE;
/* Checks that a commit or an archive has brought no file into a store inside the folder. Returns 0
 * or -EPROTO. Cost: some microseconds for each kept step. */
int store_check_brought(const struct journal *j, struct err *err) MUST_USE;
