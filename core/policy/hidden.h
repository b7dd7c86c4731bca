/* hidden - places below a home that do not exist inside by default: keys, tokens, cookies. */
/* SPDX-License-Identifier: MIT */
#pragma once

/* The entry of the built-in list that this path, relative to a home and clean, is or lies below:
 * ".ssh/id_rsa" -> ".ssh". NULL: none. */
const char *hidden_builtin(const char *path);
