/* replay - functions that the files of `cordon replay` share. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/record/recording.h"

/* Speed and pauses of an exported film. */
struct film_options {
	double speed;	 /* > 0; 1: as recorded */
	int64_t idle_us; /* longest pause; 0: as recorded */
};

/* Prints the recorded sessions, newest first, a row or a JSON object each. */
void replay_list(const char *state_dir, bool json);

/* Print on standard output. Return 0 or the negative errno of a write. */
int replay_print_events(struct recording *rec) MUST_USE;
int replay_export_txt(struct recording *rec) MUST_USE;
struct replay_diffs;
/* diffs: of its steps; NULL: the page has none. */
int replay_export_html(struct recording *rec, struct replay_diffs *diffs) MUST_USE;
/* Writes a GIF. -EFBIG: too long for a GIF; the file is valid and ends early. err is set. */
int replay_export_gif(struct recording *rec, const struct film_options *opt, struct err *err)
	MUST_USE;
