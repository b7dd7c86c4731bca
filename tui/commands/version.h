/* version - `cordon --version`: version, commit, libraries, what is built in. */
/* SPDX-License-Identifier: MIT */
#pragma once

void version_print(void);
