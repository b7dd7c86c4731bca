/* native - the Linux backend: namespaces, Landlock, and the keeper behind a system-call door. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/session/backend.h"

extern const struct backend backend_native;

/* probe.c: tests what this host can do. */
uint32_t native_probe(struct probe_report *report, struct err *err);
