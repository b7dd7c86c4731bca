/* version - `cordon --version`: version, commit, libraries, built-in features. */
/* SPDX-License-Identifier: MIT */
#pragma once

void version_print(void);
