/* fuzz_keymap - keymap files of any bytes; accepted ones keep the guards. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "tui/look/keymap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* No file may put an answer on a key that users type by reflex. */
static void check(const struct keymap *km, enum action a)
{
	char keys[256];

	if (!keymap_keys_of(km, PLACE_APPROVALS, a, keys, sizeof(keys)))
		return;
	assert(strcmp(keys, "y") != 0);
	assert(strcmp(keys, "Enter") != 0);
	assert(strcmp(keys, "Space") != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct keymap *km = NULL;
	struct err err = {0};

	if (keymap_parse(&km, "fuzz", (const char *)data, size, &err) < 0)
		return 0;
	check(km, ACTION_ALLOW);
	check(km, ACTION_ALLOW_COMMAND);
	keymap_free(km);
	return 0;
}
