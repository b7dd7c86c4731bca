/* ptrace - the parts of the SDK's <sys/ptrace.h> that we use, for systems without it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

#define PT_DENY_ATTACH 31

int ptrace(int request, pid_t pid, caddr_t addr, int data);
