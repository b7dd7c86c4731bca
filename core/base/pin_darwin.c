/* pin_darwin - threads are not tied to a processor on macOS. */
/* SPDX-License-Identifier: MIT */
#include "core/base/pin.h"

bool pin_here(int cpu)
{
	(void)cpu;
	return false;
}

void pin_end(void)
{
}

bool pin_is_held(void)
{
	return false;
}
