/* hidden - paths below a home that are hidden by default: keys, tokens, cookies. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* Returns the entry of the built-in list that equals this path (relative to a home, clean) or is an
 * ancestor of it: ".ssh/id_rsa" -> ".ssh". NULL: none. */
const char *hidden_builtin(const char *path);
