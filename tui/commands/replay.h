/* replay - what the files of `cordon replay` share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* On standard output; negative errno of a write. */
int replay_print_events(struct recording *rec) MUST_USE;
int replay_export_txt(struct recording *rec) MUST_USE;
int replay_export_html(struct recording *rec) MUST_USE;
