/* export - a recording as an asciicast of version 2 or 3. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* Called with pieces of the text; negative ends the export. */
typedef int (*export_sink)(void *data, const char *bytes, size_t len);

/* Exports; version is 2 or 3. Includes cordon's own events, which players skip. */
int export_cast(struct recording *r, int version, export_sink sink, void *data) MUST_USE;
