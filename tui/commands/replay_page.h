/* replay_page - the HTML page of `cordon replay --export html`, without its data. */
/* SPDX-License-Identifier: MIT */
#pragma once

extern const char replay_page_head[]; /* up to `const R = ` */
extern const char replay_page_tail[]; /* from the end of the object */
