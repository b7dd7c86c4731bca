/* step - `cordon step begin|end|abort`, inside the sandbox: several commands as one step. */
/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <errno.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/io.h"
#include "core/keeper/service.h"
#include "core/keeper/step_ask.h"
#include "tui/commands/commands.h"

#define ANSWER_MAX 4096

static void help(void)
{
	printf("usage: cordon step begin NAME\n"
	       "       cordon step end [NAME]\n"
	       "       cordon step abort\n\n"
	       "For programs that run inside the sandbox. What is changed between begin and end is "
	       "one step\n"
	       "of the history, whichever commands do it; abort takes all of it back, and redo has "
	       "it then.\n");
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

static int ask(const char *request, char **ret, struct err *err)
{
	AUTO_CLOSE int fd = step_ask(request);
	int r;

	if (fd == -ENAMETOOLONG)
		return err_say(err, -ENAMETOOLONG, "step: the name is too long");
	if (fd < 0)
		return err_say(err, -ENOTTY,
			       "step: not inside a sandbox: use it in what `cordon run` starts");
	r = io_read_all(fd, ANSWER_MAX, ret, NULL);
	return r < 0 ? err_set(err, r, "step: read the answer") : 0;
}

int cmd_step(int argc, char **argv, struct err *err)
{
	AUTO_BUF struct buf request = BUF_INIT;
	AUTO_FREE char *answer = NULL;

	if (argc > 0 && (str_eq(argv[0], "--help") || str_eq(argv[0], "-h"))) {
		help();
		return 0;
	}
	if (check(argc, argv, err) < 0)
		return CMD_FAILED;
	buf_str(&request, argv[0]);
	if (argc > 1)
		buf_fmt(&request, "/%s", argv[1]);
	if (ask(request.data, &answer, err) < 0)
		return CMD_FAILED;
	assert(answer); /* ask() has read one */
	answer[strcspn(answer, "\n")] = '\0';
	if (str_starts(answer, STEP_REFUSED)) {
		err_say(err, -EPERM, "step: %s", answer + strlen(STEP_REFUSED));
		return CMD_REFUSED;
	}
	printf("%s\n", answer);
	return 0;
}
