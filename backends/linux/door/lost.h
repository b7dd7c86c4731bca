/* lost - results whose caller was interrupted before the answer, kept for its second try. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

struct ldoor;
struct request;

void lost_open(struct ldoor *d);
void lost_close(struct ldoor *d);
void lost_keep(struct ldoor *d, const struct request *r, int fd); /* takes fd; -1: result 0 */
/* Returns whether this call was performed already. *ret is its result; the caller owns a
 * descriptor. */
bool lost_find(struct ldoor *d, struct request *r, int *ret);
