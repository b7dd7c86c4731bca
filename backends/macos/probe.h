/* probe - what a Mac can give, one line each. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "backends/macos/os.h"
#include "core/session/backend.h"

#define MAC_BACKEND_NAME "seatbelt"
#define MAC_BACKEND_SUMMARY                                                                        \
	"a Seatbelt profile; hosts are asked about; files and undo need Endpoint Security"

/*
 * The lines of `cordon doctor`. A line that is needed and not ok is an error: the backend is not
 * available. One that is not ok and not needed is a warning, or something that no Mac has. Returns
 * the BACKEND_* bits; err is set when the backend is not available.
 */
uint32_t mac_probe(const struct mac_os *os, const char *sandbox_exec, struct probe_report *report,
		   struct err *err);

/* "14.5" as 1405; 0: it is no version. */
unsigned mac_version(const char *text);
#define MAC_VERSION_OLDEST 1300 /* what the profiles are written for */
#define MAC_VERSION_NEWEST 1599
