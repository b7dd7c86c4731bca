/* incomplete - notes changes of a step that were not captured. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/* Appends the words of a REC_MARK to *why. Returns false if *why has them already, or is too
 * long. */
bool incomplete_join(char **why, const char *words);
