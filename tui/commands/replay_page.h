/* replay_page - the page of `cordon replay --export html` around its data. */
/* SPDX-License-Identifier: MIT */
#pragma once

extern const char replay_page_head[]; /* up to `const R = ` */
extern const char replay_page_tail[]; /* from behind the object */
