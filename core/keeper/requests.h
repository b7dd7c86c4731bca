/* requests - serves requests of cordon to the keeper: answers, limits, signals, the end. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper;

void requests_serve(struct keeper *k); /* serves the frames in k->in */
