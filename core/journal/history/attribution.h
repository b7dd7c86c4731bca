/* attribution - tells whether a change seen in a folder was made by a step or from outside. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct step;

/* Notes files at the step's paths that no step placed there, also in unwatched roots. */
void attribution_find(struct step *s);
/* Does the same in other roots only, which are not watched: a repository outside the folder. Does
 * nothing if a concurrent step that has ended changed the step's paths: that step's objects are no
 * longer known. */
void attribution_find_unwatched(struct step *s);
