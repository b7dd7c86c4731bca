/* fuzz_theme - theme files of any bytes. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>

#include "tui/look/theme.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const enum depth depths[] = {DEPTH_MONO, DEPTH_16, DEPTH_256, DEPTH_TRUE};
	struct theme t;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(depths); i++)
		if (theme_parse(&t, "fuzz", (const char *)data, size, depths[i], &err) < 0)
			break;
	return 0;
}
