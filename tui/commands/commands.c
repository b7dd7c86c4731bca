/* commands - the table that dispatch and --help read. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/commands.h"

#include <errno.h>

#include "core/session/session.h"

const struct command commands[] = {
#define X(name, summary, outside) {#name, summary, cmd_##name, outside},
	COMMANDS(X)
#undef X
		{0},
};

bool command_is_misplaced(const struct command *c, int argc, char **argv, struct err *err)
{
	for (int i = 0; i < argc; i++)
		if (str_eq(argv[i], "--help") || str_eq(argv[i], "-h"))
			return false;
	if (!c->outside || !session_is_inside())
		return false;
	err_say(err, -EPERM,
		"%s: cordon's own commands do not work inside the sandbox, only `cordon step`, "
		"`cordon review` and `cordon hook` do: use another terminal",
		c->name);
	return true;
}
