/* background - compresses copies and empties the trash in a thread of low priority. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct journal;

/* Between these two calls the thread changes no kept step. Holds nest. */
void background_hold(struct journal *j);
void background_release(struct journal *j);
void background_end(struct journal *j);	 /* ends the thread */
void background_once(struct journal *j); /* one pass, in this thread */
