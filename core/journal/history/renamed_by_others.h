/* renamed_by_others - current names of the paths that concurrent steps renamed. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include "core/base/util.h"

struct path_set;
struct step;

/* Adds the current names of the paths of an open step that concurrent steps renamed. */
int renamed_by_others(const struct step *s, struct path_set *ret) MUST_USE;
