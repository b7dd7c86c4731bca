/* front - the session that a program drives, for `cordon serve` and `cordon mcp`. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/front.h"

#include <errno.h>

#include "core/base/log.h"

void front_forget(struct front_run *m)
{
	if (m->made)
		run_done(&m->run);
	m->made = false;
}

int front_make(struct front_run *m, const struct strings *argv, const char *title,
	       struct session_spec **ret, struct fault *f)
{
	struct err err = {0};
	int r;

	m->run = (struct run){.kept = BUF_INIT};
	m->made = true;
	r = run_options_parse(&m->run.opt, (int)argv->n, (char **)(uintptr_t)argv->list, &err);
	if (r == 0)
		r = run_prepare(&m->run, &err);
	if (r < 0) {
		front_forget(m);
		return fault_err(f, FAULT_SESSION_NOT_STARTED, &err);
	}
	m->run.spec.title = title;
	*ret = &m->run.spec;
	return 0;
}

int front_log_level(const char *name, struct err *err)
{
	static const char *const names[] = {"error", "warn", "info", "debug", "trace"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (!str_eq(name ? name : "info", names[i]))
			continue;
		log_also(2, (enum log_level)MIN(i, (size_t)LOG_DEBUG));
		return 0;
	}
	return err_say(err, -EINVAL, "--log-level '%s': say error, warn, info, debug or trace",
		       name);
}
