/* step - `cordon step begin|end|abort`, inside the sandbox: several commands as one step. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/keeper/step_ask.h"
#include "tui/commands/commands.h"

static void help(void)
{
	printf("usage: cordon step begin NAME\n"
	       "       cordon step end [NAME]\n"
	       "       cordon step abort\n\n"
	       "For programs that run inside the sandbox. All changes between begin and end are\n"
	       "one step of the history, whichever commands make them. abort undoes them; redo\n"
	       "brings them back.\n");
}

static int check(int argc, char **argv, struct err *err)
{
	static const struct {
		const char *verb;
		int min, max;
	} verbs[] = {{"begin", 1, 1}, {"end", 0, 1}, {"abort", 0, 0}};

	for (size_t i = 0; argc > 0 && i < ARRAY_LEN(verbs); i++) {
		if (str_eq(argv[0], verbs[i].verb) && argc - 1 >= verbs[i].min &&
		    argc - 1 <= verbs[i].max)
			return 0;
	}
	return err_say(err, -EINVAL, "step: not a request: cordon step --help");
}

int command_ask(const char *name, const char *request, struct err *err)
{
	AUTO_FREE char *answer = NULL;
	struct err why = {0};
	int r = step_ask_line(request, &answer, &why);

	if (r == -EPERM) {
		err_say(err, r, "%s: %s", name, why.text);
		return CMD_REFUSED;
	}
	if (r == -ENAMETOOLONG)
		err_say(err, r, "%s: the name is too long", name);
	else if (r < 0)
		err_say(err, -ENOTTY,
			"%s: not inside a sandbox: use it in what `cordon run` starts", name);
	if (r < 0)
		return CMD_FAILED;
	printf("%s\n", answer);
	return 0;
}

int cmd_step(int argc, char **argv, struct err *err)
{
	AUTO_BUF struct buf request = BUF_INIT;

	if (argc > 0 && (str_eq(argv[0], "--help") || str_eq(argv[0], "-h"))) {
		help();
		return 0;
	}
	if (check(argc, argv, err) < 0)
		return CMD_FAILED;
	buf_str(&request, argv[0]);
	if (argc > 1)
		buf_fmt(&request, "/%s", argv[1]);
	return command_ask("step", request.data, err);
}
