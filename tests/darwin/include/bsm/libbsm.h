/* libbsm - the parts of the SDK's <bsm/libbsm.h> that we use, for systems without it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <mach/message.h>
#include <sys/types.h>

pid_t audit_token_to_pid(audit_token_t token);
int audit_token_to_pidversion(audit_token_t token);
