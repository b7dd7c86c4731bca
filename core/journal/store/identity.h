/* identity - which folder a store belongs to, and which version wrote it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

/* The files "version" and "folder" are of this program and this very directory; they are made where
 * there are none yet. -EPROTO: they are of another one, unless a session begins: then the history
 * is put aside. -ENOENT: there is no store, and it is only read. */
int store_check(struct journal *j, bool session, struct err *err) MUST_USE;
/* -EBUSY: a session runs in a folder that holds this one, or lies in it. The caller has its own
 * lock: of two that start at once at least one sees the other. */
int store_check_nested(const struct journal *j, struct err *err) MUST_USE;
/* A store inside the folder was made here, and did not come with a clone. 0 or -EPROTO. */
int store_check_origin(struct journal *j, struct err *err) MUST_USE;
