/* probe_priv - the trials that need a second process under a filter. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

/* 0, or a negative errno; found gets what happened in words. */
int probe_notify(char *found, size_t size); /* a trapped call is answered with a descriptor */
int probe_getfd(char *found, size_t size);  /* and one of its caller's is duplicated */
int probe_wait_killable(char *found, size_t size); /* and a signal does not interrupt it */
