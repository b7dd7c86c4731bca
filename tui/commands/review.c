/* review - `cordon review done`, inside the sandbox: the agent reports points of a review as
 * handled. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "tui/commands/commands.h"

static void help(void)
{
	printf("usage: cordon review done POINT...\n\n"
	       "For agents, inside the sandbox. Marks points of the user's review as handled, by\n"
	       "the numbers in the message: cordon review done 3.2. The review folds such a\n"
	       "point; the user may open it again. `C-] v` in the console opens the review.\n");
}

int cmd_review(int argc, char **argv, struct err *err)
{
	int r = 0;

	if (argc > 0 && (str_eq(argv[0], "--help") || str_eq(argv[0], "-h"))) {
		help();
		return 0;
	}
	if (argc < 2 || !str_eq(argv[0], "done")) {
		err_say(err, -EINVAL, "review: not a request: cordon review --help");
		return CMD_FAILED;
	}
	for (int i = 1; r == 0 && i < argc; i++) {
		AUTO_FREE char *request = xasprintf("reviewed/%s", argv[i]);

		r = command_ask("review", request, err);
	}
	return r;
}
