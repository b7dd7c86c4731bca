/* fuzz_shell - command lines and events of an agent: parsed within the limits, and judged. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/hook/advice.h"
#include "core/hook/shell.h"
#include "core/hook/step_request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A part of the event becomes a path. */
static void read_event(const char *text, size_t size)
{
	AUTO_BUF struct buf request = BUF_INIT;
	cJSON *event = cJSON_ParseWithLength(text, size);

	if (step_request(event, &request) && request.len > 512)
		abort();
	for (size_t i = 0; i < request.len; i++)
		if ((unsigned char)request.data[i] < ' ')
			abort();
	cJSON_Delete(event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct advice_context context = {true, false, false, "/home/u", "/home/u/p"};
	const char *text = (const char *)data;
	AUTO_SHELL struct shell_line line = {0};
	struct advice advice;
	int r = shell_parse(&line, text, size);

	if (r != 0 && r != -EINVAL && r != -E2BIG)
		abort();
	if (line.n_commands > SHELL_COMMANDS_MAX || line.n_words > SHELL_WORDS_MAX)
		abort();
	for (size_t i = 0; i < line.n_commands; i++) {
		const struct shell_command *c = &line.commands[i];

		if (c->word + c->n_words > line.n_words ||
		    c->redirect + c->n_redirects > line.n_redirects)
			abort();
	}
	read_event(text, size);
	advise_command(&advice, text, size, &context);
	for (const char *p = advice.text; *p; p++)
		if ((unsigned char)*p < ' ')
			abort();
	return 0;
}
