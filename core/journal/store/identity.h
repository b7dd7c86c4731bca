/* identity - which folder a store belongs to, and which version wrote it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/err.h"

struct journal;

/* The file "version" is of this program and folder; made where there is none yet. -EPROTO: it is
 * another's. -ENOENT: there is no store, and it is only read. */
int store_check_version(struct journal *j, struct err *err) MUST_USE;
/* The file "folder" is of this very directory; made where there is none yet. -EPROTO. */
int store_check_folder(struct journal *j, struct err *err) MUST_USE;
/* A store inside the folder was made here, and did not come with a clone. 0 or -EPROTO. */
int store_check_origin(struct journal *j, struct err *err) MUST_USE;
