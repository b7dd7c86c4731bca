/* fuzz_seatbelt - profiles of any bytes are read or refused with a message, and evaluated
 * safely. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/seatbelt/eval.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const params[] = {"PROJECT_DIR", "/p", "HOME", "/Users/dev", NULL};
	static const struct eval_query list[] = {
		{.operation = "file-read-data", .path = "/Users/dev/.ssh/id"},
		{.operation = "file-write-create", .path = "/p/a\n\"", .vnode = "DIRECTORY"},
		{.operation = "mach-lookup", .service = "com.apple.lsd.mapdb"},
		{.operation = "network-outbound",
		 .end = "remote",
		 .protocol = "tcp",
		 .loopback = true,
		 .port = 80},
		{.operation = "signal", .target = "self"},
	};
	struct eval *e = NULL;
	struct err err = {0};

	if (eval_new(&e, (const char *)data, size, params, &err) < 0) {
		if (!err.code || !*err.text)
			abort();
		return 0;
	}
	for (size_t i = 0; i < sizeof(list) / sizeof(*list); i++)
		(void)eval_allows(e, &list[i]);
	eval_free(e);
	return 0;
}
