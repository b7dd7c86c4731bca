/* probe - checks which features of this Mac the backend can use, one line each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "core/session/backend.h"

#define MAC_BACKEND_NAME "seatbelt"
#define MAC_BACKEND_SUMMARY                                                                        \
	"a Seatbelt profile; hosts are asked about; files and undo need Endpoint Security"

/*
 * Makes the lines of `cordon doctor`. A needed line that is not ok is an error: the backend cannot
 * be used. A line that is not needed and not ok is a warning, or a feature that no Mac has. helper:
 * its path, or NULL. Returns the BACKEND_* bits; sets err if the backend cannot be used.
 */
uint32_t mac_probe(const struct mac_os *os, const char *helper, const char *sandbox_exec,
		   struct probe_report *report, struct err *err);

/* Returns 1405 for "14.5"; 0: not a version. */
unsigned mac_version(const char *text);
#define MAC_VERSION_OLDEST 1300 /* range that the profiles are written for */
#define MAC_VERSION_NEWEST 1599
