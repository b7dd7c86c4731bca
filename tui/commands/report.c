/* report - `cordon report`: a session as one page, to send with a pull request. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/report.h"

#include <errno.h>
#include <stdlib.h>

#include "core/config/config.h"
#include "core/record/recording.h"
#include "core/record/redact.h"
#include "core/record/ring.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/commands/here.h"
#include "tui/commands/show.h"

struct report_options {
	bool html, md;
};

static const struct flag flags[] = {
	{"--html", NULL, offsetof(struct report_options, html),
	 "a page that needs no network and runs no script"},
	{"--md", NULL, offsetof(struct report_options, md),
	 "Markdown, for the text of a pull request; the default"},
};

static const struct usage usage = {
	"report [SESSION] [--html|--md]",
	"Print what a session did, turn by turn: prompts, files with their lines, commands and "
	"tests with exit status, questions and who answered, hosts with bytes, refusals, secrets "
	"that were tried. SESSION is its name or the end of it; without one the newest of this "
	"folder, which may still run. Secrets are starred as in the audit log.",
	flags,
	ARRAY_LEN(flags),
};

/* Finds the folder of a recorded session. Returns false if it is this one, or unknown. */
static bool find_elsewhere(struct here *at, const char *name)
{
	struct recording *rec = NULL;
	const char *folder;
	bool found;
	int fd = -1;

	if (ring_find(at->state_dir, name, &fd, NULL) < 0 || recording_open(&rec, fd, NULL) < 0)
		return false;
	folder = recording_header(rec)->folder;
	found = folder && *folder == '/' && !str_eq(folder, at->folder);
	if (found) {
		free(at->folder);
		at->folder = xstrdup(folder);
	}
	recording_free(rec);
	return found;
}

static int read_session(struct report *r, const struct here *at, const char *name, struct err *err)
{
	AUTO_FREE char *path = folders_audit_path(at->state_dir, at->folder);

	return report_read(r, path, name, err);
}

static int load_redact(struct redact **ret, const struct here *at, struct err *err)
{
	const char *const *patterns = NULL;
	struct config *config = NULL;
	int r = config_load(&config,
			    &(struct config_spec){.home = at->home,
						  .config_home = getenv("XDG_CONFIG_HOME"),
						  .state_dir = at->state_dir},
			    err);

	if (r == 0) {
		config_list(config, "record.redact", &patterns);
		r = redact_new(ret, patterns, err);
	}
	config_free(config);
	return r;
}

static int run(struct here *at, const char *name, bool html, struct err *err)
{
	CLEANUP(report_done) struct report report = {0};
	struct redact *redact = NULL;
	int r = load_redact(&redact, at, err);

	if (r == 0)
		r = read_session(&report, at, name, err);
	if (r == -ENOENT && name && find_elsewhere(at, name)) {
		*err = (struct err){0};
		r = read_session(&report, at, name, err);
	}
	if (r == 0)
		r = report_add_files(&report, at, err);
	if (r == 0)
		report_print(&report, at->home, redact, html);
	redact_free(redact);
	return r;
}

int cmd_report(int argc, char **argv, struct err *err)
{
	AUTO_HERE struct here at = {0};
	struct report_options o = {0};
	struct strings args = {0};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0 && (args.n > 1 || (o.html && o.md)))
		r = err_say(err, -EINVAL, "report: usage: cordon %s", usage.synopsis);
	if (r == 0)
		r = here_find(&at, err);
	if (r == 0)
		r = run(&at, args.n ? args.list[0] : NULL, o.html, err) < 0 ? CMD_REFUSED : 0;
	else
		r = r < 0 ? CMD_FAILED : 0;
	strings_done(&args);
	return finish(r, err);
}
