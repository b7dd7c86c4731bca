/* requests - what cordon asks of the keeper: answers, undo and redo, signals, the end. */
/* SPDX-License-Identifier: MIT */
#pragma once

struct keeper;

void requests_serve(struct keeper *k); /* what lies in k->in */
