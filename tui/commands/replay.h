/* replay - what the files of `cordon replay` share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* How a recording becomes a film. */
struct film_options {
	double speed;	 /* > 0; 1: as it was */
	int64_t idle_us; /* pauses are cut to this; 0: they are as long as they were */
};

/* On standard output; negative errno of a write. */
int replay_print_events(struct recording *rec) MUST_USE;
int replay_export_txt(struct recording *rec) MUST_USE;
int replay_export_html(struct recording *rec) MUST_USE;
/* The same, and -EFBIG: it is too large for a GIF; what there is of the file is whole. err is set.
 */
int replay_export_gif(struct recording *rec, const struct film_options *opt, struct err *err)
	MUST_USE;
